// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape changes that move no element between threads; see ShapeTransforms.h.

#include "Layout/ShapeTransforms.h"

#include <algorithm>
#include <cassert>
#include <functional>

namespace tile::layout {

namespace {

LinearLayout withShape(const LinearLayout &layout, std::vector<int64_t> shape) {
  std::vector<FlatInDim> inDims;
  for (const std::string &name : layout.inDimNames())
    inDims.push_back({name, layout.flatBases(name)});
  return LinearLayout::fromFlat(inDims, std::move(shape));
}

} // namespace

LinearLayout projectDim(const LinearLayout &layout, unsigned axis) {
  assert(axis < layout.rank() && "no such dimension");
  // Extract the bits of the axis from the flat bases.
  unsigned below = 0;
  for (unsigned inner = axis + 1; inner < layout.rank(); ++inner)
    below += layout.outSizeLog2(inner);
  unsigned above = below + layout.outSizeLog2(axis);
  std::vector<FlatInDim> inDims;
  for (const std::string &name : layout.inDimNames()) {
    FlatInDim &dim = inDims.emplace_back(FlatInDim{name, layout.flatBases(name)});
    for (uint64_t &basis : dim.bases)
      basis = basis >> above << below | (basis & ((uint64_t(1) << below) - 1));
  }
  std::vector<int64_t> shape = layout.outShape();
  shape.erase(shape.begin() + axis);
  return LinearLayout::fromFlat(inDims, std::move(shape));
}

LinearLayout dropDuplicateRegisters(const LinearLayout &layout) {
  return LinearLayout::distributed(independentSubset(layout.flatBases(registerDim)), layout.flatBases(laneDim),
                                   layout.flatBases(warpDim), layout.outShape());
}

LinearLayout removeDim(const LinearLayout &layout, unsigned axis) {
  return dropDuplicateRegisters(projectDim(layout, axis));
}

LinearLayout insertUnitDim(const LinearLayout &layout, unsigned axis) {
  assert(axis <= layout.rank() && "no such dimension");
  std::vector<int64_t> shape = layout.outShape();
  shape.insert(shape.begin() + axis, 1);
  return withShape(layout, std::move(shape));
}

LinearLayout repeatDim(const LinearLayout &layout, unsigned axis, int64_t size) {
  assert(layout.outShape()[axis] == 1 && "already has elements along the axis");
  std::vector<int64_t> shape(layout.rank(), 1);
  shape[axis] = size;
  std::vector<uint64_t> bases;
  for (int64_t step = 1; step < size; step *= 2)
    bases.push_back(step);
  return layout * LinearLayout::fromFlat({{std::string(registerDim), bases}}, shape);
}

std::optional<LinearLayout> firstPart(const LinearLayout &layout, unsigned axis, int64_t size) {
  std::vector<InDim> inDims = layout.inDims();
  for (InDim &dim : inDims) {
    Bases kept;
    for (const std::vector<int32_t> &basis : dim.bases) {
      if (basis[axis] < size) {
        kept.push_back(basis);
        continue;
      }
      std::vector<int32_t> straight(basis.size(), 0);
      straight[axis] = basis[axis];
      if (dim.name != registerDim || basis != straight || basis[axis] % size != 0)
        return std::nullopt;
    }
    dim.bases = std::move(kept);
  }
  std::vector<int64_t> shape = layout.outShape();
  shape[axis] = size;
  return LinearLayout(inDims, std::move(shape));
}

std::vector<int32_t> registersOfPart(const LinearLayout &layout, unsigned axis, int64_t size) {
  // Independent steps of lanes and warps along the axis, each with a different highest bit.
  std::vector<int32_t> steps;
  for (std::string_view name : {laneDim, warpDim})
    for (const std::vector<int32_t> &basis : layout.bases(name)) {
      int32_t step = basis[axis];
      for (int32_t other : steps)
        step = std::min(step, step ^ other);
      if (step != 0)
        steps.insert(std::lower_bound(steps.begin(), steps.end(), step, std::greater<>()), step);
    }
  Bases registers = layout.bases(registerDim);
  std::vector<int32_t> inside;
  for (int32_t index = 0; index < layout.numRegisters(); ++index) {
    int32_t least = 0;
    for (size_t bit = 0; bit < registers.size(); ++bit)
      least ^= index >> bit & 1 ? registers[bit][axis] : 0;
    for (int32_t step : steps)
      least = std::min(least, least ^ step);
    if (least < size)
      inside.push_back(index);
  }
  return inside;
}

LinearLayout embed(const LinearLayout &layout, std::vector<int64_t> shape) {
  return LinearLayout(layout.inDims(), std::move(shape));
}

LinearLayout reshape(const LinearLayout &layout, std::vector<int64_t> newShape) {
  LinearLayout result = withShape(layout, std::move(newShape));
  assert(result.numElements() == layout.numElements() && "a reshape keeps the number of elements");
  return result;
}

LinearLayout permuteDims(const LinearLayout &layout, const std::vector<unsigned> &order) {
  assert(order.size() == layout.rank() && "a permutation names every dimension");
  std::vector<int64_t> shape;
  for (unsigned axis : order)
    shape.push_back(layout.outShape()[axis]);
  std::vector<InDim> inDims = layout.inDims();
  for (InDim &dim : inDims)
    for (std::vector<int32_t> &basis : dim.bases) {
      std::vector<int32_t> permuted;
      for (unsigned axis : order)
        permuted.push_back(basis[axis]);
      basis = std::move(permuted);
    }
  return LinearLayout(inDims, std::move(shape));
}

LinearLayout joinLayout(const LinearLayout &layout) {
  LinearLayout widened = insertUnitDim(layout, layout.rank());
  std::vector<int64_t> one(layout.rank(), 1);
  one.push_back(2);
  // The pair is the innermost dimension: a register bit below all others, and the lowest bit of the row-major index.
  return LinearLayout::fromFlat({{std::string(registerDim), {1}}}, one) * widened;
}

int32_t SlicedLayout::sourceRegister(int32_t index, int32_t slice) const {
  int32_t result = index;
  // Bits are inserted from the lowest to the highest, so that the positions of the bits still to be inserted stay
  // valid.
  for (size_t i = 0; i < droppedBits.size(); ++i) {
    int32_t low = result & ((int32_t(1) << droppedBits[i]) - 1);
    result = ((result - low) << 1) | (((slice >> i) & 1) << droppedBits[i]) | low;
  }
  return result;
}

std::optional<SlicedLayout> sliceDim(const LinearLayout &layout, unsigned axis, int64_t size) {
  std::vector<int64_t> shape = layout.outShape();
  assert(axis < shape.size() && size > 0 && shape[axis] % size == 0 && "slices are equal parts of a dimension");
  std::vector<InDim> inDims = layout.inDims();
  SlicedLayout sliced;
  for (InDim &dim : inDims) {
    Bases kept;
    for (size_t bit = 0; bit < dim.bases.size(); ++bit) {
      std::vector<int32_t> basis = dim.bases[bit], inside = basis;
      inside[axis] %= size;
      if (inside == basis) {
        kept.push_back(basis);
        continue;
      }
      // The bit selects the slice. It must have no other effect, and must be the register bit that selects the next
      // power of two.
      bool onlySelects = std::all_of(inside.begin(), inside.end(), [](int32_t step) { return step == 0; });
      if (dim.name != registerDim || !onlySelects || basis[axis] != size << sliced.droppedBits.size())
        return std::nullopt;
      sliced.droppedBits.push_back(unsigned(bit));
    }
    dim.bases = kept;
  }
  if (size << sliced.droppedBits.size() != shape[axis])
    return std::nullopt;
  shape[axis] = size;
  sliced.layout = LinearLayout(inDims, std::move(shape));
  return sliced;
}

} // namespace tile::layout
