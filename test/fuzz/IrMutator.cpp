// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutates operations; IrValueMutator.cpp mutates attributes and types, IrTextMutator.cpp text.
#include "fuzz/IrMutator.h"

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;

void IrMutator::collect(ModuleOp module) {
  ops.clear();
  kernels.clear();
  values.clear();
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == module)
      return;
    bool isKernel = isa<FunctionOpInterface>(op);
    (isKernel ? kernels : ops).push_back(op);
    llvm::append_range(values, op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(values, block.getArguments());
  });
}

Operation *IrMutator::someOp() {
  return ops.empty() ? nullptr : ops[below(ops.size())];
}

/// Ignores the control flow of cf branches.
static bool isKnownAt(Value value, Operation *user) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->findAncestorOpInBlock(*user) != nullptr;
  Operation *def = value.getDefiningOp();
  Operation *ancestor = def->getBlock()->findAncestorOpInBlock(*user);
  return ancestor && ancestor != def && def->isBeforeInBlock(ancestor);
}

/// Returns a value of the type (any type if null) that is visible at the operation.
Value IrMutator::someValue(Operation *user, Type type) {
  SmallVector<Value> candidates;
  for (Value value : values)
    if ((!type || value.getType() == type) && isKnownAt(value, user))
      candidates.push_back(value);
  return candidates.empty() ? Value() : candidates[below(candidates.size())];
}

bool IrMutator::mutate(ModuleOp module) {
  collect(module);
  if (ops.empty())
    return false;
  switch (below(23)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return replaceOperand();
  case 4:
  case 5:
  case 6:
    return eraseOp();
  case 7:
  case 8:
    return copyOp();
  case 9:
  case 10:
    return moveOp();
  case 11:
  case 12:
    return wrapOp();
  case 13:
    return swapOperands() || swapRegions();
  case 14:
  case 15:
  case 16:
    return changeAttribute();
  case 17:
    return changeKernel();
  case 18:
  case 19:
  case 20:
    return addDetour();
  default:
    return changeType(module);
  }
}

bool IrMutator::replaceOperand() {
  Operation *op = someOp();
  if (op->getNumOperands() == 0)
    return false;
  OpOperand &operand = op->getOpOperand(below(op->getNumOperands()));
  Value value = someValue(op, oneIn(10) ? Type() : operand.get().getType());
  if (!value || value == operand.get())
    return false;
  operand.set(value);
  return true;
}

bool IrMutator::swapOperands() {
  Operation *op = someOp();
  if (op->getNumOperands() < 2)
    return false;
  OpOperand &a = op->getOpOperand(below(op->getNumOperands())), &b = op->getOpOperand(below(op->getNumOperands()));
  Value old = a.get();
  a.set(b.get());
  b.set(old);
  return &a != &b;
}

/// An earlier change may have left such a value, which the verifier will reject.
static bool isUsedOutside(Operation *op) {
  WalkResult result = op->walk([&](Operation *inside) -> WalkResult {
    auto isOutside = [&](Value value) {
      return llvm::any_of(value.getUsers(), [&](Operation *user) { return !op->isAncestor(user); });
    };
    bool leaves = inside != op && llvm::any_of(inside->getResults(), isOutside);
    for (Region &region : inside->getRegions())
      for (Block &block : region)
        leaves |= llvm::any_of(block.getArguments(), isOutside);
    return leaves ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool IrMutator::eraseOp() {
  Operation *op = someOp();
  if (isUsedOutside(op))
    return false;
  if (op->hasTrait<OpTrait::IsTerminator>() && !oneIn(10))
    return false;
  SmallVector<Value> replacements;
  for (Value result : op->getResults()) {
    Value value = result.use_empty() ? result : someValue(op, result.getType());
    if (!value)
      return false;
    replacements.push_back(value);
  }
  for (auto [result, value] : llvm::zip(op->getResults(), replacements))
    if (result != value)
      result.replaceAllUsesWith(value);
  // IR after earlier changes may use a value before its definition, which destructors do not allow.
  op->dropAllReferences();
  op->erase();
  return true;
}

bool IrMutator::copyOp() {
  Operation *op = someOp();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  Operation *copy = op->clone();
  Operation *place = op;
  // Moves down to a point where all operands are still visible.
  for (size_t steps = below(6); steps > 0; --steps) {
    Operation *next = place->getNextNode();
    if (!next || next->hasTrait<OpTrait::IsTerminator>())
      break;
    place = next;
  }
  place->getBlock()->getOperations().insertAfter(Block::iterator(place), copy);
  for (auto [old, result] : llvm::zip(op->getResults(), copy->getResults()))
    for (OpOperand &use : llvm::make_early_inc_range(old.getUses()))
      if (isKnownAt(result, use.getOwner()) && oneIn(2))
        use.set(result);
  return true;
}

bool IrMutator::moveOp() {
  Operation *op = someOp(), *place = someOp();
  if (op->isAncestor(place) || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (oneIn(3)) {
    op->moveBefore(place);
    return true;
  }
  // Moves the operation by a few positions in its block.
  bool down = oneIn(2);
  Operation *other = op;
  for (size_t steps = 1 + below(8); steps > 0 && other; --steps)
    other = down ? other->getNextNode() : other->getPrevNode();
  if (!other || other == op || other->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (down)
    op->moveAfter(other);
  else
    op->moveBefore(other);
  return true;
}

/// Wraps an operation, whose results become unused, in a branch or a loop.
bool IrMutator::wrapOp() {
  Operation *op = someOp();
  if (op->hasTrait<OpTrait::IsTerminator>() || (!op->use_empty() && !oneIn(4)))
    return false;
  for (Value result : op->getResults()) {
    Value value = result.use_empty() ? Value() : someValue(op, result.getType());
    if (!value && !result.use_empty())
      return false;
    if (value)
      result.replaceAllUsesWith(value);
  }
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Block *body = nullptr;
  if (oneIn(2)) {
    Value condition = someValue(op, builder.getI1Type());
    if (!condition)
      condition = arith::ConstantIntOp::create(builder, loc, 1, 1);
    auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/oneIn(2));
    body = oneIn(4) && branch.elseBlock() ? branch.elseBlock() : branch.thenBlock();
  } else {
    Value bound = someValue(op, builder.getI32Type());
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32),
          one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    body = scf::ForOp::create(builder, loc, zero, bound ? bound : one, one).getBody();
  }
  op->moveBefore(body, body->begin());
  return true;
}

bool IrMutator::swapRegions() {
  Operation *op = someOp();
  if (op->getNumRegions() != 2)
    return false;
  Region kept;
  kept.takeBody(op->getRegion(0));
  op->getRegion(0).takeBody(op->getRegion(1));
  op->getRegion(1).takeBody(kept);
  return true;
}

/// Converts an operand to another layout, shape or order of dimensions and back, which changes nothing.
bool IrMutator::addDetour() {
  Operation *op = someOp();
  if (op->getNumOperands() == 0)
    return false;
  OpOperand &operand = op->getOpOperand(below(op->getNumOperands()));
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || !type.hasStaticShape())
    return false;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  if (cta::LayoutAttr layout = cta::getLayoutAttr(type)) {
    SmallVector<Attribute> others;
    for (Value value : values)
      if (auto other = dyn_cast<RankedTensorType>(value.getType()); other && other.getShape() == type.getShape())
        others.push_back(other.getEncoding());
    auto other = dyn_cast_or_null<cta::LayoutAttr>(oneIn(3) ? changedLayout(layout) : others[below(others.size())]);
    auto ignore = [&] { return emitError(loc); };
    auto there = other ? RankedTensorType::getChecked(ignore, type.getShape(), type.getElementType(), Attribute(other))
                       : RankedTensorType();
    if (!there)
      return false;
    Value detour = cta::ConvertLayoutOp::create(builder, loc, there, operand.get());
    operand.set(cta::ConvertLayoutOp::create(builder, loc, type, detour));
    return true;
  }
  if (type.getEncoding())
    return false;
  if (type.getRank() == 2 && oneIn(2)) {
    auto turned = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
    Value detour = TransOp::create(builder, loc, turned, operand.get(), ArrayRef<int32_t>{1, 0});
    operand.set(TransOp::create(builder, loc, type, detour, ArrayRef<int32_t>{1, 0}));
    return true;
  }
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  Value detour = ReshapeOp::create(builder, loc, flat, operand.get());
  operand.set(ReshapeOp::create(builder, loc, type, detour));
  return true;
}

/// Sets a property with a default that is missing or invalid to its default, as the parser does.
static void repairDefaults(Operation *op) {
  op->getName().populateDefaultProperties(op->getPropertiesStorage());
}

bool IrMutator::changeAttribute() {
  Operation *op = someOp();
  for (unsigned tries = 0; tries < 8 && op->getAttrs().empty(); ++tries)
    op = someOp();
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().getValue().ends_with("SegmentSizes"))
      attributes.push_back(attribute);
  // Take the properties of another operation of the same name.
  if (oneIn(4) || attributes.empty()) {
    Operation *other = someOp();
    if (other->getName() != op->getName() || other->getAttrs().empty())
      return false;
    attributes.assign({other->getAttrs()[below(other->getAttrs().size())]});
    if (attributes[0].getName().getValue().ends_with("SegmentSizes"))
      return false;
    op->setAttr(attributes[0].getName(), attributes[0].getValue());
    repairDefaults(op);
    return true;
  }
  NamedAttribute chosen = attributes[below(attributes.size())];
  if (oneIn(8))
    op->removeAttr(chosen.getName());
  else
    op->setAttr(chosen.getName(), changed(chosen.getValue()));
  repairDefaults(op);
  return true;
}

bool IrMutator::changeKernel() {
  if (kernels.empty())
    return false;
  Operation *kernel = kernels[below(kernels.size())];
  SmallVector<NamedAttribute> attributes(kernel->getAttrs());
  NamedAttribute chosen = attributes[below(attributes.size())];
  if (chosen.getName() == "function_type")
    return false;
  if (oneIn(8))
    kernel->removeAttr(chosen.getName());
  else
    kernel->setAttr(chosen.getName(), changed(chosen.getValue()));
  repairDefaults(kernel);
  return true;
}

/// Changes the type everywhere, or of one value.
bool IrMutator::changeType(ModuleOp module) {
  if (values.empty())
    return false;
  Value value = values[below(values.size())];
  Type from = value.getType(), to = changed(from);
  if (!to || to == from)
    return false;
  if (oneIn(6)) {
    value.setType(to);
    return true;
  }
  for (Value other : values)
    if (other.getType() == from)
      other.setType(to);
  Builder builder(module.getContext());
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op); function && !function.isExternal())
      // This gives no type if the function belongs to the LLVM dialect and the types do not.
      if (Type type = function.cloneTypeWith(function.getFunctionBody().getArgumentTypes(), function.getResultTypes()))
        function.setType(type);
    // Constants of another type are zeros.
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (TypedAttr zero = constant && constant.getValueAttr() && constant.getValueAttr().getType() == from
                             ? builder.getZeroAttr(to)
                             : TypedAttr())
      constant.setValueAttr(zero);
  });
  return true;
}
