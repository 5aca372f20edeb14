// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the instructions of a kernel whose results may differ between two devices or two runs, and describes
// instructions.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tile::sim {
struct Instruction;
struct Module;
} // namespace tile::sim

namespace tile::runner {

struct PtxUses {
  std::set<std::string> approximate;  ///< "ex2.approx", "rsqrt.approx": the ISA only bounds their errors
  std::set<std::string> floatAtomics; ///< "red.add.f32": the result depends on the order of additions
  /// true if there are atomic operations of any kind: the order in which they return values is undefined
  bool hasAtomics = false;
};

PtxUses findUses(std::string_view ptx);

/// Returns "st.global.f32 at ptx:31 (scale.tile:12:5)".
std::string describeInstruction(const sim::Module &module, const sim::Instruction &instruction);

} // namespace tile::runner
