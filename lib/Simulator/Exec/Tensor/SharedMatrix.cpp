// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Tensor/SharedMatrix.h"

#include <bit>

namespace tile::sim::tensor {

std::optional<matrix::Descriptor> takeDescriptor(Warp &warp, unsigned lane, const Instruction &instruction,
                                                 uint64_t bits, std::string_view what) {
  constexpr uint64_t versionOfBlackwell = 1;
  const uint64_t version = bits >> 46 & 7, swizzle = bits >> 61;
  if (version != versionOfBlackwell) {
    refuse(warp, ReportKind::InvalidOperand, instruction, lane,
           "{}: the descriptor of {}, {:#018x}, has {} in bits 46 to 48; expected 1{}", instruction.text(), what, bits,
           version, bits >> 32 ? "" : ": its upper half is lost");
    return std::nullopt;
  }
  if (swizzle == 3 || swizzle == 5 || swizzle == 7 || (bits >> 52 & 1)) {
    refuse(
        warp, ReportKind::InvalidOperand, instruction, lane,
        "{}: the descriptor of {}, {:#018x}, has swizzle mode {} and leading-offset mode {}; expected 0, 1, 2, 4 or 6, "
        "and 0",
        instruction.text(), what, bits, swizzle, bits >> 52 & 1);
    return std::nullopt;
  }
  return matrix::Descriptor::ofTensor(bits);
}

bool checkShared(Warp &warp, unsigned lane, const Instruction &instruction, Cta &cta, const SharedMatrix &matrix,
                 std::string_view what) {
  const matrix::Descriptor &descriptor = matrix.descriptor;
  std::vector<uint64_t> chunks((sharedBase + cta.sharedSize()) / chunkBytes / 64 + 1); // one bit per chunk
  std::optional<uint32_t> outside;
  matrix.forChunks([&](uint32_t address, unsigned, unsigned) {
    if (!cta.shared(address, chunkBytes))
      outside = address;
    else
      chunks[address / chunkBytes / 64] |= uint64_t(1) << address / chunkBytes % 64;
  });
  if (outside)
    return refuse(
        warp, ReportKind::OutOfBounds, instruction, lane,
        "{}: {} reaches shared+{}, of {} bytes of shared memory (descriptor: start {:#x}, leading byte offset "
        "{}, stride byte offset {}, swizzle {} bytes)",
        instruction.text(), what, int64_t(*outside) - sharedBase, cta.sharedSize(), descriptor.start,
        descriptor.leading, descriptor.stride, descriptor.swizzle > chunkBytes ? descriptor.swizzle : 0);
  if (cta.hasExited())
    return refuse(warp, ReportKind::EarlyExit, instruction, lane, "{}: {} is in shared memory of a CTA that has ended",
                  instruction.text(), what);
  Checker *checker = checkerOf(warp);
  if (!checker)
    return true;
  const Epoch finished = pipeEpoch(warp, lane);
  auto isSet = [&](uint32_t index) { return index < chunks.size() * 64 && (chunks[index / 64] >> index % 64 & 1); };
  for (uint32_t word = 0; word < chunks.size(); ++word)
    while (chunks[word]) {
      uint32_t begin = word * 64 + std::countr_zero(chunks[word]), end = begin;
      for (; isSet(end); ++end)
        chunks[end / 64] &= ~(uint64_t(1) << end % 64);
      const Range range = {Space::Shared, cta.rank, begin * chunkBytes - sharedBase, (end - begin) * chunkBytes};
      checker->asyncAccess(warp, lane, instruction.loc, AccessKind::Read, range, true, finished);
    }
  return true;
}

} // namespace tile::sim::tensor
