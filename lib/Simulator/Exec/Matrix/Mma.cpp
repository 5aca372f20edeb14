// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync: one warp multiplies two small matrices in its registers. PTX ISA 9.7.14.5.
//
// Not supported: m8n8k4 with f16 (sm_70 only), sparse forms (.sp), and the older wmma. MmaKind.cpp has the forms with
// .kind.
#include "Simulator/Exec/Matrix/Decoders.h"
#include "Simulator/Exec/Matrix/Fragments.h"
#include "Simulator/Machine/Machine.h"

#include <algorithm>

namespace tile::sim::matrix {

namespace {

constexpr unsigned columns = 8; ///< n in all shapes

/// Returns the registers of a fragment.
template <typename T> std::vector<Source<T>> takeSources(Decoding &d, size_t operand) {
  std::vector<Source<T>> sources;
  for (const Operand &element : elementsOf(d.operand(operand)))
    sources.push_back(d.source<T>(element));
  return sources;
}
template <typename T> std::vector<Dest<T>> takeDests(Decoding &d, size_t operand) {
  std::vector<Dest<T>> dests;
  for (const Operand &element : elementsOf(d.operand(operand)))
    dests.push_back(d.dest<T>(element));
  return dests;
}

class Mma final : public Operation {
public:
  Mma(Shape shape, const MmaTraits &traits, Decoding &d)
      : shape(shape), traits(traits), dests(takeDests<uint32_t>(d, 0)), left(takeSources<uint32_t>(d, 1)),
        right(takeSources<uint32_t>(d, 2)), accumulators(takeSources<uint32_t>(d, 3)) {
    aligned = true;
  }

  bool hasRightCounts() const {
    unsigned bits = bitsOf(traits.left), perAccumulator = traits.accumulator == Accumulator::F16 ? 2 : 1;
    return left.size() == shape.m * shape.k * bits / 1024 && right.size() == columns * shape.k * bits / 1024 &&
           accumulators.size() == shape.m * columns / warpSize / perAccumulator && dests.size() == accumulators.size();
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (!isWholeWarp(warp, *this))
      return Step::Fault;
    unsigned bits = bitsOf(traits.left), perRegister = 32 / bits;
    FactorBits leftBits(shape.m, shape.k), rightBits(columns, shape.k);
    uint32_t scratch[warpSize];
    for (unsigned i = 0; i < left.size(); ++i) {
      const uint32_t *values = left[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        Position position = leftPosition(lane, i, perRegister, shape.m);
        spread(leftBits, bits, position.row, position.column, values[lane]);
      }
    }
    for (unsigned i = 0; i < right.size(); ++i) {
      const uint32_t *values = right[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        Position position = rightPosition(lane, i, perRegister);
        spread(rightBits, bits, position.column, position.row, values[lane]);
      }
    }
    uint32_t result[16 * columns];
    bool isPacked = traits.accumulator == Accumulator::F16;
    for (unsigned i = 0; i < accumulators.size(); ++i) {
      const uint32_t *values = accumulators[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        if (isPacked) {
          elementOf(result, lane, 2 * i) = values[lane] & 0xffff;
          elementOf(result, lane, 2 * i + 1) = values[lane] >> 16;
        } else {
          elementOf(result, lane, i) = values[lane];
        }
      }
    }
    multiplyAdd(traits, leftBits, rightBits, result);
    for (unsigned i = 0; i < dests.size(); ++i) {
      for (unsigned lane = 0; lane < warpSize; ++lane)
        scratch[lane] = isPacked ? elementOf(result, lane, 2 * i) | elementOf(result, lane, 2 * i + 1) << 16
                                 : elementOf(result, lane, i);
      dests[i].write(warp, active, scratch);
    }
    if (Observer *observer = warp.cta.cluster.machine.observer)
      observer->tensorCore(warp, *instruction, uint64_t(shape.m) * columns * shape.k);
    return Step::Next;
  }

private:
  static uint32_t &elementOf(uint32_t (&result)[16 * columns], unsigned lane, unsigned index) {
    Position position = accumulatorPosition(lane, index);
    return result[position.row * columns + position.column];
  }

  Shape shape;
  MmaTraits traits;
  std::vector<Dest<uint32_t>> dests;
  std::vector<Source<uint32_t>> left, right, accumulators;
};

class MmaDouble final : public Operation {
public:
  MmaDouble(Shape shape, Decoding &d)
      : shape(shape), dests(takeDests<double>(d, 0)), left(takeSources<double>(d, 1)), right(takeSources<double>(d, 2)),
        accumulators(takeSources<double>(d, 3)) {
    aligned = true;
  }

  bool hasRightCounts() const {
    return left.size() == shape.m * shape.k / warpSize && right.size() == columns * shape.k / warpSize &&
           accumulators.size() == shape.m * columns / warpSize && dests.size() == accumulators.size();
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (!isWholeWarp(warp, *this))
      return Step::Fault;
    double leftValues[16 * 16], rightValues[columns * 16], result[16 * columns], scratch[warpSize];
    for (unsigned i = 0; i < left.size(); ++i) {
      const double *values = left[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        Position position = leftPosition(lane, i, 1, shape.m);
        leftValues[position.row * shape.k + position.column] = values[lane];
      }
    }
    for (unsigned i = 0; i < right.size(); ++i) {
      const double *values = right[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        Position position = rightPosition(lane, i, 1);
        rightValues[position.column * shape.k + position.row] = values[lane];
      }
    }
    auto elementOf = [&](unsigned lane, unsigned index) -> double & {
      Position position = accumulatorPosition(lane, index);
      return result[position.row * columns + position.column];
    };
    for (unsigned i = 0; i < accumulators.size(); ++i) {
      const double *values = accumulators[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane)
        elementOf(lane, i) = values[lane];
    }
    multiplyAdd(shape.m, columns, shape.k, leftValues, rightValues, result);
    for (unsigned i = 0; i < dests.size(); ++i) {
      for (unsigned lane = 0; lane < warpSize; ++lane)
        scratch[lane] = elementOf(lane, i);
      dests[i].write(warp, active, scratch);
    }
    if (Observer *observer = warp.cta.cluster.machine.observer)
      observer->tensorCore(warp, *instruction, uint64_t(shape.m) * columns * shape.k);
    return Step::Next;
  }

private:
  Shape shape;
  std::vector<Dest<double>> dests;
  std::vector<Source<double>> left, right, accumulators;
};

/// Returns true for the m and k of a dense form with this type (tables of PTX ISA 9.7.14.5).
bool isShapeOf(Element element, Shape shape) {
  struct Row {
    Element element;
    unsigned m;
    unsigned k[3];
  };
  static constexpr Row rows[] = {
      {Element::F16, 16, {8, 16}},   {Element::BF16, 16, {8, 16}},   {Element::TF32, 16, {4, 8}},
      {Element::E4M3, 16, {16, 32}}, {Element::E5M2, 16, {16, 32}},  {Element::S8, 8, {16}},
      {Element::S8, 16, {16, 32}},   {Element::U8, 8, {16}},         {Element::U8, 16, {16, 32}},
      {Element::S4, 8, {32}},        {Element::S4, 16, {32, 64}},    {Element::U4, 8, {32}},
      {Element::U4, 16, {32, 64}},   {Element::B1, 8, {128}},        {Element::B1, 16, {128, 256}},
      {Element::F64, 8, {4}},        {Element::F64, 16, {4, 8, 16}},
  };
  return shape.n == columns && shape.k && std::any_of(std::begin(rows), std::end(rows), [&](const Row &row) {
           return row.element == element && row.m == shape.m &&
                  std::find(std::begin(row.k), std::end(row.k), shape.k) != std::end(row.k);
         });
}

} // namespace

Result<OperationPtr> decodeMma(Decoding &d) {
  if (!d.take("sync") || !d.take("aligned"))
    return d.unsupported();
  const std::vector<std::string> &suffixes = d.instruction.suffixes;
  if (std::any_of(suffixes.begin(), suffixes.end(), [](const std::string &s) { return s.starts_with("kind::"); }))
    return decodeMmaKind(d);
  std::optional<Shape> shape = takeShape(d);
  if (!shape || !d.take("row") || !d.take("col"))
    return d.unsupported();
  MmaTraits traits;
  traits.saturate = d.take("satfinite");
  if (d.take("f64")) {
    bool isDouble = d.take("f64") && d.take("f64") && d.take("f64");
    if (!isDouble || traits.saturate || !isShapeOf(Element::F64, *shape) || !d.finished(4))
      return d.unsupported();
    auto operation = std::make_unique<MmaDouble>(*shape, d);
    if (!operation->hasRightCounts())
      return d.error("the operands have the wrong number of registers");
    return OperationPtr(std::move(operation));
  }
  std::optional<Accumulator> result = takeAccumulator(d);
  std::optional<Element> left = takeElement(d), right = takeElement(d);
  std::optional<Accumulator> accumulator = takeAccumulator(d);
  if (!result || !left || !right || accumulator != result || !mayMultiply(*left, *right) ||
      !mayAccumulate(*left, *result) || !isShapeOf(*left, *shape))
    return d.unsupported();
  if (traits.saturate && (!isInteger(*left) || *left == Element::B1))
    return d.unsupported();
  if (*left == Element::B1) {
    int operation = d.takeOne({"xor", "and"});
    if (operation < 0 || !d.take("popc"))
      return d.unsupported();
    traits.isXor = operation == 0;
  }
  if (!d.finished(4))
    return d.unsupported();
  traits.left = *left;
  traits.right = *right;
  traits.accumulator = *result;
  auto operation = std::make_unique<Mma>(*shape, traits, d);
  if (!operation->hasRightCounts())
    return d.error("the operands have the wrong number of registers");
  return OperationPtr(std::move(operation));
}

} // namespace tile::sim::matrix
