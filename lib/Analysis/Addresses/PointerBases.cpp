// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory that an address may reach: its inputs, traced back through loops and branches.
#include "Analysis/Addresses/PointerBases.h"

#include "Analysis/Flow/CarriedValue.h"
#include "Cta/CtaDialect.h"

#include "llvm/ADT/SetVector.h"

#include <optional>

using namespace mlir;
using namespace tile;

namespace {

bool isAddress(Value value) {
  return isa<PtrType, DescType>(getElementTypeOrSelf(value.getType()));
}

/// Returns the operands that determine where `value` points; nullopt if it is not known which they are.
std::optional<SmallVector<Value>> getSources(Value value) {
  if (std::optional<CarriedValue> carried = CarriedValue::of(value))
    return llvm::map_to_vector(carried->operands, [](OpOperand *operand) { return operand->get(); });
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto map = dyn_cast<cta::MakeTensorMapOp>(op))
    return {{map.getBase()}};
  if (isa<OpenTensorMapOp>(op) || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return std::nullopt;
  // If there are addresses among the operands, only they count, not the offset added to a pointer. Otherwise the
  // address is computed from integers, and all operands count.
  bool hasAddresses = llvm::any_of(op->getOperands(), isAddress);
  return llvm::to_vector(
      llvm::make_filter_range(op->getOperands(), [&](Value operand) { return !hasAddresses || isAddress(operand); }));
}

/// Returns the pointer parameter to which an argument of the kernel corresponds; null if none is known.
StringAttr getParameter(KernelOp kernel, BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  if (TensorMapAttr map = kernel.getTensorMap(index))
    return map.getBase();
  bool isPointer = isa<PtrType>(argument.getType());
  return isPointer ? StringAttr::get(kernel.getContext(), kernel.getArgName(index)) : StringAttr();
}

} // namespace

void PointerBases::add(StringAttr name) {
  if (!llvm::is_contained(names, name))
    names.push_back(name);
}

PointerBases PointerBases::of(Value address) {
  PointerBases bases;
  // Each value has a flag: 1 if addresses are loaded from the memory to which it points, otherwise 0.
  llvm::SetVector<std::pair<Value, unsigned>> values;
  values.insert({address, 0});
  for (size_t next = 0; next < values.size(); ++next) {
    auto [value, isPlace] = values[next];
    if (auto load = value.getDefiningOp<LoadOp>()) {
      values.insert({load.getPtr(), 1});
      if (load.getOther())
        values.insert({load.getOther(), isPlace});
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
    if (StringAttr name = kernel ? getParameter(kernel, argument) : StringAttr()) {
      bases.add(isPlace ? StringAttr::get(name.getContext(), "*" + name.getValue()) : name);
      continue;
    }
    std::optional<SmallVector<Value>> sources = getSources(value);
    bases.isUnknown |= !sources;
    for (Value source : sources.value_or(SmallVector<Value>()))
      values.insert({source, isPlace});
  }
  bases.isUnknown |= bases.names.empty();
  return bases;
}

PointerBases PointerBases::writtenBy(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return of(store.getPtr());
  if (auto update = dyn_cast<AtomicRmwOp>(op))
    return of(update.getPtr());
  if (auto swap = dyn_cast<AtomicCasOp>(op))
    return of(swap.getPtr());
  if (auto store = dyn_cast<cta::TmaStoreOp>(op))
    return of(store.getDesc());
  return {};
}

bool PointerBases::mayOverlap(const PointerBases &other) const {
  if (isUnknown || other.isUnknown)
    return (isUnknown || !names.empty()) && (other.isUnknown || !other.names.empty());
  return llvm::any_of(names, [&](StringAttr name) { return llvm::is_contained(other.names, name); });
}

bool PointerBases::join(const PointerBases &other) {
  bool wasUnknown = isUnknown;
  size_t before = names.size();
  isUnknown |= other.isUnknown;
  llvm::for_each(other.names, [&](StringAttr name) { add(name); });
  return names.size() != before || isUnknown != wasUnknown;
}
