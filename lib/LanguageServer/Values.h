// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the expressions and names of a file are, as far as the front end has come: for hover and inlay hints.
#pragma once

#include "Frontend/Frontend.h"

#include "llvm/Support/JSON.h"

namespace tile::lsp {

class Document;

class ValueTable {
public:
  void add(const frontend::ObservedValue &value);

  /// "fp32[128, 64]", "int32 = 4", "int32 or int64"; empty if nothing is known.
  std::string ofName(frontend::SourceRange name) const;
  /// Of the smallest expression around the offset.
  std::string ofExpression(uint32_t offset) const;
  /// Whether anything inside of the range was reached.
  bool reaches(frontend::SourceRange range) const;

  /// Types of the names that get values between two places, and the values of constants.
  llvm::json::Array hints(const Document &document, uint32_t begin, uint32_t limit) const;

private:
  struct Fact {
    std::string type, constant;
    bool operator==(const Fact &) const = default;
  };
  /// Different ones of the same place, in the order of their coming; at most `maxFacts`, the last of which stands for
  /// more.
  using Facts = std::vector<Fact>;
  using Place = std::pair<uint32_t, uint32_t>; // begin, end

  static std::string describe(const Facts &facts);

  std::map<Place, Facts> names, expressions;
};

} // namespace tile::lsp
