// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composition, inversion, product and quotient of layouts, and the two maps derived from them: where the elements of
// one distributed layout are in another (conversionMap), and at which offset of a buffer (memoryOffsets).

#include "Layout/LinearLayout.h"

#include <algorithm>
#include <cassert>

namespace tile::layout {

namespace {

std::vector<int64_t> inputShape(const LinearLayout &layout) {
  std::vector<int64_t> shape;
  for (const std::string &name : layout.inDimNames())
    shape.push_back(layout.inDimSize(name));
  return shape;
}

/// Row-major index in `shape` of a coordinate.
uint64_t rowMajor(const std::vector<int64_t> &shape, const std::vector<int32_t> &coordinate) {
  uint64_t flat = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    flat = flat * static_cast<uint64_t>(shape[axis]) + static_cast<uint64_t>(coordinate[axis]);
  return flat;
}

/// The input dimensions of a, then those of b that a lacks.
std::vector<std::string> unionOfNames(const LinearLayout &a, const LinearLayout &b) {
  std::vector<std::string> names = a.inDimNames();
  for (const std::string &name : b.inDimNames())
    if (!a.hasInDim(name))
      names.push_back(name);
  return names;
}

std::vector<int32_t> shifted(std::vector<int32_t> coordinate, const std::vector<int64_t> &factor) {
  for (size_t axis = 0; axis < coordinate.size(); ++axis)
    coordinate[axis] = static_cast<int32_t>(coordinate[axis] * factor[axis]);
  return coordinate;
}

std::optional<std::vector<int64_t>> dividedShape(const LinearLayout &layout, const LinearLayout &divisor) {
  if (layout.rank() != divisor.rank())
    return std::nullopt;
  std::vector<int64_t> shape;
  for (unsigned axis = 0; axis < layout.rank(); ++axis) {
    if (divisor.outShape()[axis] > layout.outShape()[axis])
      return std::nullopt;
    shape.push_back(layout.outShape()[axis] / divisor.outShape()[axis]);
  }
  return shape;
}

struct BitRange {
  unsigned first, count;
};
/// The bases that `keep` selects by the numbers of bits of the layout and the divisor, divided by `factor` and rounded
/// down (the caller multiplies back to see whether the quotient is exact); none if they leave `shape`.
std::optional<LinearLayout> dividedBases(const LinearLayout &layout, const LinearLayout &divisor,
                                         const std::vector<int64_t> &factor, const std::vector<int64_t> &shape,
                                         BitRange (*keep)(unsigned layoutBits, unsigned divisorBits)) {
  std::vector<InDim> inDims;
  for (const std::string &name : layout.inDimNames()) {
    unsigned layoutBits = layout.inDimSizeLog2(name), divisorBits = divisor.inDimSizeLog2(name);
    if (divisorBits > layoutBits)
      return std::nullopt;
    BitRange range = keep(layoutBits, divisorBits);
    Bases all = layout.bases(name);
    InDim dim{name, Bases(all.begin() + range.first, all.begin() + range.first + range.count)};
    for (std::vector<int32_t> &basis : dim.bases)
      for (size_t axis = 0; axis < basis.size(); ++axis)
        basis[axis] = static_cast<int32_t>(basis[axis] / factor[axis]);
    inDims.push_back(std::move(dim));
  }
  return LinearLayout::create(inDims, shape, nullptr);
}

} // namespace

LinearLayout compose(const LinearLayout &inner, const LinearLayout &outer) {
  assert(inner.outShape() == inputShape(outer) && "outputs of the inner layout must be the inputs of the outer one");
  std::vector<FlatInDim> inDims;
  for (const std::string &name : inner.inDimNames()) {
    FlatInDim &dim = inDims.emplace_back(FlatInDim{name, {}});
    for (const std::vector<int32_t> &basis : inner.bases(name))
      dim.bases.push_back(outer.applyFlat(outer.flattenInput(basis)));
  }
  return LinearLayout::fromFlat(inDims, outer.outShape());
}

std::optional<LinearLayout> rightInverse(const LinearLayout &layout) {
  std::optional<BitMatrix> matrix = layout.toMatrix().rightInverse();
  if (!matrix)
    return std::nullopt;
  std::vector<int64_t> outShape = inputShape(layout);
  std::vector<FlatInDim> inDims(layout.rank());
  unsigned row = 0; // row-major: the last dimension has the lowest rows
  for (unsigned axis = layout.rank(); axis-- > 0;) {
    inDims[axis].name = "dim" + std::to_string(axis);
    for (unsigned bit = 0; bit < layout.outSizeLog2(axis); ++bit)
      inDims[axis].bases.push_back(rowMajor(outShape, layout.unflattenInput(matrix->column(row++))));
  }
  return LinearLayout::fromFlat(inDims, std::move(outShape));
}

std::optional<LinearLayout> invert(const LinearLayout &layout) {
  return layout.isInjective() ? rightInverse(layout) : std::nullopt;
}

LinearLayout operator*(const LinearLayout &a, const LinearLayout &b) {
  assert(a.rank() == b.rank() && "factors of a product have the same rank");
  std::vector<int64_t> shape = a.outShape();
  for (size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] *= b.outShape()[axis];
  std::vector<InDim> inDims;
  for (const std::string &name : unionOfNames(a, b)) {
    InDim &dim = inDims.emplace_back(InDim{name, a.bases(name)});
    for (const std::vector<int32_t> &basis : b.bases(name))
      dim.bases.push_back(shifted(basis, a.outShape()));
  }
  return LinearLayout(inDims, std::move(shape));
}

std::optional<LinearLayout> divideLeft(const LinearLayout &layout, const LinearLayout &divisor) {
  std::optional<std::vector<int64_t>> shape = dividedShape(layout, divisor);
  if (!shape)
    return std::nullopt;
  std::optional<LinearLayout> quotient =
      dividedBases(layout, divisor, divisor.outShape(), *shape, [](unsigned layoutBits, unsigned divisorBits) {
        return BitRange{divisorBits, layoutBits - divisorBits};
      });
  return quotient && divisor * *quotient == layout ? quotient : std::nullopt;
}

std::optional<LinearLayout> divideRight(const LinearLayout &layout, const LinearLayout &divisor) {
  std::optional<std::vector<int64_t>> shape = dividedShape(layout, divisor);
  if (!shape)
    return std::nullopt;
  std::vector<int64_t> ones(layout.rank(), 1);
  std::optional<LinearLayout> quotient =
      dividedBases(layout, divisor, ones, *shape,
                   [](unsigned layoutBits, unsigned divisorBits) { return BitRange{0, layoutBits - divisorBits}; });
  return quotient && *quotient * divisor == layout ? quotient : std::nullopt;
}

LinearLayout concatenateInputs(const LinearLayout &a, const LinearLayout &b) {
  assert(a.outShape() == b.outShape() && "layouts with joined inputs have the same outputs");
  std::vector<FlatInDim> inDims;
  for (const std::string &name : unionOfNames(a, b)) {
    FlatInDim &dim = inDims.emplace_back(FlatInDim{name, a.flatBases(name)});
    std::vector<uint64_t> more = b.flatBases(name);
    dim.bases.insert(dim.bases.end(), more.begin(), more.end());
  }
  return LinearLayout::fromFlat(inDims, a.outShape());
}

LinearLayout concatenateOutputs(const LinearLayout &a, const LinearLayout &b) {
  assert(a.inDimNames() == b.inDimNames() && inputShape(a) == inputShape(b) && "layouts must have the same inputs");
  std::vector<int64_t> shape = a.outShape();
  shape.insert(shape.end(), b.outShape().begin(), b.outShape().end());
  std::vector<FlatInDim> inDims;
  for (const std::string &name : a.inDimNames()) {
    FlatInDim &dim = inDims.emplace_back(FlatInDim{name, a.flatBases(name)});
    std::vector<uint64_t> low = b.flatBases(name);
    for (size_t bit = 0; bit < low.size(); ++bit)
      dim.bases[bit] = dim.bases[bit] << b.totalOutBits() | low[bit];
  }
  return LinearLayout::fromFlat(inDims, std::move(shape));
}

LinearLayout conversionMap(const LinearLayout &src, const LinearLayout &dst) {
  assert(src.outShape() == dst.outShape() && src.numWarps() == dst.numWarps() && src.isSurjective() &&
         "a conversion needs the same tensor and the same warps");
  // Images of the src bits, registers first, then lanes, then warps; a prefix of them spans what is reachable without
  // crossing lanes, and without crossing warps. `express` returns the flat input of src.
  const BitMatrix &image = src.toMatrix();
  unsigned registerBits = src.inDimSizeLog2(registerDim);
  Span inThread, inWarp, anywhere(image.columns());
  for (unsigned bit = 0; bit < registerBits + laneBits; ++bit) {
    if (bit < registerBits)
      inThread.insert(image.column(bit));
    inWarp.insert(image.column(bit));
  }
  // The preimage of `element` that differs from `self` (the same lane or warp bit in src) as little as possible. The
  // choice for every bit is independent of the others and the map is linear in between, so if any linear map keeps all
  // lanes (or warps), this one does.
  auto source = [&](uint64_t element, uint64_t self) -> uint64_t {
    uint64_t difference = element ^ image.apply(self);
    if (std::optional<uint64_t> registers = inThread.express(difference))
      return self ^ *registers;
    bool selfIsWarp = self >> (registerBits + laneBits) != 0;
    if (std::optional<uint64_t> lanes = inWarp.express(selfIsWarp ? difference : element))
      return selfIsWarp ? self ^ *lanes : *lanes;
    return *anywhere.express(element);
  };

  std::vector<int64_t> outShape = inputShape(src);
  auto flatSource = [&](uint64_t element, uint64_t self) {
    return rowMajor(outShape, src.unflattenInput(source(element, self)));
  };
  std::vector<uint64_t> registers, lanes, warps;
  for (uint64_t element : dst.flatBases(registerDim))
    registers.push_back(flatSource(element, 0));
  uint64_t self = uint64_t(1) << registerBits;
  for (uint64_t element : dst.flatBases(laneDim)) {
    lanes.push_back(flatSource(element, self));
    self <<= 1;
  }
  for (uint64_t element : dst.flatBases(warpDim)) {
    warps.push_back(flatSource(element, self));
    self <<= 1;
  }
  return LinearLayout::distributed(std::move(registers), std::move(lanes), std::move(warps), std::move(outShape));
}

LinearLayout memoryOffsets(const LinearLayout &distributed, const LinearLayout &shared) {
  assert(distributed.outShape() == shared.outShape() && shared.isSurjective() && "tensor and buffer differ in shape");
  Span offsets(shared.toMatrix().columns());
  std::vector<FlatInDim> inDims;
  for (const std::string &name : distributed.inDimNames()) {
    FlatInDim &dim = inDims.emplace_back(FlatInDim{name, {}});
    for (uint64_t element : distributed.flatBases(name))
      dim.bases.push_back(*offsets.express(element));
  }
  return LinearLayout::fromFlat(inDims, {int64_t(1) << shared.totalInBits()});
}

} // namespace tile::layout
