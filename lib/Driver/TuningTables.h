// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tuning tables of `tilec --tuning=FILE,...`: measured for an artifact of -O3, embedded in one that has only the
// alternatives that were fastest.
#pragma once

#include "Runtime/Tuning.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tile::driver {

class TuningTables {
public:
  static llvm::Expected<TuningTables> read(const std::vector<std::string> &paths);

  bool empty() const { return tables.empty(); }
  /// Returns true if some call uses this variant.
  bool choose(llvm::StringRef variant) const;
  /// Returns true if some call uses an alternative of this variant.
  bool chooseFurther(llvm::StringRef variant) const;

  /// A table that does not fit an artifact, and the reason.
  struct Stale {
    std::string path, reason;
  };
  /// Embeds the tables that fit, and returns the others.
  std::vector<Stale> embed(std::string &artifact) const;

private:
  std::vector<std::pair<std::string, runtime::TuningTable>> tables; ///< by path
};

} // namespace tile::driver
