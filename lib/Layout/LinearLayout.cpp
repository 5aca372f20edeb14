// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Construction, queries and validation of layouts; the algebra is in LinearLayoutAlgebra.cpp.

#include "Layout/LinearLayout.h"

#include "Layout/PowerOfTwo.h"

#include <bit>
#include <cassert>

namespace tile::layout {

namespace {

std::string describe(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t index = 0; index < values.size(); ++index)
    text += (index ? ", " : "") + std::to_string(values[index]);
  return text + "]";
}

/// Returns a message about the first error in a shape, or an empty string.
std::string checkShape(const std::vector<int64_t> &shape) {
  unsigned bits = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] <= 0 || shape[axis] > int64_t(1) << 30 || !std::has_single_bit(static_cast<uint64_t>(shape[axis])))
      return "dimension " + std::to_string(axis) + " of " + describe(shape) + " is " + std::to_string(shape[axis]) +
             ", expected a power of two up to 2^30";
    bits += log2Of(shape[axis]);
  }
  // No tile has nearly as many elements, and an offset below 2^48 does not overflow when it is scaled to bytes.
  return bits <= 48 ? "" : "shape " + describe(shape) + " has more than 2^48 elements";
}

std::string checkBases(const InDim &dim, const std::vector<int64_t> &shape) {
  for (size_t bit = 0; bit < dim.bases.size(); ++bit) {
    const std::vector<int32_t> &basis = dim.bases[bit];
    auto place = [&] { return "basis " + std::to_string(bit) + " of '" + dim.name + "'"; };
    if (basis.size() != shape.size())
      return place() + " has " + std::to_string(basis.size()) + " coordinates but the shape has " +
             std::to_string(shape.size()) + " dimensions";
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (basis[axis] < 0 || basis[axis] >= shape[axis])
        return place() + " has coordinate " + std::to_string(basis[axis]) + " in dimension " + std::to_string(axis) +
               ", expected 0 to " + std::to_string(shape[axis] - 1);
  }
  return "";
}

std::string checkDims(const std::vector<InDim> &inDims, const std::vector<int64_t> &shape) {
  size_t bits = 0;
  for (size_t index = 0; index < inDims.size(); ++index) {
    for (size_t earlier = 0; earlier < index; ++earlier)
      if (inDims[earlier].name == inDims[index].name)
        return "input dimension '" + inDims[index].name + "' occurs twice";
    if (std::string message = checkBases(inDims[index], shape); !message.empty())
      return message;
    bits += inDims[index].bases.size();
  }
  return bits <= 48 ? "" : "layout has " + std::to_string(bits) + " input bits, expected at most 48";
}

uint64_t flattenIn(const std::vector<int64_t> &shape, const std::vector<int32_t> &coordinate) {
  uint64_t flat = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    flat = flat << log2Of(shape[axis]) | static_cast<uint64_t>(coordinate[axis]);
  return flat;
}

} // namespace

std::optional<LinearLayout> LinearLayout::create(const std::vector<InDim> &inDims, std::vector<int64_t> outShape,
                                                 std::string *error) {
  std::string message = checkShape(outShape);
  if (message.empty())
    message = checkDims(inDims, outShape);
  if (!message.empty()) {
    if (error)
      *error = std::move(message);
    return std::nullopt;
  }
  std::vector<FlatInDim> flatDims;
  for (const InDim &dim : inDims) {
    FlatInDim &flat = flatDims.emplace_back(FlatInDim{dim.name, {}});
    for (const std::vector<int32_t> &basis : dim.bases)
      flat.bases.push_back(flattenIn(outShape, basis));
  }
  return fromFlat(flatDims, std::move(outShape));
}

LinearLayout::LinearLayout(const std::vector<InDim> &inDims, std::vector<int64_t> outShape) {
  std::optional<LinearLayout> layout = create(inDims, std::move(outShape), nullptr);
  assert(layout && "malformed layout; use LinearLayout::create to learn why");
  *this = std::move(*layout);
}

LinearLayout LinearLayout::fromFlat(const std::vector<FlatInDim> &inDims, std::vector<int64_t> outShape) {
  assert(checkShape(outShape).empty() && "malformed shape");
  LinearLayout layout;
  std::vector<uint64_t> columns;
  for (const FlatInDim &dim : inDims) {
    assert(!layout.hasInDim(dim.name) && "input dimension occurs twice");
    columns.insert(columns.end(), dim.bases.begin(), dim.bases.end());
    layout.names.push_back(dim.name);
    layout.starts.push_back(static_cast<unsigned>(columns.size()));
  }
  unsigned rows = 0;
  for (int64_t size : outShape)
    rows += log2Of(size);
  layout.matrix = BitMatrix(rows, std::move(columns));
  layout.shape = std::move(outShape);
  return layout;
}

LinearLayout LinearLayout::distributed(std::vector<uint64_t> registers, std::vector<uint64_t> lanes,
                                       std::vector<uint64_t> warps, std::vector<int64_t> outShape) {
  assert(lanes.size() == laneBits && "a warp has 32 lanes");
  return fromFlat({{std::string(registerDim), std::move(registers)},
                   {std::string(laneDim), std::move(lanes)},
                   {std::string(warpDim), std::move(warps)}},
                  std::move(outShape));
}

LinearLayout LinearLayout::shared(std::vector<uint64_t> offsets, std::vector<int64_t> outShape) {
  return fromFlat({{std::string(offsetDim), std::move(offsets)}}, std::move(outShape));
}

size_t LinearLayout::hash() const {
  size_t seed = 0;
  auto mix = [&](uint64_t value) {
    seed ^= std::hash<uint64_t>()(value) + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2);
  };
  for (const std::string &name : names)
    mix(std::hash<std::string>()(name));
  for (unsigned start : starts)
    mix(start);
  for (int64_t size : shape)
    mix(static_cast<uint64_t>(size));
  for (uint64_t column : matrix.columns())
    mix(column);
  return seed;
}

std::optional<size_t> LinearLayout::findInDim(std::string_view name) const {
  for (size_t index = 0; index < names.size(); ++index)
    if (names[index] == name)
      return index;
  return std::nullopt;
}

bool LinearLayout::hasInDim(std::string_view name) const {
  return findInDim(name).has_value();
}

unsigned LinearLayout::inDimSizeLog2(std::string_view name) const {
  std::optional<size_t> index = findInDim(name);
  return index ? starts[*index + 1] - starts[*index] : 0;
}

std::vector<uint64_t> LinearLayout::flatBases(std::string_view name) const {
  std::optional<size_t> index = findInDim(name);
  if (!index)
    return {};
  return {matrix.columns().begin() + starts[*index], matrix.columns().begin() + starts[*index + 1]};
}

Bases LinearLayout::bases(std::string_view name) const {
  Bases result;
  for (uint64_t flat : flatBases(name))
    result.push_back(unflatten(flat));
  return result;
}

std::vector<InDim> LinearLayout::inDims() const {
  std::vector<InDim> result;
  for (const std::string &name : names)
    result.push_back({name, bases(name)});
  return result;
}

unsigned LinearLayout::outSizeLog2(unsigned axis) const {
  assert(axis < shape.size() && "no such output dimension");
  return log2Of(shape[axis]);
}

uint64_t LinearLayout::flatten(const std::vector<int32_t> &coordinate) const {
  assert(coordinate.size() == shape.size() && "coordinate has the wrong rank");
  return flattenIn(shape, coordinate);
}

std::vector<int32_t> LinearLayout::unflatten(uint64_t flat) const {
  std::vector<int32_t> coordinate(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    coordinate[axis] = static_cast<int32_t>(flat & static_cast<uint64_t>(shape[axis] - 1));
    flat >>= log2Of(shape[axis]);
  }
  return coordinate;
}

uint64_t LinearLayout::applyFlat(Input input) const {
  uint64_t flatInput = 0;
  for (const auto &[name, value] : input) {
    std::optional<size_t> index = findInDim(name);
    assert(index && "no such input dimension");
    assert(value >= 0 && value < inDimSize(name) && "input out of range");
    flatInput |= static_cast<uint64_t>(value) << starts[*index];
  }
  return matrix.apply(flatInput);
}

std::vector<int32_t> LinearLayout::unflattenInput(uint64_t flatInput) const {
  std::vector<int32_t> input(names.size());
  for (size_t index = 0; index < input.size(); ++index) {
    unsigned bits = starts[index + 1] - starts[index];
    input[index] = static_cast<int32_t>(flatInput >> starts[index] & ((uint64_t(1) << bits) - 1));
  }
  return input;
}

bool LinearLayout::hasBroadcast(std::string_view name) const {
  for (uint64_t basis : flatBases(name))
    if (basis == 0)
      return true;
  return false;
}

std::optional<std::string> verifyDistributed(const LinearLayout &layout) {
  const std::vector<std::string> &names = layout.inDimNames();
  if (names.size() != 3 || names[0] != registerDim || names[1] != laneDim || names[2] != warpDim)
    return "a distributed layout has the input dimensions register, lane, warp in this order";
  if (layout.inDimSizeLog2(laneDim) != laneBits)
    return "'lane' has " + std::to_string(layout.inDimSizeLog2(laneDim)) + " bases, expected 5";
  unsigned rank = layout.toMatrix().rank();
  if (rank != layout.totalOutBits())
    return "layout covers 2^" + std::to_string(rank) + " of the 2^" + std::to_string(layout.totalOutBits()) +
           " elements of " + describe(layout.outShape()) + ", expected all";
  return std::nullopt;
}

std::optional<std::string> verifyShared(const LinearLayout &layout) {
  const std::vector<std::string> &names = layout.inDimNames();
  if (names.size() != 1 || names[0] != offsetDim)
    return "a shared-memory layout must have exactly one input dimension, offset";
  if (!layout.isBijective())
    return "layout of " + std::to_string(layout.inDimSize(offsetDim)) + " offsets and " +
           std::to_string(layout.numElements()) + " elements is not one-to-one";
  return std::nullopt;
}

} // namespace tile::layout
