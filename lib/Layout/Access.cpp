// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans accesses; see Access.h. Both planners search for combinations of registers, called steps, that advance through
// memory as the instruction requires. They then clear the low offset bits of all other registers by adding steps to
// them.

#include "Layout/Access.h"

#include "Layout/PowerOfTwo.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tile::layout {

namespace {

/// A basis of the register bits: element i is the register index that new register bit i selects.
using RegisterBasis = std::vector<uint64_t>;

/// Completes `steps` (independent combinations of register bits) to a basis of all registers, such that the images of
/// the added vectors have no bit of `clearMask`. For every bit b of the mask, steps[b] must have the image 1 << b.
/// Returns nullopt if there is no such basis.
std::optional<RegisterBasis> completeBasis(const LinearLayout &offsets, const RegisterBasis &steps,
                                           uint64_t clearMask) {
  const unsigned registerBits = offsets.inDimSizeLog2(registerDim);
  const BitMatrix &image = offsets.toMatrix();
  RegisterBasis basis = steps;
  for (uint64_t unit : complementBasis(steps, registerBits)) {
    for (unsigned bit = 0; bit < steps.size(); ++bit)
      if ((image.apply(unit) & clearMask) >> bit & 1)
        unit ^= steps[bit];
    if (image.apply(unit) & clearMask)
      return std::nullopt;
    basis.push_back(unit);
  }
  return basis;
}

std::vector<int32_t> registerOrderOf(const RegisterBasis &basis) {
  BitMatrix matrix(static_cast<unsigned>(basis.size()), basis);
  std::vector<int32_t> order(size_t(1) << basis.size());
  for (size_t position = 0; position < order.size(); ++position)
    order[position] = static_cast<int32_t>(matrix.apply(position));
  return order;
}

/// Returns combinations of registers whose images are exactly 1, 2, 4, …, for at most `maxBits` bits.
RegisterBasis contiguousSteps(const LinearLayout &offsets, unsigned maxBits) {
  Span registers(offsets.flatBases(registerDim));
  RegisterBasis steps;
  for (unsigned bit = 0; bit < maxBits; ++bit) {
    std::optional<uint64_t> step = registers.express(uint64_t(1) << bit);
    if (!step)
      break;
    steps.push_back(*step);
  }
  return steps;
}

/// Returns the images of the basis vectors from index `first` on, scaled to bytes.
std::vector<uint64_t> images(const LinearLayout &offsets, const RegisterBasis &basis, size_t first, uint64_t scale) {
  std::vector<uint64_t> result;
  for (size_t index = first; index < basis.size(); ++index)
    result.push_back(offsets.applyFlat(basis[index]) * scale);
  return result;
}

std::vector<uint64_t> scaled(std::vector<uint64_t> values, uint64_t scale) {
  for (uint64_t &value : values)
    value *= scale;
  return values;
}

} // namespace

VectorAccess planVectorAccess(const LinearLayout &offsets, unsigned elementBytes, unsigned maxBytes) {
  assert(offsets.rank() == 1 && "offsets are one-dimensional");
  unsigned bits = std::max(1u, maxBytes / elementBytes);
  bits = std::min<unsigned>(log2Of(std::bit_floor(bits)), offsets.totalOutBits());
  // Every lane and warp must start at an aligned offset.
  for (std::string_view name : {laneDim, warpDim})
    for (uint64_t basis : offsets.flatBases(name))
      if (basis != 0)
        bits = std::min<unsigned>(bits, std::countr_zero(basis));
  RegisterBasis steps = contiguousSteps(offsets, bits);
  uint64_t vectorElements = uint64_t(1) << steps.size();
  std::optional<RegisterBasis> basis = completeBasis(offsets, steps, vectorElements - 1);
  assert(basis && "every low offset bit has its step");

  VectorAccess access;
  access.elements = static_cast<unsigned>(vectorElements);
  access.registerOrder = registerOrderOf(*basis);
  access.addresses = LinearLayout::distributed(images(offsets, *basis, steps.size(), 1), offsets.flatBases(laneDim),
                                               offsets.flatBases(warpDim), offsets.outShape());
  return access;
}

int64_t bankConflicts(const LinearLayout &offsets, unsigned elementBytes, unsigned vectorElements) {
  constexpr uint64_t wordBytes = 4, lineBytes = 128; // 32 banks of 4 bytes
  uint64_t accessBytes = std::max<uint64_t>(wordBytes, uint64_t(elementBytes) * vectorElements);
  assert(accessBytes <= 16 && "a lane accesses at most 16 bytes");
  unsigned phaseLaneBits = log2Of(lineBytes / accessBytes);
  // The lanes of a phase access 2^rank distinct units of accessBytes; units in the same bank group are accessed one
  // after another. XOR with the other inputs permutes banks, so every phase and every access costs the same.
  std::vector<uint64_t> lanes = offsets.flatBases(laneDim);
  lanes.resize(phaseLaneBits);
  Span units, banks;
  for (uint64_t offset : lanes) {
    uint64_t unit = offset * elementBytes / accessBytes;
    units.insert(unit);
    banks.insert(unit % (lineBytes / accessBytes));
  }
  int64_t phases = int64_t(1) << (laneBits - phaseLaneBits);
  int64_t wavefronts = int64_t(1) << (units.dimension() - banks.dimension());
  return phases * (wavefronts - 1);
}

namespace {

/// The requirements of ldmatrix on the images of lane bits 0-1 and 2-4, and the low offset bits that no other input may
/// affect.
struct FragmentShape {
  bool transposed;
  unsigned elementBits;    // log2 of the elements in a 32-bit register
  uint64_t rowMask;        // offset bits inside a 16-byte row
  unsigned columnLaneBit;  // first lane bit that steps through a row
  unsigned columnLaneBits; // number of lane bits that step through a row
  unsigned columnOffset;   // offset bit that columnLaneBit selects
};

/// Returns true if the lane bits that step through a row have no other effect, and all other lane bits and the warp
/// bits select rows.
bool lanesMatch(const LinearLayout &offsets, const FragmentShape &shape) {
  std::vector<uint64_t> lanes = offsets.flatBases(laneDim);
  for (unsigned bit = 0; bit < laneBits; ++bit) {
    unsigned column = bit - shape.columnLaneBit; // wraps for lower bits
    bool inRow = bit >= shape.columnLaneBit && column < shape.columnLaneBits;
    if (inRow ? lanes[bit] != uint64_t(1) << (shape.columnOffset + column) : (lanes[bit] & shape.rowMask) != 0)
      return false;
  }
  for (uint64_t basis : offsets.flatBases(warpDim))
    if (basis & shape.rowMask)
      return false;
  return true;
}

std::optional<MatrixAccess> planFragment(const LinearLayout &offsets, unsigned elementBytes,
                                         const FragmentShape &shape) {
  unsigned registerBits = offsets.inDimSizeLog2(registerDim);
  if (registerBits < shape.elementBits || !lanesMatch(offsets, shape))
    return std::nullopt;
  // The elements of a 32-bit register are adjacent in the row. With .trans, the two elements are registers 0 and 1.
  // They come from two rows, and the lowering packs them for mma.
  RegisterBasis steps = shape.transposed ? RegisterBasis{1} : contiguousSteps(offsets, shape.elementBits);
  if (steps.size() != shape.elementBits || (shape.transposed && (offsets.applyFlat(1) & shape.rowMask)))
    return std::nullopt;
  std::optional<RegisterBasis> basis =
      completeBasis(offsets, shape.transposed ? RegisterBasis{} : steps, shape.rowMask);
  if (!basis)
    return std::nullopt;

  MatrixAccess access;
  access.transposed = shape.transposed;
  access.elementsPerRegister = 1u << shape.elementBits;
  unsigned matrixBits = std::min(2u, registerBits - shape.elementBits);
  access.matrices = 1u << matrixBits;
  access.registerOrder = registerOrderOf(*basis);

  // Lane t supplies the address of row t % 8 of matrix t / 8.
  std::vector<uint64_t> oldLanes = offsets.flatBases(laneDim), lanes;
  if (shape.transposed)
    lanes = {offsets.applyFlat((*basis)[0]), oldLanes[0], oldLanes[1]};
  else
    lanes = {oldLanes[2], oldLanes[3], oldLanes[4]};
  for (unsigned bit = 0; bit < matrixBits; ++bit)
    lanes.push_back(offsets.applyFlat((*basis)[shape.elementBits + bit]));
  lanes.resize(laneBits, 0);
  access.addresses = LinearLayout::distributed(
      images(offsets, *basis, shape.elementBits + matrixBits, elementBytes), scaled(lanes, elementBytes),
      scaled(offsets.flatBases(warpDim), elementBytes), {offsets.numElements() * int64_t(elementBytes)});
  return access;
}

} // namespace

std::optional<MatrixAccess> planLdmatrix(const LinearLayout &distributed, const LinearLayout &shared,
                                         unsigned elementBytes) {
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4)
    return std::nullopt;
  LinearLayout offsets = memoryOffsets(distributed, shared);
  unsigned elementBits = log2Of(4 / elementBytes), rowBits = log2Of(16 / elementBytes);
  if (offsets.totalOutBits() < rowBits)
    return std::nullopt;
  uint64_t rowMask = (uint64_t(1) << rowBits) - 1;
  FragmentShape direct{false, elementBits, rowMask, 0, 2, elementBits};
  if (std::optional<MatrixAccess> access = planFragment(offsets, elementBytes, direct))
    return access;
  if (elementBytes != 2)
    return std::nullopt;
  FragmentShape transposed{true, 1, rowMask, 2, 3, 0};
  return planFragment(offsets, elementBytes, transposed);
}

std::optional<MatrixAccess> planMatrixAccess(const LinearLayout &distributed, const LinearLayout &shared,
                                             unsigned elementBytes) {
  unsigned plainBytes = planVectorAccess(memoryOffsets(distributed, shared), elementBytes).elements * elementBytes;
  constexpr unsigned widestBytes = 16, bytesOfMatrix = 4; // bytes per lane
  if (plainBytes >= widestBytes)
    return std::nullopt;
  std::optional<MatrixAccess> matrix = planLdmatrix(distributed, shared, elementBytes);
  return matrix && matrix->matrices * bytesOfMatrix > plainBytes ? matrix : std::nullopt;
}

} // namespace tile::layout
