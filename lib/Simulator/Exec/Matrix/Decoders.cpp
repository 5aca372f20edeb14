// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Matrix/Decoders.h"

#include <charconv>
#include <fmt/format.h>

namespace tile::sim {

namespace matrix {

std::optional<Shape> takeShape(Decoding &d) {
  std::string_view text = d.peek();
  Shape shape;
  const char *at = text.data(), *end = at + text.size();
  for (auto [letter, number] : {std::pair('m', &shape.m), std::pair('n', &shape.n), std::pair('k', &shape.k)}) {
    if (at == end || *at != letter)
      return std::nullopt;
    auto [next, error] = std::from_chars(at + 1, end, *number);
    if (error != std::errc())
      return std::nullopt;
    at = next;
  }
  if (at != end)
    return std::nullopt;
  d.skip();
  return shape;
}

std::optional<Element> takeElement(Decoding &d) {
  int element = d.takeOne({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1", "f64"});
  return element < 0 ? std::nullopt : std::optional(Element(element));
}

std::optional<Accumulator> takeAccumulator(Decoding &d) {
  int accumulator = d.takeOne({"f32", "f16", "s32"});
  return accumulator < 0 ? std::nullopt : std::optional(Accumulator(accumulator));
}

bool mayMultiply(Element left, Element right) {
  if (isFloat8(left) || (isInteger(left) && left != Element::B1))
    return bitsOf(left) == bitsOf(right) && isFloat8(left) == isFloat8(right);
  return left == right;
}

bool mayAccumulate(Element factor, Accumulator accumulator) {
  if (isInteger(factor))
    return accumulator == Accumulator::S32;
  return accumulator == Accumulator::F32 ||
         (accumulator == Accumulator::F16 && (factor == Element::F16 || isFloat8(factor)));
}

bool isWholeWarp(const Warp &warp, const Operation &operation) {
  if (warp.alive == allLanes)
    return true;
  warp.fault(ReportKind::Divergence, operation.instruction->loc, -1,
             fmt::format("{} needs all 32 threads of the warp, but only lanes {:#010x} are active",
                         operation.instruction->text(), warp.alive));
  return false;
}

} // namespace matrix

std::span<const DecoderEntry> matrixDecoders() {
  static constexpr DecoderEntry table[] = {
      {"mma", matrix::decodeMma},
      {"wgmma", matrix::decodeWgmma},
      {"ldmatrix", matrix::decodeLoadMatrix},
      {"stmatrix", matrix::decodeStoreMatrix},
      {"movmatrix", matrix::decodeTransposeMatrix},
  };
  return table;
}

} // namespace tile::sim
