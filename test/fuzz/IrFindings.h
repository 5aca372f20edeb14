// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings: each bug is reported once, reduced line by line, in a file that tile-fuzz-ir can run again.
#pragma once

#include "fuzz/IrTrial.h"
#include "fuzz/Isolation.h"

#include <string>

namespace tile::fuzz {

class Findings {
public:
  explicit Findings(std::string folder);
  void add(const IrBases &bases, uint64_t seed, uint64_t batch, const Outcome &outcome);
  /// Returns the exit code.
  int report(llvm::raw_ostream &os) const;

private:
  std::string folder;
};

/// Runs the file of a finding; its first line names the target and the passes.
int repeatFinding(const std::string &path);

} // namespace tile::fuzz
