// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Tensor/InstructionDescriptor.h"

#include <fmt/format.h>
#include <optional>

namespace tile::sim::tensor {

namespace {

using matrix::Accumulator;
using matrix::Element;

uint32_t field(uint32_t bits, unsigned first, unsigned count) {
  return bits >> first & ((1u << count) - 1);
}

/// Returns the element type that a field's value denotes in this kind.
std::optional<Element> elementOf(MmaKind kind, uint32_t number) {
  switch (kind) {
  case MmaKind::F16:
    return number == 0 ? std::optional(Element::F16) : number == 1 ? std::optional(Element::BF16) : std::nullopt;
  case MmaKind::TF32:
    return number == 2 ? std::optional(Element::TF32) : std::nullopt;
  case MmaKind::I8:
    return number == 0 ? std::optional(Element::U8) : number == 1 ? std::optional(Element::S8) : std::nullopt;
  case MmaKind::MXF4:
  case MmaKind::MXF4NVF4:
    return number == 1 ? std::optional(Element::E2M1) : std::nullopt;
  default:
    break;
  }
  constexpr std::optional<Element> elements[] = {Element::E4M3, Element::E5M2, std::nullopt, Element::E2M3,
                                                 Element::E3M2, Element::E2M1, std::nullopt, std::nullopt};
  return elements[number];
}

std::optional<Accumulator> accumulatorOf(const MmaForm &form, uint32_t number) {
  if (form.isScaled())
    return Accumulator::F32;
  if (form.kind == MmaKind::I8)
    return number == 2 ? std::optional(Accumulator::S32) : std::nullopt;
  if (number == 1)
    return Accumulator::F32;
  return number == 0 && form.kind != MmaKind::TF32 ? std::optional(Accumulator::F16) : std::nullopt;
}

/// Returns true if M and N are valid for the kind and the number of CTAs: PTX ISA 9.7.16.2.1.
bool isShape(const MmaForm &form, unsigned m, unsigned n) {
  constexpr unsigned most = 256;
  if (n > most || n == 0)
    return false;
  if (form.isWeightStationary)
    return (m == 32 || m == 64 || m == 128) && (n == 64 || n == 128 || n == 256);
  const bool isInteger = form.kind == MmaKind::I8;
  if (form.ctaGroup == 2)
    return (m == 128 || m == 256) && n % (isInteger ? 32 : 16) == 0;
  if (form.isScaled())
    return m == 128 && n % 8 == 0;
  if (m == 64)
    return n % 8 == 0 && (!isInteger || n <= 24 || n % 16 == 0);
  return m == 128 && n % 16 == 0;
}

/// Returns true if an operand with these elements may be MN-major, which requires 8, 16 or 32 bits and no mxf4 kind.
bool mayBeLineMajor(Element element) {
  return bitsOf(element) >= 8;
}

std::string describeShape(const MmaForm &form, const MmaShape &shape) {
  return fmt::format("M {} and N {} are not a shape of this kind with cta_group::{}", shape.m, shape.n, form.ctaGroup);
}

std::string readScales(uint32_t bits, const MmaForm &form, MmaShape &shape) {
  shape.scaleType = field(bits, 23, 1) ? matrix::ScaleType::UE8M0 : matrix::ScaleType::UE4M3;
  shape.leftScale = field(bits, 29, 2);
  shape.rightScale = field(bits, 4, 2);
  const bool mayBeFraction = form.kind == MmaKind::MXF4NVF4;
  if (shape.scaleType == matrix::ScaleType::UE4M3 && !(mayBeFraction && form.scaleVector == 4))
    return "scales of ue4m3 belong to kind::mxf4nvf4 with blocks of 16";
  for (unsigned first : {shape.leftScale, shape.rightScale})
    if (first % form.scaleVector || first + form.scaleVector > 4)
      return fmt::format("{} scales from byte {} of a column", form.scaleVector, first);
  return "";
}

} // namespace

std::string readInstructionDescriptor(uint32_t bits, const MmaForm &form, MmaShape &shape) {
  const std::optional<Element> left = elementOf(form.kind, field(bits, 7, 3)),
                               right = elementOf(form.kind, field(bits, 10, 3));
  const std::optional<Accumulator> accumulator = accumulatorOf(form, field(bits, 4, 2));
  if (!left || !right)
    return fmt::format("{} and {} are not types of A and B for this kind", field(bits, 7, 3), field(bits, 10, 3));
  if (form.kind == MmaKind::F16 && left != right)
    return "A and B have different types";
  if (!accumulator)
    return fmt::format("{} is not a type of D for this kind", field(bits, 4, 2));
  if (field(bits, 2, 1))
    return "the bit for sparse factors is set, but the instruction is not .sp";
  shape.m = field(bits, 24, 5) * 16;
  shape.n = field(bits, 17, 6) * 8;
  if (!isShape(form, shape.m, shape.n))
    return describeShape(form, shape);
  shape.traits = {*left, *right, *accumulator};
  shape.traits.isBlackwell = true;
  shape.traits.saturate = !form.isScaled() && field(bits, 3, 1);
  if (shape.traits.saturate && form.kind != MmaKind::I8)
    return "the bit for saturation is set, which only kind::i8 has";
  shape.negateLeft = field(bits, 13, 1);
  shape.negateRight = field(bits, 14, 1);
  if ((shape.negateLeft || shape.negateRight) && form.kind == MmaKind::I8)
    return "kind::i8 cannot negate";
  shape.leftLineMajor = field(bits, 15, 1);
  shape.rightLineMajor = field(bits, 16, 1);
  if (shape.leftLineMajor && form.leftInTensor)
    return "A is in tensor memory and cannot be transposed";
  if ((shape.leftLineMajor && !mayBeLineMajor(*left)) || (shape.rightLineMajor && !mayBeLineMajor(*right)))
    return "a factor of 4- or 6-bit elements must be K-major";
  const bool isPacked = form.kind == MmaKind::MXF4 || form.kind == MmaKind::MXF4NVF4;
  const unsigned bitsOfStorage = isPacked ? 4 : std::max(8u, bitsOf(*left));
  constexpr unsigned depthBits = 256, chunkBits = 128;
  shape.k = depthBits / bitsOfStorage;
  shape.perChunk = chunkBits / bitsOfStorage;
  return form.isScaled() ? readScales(bits, form, shape) : "";
}

} // namespace tile::sim::tensor
