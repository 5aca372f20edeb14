// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings: each bug once, as small as lines can be taken away, in a file that tile-fuzz-ir runs again.
#pragma once

#include "fuzz/IrTrial.h"
#include "fuzz/Isolation.h"

#include <string>

namespace tile::fuzz {

class Findings {
public:
  explicit Findings(std::string folder);
  void add(const IrBases &bases, uint64_t seed, uint64_t batch, const Outcome &outcome);
  /// The exit code.
  int report(llvm::raw_ostream &os) const;

private:
  std::string folder;
};

/// Runs what a file of a finding says: its first line names the target and the passes.
int repeatFinding(const std::string &path);

} // namespace tile::fuzz
