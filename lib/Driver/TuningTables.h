// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tuning tables of `tilec --tuning=FILE,...`. The tables are measured with an artifact of -O3, and embedded in an
// artifact that has only the fastest alternatives.
#pragma once

#include "Runtime/Tuning.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tile::driver {

class TuningTables {
public:
  static llvm::Expected<TuningTables> read(const std::vector<std::string> &paths);

  bool empty() const { return tables.empty(); }
  /// Returns true if the tables choose this variant for some call.
  bool choose(llvm::StringRef variant) const;
  /// Returns true if the tables choose an alternative of this variant for some call.
  bool chooseFurther(llvm::StringRef variant) const;

  /// A table that does not fit an artifact, and the reason.
  struct Stale {
    std::string path, reason;
  };
  /// Embeds the tables that fit, and returns the others.
  std::vector<Stale> embed(std::string &artifact) const;

private:
  std::vector<std::pair<std::string, runtime::TuningTable>> tables; ///< the tables with their paths
};

} // namespace tile::driver
