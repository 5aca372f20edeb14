// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types and constants of the expressions and names in a file, for hover and inlay hints. Code that the front end does
// not reach has neither.
#pragma once

#include "Frontend/Frontend.h"

#include "llvm/Support/JSON.h"

namespace tile::lsp {

class Document;

class ValueTable {
public:
  void add(const frontend::ObservedValue &value);

  /// Returns "fp32[128, 64]", "int32 = 4", "int32 or int64"; empty if nothing is known.
  std::string ofName(frontend::SourceRange name) const;
  /// Describes the smallest expression that contains the offset.
  std::string ofExpression(uint32_t offset) const;
  /// Returns true if the front end has reached any code in the range.
  bool reaches(frontend::SourceRange range) const;

  /// Returns hints for names assigned in this range: their types and, for constants, their values.
  llvm::json::Array hints(const Document &document, uint32_t begin, uint32_t limit) const;

private:
  struct Fact {
    std::string type, constant;
    bool operator==(const Fact &) const = default;
  };
  /// The distinct facts about one range in order of observation. There are at most `maxFacts` entries; the last entry
  /// stands for all further facts.
  using Facts = std::vector<Fact>;
  using Place = std::pair<uint32_t, uint32_t>; // begin, end

  static std::string describe(const Facts &facts);

  std::map<Place, Facts> names, expressions;
};

} // namespace tile::lsp
