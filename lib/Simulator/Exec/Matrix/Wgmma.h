// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma: four warps, a warp group, multiply a 64xK and a KxN matrix asynchronously. PTX ISA 9.7.15.
//
// The four warps of a group (indices 4i to 4i+3) issue each wgmma together, and the tensor cores retire it for all four
// warps simultaneously. Kernels rely on this if their warp group releases a shared-memory buffer with one arrival after
// wait_group. So there is one operation for the group, which begins when all four warps have issued it, and one
// Component, which belongs to the group's first warp.
#pragma once

#include "Simulator/Exec/Matrix/Descriptor.h"
#include "Simulator/Exec/Matrix/TensorCore.h"
#include "Simulator/Exec/Operation.h"
#include "Simulator/Machine/Machine.h"

namespace tile::sim::matrix {

constexpr unsigned groupRows = 64;

/// A decoded wgmma instruction.
struct WgmmaShape {
  MmaTraits traits;
  unsigned columns = 0, depth = 0;
  bool leftInRegisters = false;
  bool leftLineMajor = false, rightLineMajor = false;
  bool negateLeft = false, negateRight = false;
  std::vector<uint32_t> accumulators; ///< offsets in the register file
  std::vector<uint32_t> left;         ///< offsets in the register file, if the left operand is in registers

  unsigned elementBytes() const { return bitsOf(traits.left) / 8; }
  /// Returns true if the shapes and types are equal. Only then may both use the same accumulators without a fence or
  /// wait between them.
  bool isSameKind(const WgmmaShape &other) const;
};

/// The operands of a wgmma as issued by one warp of the group.
struct WgmmaIssue {
  Descriptor left{0}, right{0}; ///< `left` is valid only if the operand is not in registers
  bool keepsAccumulators = false;
  bool operator==(const WgmmaIssue &) const = default;
};

/// One wgmma in flight.
class WgmmaOperation final : public AsyncOperation {
public:
  WgmmaOperation(const Instruction &instruction, const WgmmaShape &shape, const WgmmaIssue &issue, Warp &first)
      : instruction(instruction), shape(shape), issue(issue), cta(first.cta), firstWarp(first.index / 4 * 4) {}

  bool ready() const override;
  bool advance(Random &random) override;
  std::string describe() const override;

  /// Records that `warp` has issued the wgmma as well, and adds the operation to the warp's queue and group.
  void join(Warp &warp);
  bool hasJoined(const Warp &warp) const { return joined[warp.index - firstWarp]; }

  const Instruction &instruction;
  const WgmmaShape &shape;
  const WgmmaIssue issue;

private:
  Warp &warp(unsigned index) const { return *cta.warps[firstWarp + index]; }
  FactorBits readLeft() const;
  FactorBits readRight() const;
  void negate(FactorBits &factor) const;

  Cta &cta;
  const unsigned firstWarp;
  bool joined[warpsInGroup] = {};
  uint64_t groups[warpsInGroup] = {};
};

/// Returns the first warp of the group of `warp`. Its component represents the wgmma groups of all four warps.
inline Warp &leader(Warp &warp) {
  return *warp.cta.warps[warp.index / warpsInGroup * warpsInGroup];
}

/// Calls `function` for each 16-byte chunk of lines [first, first + count) of an operand, with the chunk's address.
template <typename Function>
void forChunks(const Descriptor &descriptor, bool isLineMajor, unsigned first, unsigned count, const WgmmaShape &shape,
               Function &&function) {
  unsigned perChunk = 16 / shape.elementBytes();
  if (isLineMajor) {
    for (unsigned k = 0; k < shape.depth; ++k)
      for (unsigned line = first; line < first + count; line += perChunk)
        function(descriptor.chunkAddress(true, k, line / perChunk), line, k);
    return;
  }
  for (unsigned line = first; line < first + count; ++line)
    for (unsigned k = 0; k < shape.depth; k += perChunk)
      function(descriptor.chunkAddress(false, line, k / perChunk), line, k);
}

/// A path from an access to a register of the wgmma at `index` (accumulator or left operand) to the wgmma without a
/// wgmma.fence in between (PTX ISA 9.7.15.7.1). `isEntry`: a path from the kernel's entry to the wgmma without any
/// fence.
struct MissingFence {
  bool isEntry = false;
  uint32_t instruction = 0;
  uint32_t reg = 0;
};
std::optional<MissingFence> findMissingFence(const Function &function, uint32_t index);

} // namespace tile::sim::matrix
