// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout maps each hardware location to the element of a tensor that it holds, as a linear map over GF(2).
//
//   tensor [4, 8], two registers, 4 lanes (in reality 32):         basis of        coordinate
//     register 0 1   lane 0 1 2 3                                 register bit 0  [0, 1]
//                                                                 lane bit 0      [0, 2]
//     coordinate(r, l) = XOR of the bases of the set bits         lane bit 1      [0, 4]
//     e.g. r = 1, l = 3 holds [0, 1 ^ 2 ^ 4] = [0, 7]             a zero basis    the same element again (broadcast)
//
// Input dimensions are named and ordered; a *distributed* layout has "register", "lane" (5 bits) and "warp", a *shared*
// layout has "offset" (in elements). Output dimensions are positional and have power-of-two sizes. Internally, a
// coordinate is represented by its row-major index (called flat: the last dimension has the lowest bits), and an input
// by the concatenation of its dimensions (the first one has the lowest bits). So the map is a single BitMatrix, and a
// row-major reshape changes only the shape.
#pragma once

#include "Layout/BitMatrix.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tile::layout {

inline constexpr std::string_view registerDim = "register";
inline constexpr std::string_view laneDim = "lane";
inline constexpr std::string_view warpDim = "warp";
inline constexpr std::string_view offsetDim = "offset";
inline constexpr unsigned laneBits = 5; // 32 lanes per warp on every CUDA GPU
inline constexpr int64_t lanesPerWarp = int64_t(1) << laneBits;

/// The bases of an input dimension, one for each bit; a basis is a coordinate.
using Bases = std::vector<std::vector<int32_t>>;

struct InDim {
  std::string name;
  Bases bases;
  bool operator==(const InDim &) const = default;
};

/// An input dimension whose bases are row-major element indices.
struct FlatInDim {
  std::string name;
  std::vector<uint64_t> bases;
};

class LinearLayout {
public:
  LinearLayout() = default;
  /// Asserts the conditions that `create` checks.
  LinearLayout(const std::vector<InDim> &inDims, std::vector<int64_t> outShape);

  /// Creates a layout from untrusted bases (parsed from text or taken from attributes). Returns nullopt and sets
  /// `error` if a size is not a power of two, a basis is outside the shape or has the wrong rank, a name occurs twice,
  /// or there are too many bits.
  static std::optional<LinearLayout> create(const std::vector<InDim> &inDims, std::vector<int64_t> outShape,
                                            std::string *error);
  static LinearLayout fromFlat(const std::vector<FlatInDim> &inDims, std::vector<int64_t> outShape);
  /// Creates a distributed layout from row-major bases.
  static LinearLayout distributed(std::vector<uint64_t> registers, std::vector<uint64_t> lanes,
                                  std::vector<uint64_t> warps, std::vector<int64_t> outShape);
  /// Creates a shared-memory layout from row-major bases.
  static LinearLayout shared(std::vector<uint64_t> offsets, std::vector<int64_t> outShape);

  bool operator==(const LinearLayout &other) const = default;
  size_t hash() const;

  // Input dimensions.
  const std::vector<std::string> &inDimNames() const { return names; }
  bool hasInDim(std::string_view name) const;
  /// Returns 0 if the layout has no such dimension.
  unsigned inDimSizeLog2(std::string_view name) const;
  int64_t inDimSize(std::string_view name) const { return int64_t(1) << inDimSizeLog2(name); }
  unsigned totalInBits() const { return matrix.numColumns(); }
  Bases bases(std::string_view name) const;
  std::vector<uint64_t> flatBases(std::string_view name) const;
  std::vector<InDim> inDims() const;
  int64_t numRegisters() const { return inDimSize(registerDim); }
  int64_t numWarps() const { return inDimSize(warpDim); }

  // Output dimensions.
  const std::vector<int64_t> &outShape() const { return shape; }
  unsigned rank() const { return static_cast<unsigned>(shape.size()); }
  unsigned outSizeLog2(unsigned axis) const;
  unsigned totalOutBits() const { return matrix.numRows(); }
  int64_t numElements() const { return int64_t(1) << totalOutBits(); }
  uint64_t flatten(const std::vector<int32_t> &coordinate) const;
  std::vector<int32_t> unflatten(uint64_t flat) const;

  // Evaluation of the map.
  using Input = std::initializer_list<std::pair<std::string_view, int64_t>>;
  /// An input dimension that is omitted has the value 0.
  std::vector<int32_t> apply(Input input) const { return unflatten(applyFlat(input)); }
  uint64_t applyFlat(Input input) const;
  uint64_t applyFlat(uint64_t flatInput) const { return matrix.apply(flatInput); }
  /// Splits an input into its dimensions; the first dimension has the lowest bits.
  std::vector<int32_t> unflattenInput(uint64_t flatInput) const;
  const BitMatrix &toMatrix() const { return matrix; }

  bool isSurjective() const { return matrix.isSurjective(); }
  bool isInjective() const { return matrix.isInjective(); }
  bool isBijective() const { return isSurjective() && isInjective(); }
  /// Returns true if the input dimension has a zero basis, which means that elements are replicated along it.
  bool hasBroadcast(std::string_view name) const;

private:
  std::optional<size_t> findInDim(std::string_view name) const;

  std::vector<std::string> names;
  std::vector<unsigned> starts = {0}; // first column of each input dimension, then the total
  std::vector<int64_t> shape;
  BitMatrix matrix;
};

/// Returns an error message unless `layout` is a valid distributed layout (register, lane of 5 bits, warp; surjective).
std::optional<std::string> verifyDistributed(const LinearLayout &layout);
/// Returns an error message unless `layout` is a valid shared-memory layout (only "offset"; bijective).
std::optional<std::string> verifyShared(const LinearLayout &layout);

/// Returns the direct sum: `a` is the inner layout, which is repeated according to `b`. In every input and output
/// dimension, the bits of b follow those of a.
LinearLayout operator*(const LinearLayout &a, const LinearLayout &b);

/// Maps every (register, lane, warp) of `dst` to the (register, lane, warp) of `src` that holds the same element, as
/// outputs 0, 1 and 2. Lane and warp stay the same wherever possible. So if the warp output equals the warp input, no
/// data crosses warps; if the lane output also equals the lane input, no data crosses lanes.
LinearLayout conversionMap(const LinearLayout &src, const LinearLayout &dst);

/// Maps (register, lane, warp) of `distributed` to the element offset in a buffer with layout `shared`. The result has
/// one output dimension.
LinearLayout memoryOffsets(const LinearLayout &distributed, const LinearLayout &shared);

} // namespace tile::layout

template <> struct std::hash<tile::layout::LinearLayout> {
  size_t operator()(const tile::layout::LinearLayout &layout) const { return layout.hash(); }
};
