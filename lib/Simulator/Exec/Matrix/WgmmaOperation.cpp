// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Matrix/Decoders.h"
#include "Simulator/Exec/Matrix/Fragments.h"
#include "Simulator/Exec/Matrix/Wgmma.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim::matrix {

namespace {

constexpr unsigned chunkBytes = 16;

/// Reads the lines of an operand from the shared memory that a descriptor describes.
FactorBits readShared(Cta &cta, const Descriptor &descriptor, bool isLineMajor, unsigned lines,
                      const WgmmaShape &shape) {
  FactorBits factor(lines, shape.depth);
  unsigned bytes = shape.elementBytes(), perChunk = chunkBytes / bytes;
  forChunks(descriptor, isLineMajor, 0, lines, shape, [&](uint32_t address, unsigned line, unsigned k) {
    const std::byte *from = cta.shared(address, chunkBytes);
    for (unsigned i = 0; i < perChunk; ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, from + i * bytes, bytes);
      isLineMajor ? factor.at(k)[line + i] = bits : factor.at(k + i)[line] = bits;
    }
  });
  return factor;
}

} // namespace

bool WgmmaShape::isSameKind(const WgmmaShape &other) const {
  return columns == other.columns && depth == other.depth && traits.left == other.traits.left &&
         traits.right == other.traits.right && traits.accumulator == other.traits.accumulator;
}

void WgmmaOperation::join(Warp &warp) {
  unsigned index = warp.index - firstWarp;
  joined[index] = true;
  groups[index] = warp.wgmmaGroups.start();
  warp.wgmmaQueue.push_back(this);
}

bool WgmmaOperation::ready() const {
  for (unsigned i = 0; i < warpsInGroup; ++i)
    if (!joined[i] || warp(i).wgmmaQueue.front() != this)
      return false;
  return true;
}

FactorBits WgmmaOperation::readLeft() const {
  if (!shape.leftInRegisters)
    return readShared(cta, issue.left, shape.leftLineMajor, groupRows, shape);
  FactorBits left(groupRows, shape.depth);
  unsigned bits = bitsOf(shape.traits.left);
  for (unsigned w = 0; w < warpsInGroup; ++w)
    for (unsigned r = 0; r < shape.left.size(); ++r) {
      const uint32_t *values = warp(w).lanes<uint32_t>(shape.left[r]);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        Position position = leftPosition(lane, r, 32 / bits);
        spread(left, bits, 16 * w + position.row, position.column, values[lane]);
      }
    }
  return left;
}

FactorBits WgmmaOperation::readRight() const {
  return readShared(cta, issue.right, shape.rightLineMajor, shape.columns, shape);
}

void WgmmaOperation::negate(FactorBits &factor) const {
  uint32_t sign = 1u << (bitsOf(shape.traits.left) - 1);
  for (uint32_t &bits : factor.bits)
    bits ^= sign;
}

bool WgmmaOperation::advance(Random &) {
  FactorBits left = readLeft(), right = readRight();
  if (shape.negateLeft)
    negate(left);
  if (shape.negateRight)
    negate(right);

  // Gathers the accumulators by rows; two f16 share a register.
  std::vector<uint32_t> result(size_t(groupRows) * shape.columns);
  bool isPacked = shape.traits.accumulator == Accumulator::F16;
  auto forAccumulators = [&](auto &&function) {
    for (unsigned w = 0; w < warpsInGroup; ++w)
      for (unsigned r = 0; r < shape.accumulators.size(); ++r) {
        uint32_t *values = warp(w).lanes<uint32_t>(shape.accumulators[r]);
        for (unsigned lane = 0; lane < warpSize; ++lane) {
          Position position = accumulatorPosition(lane, isPacked ? 2 * r : r);
          function(values[lane], &result[(16 * w + position.row) * shape.columns + position.column]);
        }
      }
  };
  if (issue.keepsAccumulators)
    forAccumulators([&](uint32_t value, uint32_t *sum) {
      sum[0] = isPacked ? value & 0xffff : value;
      if (isPacked)
        sum[1] = value >> 16;
    });
  multiplyAdd(shape.traits, left, right, result.data());
  forAccumulators([&](uint32_t &value, const uint32_t *sum) { value = isPacked ? sum[0] | sum[1] << 16 : sum[0]; });

  for (unsigned i = 0; i < warpsInGroup; ++i) {
    Warp &of = warp(i);
    of.wgmmaQueue.pop_front();
    of.wgmmaGroups.finish(groups[i]);
  }
  return true;
}

std::string WgmmaOperation::describe() const {
  std::string missing;
  for (unsigned i = 0; i < warpsInGroup; ++i)
    if (!joined[i])
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", firstWarp + i);
  return fmt::format("{} at line {} of warps {} to {} in CTA ({},{},{}){}{}", instruction.text(),
                     instruction.loc.ptxLine, firstWarp, firstWarp + warpsInGroup - 1, cta.id[0], cta.id[1], cta.id[2],
                     missing.empty() ? "" : " waits for warp ", missing);
}

} // namespace tile::sim::matrix
