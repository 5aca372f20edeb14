// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Analyses block accesses: strides come from the address, boundaries from the mask, coordinates from both.
//
// Suppose that dimension d of an access has the mask `index < bound`. The dimension corresponds to a dimension of the
// tensor with some extent, the block starts there at some coordinate, and bound = extent - coordinate. The part of the
// bound that is known at launch becomes the extent; the remainder, negated, becomes the coordinate. The address must
// then be base + the sum of coordinate * stride. A constant difference shifts the coordinates and, by the same amount,
// the extents, which leaves the bounds unchanged. A dimension without a bound can be shifted arbitrarily: the program
// accesses all indices of the block there, so the largest possible extent is used. Every remaining term is the product
// of a stride known at launch and the coordinate of a further dimension.
#include "Analysis/Addresses/BlockPointers.h"
#include "Analysis/Addresses/IndexBounds.h"
#include "Analysis/Addresses/UnobservedElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace tile;
using llvm::formatv;

// The limits of a tensor map: see cuTensorMapEncodeTiled in the CUDA driver API. The alignment is in bytes and applies
// to addresses and strides.
static constexpr int64_t tensorMapAlignment = 16;
static constexpr unsigned maxRank = 5;
static constexpr int64_t maxExtent = std::numeric_limits<int32_t>::max();

/// The maximum depth of computations that are repeated at the kernel's entry. Repeating deeper ones does not pay off,
/// and analysing all their paths would take too long.
static constexpr unsigned maxRecomputedDepth = 12;

static bool followsFromArguments(Value value, unsigned depth) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<KernelOp>(argument.getOwner()->getParentOp()) && value.getType().isInteger();
  Operation *op = value.getDefiningOp();
  // Moving an operation to the entry is safe if the operation cannot fail or is executed in any case.
  bool movable = isSpeculatable(op) || isa<KernelOp>(op->getParentOp());
  return (isa<arith::ArithDialect>(op->getDialect()) || isa<HintOp>(op)) && value.getType().isInteger() &&
         isMemoryEffectFree(op) && movable && depth < maxRecomputedDepth &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return followsFromArguments(operand, depth + 1); });
}

bool tile::isKnownAtLaunch(Value value) {
  return followsFromArguments(value, 0);
}

/// Returns true if the integer is computed only from the kernel's arguments and from data that the kernel loads.
static bool followsFromMemory(Value value, unsigned depth) {
  auto load = value.getDefiningOp<LoadOp>();
  if (load || isa<BlockArgument>(value))
    return load ? !load.getIsVolatile() : followsFromArguments(value, depth);
  Operation *op = value.getDefiningOp();
  bool isComputed = isa<arith::ArithDialect>(op->getDialect()) || isa<HintOp>(op);
  return isComputed && isMemoryEffectFree(op) && depth < maxRecomputedDepth &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return followsFromMemory(operand, depth + 1); });
}

static bool isReadFromMemory(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (auto load = dyn_cast<LoadOp>(op))
      return !load.getIsVolatile();
    if (!isa<HintOp, AddressCastOp>(op))
      return false;
    pointer = op->getOperand(0);
  }
  return false;
}

namespace {

std::string nameOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp()))
      return kernel.getArgName(argument.getArgNumber());
  if (auto id = value.getDefiningOp<ProgramIdOp>())
    return formatv("program_id({0})", id.getAxis());
  return "(...)";
}

std::string quote(const Polynomial &number) {
  return "'" + number.toString(nameOf) + "'";
}

/// The analysis of one access. Each step fills in more of it, or sets `reason` if there is no descriptor.
class AccessAnalysis {
public:
  AccessAnalysis(AffineBlocks &blocks, AxisInfoAnalysis &facts, Value pointer, Value mask, bool isWrite)
      : blocks(blocks), facts(facts), pointer(pointer), mask(mask), isWrite(isWrite) {}

  BlockAccessResult run() {
    if (!checkElement() || !findAddress() || !findStrides() || !findBounds() || !findCoordinates() ||
        !findLeadingDims() || !findExtents() || !checkRowEnds())
      return {std::nullopt, reason};
    return {collect(), ""};
  }

private:
  bool fail(const Twine &text) {
    reason = text.str();
    return false;
  }

  unsigned getRank() const { return sizes.size(); }

  bool checkElement() {
    auto tensor = dyn_cast<RankedTensorType>(pointer.getType());
    if (!tensor || tensor.getRank() < 1 || tensor.getRank() > maxRank)
      return fail(formatv("it is not a block of 1 to {0} dimensions", maxRank));
    sizes.assign(tensor.getShape().begin(), tensor.getShape().end());
    Type element = cast<PtrType>(tensor.getElementType()).getPointee();
    bool supported = element.isF64() ||
                     (element.isIntOrFloat() && llvm::is_contained({8u, 16u, 32u}, element.getIntOrFloatBitWidth()));
    if (!supported)
      return fail(formatv("tensor maps do not support elements of type {0}", element));
    elementBytes = getBytesInMemory(element);
    return true;
  }

  bool findAddress() {
    std::optional<AffineBlock> address = blocks.get(pointer);
    if (!address)
      return fail("the addresses are not linear in each dimension");
    base = address->base;
    auto argument = dyn_cast<BlockArgument>(base);
    isFromMemory = !isWrite && isReadFromMemory(base);
    if (!isFromMemory && (!argument || !isa<KernelOp>(argument.getOwner()->getParentOp())))
      return fail("the addresses are not based on a pointer parameter");
    offset = address->start;
    strides = address->steps;
    domain = address->domain;
    return true;
  }

  bool findStrides() {
    for (auto [dim, stride] : llvm::enumerate(strides))
      if (stride == 1)
        contiguous = dim;
    if (contiguous < 0) {
      std::string names = llvm::join(llvm::map_range(strides, quote), ", ");
      return fail("none of the strides " + names +
                  " is known to be 1; make that of the contiguous dimension a constant");
    }
    if (sizes[contiguous] * elementBytes < tensorMapAlignment)
      return fail(formatv("rows of the block have {0} bytes; a tensor map needs at least {1}",
                          sizes[contiguous] * elementBytes, tensorMapAlignment));
    if (!checkBase())
      return false;
    for (auto [dim, stride] : llvm::enumerate(strides))
      if (int64_t(dim) != contiguous && !checkStride(dim, stride))
        return false;
    return true;
  }

  /// If all rows of the block begin at 16-byte boundaries, so do the tensor's base and its rows, because the contiguous
  /// coordinate of the block is a multiple of 16 bytes (findCoordinates checks this).
  bool checkBase() {
    const AxisInfo &block = facts.get(pointer);
    areRowsAligned = block.getContiguity(contiguous) * elementBytes >= tensorMapAlignment &&
                     block.getDivisibility(contiguous) >= tensorMapAlignment;
    bool isKnown = facts.get(base).getDivisibilityOfAll() >= tensorMapAlignment;
    if (isKnown || (isFromMemory && areRowsAligned))
      return true;
    if (isFromMemory)
      return fail(
          formatv("the address read from memory is not known to be aligned to {0} bytes; use tl.multiple_of if it is",
                  tensorMapAlignment));
    return fail(formatv("'{0}' is not known to be aligned to {1} bytes; pass --assume={0}={1} if it is", nameOf(base),
                        tensorMapAlignment));
  }

  bool checkStride(unsigned dim, const Polynomial &stride) {
    if (stride.getConstant().value_or(1) <= 0)
      return fail(formatv("dimension {0} has stride {1}; strides must be positive", dim, *stride.getConstant()));
    if (!stride.all([&](Value factor) { return isFixed(factor); }))
      return fail(formatv("the stride of dimension {0} is not known at launch", dim));
    // The stride is the distance between two aligned rows, so the stride itself is aligned.
    return (isFromMemory && areRowsAligned && sizes[dim] > 1) || checkAlignment(stride);
  }

  bool checkAlignment(const Polynomial &stride) {
    uint64_t needed = tensorMapAlignment / elementBytes;
    if (getDivisibility(stride) >= needed)
      return true;
    std::string text = formatv("stride {0} is not known to be a multiple of {1} elements", quote(stride), needed);
    if (isa_and_present<BlockArgument>(stride.getSingleFactor()))
      text += formatv("; pass --assume={0}={1} if it is", nameOf(stride.getSingleFactor()), needed);
    return fail(text);
  }

  /// Returns a power of two that divides `number` for any values of its factors.
  uint64_t getDivisibility(const Polynomial &number) {
    uint64_t result = AxisInfo::maxDivisibility;
    for (const Polynomial::Term &term : number.getTerms()) {
      uint64_t product = term.coefficient & -term.coefficient;
      for (Value factor : term.factors)
        product = llvm::SaturatingMultiply<uint64_t>(product, facts.get(factor).getDivisibilityOfAll());
      result = std::min(result, product);
    }
    return result;
  }

  bool findBounds() {
    bounds.resize(getRank());
    for (Condition &condition : mask ? blocks.getConditions(mask) : Conditions()) {
      if (!condition.dim)
        return fail("the mask checks more than the bounds of the dimensions");
      if (!condition.isBoundary() || !addBound(condition))
        return fail(formatv("the mask of dimension {0} is not a single upper bound of its index", *condition.dim));
    }
    // Outside the domain, the form of an unmasked address is a different one: the program reads other elements of the
    // tensor there, but a descriptor gives zeros.
    for (Condition &condition : domain) {
      if (!bounds[*condition.dim])
        differences.push_back(condition);
      if (!addBound(condition))
        return fail(formatv("dimension {0} wraps around at an index other than its bound", *condition.dim));
    }
    return true;
  }

  /// Adds a bound; all bounds of a dimension must be equal.
  bool addBound(const Condition &condition) {
    std::optional<Polynomial> &bound = bounds[*condition.dim];
    if (bound)
      return *bound == *condition.bound;
    bound = condition.bound;
    return true;
  }

  bool findCoordinates() {
    coordinates.resize(getRank());
    for (unsigned dim = 0; dim < getRank(); ++dim) {
      if (bounds[dim])
        coordinates[dim] = bounds[dim]->partition([&](Value factor) { return isFixed(factor); }).second * -1;
      offset = offset - coordinates[dim] * strides[dim];
    }
    // The contiguous dimension comes last and takes the offset that remains.
    for (unsigned step = 0; step < getRank(); ++step) {
      unsigned dim = step + 1 == getRank() ? contiguous : step + (int64_t(step) >= contiguous);
      Polynomial distance = getDistance(offset.divide(strides[dim]).first, /*isBounded=*/bounds[dim].has_value());
      coordinates[dim] = coordinates[dim] + distance;
      offset = offset - distance * strides[dim];
    }
    for (unsigned dim = 0; dim < getRank(); ++dim)
      if (!isNonNegative(coordinates[dim]))
        return fail(formatv("coordinate {0} of dimension {1} may be negative", quote(coordinates[dim]), dim));
    // If checkBase derived the alignment of the base from the alignment of the rows, its proof depends on this
    // condition.
    uint64_t needed = tensorMapAlignment / elementBytes;
    if (getDivisibility(coordinates[contiguous]) >= needed)
      return true;
    return fail(formatv("coordinate {0} of dimension {1} is not known to be a multiple of {2} elements, as TMA "
                        "requires",
                        quote(coordinates[contiguous]), contiguous, needed));
  }

  /// Returns the part of an offset by which a block moves along a dimension. If the dimension has a bound, the bound
  /// accounts for all other terms, so this is the constant term. Otherwise, these are the terms with a factor that is
  /// not known at launch; multiples of a parameter belong to another dimension.
  Polynomial getDistance(const Polynomial &offset, bool isBounded) {
    return isBounded ? offset.getConstantTerm()
                     : offset.partition([&](Value factor) { return isCounted(factor); }).first;
  }

  /// Returns true for factors that are known where the descriptor is created.
  bool isFixed(Value factor) { return isFromMemory ? followsFromMemory(factor, 0) : isKnownAtLaunch(factor); }

  bool isCounted(Value factor) { return !isFixed(factor); }

  /// Finds additional dimensions for the remaining terms of the offset. Each dimension takes all terms that are
  /// multiples of the same parameters.
  bool findLeadingDims() {
    while (!offset.isZero()) {
      if (!offset.isExact() || getRank() + leading.size() == maxRank)
        return fail("the offset " + quote(offset) + " of the address belongs to no dimension");
      Polynomial stride = 1;
      for (Value factor : offset.getTerms().front().factors)
        if (!isCounted(factor))
          stride = stride * Polynomial(factor);
      Polynomial coordinate = getDistance(offset.divide(stride).first, /*isBounded=*/false);
      if (coordinate.getConstant())
        return fail("the offset " + quote(offset) + " of the address belongs to no dimension");
      if (!isNonNegative(coordinate))
        return fail("the offset " + quote(coordinate * stride) + " of the address may be negative");
      int64_t step = 0;
      for (const Polynomial::Term &term : coordinate.getTerms())
        step = std::gcd(step, term.coefficient);
      coordinate = coordinate.divide(step).first;
      stride = stride * step;
      if (!checkAlignment(stride))
        return false;
      leading.push_back({stride, coordinate});
      offset = offset - coordinate * stride;
    }
    return true;
  }

  bool isNonNegative(const Polynomial &number) {
    return number.isExact() && llvm::all_of(number.getTerms(), [&](const Polynomial::Term &term) {
             return term.coefficient > 0 &&
                    llvm::all_of(term.factors, [&](Value factor) { return facts.get(factor).isNonNegativeOffset(); });
           });
  }

  bool findExtents() {
    for (unsigned dim = 0; dim < getRank(); ++dim) {
      bool found = bounds[dim] ? findBoundedExtent(dim) : findUnboundedExtent(dim);
      if (!found)
        return false;
    }
    for (const LeadingDim &dim : leading)
      if (!isShort(dim.coordinate) || !fits(dim.coordinate, /*size=*/1))
        return fail(formatv("the factor {0} of stride {1} in the address may be larger than {2}", quote(dim.coordinate),
                            quote(dim.stride), maxExtent - 1));
    return true;
  }

  bool findBoundedExtent(unsigned dim) {
    Polynomial extent = coordinates[dim] + *bounds[dim];
    extents.push_back(extent);
    if (!isShort(extent) || !isShort(coordinates[dim]))
      return fail(describeLong(dim));
    bool fits = extent.getConstant() ? *extent.getConstant() <= maxExtent : extent.getConstantTerm() <= 0;
    if (!extent.isExact() || !fits)
      return fail(formatv("extent {0} of dimension {1} may be larger than {2}", quote(extent), dim, maxExtent));
    return true;
  }

  /// Sets the extent of a dimension without a bound. The program accesses all of the block's indices, so there is
  /// memory at all of them, and TMA accesses nothing outside the block.
  bool findUnboundedExtent(unsigned dim) {
    const Polynomial &coordinate = coordinates[dim];
    std::optional<int64_t> constant = coordinate.getConstant();
    extents.push_back(constant ? std::min(*constant, maxExtent - sizes[dim]) + sizes[dim] : maxExtent);
    if (!isShort(coordinate))
      return fail(describeLong(dim));
    if (!fits(coordinate, sizes[dim]))
      return fail(formatv("no mask bounds dimension {0}, and its coordinate {1} may be larger than {2}", dim,
                          quote(coordinate), maxExtent - sizes[dim]));
    return true;
  }

  /// Returns true if `size` indices that start at `coordinate` fit into 32 bits.
  bool fits(const Polynomial &coordinate, int64_t size) {
    int64_t largest = IndexBounds(blocks).getUpperBound(coordinate, pointer);
    if (!coordinate.getConstant())
      largest &= -int64_t(getDivisibility(coordinate));
    return largest <= maxExtent - (size - 1);
  }

  std::string describeLong(unsigned dim) {
    return formatv("dimension {0} has 64-bit indices; TMA takes 32-bit ones", dim);
  }

  /// Returns true for values that are computed only from 32-bit integers, or are proven to fit into 32 bits.
  bool isShort(const Polynomial &number) {
    auto isNarrow = [](Value factor) { return factor.getType().getIntOrFloatBitWidth() <= 32; };
    bool isOfNarrow = llvm::all_of(number.getTerms(), [&](const Polynomial::Term &term) {
      return llvm::isInt<32>(term.coefficient) && llvm::all_of(term.factors, isNarrow);
    });
    return isOfNarrow || (isNonNegative(number) && IndexBounds(blocks).getUpperBound(number, pointer) <= maxExtent);
  }

  /// TMA writes whole 16-byte units: the last unit of a row must not reach beyond the row. (Measured on an H200; reads
  /// are exact.)
  bool checkRowEnds() {
    Polynomial &extent = extents[contiguous];
    uint64_t needed = tensorMapAlignment / elementBytes;
    if (!isWrite || getDivisibility(extent) >= needed)
      return true;
    if (extent == maxExtent && getDivisibility(coordinates[contiguous]) >= needed) {
      // blocks end at 16-byte boundaries, so no block crosses this extent
      extent = maxExtent / tensorMapAlignment * tensorMapAlignment;
      return true;
    }
    std::string text = formatv("extent {0} of dimension {1} is not known to be a multiple of {2} elements, as TMA "
                               "stores require",
                               quote(extent), contiguous, needed);
    if (isa_and_present<BlockArgument>(extent.getSingleFactor()))
      text += formatv("; pass --assume={0}={1} if it is", nameOf(extent.getSingleFactor()), needed);
    return fail(text);
  }

  BlockAccess collect() {
    BlockAccess access;
    access.base = base;
    for (const LeadingDim &dim : leading) {
      access.block.push_back(1);
      access.shape.push_back(maxExtent);
      access.strides.push_back(dim.stride);
      access.coordinates.push_back(dim.coordinate);
    }
    auto add = [&](unsigned dim) {
      access.order.push_back(dim);
      access.block.push_back(sizes[dim]);
      access.shape.push_back(extents[dim]);
      access.strides.push_back(strides[dim]);
      access.coordinates.push_back(coordinates[dim]);
    };
    for (unsigned dim = 0; dim < getRank(); ++dim)
      if (int64_t(dim) != contiguous)
        add(dim);
    add(contiguous);
    access.differences = differences;
    return access;
  }

  AffineBlocks &blocks;
  AxisInfoAnalysis &facts;
  Value pointer, mask;
  bool isWrite;
  /// Whether the base is loaded from memory. Other loaded values then count as known.
  bool isFromMemory = false;
  bool areRowsAligned = false; ///< Whether every row of the block starts at a multiple of 16 bytes.
  std::string reason;
  SmallVector<int64_t> sizes;
  int64_t elementBytes = 0, contiguous = -1;
  Value base;
  /// The offset of the block's first element, without the terms that dimensions already account for.
  Polynomial offset;
  SmallVector<Polynomial, 2> strides, coordinates, extents;
  struct LeadingDim {
    Polynomial stride, coordinate;
  };
  SmallVector<LeadingDim, 1> leading; ///< Additional dimensions before those of the access.
  Conditions domain, differences;
  SmallVector<std::optional<Polynomial>, 2> bounds; ///< nullopt for a dimension without a bound.
};

} // namespace

BlockAccessResult BlockPointers::analyze(LoadOp load) {
  if (load.getIsVolatile() || load.getCache() == CacheModifier::cv)
    return {std::nullopt, "the load is volatile or has cache modifier .cv"};
  Value other = load.getOther();
  if (auto splat = other ? other.getDefiningOp<SplatOp>() : nullptr)
    other = splat.getScalar();
  if (other && !matchPattern(other, m_PosZeroFloat()) && !matchPattern(other, m_Zero()))
    return {std::nullopt, "'other' is not zero, but TMA fills with zeros"};
  BlockAccessResult result = AccessAnalysis(blocks, facts, load.getPtr(), load.getMask(), /*isWrite=*/false).run();
  for (const Condition &inside : result.access ? result.access->differences : Conditions())
    if (!isUnobservedOutside(load.getResult(), inside, blocks))
      return {std::nullopt,
              formatv("dimension {0} wraps around at its bound, and elements beyond it may be used", *inside.dim)};
  return result;
}

BlockAccessResult BlockPointers::analyze(StoreOp store) {
  BlockAccessResult result = AccessAnalysis(blocks, facts, store.getPtr(), store.getMask(), /*isWrite=*/true).run();
  if (result.access && !result.access->differences.empty())
    return {std::nullopt, formatv("dimension {0} wraps around at its bound", *result.access->differences[0].dim)};
  return result;
}
