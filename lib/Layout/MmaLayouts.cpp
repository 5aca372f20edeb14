// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor-core fragments; see MmaLayouts.h. With g = lane / 4, t = lane % 4 and p = 32 / elementBits elements in a
// 32-bit register (p = 1, 2, 4), the PTX tables are all instances of
//   accumulator  row g + 8 * (i / 2)      column 2 * t + i % 2
//   A            row g + 8 * (i / p % 2)  k = p * t + i % p + 4 * p * (i / (2 * p))
//   B            column g                 k = p * t + i % p + 4 * p * (i / p)
// where the half-size instructions lack the last term of k. With kWidth = w > p, bits of k are permuted: the two bits p
// and 2 * p, which select the lane, become w and 2 * w, and the higher bits, which select the register, move down into
// the gap.

#include "Layout/MmaLayouts.h"

#include "Layout/PowerOfTwo.h"

#include <algorithm>
#include <cassert>

namespace tile::layout {

namespace {

constexpr int64_t tileM = 16, tileN = 8, groupM = 64;

/// Collects bases of a two-dimensional tensor; a coordinate outside the tensor becomes zero (a copy).
class FragmentBuilder {
public:
  FragmentBuilder(int64_t rows, int64_t columns) : rows(rows), columns(columns) {}

  uint64_t row(int64_t value) const { return value < rows ? static_cast<uint64_t>(value * columns) : 0; }
  uint64_t column(int64_t value) const { return value < columns ? static_cast<uint64_t>(value) : 0; }

  void registerRow(int64_t value) { registers.push_back(row(value)); }
  void registerColumn(int64_t value) { registers.push_back(column(value)); }
  /// Adds register bits that step through rows: bits for the rows first, 2 * first, 4 * first, … below `end`.
  void registerRows(int64_t first, int64_t end) {
    for (; first < end; first *= 2)
      registerRow(first);
  }
  void registerColumns(int64_t first, int64_t end) {
    for (; first < end; first *= 2)
      registerColumn(first);
  }
  void laneRow(int64_t value) { lanes.push_back(row(value)); }
  void laneColumn(int64_t value) { lanes.push_back(column(value)); }
  /// Adds warp bits for a grid dimension of `count` warps, each of which owns `extent` rows (columns).
  void warpRows(int64_t extent, unsigned count) {
    for (unsigned bit = 0; bit < log2Of(count); ++bit)
      warps.push_back(row(extent << bit));
  }
  void warpColumns(int64_t extent, unsigned count) {
    for (unsigned bit = 0; bit < log2Of(count); ++bit)
      warps.push_back(column(extent << bit));
  }
  void warpCopies(unsigned count) { warps.insert(warps.end(), log2Of(count), 0); }

  LinearLayout build() { return LinearLayout::distributed(registers, lanes, warps, {rows, columns}); }

private:
  int64_t rows, columns;
  std::vector<uint64_t> registers, lanes, warps;
};

/// Returns the number of rows (columns) that each of `count` warps owns, which is at least one tile.
int64_t ownedExtent(int64_t size, unsigned count, int64_t tile) {
  return std::max<int64_t>(tile, size / count);
}

/// How the rows of a 64-row group (wgmma) or of a 16-row tile (mma.sync) are assigned to warps. The layouts of the two
/// instructions differ only in this.
struct WarpGrid {
  unsigned quarters; // warps that share a tile of 16 * quarters rows: 1 or 4
  unsigned countM, countN;
  int64_t tileRows() const { return tileM * quarters; }
};

LinearLayout accumulator(int64_t m, int64_t n, const WarpGrid &grid) {
  int64_t ownedM = ownedExtent(m, grid.countM, grid.tileRows()), ownedN = ownedExtent(n, grid.countN, tileN);
  FragmentBuilder builder(m, n);
  builder.registerColumn(1);
  builder.registerRow(8);
  builder.registerColumns(tileN, ownedN);
  builder.registerRows(grid.tileRows(), ownedM);
  builder.laneColumn(2);
  builder.laneColumn(4);
  for (int64_t row : {1, 2, 4})
    builder.laneRow(row);
  builder.warpRows(tileM, grid.quarters);
  builder.warpRows(ownedM, grid.countM);
  builder.warpColumns(ownedN, grid.countN);
  return builder.build();
}

struct FragmentK {
  int64_t perRegister; // elements in a 32-bit register
  int64_t instructionK;
  int64_t width;

  int64_t lane(unsigned bit) const { return width << bit; }
  /// Return the k steps of the register bits of one instruction, except those within a register, and of the k tiles.
  std::vector<int64_t> withinTile() const { return steps(4 * perRegister, instructionK); }
  std::vector<int64_t> tiles(int64_t k) const { return steps(instructionK, k); }

private:
  /// Returns the k steps that replace the bits first, 2 * first, 4 * first, … below `end` of the PTX tables.
  std::vector<int64_t> steps(int64_t first, int64_t end) const {
    std::vector<int64_t> result;
    for (; first < end; first *= 2)
      result.push_back(first < 4 * width ? first / 4 : first);
    return result;
  }
};

FragmentK fragmentK(unsigned elementBits, unsigned instructionK, unsigned width) {
  assert((elementBits == 8 || elementBits == 16 || elementBits == 32) && "operands have 8, 16 or 32 bits");
  FragmentK fragment{32 / elementBits, instructionK, width};
  assert(width >= fragment.perRegister && std::has_single_bit(width) && "a lane holds whole registers");
  assert((instructionK == 4 * fragment.perRegister || instructionK == 8 * fragment.perRegister) &&
         "an mma instruction takes 128 or 256 bits along k");
  return fragment;
}

LinearLayout operandA(int64_t m, int64_t k, const WarpGrid &grid, FragmentK fragment) {
  assert(k >= std::max(fragment.instructionK, 4 * fragment.width) && "k is smaller than the instruction");
  int64_t ownedM = ownedExtent(m, grid.countM, grid.tileRows());
  FragmentBuilder builder(m, k);
  builder.registerColumns(1, fragment.perRegister);
  builder.registerRow(8);
  for (int64_t column : fragment.withinTile())
    builder.registerColumn(column);
  for (int64_t column : fragment.tiles(k))
    builder.registerColumn(column);
  builder.registerRows(grid.tileRows(), ownedM);
  builder.laneColumn(fragment.lane(0));
  builder.laneColumn(fragment.lane(1));
  for (int64_t row : {1, 2, 4})
    builder.laneRow(row);
  builder.warpRows(tileM, grid.quarters);
  builder.warpRows(ownedM, grid.countM);
  builder.warpCopies(grid.countN);
  return builder.build();
}

} // namespace

LinearLayout mmaAccumulator(int64_t m, int64_t n, const MmaTiling &tiling) {
  return accumulator(m, n, {1, tiling.warpsM, tiling.warpsN});
}

LinearLayout mmaOperandA(int64_t m, int64_t k, const MmaTiling &tiling) {
  return operandA(m, k, {1, tiling.warpsM, tiling.warpsN},
                  fragmentK(tiling.elementBits, tiling.instructionK, tiling.kWidth));
}

LinearLayout mmaOperandB(int64_t k, int64_t n, const MmaTiling &tiling) {
  FragmentK fragment = fragmentK(tiling.elementBits, tiling.instructionK, tiling.kWidth);
  assert(k >= std::max(fragment.instructionK, 4 * fragment.width) && "k is smaller than the instruction");
  int64_t ownedN = ownedExtent(n, tiling.warpsN, tileN);
  FragmentBuilder builder(k, n);
  builder.registerRows(1, fragment.perRegister);
  for (int64_t row : fragment.withinTile())
    builder.registerRow(row);
  builder.registerColumns(tileN, ownedN);
  for (int64_t row : fragment.tiles(k))
    builder.registerRow(row);
  builder.laneRow(fragment.lane(0));
  builder.laneRow(fragment.lane(1));
  for (int64_t column : {1, 2, 4})
    builder.laneColumn(column);
  builder.warpCopies(tiling.warpsM);
  builder.warpColumns(ownedN, tiling.warpsN);
  return builder.build();
}

LinearLayout mmaScalesA(int64_t m, int64_t groups, const MmaTiling &tiling) {
  int64_t ownedM = ownedExtent(m, tiling.warpsM, tileM);
  FragmentBuilder builder(m, groups);
  builder.registerColumns(1, groups);
  builder.registerRows(tileM, ownedM);
  builder.laneRow(8);
  builder.laneRow(0);
  for (int64_t row : {1, 2, 4})
    builder.laneRow(row);
  builder.warpRows(ownedM, tiling.warpsM);
  builder.warpCopies(tiling.warpsN);
  return builder.build();
}

LinearLayout mmaScalesB(int64_t n, int64_t groups, const MmaTiling &tiling) {
  int64_t ownedN = ownedExtent(n, tiling.warpsN, tileN);
  FragmentBuilder builder(n, groups);
  builder.registerColumns(1, groups);
  builder.registerRows(tileN, ownedN);
  for (int64_t row : {0, 0, 1, 2, 4})
    builder.laneRow(row);
  builder.warpCopies(tiling.warpsM);
  builder.warpRows(ownedN, tiling.warpsN);
  return builder.build();
}

LinearLayout wgmmaAccumulator(int64_t m, int64_t n, const WgmmaTiling &tiling) {
  return accumulator(m, n, {4, tiling.groupsM, tiling.groupsN});
}

LinearLayout wgmmaOperandA(int64_t m, int64_t k, const WgmmaTiling &tiling) {
  return operandA(m, k, {4, tiling.groupsM, tiling.groupsN},
                  fragmentK(tiling.elementBits, 256 / tiling.elementBits, 32 / tiling.elementBits));
}

MmaFragments mmaFragments(int64_t m, int64_t n, int64_t k, const MmaTiling &tiling) {
  MmaFragments fragments;
  fragments.mTiles = ownedExtent(m, tiling.warpsM, tileM) / tileM;
  fragments.nTiles = ownedExtent(n, tiling.warpsN, tileN) / tileN;
  fragments.kTiles = k / tiling.instructionK;
  fragments.sizeA = tileM * tiling.instructionK / 32;
  fragments.sizeB = tileN * tiling.instructionK / 32;
  fragments.sizeAccumulator = tileM * tileN / 32;
  return fragments;
}

MmaFragments wgmmaFragments(int64_t m, int64_t n, int64_t k, const WgmmaTiling &tiling) {
  int64_t instructionK = 256 / tiling.elementBits;
  MmaFragments fragments;
  fragments.mTiles = ownedExtent(m, tiling.groupsM, groupM) / groupM;
  fragments.nTiles = ownedExtent(n, tiling.groupsN, tileN) / tiling.instructionN;
  fragments.kTiles = k / instructionK;
  fragments.sizeA = groupM * instructionK / 128;
  fragments.sizeAccumulator = groupM * tiling.instructionN / 128;
  return fragments;
}

bool splitsAxis(const LinearLayout &layout, unsigned axis, int64_t groups) {
  if (layout.rank() != 2 || layout.outShape()[axis] % groups != 0 || layout.numWarps() != 4 * groups)
    return false;
  // The index of the group, and nothing else, must select the high bits of the coordinate.
  int64_t part = layout.outShape()[axis] / groups, step = part;
  for (const InDim &dim : layout.inDims())
    for (size_t bit = 0; bit < dim.bases.size(); ++bit) {
      const std::vector<int32_t> &basis = dim.bases[bit];
      if (dim.name == warpDim && bit >= 2) {
        if (basis[axis] != step || basis[1 - axis] != 0)
          return false;
        step *= 2;
      } else if (basis[axis] >= part) {
        return false;
      }
    }
  return true;
}

} // namespace tile::layout
