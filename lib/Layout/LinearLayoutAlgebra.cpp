// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The direct sum of layouts, and two maps from the locations of a distributed layout: conversionMap finds the same
// element in another layout, and memoryOffsets finds its offset in a buffer.

#include "Layout/LinearLayout.h"

#include <cassert>

namespace tile::layout {

namespace {

std::vector<int64_t> inputShape(const LinearLayout &layout) {
  std::vector<int64_t> shape;
  for (const std::string &name : layout.inDimNames())
    shape.push_back(layout.inDimSize(name));
  return shape;
}

/// Returns the row-major index of a coordinate in `shape`.
uint64_t rowMajor(const std::vector<int64_t> &shape, const std::vector<int32_t> &coordinate) {
  uint64_t flat = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    flat = flat * static_cast<uint64_t>(shape[axis]) + static_cast<uint64_t>(coordinate[axis]);
  return flat;
}

/// Returns the input dimensions of a, followed by those of b that a lacks.
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

} // namespace

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

LinearLayout conversionMap(const LinearLayout &src, const LinearLayout &dst) {
  assert(src.outShape() == dst.outShape() && src.numWarps() == dst.numWarps() && src.isSurjective() &&
         "a conversion needs the same tensor and the same warps");
  // The images of the src bits, first of registers, then of lanes, then of warps. The first two groups span the
  // elements that can be reached without crossing lanes and without crossing warps, respectively. `express` returns a
  // flat input of src.
  const BitMatrix &image = src.toMatrix();
  unsigned registerBits = src.inDimSizeLog2(registerDim);
  Span inThread, inWarp, anywhere(image.columns());
  for (unsigned bit = 0; bit < registerBits + laneBits; ++bit) {
    if (bit < registerBits)
      inThread.insert(image.column(bit));
    inWarp.insert(image.column(bit));
  }
  // Returns the preimage of `element` that differs as little as possible from `self` (the same lane or warp bit in
  // src). The choice for each bit is independent of the others, and the map is linear. So if any linear map preserves
  // all lanes (or warps), this one does.
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
