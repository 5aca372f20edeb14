// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the weakest sufficient assumptions about parameters, by trial on copies of the kernel.
#include "Analysis/Addresses/AccessPromises.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile {

// A block with one element for each lane of a warp. Accesses to smaller blocks are ignored, because they take only one
// or two instructions anyway.
constexpr int64_t smallestBlock = 32;

int64_t GlobalAccess::elementBytes() const {
  return getBytesInMemory(cast<PtrType>(getElementTypeOf(pointer.getType())).getPointee());
}

std::vector<GlobalAccess> collectGlobalAccesses(KernelOp kernel) {
  std::vector<GlobalAccess> accesses;
  kernel->walk([&](Operation *op) {
    GlobalAccess access{op, {}, {}};
    if (auto load = dyn_cast<LoadOp>(op))
      access = {op, load.getPtr(), load.getMask()};
    else if (auto store = dyn_cast<StoreOp>(op))
      access = {op, store.getPtr(), store.getMask()};
    auto tensor = access.pointer ? dyn_cast<RankedTensorType>(access.pointer.getType()) : RankedTensorType();
    if (tensor && tensor.getNumElements() >= smallestBlock)
      accesses.push_back(access);
  });
  return accesses;
}

AccessInputs collectInputs(const GlobalAccess &access, bool withMask) {
  AccessInputs inputs;
  llvm::SetVector<Value> reached;
  reached.insert(access.pointer);
  if (withMask && access.mask)
    reached.insert(access.mask);
  for (size_t next = 0; next < reached.size(); ++next) {
    if (auto argument = dyn_cast<BlockArgument>(reached[next])) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        // The address depends on this argument only, not on the loop's other carried values.
        if (argument == loop.getInductionVar())
          reached.insert_range(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
        else
          reached.insert_range(
              ValueRange{loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()});
        continue;
      }
      if (isa<KernelOp>(parent) && isa<IntegerType>(argument.getType()))
        inputs.integers.push_back(argument);
      else if (isa<KernelOp>(parent) && isa<PtrType>(argument.getType()))
        inputs.pointers.push_back(argument);
      else if (auto loop = dyn_cast<LoopLikeOpInterface>(parent))
        reached.insert(parent->operand_begin(), parent->operand_end());
      for (Region &region : parent->getRegions())
        if (!isa<KernelOp>(parent) && !region.empty())
          reached.insert(region.front().getTerminator()->operand_begin(),
                         region.front().getTerminator()->operand_end());
      continue;
    }
    Operation *op = reached[next].getDefiningOp();
    inputs.dependsOnMemory |= isa<LoadOp, DescLoadOp>(op);
    reached.insert(op->operand_begin(), op->operand_end());
  }
  for (auto *parameters : {&inputs.integers, &inputs.pointers})
    llvm::sort(*parameters, [](BlockArgument a, BlockArgument b) { return a.getArgNumber() < b.getArgNumber(); });
  return inputs;
}

bool isContiguous(Value pointer, AxisInfoAnalysis &facts) {
  const AxisInfo &info = facts.get(pointer);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(pointer.getType()).getShape();
  bool isRepeated = true;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (info.getContiguity(dim) > 1)
      return true;
    isRepeated &= info.getConstancy(dim) == size;
  }
  return isRepeated; // all elements have one address (a broadcast)
}

PromiseTrial::PromiseTrial(KernelOp kernel) : copy(cast<KernelOp>(kernel->clone(mapping))) {}

PromiseTrial::~PromiseTrial() {
  blocks.reset();
  facts.reset();
  copy->erase();
}

void PromiseTrial::setValue(BlockArgument parameter, int64_t value) {
  OpBuilder builder = OpBuilder::atBlockBegin(&copy->getRegion(0).front());
  Value constant =
      arith::ConstantOp::create(builder, copy->getLoc(), builder.getIntegerAttr(parameter.getType(), value));
  mapping.lookup(Value(parameter)).replaceAllUsesWith(constant);
}

static int64_t knownDivisor(KernelOp kernel, unsigned parameter) {
  auto attribute = kernel.getArgAttrOfType<IntegerAttr>(parameter, divisibilityAttrName);
  return attribute ? attribute.getInt() : 1;
}

void PromiseTrial::setDivisor(BlockArgument parameter, int64_t divisor) {
  unsigned number = parameter.getArgNumber();
  copy.setArgAttr(number, divisibilityAttrName,
                  OpBuilder(copy).getI32IntegerAttr(int32_t(std::max(knownDivisor(copy, number), divisor))));
}

AxisInfoAnalysis &PromiseTrial::getFacts() {
  if (!facts)
    facts.emplace(copy);
  return *facts;
}

bool PromiseTrial::isContiguous(const GlobalAccess &access) {
  return tile::isContiguous(mapping.lookup(access.pointer), getFacts());
}

int64_t PromiseTrial::widthInBytes(const GlobalAccess &access) {
  const AxisInfo &pointer = getFacts().get(mapping.lookup(access.pointer));
  int64_t width = 1;
  for (unsigned dim = 0; dim < pointer.getRank(); ++dim) {
    int64_t vector = pointer.getAlignedContiguity(dim);
    if (access.mask)
      vector = std::min(vector, getFacts().get(mapping.lookup(access.mask)).getConstancy(dim));
    width = std::max(width, vector);
  }
  return std::min(width * access.elementBytes(), widestAccess);
}

bool PromiseTrial::isForTma(const GlobalAccess &access) {
  if (!blocks)
    blocks.emplace(copy);
  Operation *op = mapping.lookup(access.op);
  if (auto load = dyn_cast<LoadOp>(op))
    return blocks->analyze(load).access.has_value();
  return blocks->analyze(cast<StoreOp>(op)).access.has_value();
}

SmallVector<BlockArgument> findUnitStrides(KernelOp kernel, const GlobalAccess &access) {
  SmallVector<BlockArgument> strides;
  AccessInputs inputs = collectInputs(access, /*withMask=*/false);
  if (inputs.dependsOnMemory)
    return strides; // No assumption about a parameter makes addresses contiguous that are loaded from memory.
  // Indices that wrap around a size (`% N`) are contiguous in groups if N is a multiple of the group size.
  auto divideAllBut = [&](PromiseTrial &trial, BlockArgument except) {
    for (BlockArgument parameter : inputs.integers)
      if (parameter != except)
        trial.setDivisor(parameter, widestAccess);
  };
  PromiseTrial unchanged(kernel);
  divideAllBut(unchanged, {});
  if (unchanged.isContiguous(access))
    return strides;
  for (BlockArgument parameter : inputs.integers) {
    PromiseTrial trial(kernel);
    divideAllBut(trial, parameter);
    trial.setValue(parameter, 1);
    if (trial.isContiguous(access))
      strides.push_back(parameter);
  }
  return strides;
}

/// Returns, for each access, whether it reaches the wanted width with these divisors.
static llvm::BitVector findWide(KernelOp kernel, ArrayRef<GlobalAccess> accesses, Widening wanted,
                                const Divisors &divisors) {
  PromiseTrial trial(kernel);
  for (auto [parameter, divisor] : divisors)
    trial.setDivisor(kernel.getArgument(parameter), divisor);
  llvm::BitVector wide(accesses.size());
  for (auto [index, access] : llvm::enumerate(accesses))
    wide[index] =
        trial.widthInBytes(access) >= wanted.bytes || (wanted.byTma && access.rank() >= 2 && trial.isForTma(access));
  return wide;
}

Divisors findDivisors(KernelOp kernel, ArrayRef<GlobalAccess> accesses, Widening wanted) {
  Divisors divisors;
  for (const GlobalAccess &access : accesses) {
    auto raise = [&](BlockArgument parameter, int64_t divisor) {
      int64_t &most = divisors.try_emplace(parameter.getArgNumber(), 1).first->second;
      if (divisor > knownDivisor(kernel, parameter.getArgNumber()))
        most = std::max(most, divisor);
    };
    AccessInputs inputs = collectInputs(access, /*withMask=*/true);
    for (BlockArgument parameter : inputs.integers)
      raise(parameter, std::max<int64_t>(1, wanted.bytes / access.elementBytes()));
    for (BlockArgument parameter : inputs.pointers)
      raise(parameter, wanted.bytes);
  }
  std::erase_if(divisors, [](const auto &entry) { return entry.second == 1; });
  llvm::BitVector most = findWide(kernel, accesses, wanted, divisors);
  if (divisors.empty() || findWide(kernel, accesses, wanted, {}) == most)
    return {};
  // Minimize the divisors one at a time, starting with the last parameter: kernels usually take sizes before strides.
  std::vector<unsigned> parameters;
  for (auto [parameter, divisor] : llvm::reverse(divisors))
    parameters.push_back(parameter);
  for (unsigned parameter : parameters)
    for (int64_t divisor = knownDivisor(kernel, parameter); divisor < divisors.at(parameter); divisor *= 2) {
      Divisors fewer = divisors;
      fewer[parameter] = divisor;
      if (findWide(kernel, accesses, wanted, fewer) != most)
        continue;
      divisors = fewer;
      if (divisor == knownDivisor(kernel, parameter))
        divisors.erase(parameter);
      break;
    }
  return divisors;
}

} // namespace tile
