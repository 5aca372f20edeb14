// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync with .kind (sm_120a): floats of 4, 6 and 8 bits, which may be mixed, and block scales. PTX ISA 9.7.14.5.
//
//   kind         shape      elements                              scales per line
//   f8f6f4       m16n8k32   a byte each; 4 bits at bit 2, 6 at 0  none
//   mxf8f6f4     m16n8k32   the same                              1 (ue8m0)
//   mxf4         m16n8k64   4 bits                                2 (ue8m0)
//   mxf4nvf4     m16n8k64   4 bits                                2 (ue8m0), or 4 (ue4m3, ue8m0)
//
// The scales of row r of A are in lane 4 * (r % 8) + 2 * t + r / 8, and those of column n of B in lane 4 * n + t, from
// byte b on. The operand {b, t} follows the register of scales.
//
// Not supported: sparse forms.
#include "Simulator/Exec/Matrix/Decoders.h"
#include "Simulator/Exec/Matrix/Fragments.h"
#include "Simulator/Machine/Machine.h"

#include <fmt/format.h>

namespace tile::sim::matrix {

namespace {

constexpr unsigned tileRows = 16, tileColumns = 8;

enum class Kind : uint8_t { F8F6F4, MXF8F6F4, MXF4, MXF4NVF4 };

/// The scales of an MMA operand: a register, and the constants {byte, thread}.
struct ScaleOperand {
  Source<uint32_t> values;
  Source<uint16_t> byte, thread;
};

class MmaKind final : public Operation {
public:
  MmaKind() { aligned = true; }

  Kind kind = Kind::F8F6F4;
  Shape shape;
  MmaTraits traits;
  unsigned scaleVector = 0; ///< number of scales per line; 0: none
  ScaleType scaleType = ScaleType::UE8M0;
  std::vector<Dest<uint32_t>> dests;
  std::vector<Source<uint32_t>> left, right, accumulators;
  ScaleOperand leftScales, rightScales;

  bool isPacked() const { return kind >= Kind::MXF4; }
  bool hasRightCounts() const {
    const size_t registers = traits.accumulator == Accumulator::F16 ? 2 : 4;
    return left.size() == 4 && right.size() == 2 && accumulators.size() == registers && dests.size() == registers;
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (!isWholeWarp(warp, *this))
      return Step::Fault;
    const FactorBits leftBits = gather(warp, left, true), rightBits = gather(warp, right, false);
    uint32_t result[tileRows * tileColumns], scratch[warpSize];
    const bool isHalf = traits.accumulator == Accumulator::F16;
    for (unsigned i = 0; i < accumulators.size(); ++i) {
      const uint32_t *values = accumulators[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        elementOf(result, lane, isHalf ? 2 * i : i) = isHalf ? values[lane] & 0xffff : values[lane];
        if (isHalf)
          elementOf(result, lane, 2 * i + 1) = values[lane] >> 16;
      }
    }
    if (scaleVector) {
      BlockScales scales[2];
      if (!gatherScales(warp, leftScales, tileRows, scales[0]) ||
          !gatherScales(warp, rightScales, tileColumns, scales[1]))
        return Step::Fault;
      multiplyAdd(traits, leftBits, scales[0], rightBits, scales[1], result);
    } else {
      multiplyAdd(traits, leftBits, rightBits, result);
    }
    for (unsigned i = 0; i < dests.size(); ++i) {
      for (unsigned lane = 0; lane < warpSize; ++lane)
        scratch[lane] = isHalf ? elementOf(result, lane, 2 * i) | elementOf(result, lane, 2 * i + 1) << 16
                               : elementOf(result, lane, i);
      dests[i].write(warp, active, scratch);
    }
    if (Observer *observer = warp.cta.cluster.machine.observer)
      observer->tensorCore(warp, *instruction, uint64_t(tileRows) * tileColumns * shape.k);
    return Step::Next;
  }

private:
  static uint32_t &elementOf(uint32_t (&result)[tileRows * tileColumns], unsigned lane, unsigned index) {
    const Position position = accumulatorPosition(lane, index);
    return result[position.row * tileColumns + position.column];
  }

  FactorBits gather(const Warp &warp, const std::vector<Source<uint32_t>> &sources, bool isLeft) const {
    const unsigned storage = isPacked() ? 4 : 8, perRegister = 32 / storage;
    FactorBits factor(isLeft ? tileRows : tileColumns, shape.k);
    uint32_t scratch[warpSize];
    for (unsigned i = 0; i < sources.size(); ++i) {
      const uint32_t *values = sources[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        const Position at = isLeft ? leftPosition(lane, i, perRegister) : rightPosition(lane, i, perRegister);
        spread(factor, storage, isLeft ? at.row : at.column, isLeft ? at.column : at.row, values[lane]);
      }
    }
    const unsigned bits = bitsOf(isLeft ? traits.left : traits.right);
    if (!isPacked() && bits < storage)
      for (uint32_t &element : factor.bits)
        element = bits == 4 ? element >> 2 & 0xf : element & 0x3f;
    return factor;
  }

  bool gatherScales(Warp &warp, const ScaleOperand &operand, unsigned lines, BlockScales &scales) const {
    const unsigned byte = operand.byte.one(warp, 0), thread = operand.thread.one(warp, 0),
                   threads = lines == tileRows ? 2 : 4;
    if (byte % scaleVector || byte + scaleVector > 4 || thread >= threads) {
      warp.fault(ReportKind::InvalidOperand, instruction->loc, -1,
                 fmt::format("{}: scales from byte {} of thread {}; a register holds {} scales at a time, and the "
                             "thread must be from 0 to {}",
                             instruction->text(), byte, thread, scaleVector, threads - 1));
      return false;
    }
    uint32_t scratch[warpSize];
    const uint32_t *values = operand.values.read(warp, scratch);
    scales.lines = lines;
    scales.blockSize = shape.k / scaleVector;
    for (unsigned block = 0; block < scaleVector; ++block)
      for (unsigned line = 0; line < lines; ++line) {
        const unsigned lane = lines == tileRows ? line % 8 * 4 + thread * 2 + line / 8 : line * 4 + thread;
        addScale(scales, scaleType, uint8_t(values[lane] >> 8 * (byte + block)));
      }
    return true;
  }
};

template <typename T, typename Take> std::vector<T> takeAll(Decoding &d, size_t operand, Take &&take) {
  std::vector<T> all;
  for (const Operand &element : elementsOf(d.operand(operand)))
    all.push_back(take(element));
  return all;
}

/// Takes .kind{.block_scale{.scale_vec}}, which may stand before the shape or after the layouts.
bool takeKind(Decoding &d, MmaKind &mma) {
  const int kind = d.takeOne({"kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  if (kind < 0)
    return false;
  mma.kind = Kind(kind);
  if (mma.kind == Kind::F8F6F4)
    return true;
  if (!d.take("block_scale"))
    return false;
  constexpr unsigned only[] = {0, 1, 2, 0};
  const int vector = d.takeOne({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
  mma.scaleVector = vector < 0 ? only[kind] : 1u << vector;
  return mma.kind == Kind::MXF4NVF4 ? mma.scaleVector == 2 || mma.scaleVector == 4 : mma.scaleVector == only[kind];
}

std::optional<Element> takeSmallElement(Decoding &d) {
  constexpr Element elements[] = {Element::E4M3, Element::E5M2, Element::E2M3, Element::E3M2, Element::E2M1};
  const int element = d.takeOne({"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"});
  return element < 0 ? std::nullopt : std::optional(elements[element]);
}

bool takeTypes(Decoding &d, MmaKind &mma) {
  const std::optional<Accumulator> result = takeAccumulator(d);
  const std::optional<Element> left = takeSmallElement(d), right = takeSmallElement(d);
  const std::optional<Accumulator> sum = takeAccumulator(d);
  if (!result || !left || !right || result != sum || *result == Accumulator::S32)
    return false;
  mma.traits = {*left, *right, *result};
  mma.traits.isBlackwell = true;
  if (mma.isPacked() && (*left != Element::E2M1 || *right != Element::E2M1))
    return false;
  if (!mma.scaleVector)
    return true;
  const int type = d.takeOne({"ue8m0", "ue4m3"});
  mma.scaleType = ScaleType(type);
  return type == 0 ? *result == Accumulator::F32
                   : type == 1 && mma.kind == Kind::MXF4NVF4 && mma.scaleVector == 4 && *result == Accumulator::F32;
}

ScaleOperand takeScales(Decoding &d, size_t operand) {
  const std::span<const Operand> where = elementsOf(d.operand(operand + 1));
  return {d.source<uint32_t>(elementsOf(d.operand(operand)).front()), d.source<uint16_t>(where[0]),
          d.source<uint16_t>(where[1])};
}

} // namespace

Result<OperationPtr> decodeMmaKind(Decoding &d) {
  auto operation = std::make_unique<MmaKind>();
  bool hasKind = takeKind(d, *operation);
  const std::optional<Shape> shape = takeShape(d);
  if (!shape || !d.take("row") || !d.take("col"))
    return d.unsupported();
  hasKind = hasKind || takeKind(d, *operation);
  const unsigned depth = operation->isPacked() ? 64 : 32;
  if (!hasKind || shape->m != tileRows || shape->n != tileColumns || shape->k != depth || !takeTypes(d, *operation) ||
      !d.finished(operation->scaleVector ? 8 : 4))
    return d.unsupported();
  operation->shape = *shape;
  operation->dests = takeAll<Dest<uint32_t>>(d, 0, [&](const Operand &one) { return d.dest<uint32_t>(one); });
  auto take = [&](const Operand &one) { return d.source<uint32_t>(one); };
  operation->left = takeAll<Source<uint32_t>>(d, 1, take);
  operation->right = takeAll<Source<uint32_t>>(d, 2, take);
  operation->accumulators = takeAll<Source<uint32_t>>(d, 3, take);
  if (!operation->hasRightCounts())
    return d.error("the operands have the wrong number of registers");
  if (operation->scaleVector) {
    if (elementsOf(d.operand(4)).size() != 1 || elementsOf(d.operand(5)).size() != 2 ||
        elementsOf(d.operand(6)).size() != 1 || elementsOf(d.operand(7)).size() != 2)
      return d.unsupported();
    operation->leftScales = takeScales(d, 4);
    operation->rightScales = takeScales(d, 6);
  }
  return OperationPtr(std::move(operation));
}

} // namespace tile::sim::matrix
