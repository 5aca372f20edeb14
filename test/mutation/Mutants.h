// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors injected into correct PTX, one at a time: synchronization is removed, weakened, or given a wrong count.
//
//   bar.sync  bar.warp.sync  barrier.cluster  fence  membar  cp.async*.commit_group  wgmma.fence  wgmma.commit_group
//   mbarrier.arrive                     removed
//   mbarrier.try_wait, test_wait        always true; the other parity
//   wait_group N                        removed; N + 1
//   mbarrier.init, expect_tx            half of the count
//   .release, .acquire                  .relaxed
#pragma once

#include <string>
#include <vector>

namespace tile::mutation {

struct Mutant {
  std::string change;      ///< "remove", "flip parity", "halve", "allow one more", "relax"
  std::string instruction; ///< "bar.sync 0;"
  std::string place;       ///< of the source: "29:19"
  unsigned line = 0;       ///< of the PTX
  unsigned ordinal = 0;    ///< index among mutants of the same change, instruction name and location
  std::string text;        ///< the whole PTX

  /// "remove bar.sync at 29:19 #0": stays the same when registers and lines change.
  std::string name() const;
};

std::vector<Mutant> mutantsOf(const std::string &ptx);

} // namespace tile::mutation
