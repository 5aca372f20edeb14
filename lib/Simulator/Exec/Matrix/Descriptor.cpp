// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Matrix/Descriptor.h"

namespace tile::sim::matrix {

Descriptor::Descriptor(uint64_t bits)
    : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4), stride((bits >> 32 & 0x3fff) << 4),
      baseOffset(bits >> 49 & 7) {
  constexpr uint32_t widths[] = {16, 128, 64, 32};
  swizzle = widths[bits >> 62];
}

Descriptor Descriptor::ofTensor(uint64_t bits) {
  Descriptor descriptor(bits);
  descriptor.hasWideChunks = bits >> 61 == 1;
  if (descriptor.hasWideChunks)
    descriptor.swizzle = 128;
  return descriptor;
}

uint32_t Descriptor::chunkAddress(bool isLineMajor, unsigned line, unsigned chunk) const {
  bool isSwizzled = swizzle > 16;
  if (hasWideChunks) { // groups of four lines of 128 bytes; bits 5 and 6 are XORed with bits 7 and 8
    uint32_t wide = start + line % 4 * swizzle + line / 4 * stride + chunk % 8 * 16 + chunk / 8 * leading;
    return wide ^ (((wide >> 7) - baseOffset) & 3) << 5;
  }
  uint32_t address = start + line % 8 * swizzle;
  if (!isSwizzled)
    address += isLineMajor ? line / 8 * leading + chunk * stride : line / 8 * stride + chunk * leading;
  else if (isLineMajor)
    address += line / 8 * stride + chunk % (swizzle / 16) * 16 + chunk / (swizzle / 16) * leading;
  else
    address += line / 8 * stride + chunk * 16;
  uint32_t phase = (address >> 7) - baseOffset;
  return address ^ (phase & (swizzle / 16 - 1)) << 4;
}

} // namespace tile::sim::matrix
