// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtin: map_elementwise, which applies a scalar function with branches and loops to each element.
//
//   tl.map_elementwise(f, x, y)               tile.map whose region is f, emitted inline
//   tl.map_elementwise(f, x, y, pack=2)       f takes (x0, x1, y0, y1) and returns two of each result: consecutive
//                                             elements are split into tensors, and joined after the map

#include "Frontend/Emit/Builtins.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Returns the arguments, broadcast to blocks of one shape; empty after an error.
std::vector<SymValue> blockArguments(BuiltinCall &call) {
  Emitter &sema = call.sema;
  std::vector<SymValue> blocks;
  SymValue shaped;
  for (const SymValue &element : call[1].elements) {
    SymValue value = sema.toTensor(element, call.rangeOf(1));
    if (value.isError())
      return {};
    if (value.type.isPointer || value.type.isFp8()) {
      sema.error(Diag::not_a_number, call.rangeOf(1), {describe(value)});
      return {};
    }
    if (shaped.isTensor() && !sema.broadcastTogether(shaped, value, call.rangeOf(1)))
      return {};
    shaped = value;
    blocks.push_back(value);
  }
  if (!shaped.isBlock()) {
    sema.error(Diag::block_needed, call.rangeOf(1), {"args", "map_elementwise", "none"});
    return {};
  }
  for (SymValue &value : blocks)
    value = sema.broadcastTo(value, shaped.shape(), call.rangeOf(1));
  return blocks;
}

/// Calls the function on these scalars and returns the resulting scalars; empty after an error.
std::vector<SymValue> callFunction(BuiltinCall &call, const std::vector<SymValue> &scalars, bool &isTuple) {
  Emitter &sema = call.sema;
  SymValue returned = sema.callValue(call[0], scalars, call.rangeOf(0));
  if (returned.isError())
    return {};
  isTuple = returned.isTuple();
  std::vector<SymValue> results = isTuple ? returned.elements : std::vector{returned};
  for (SymValue &result : results) {
    SymValue value = result.isConstant() && isNumber(result.constant) ? sema.toTensor(result, call.range) : result;
    if (value.isError() || !value.isScalar() || value.type.isPointer || value.type.isFp8()) {
      sema.error(Diag::map_result, call.rangeOf(0), {describe(result)});
      return {};
    }
    result = value;
  }
  if (results.empty())
    sema.error(Diag::map_result, call.rangeOf(0), {describe(returned)});
  return results;
}

/// Returns an operation that is not allowed in the region of a map because it has side effects or creates blocks; null
/// if there is none.
Operation *findForeign(Region &region) {
  Operation *foreign = nullptr;
  region.walk([&](Operation *op) {
    auto isTensor = [](Type type) { return isa<ShapedType>(type); };
    bool isScalar = llvm::none_of(op->getOperandTypes(), isTensor) && llvm::none_of(op->getResultTypes(), isTensor);
    bool isQuiet = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isMemoryEffectFree(op);
    foreign = isScalar && isQuiet ? nullptr : op;
    return foreign ? WalkResult::interrupt() : WalkResult::advance();
  });
  return foreign;
}

/// Emits the map over blocks of one shape; empty after an error.
std::vector<SymValue> emitRegion(BuiltinCall &call, const std::vector<SymValue> &blocks, bool &isTuple) {
  Emitter &sema = call.sema;
  Location loc = sema.location(call.range);
  Region region;
  std::vector<SymValue> results;
  {
    OpBuilder::InsertionGuard guard(sema.builder);
    // Build the region inside the kernel, where error reporting and the definitions of scalars expect it.
    auto holder = MapOp::create(sema.builder, loc, TypeRange(), ValueRange());
    mlir::Block *block = sema.builder.createBlock(&holder.getBody());
    std::vector<SymValue> scalars;
    for (const SymValue &value : blocks)
      scalars.push_back(SymValue::makeTensor(block->addArgument(sema.mlirType(value.type), loc), value.type));
    results = callFunction(call, scalars, isTuple);
    SmallVector<mlir::Value> yielded;
    for (const SymValue &result : results)
      yielded.push_back(result.value);
    YieldOp::create(sema.builder, loc, yielded);
    region.takeBody(holder.getBody());
    holder.erase();
  }
  if (results.empty())
    return {};
  if (Operation *foreign = findForeign(region)) {
    sema.error(Diag::map_effects, call.rangeOf(0), {foreign->getName().getStringRef().str()});
    return {};
  }
  SmallVector<mlir::Value> operands;
  SmallVector<Type> types;
  for (const SymValue &value : blocks)
    operands.push_back(value.value);
  for (const SymValue &result : results)
    types.push_back(sema.mlirType(result.type, blocks[0].shape()));
  auto op = MapOp::create(sema.builder, loc, types, operands);
  op.getBody().takeBody(region);
  for (auto [result, value] : llvm::zip_equal(results, op.getResults()))
    result = SymValue::makeTensor(value, result.type);
  return results;
}

/// Splits consecutive groups of 2^bits elements into one block for each position.
std::vector<SymValue> splitPositions(BuiltinCall &call, const SymValue &value, unsigned bits) {
  if (bits == 0)
    return {value};
  SymValue halves = callValues(call, "split", {value});
  if (halves.isError())
    return {};
  std::vector<SymValue> even = splitPositions(call, halves.elements[0], bits - 1);
  std::vector<SymValue> odd = splitPositions(call, halves.elements[1], bits - 1), all;
  for (auto [first, second] : llvm::zip(even, odd))
    llvm::append_range(all, std::initializer_list<SymValue>{first, second});
  return all;
}

/// Inverse of splitPositions.
SymValue joinPositions(BuiltinCall &call, ArrayRef<SymValue> positions) {
  if (positions.size() == 1)
    return positions.front();
  std::vector<SymValue> even, odd;
  for (auto [index, place] : llvm::enumerate(positions))
    (index % 2 == 0 ? even : odd).push_back(place);
  return callValues(call, "join", {joinPositions(call, even), joinPositions(call, odd)});
}

/// Passes every `pack` elements, in row-major order, to one call.
std::vector<SymValue> emitPacked(BuiltinCall &call, const std::vector<SymValue> &blocks, int64_t pack, bool &isTuple) {
  Emitter &sema = call.sema;
  unsigned bits = llvm::Log2_64(static_cast<uint64_t>(pack));
  SmallVector<int64_t> whole(blocks[0].shape()), rows{ShapedType::getNumElements(whole) / pack};
  rows.append(bits, 2);
  std::vector<SymValue> positions, results;
  for (const SymValue &value : blocks)
    llvm::append_range(positions, splitPositions(call, sema.reshape(value, rows, call.range), bits));
  std::vector<SymValue> mapped = emitRegion(call, positions, isTuple);
  auto count = static_cast<size_t>(pack);
  for (size_t first = 0; first < mapped.size(); first += count) {
    ArrayRef<SymValue> group = ArrayRef(mapped).slice(first).take_front(count);
    bool isAlike = group.size() == count &&
                   llvm::all_of(group, [&](const SymValue &place) { return place.type == group[0].type; });
    if (!isAlike) {
      sema.error(Diag::map_pack, call.rangeOf(0), {std::to_string(mapped.size()), std::to_string(pack)});
      return {};
    }
    results.push_back(sema.reshape(joinPositions(call, group), whole, call.range));
  }
  return results;
}

} // namespace

SymValue emitMap(Emitter &sema, BuiltinCall &call) {
  const SymValue &function = call[0];
  std::optional<int64_t> pack = call.integer(2);
  if (function.isError() || !pack)
    return {};
  bool isFunction = function.isConstant() && (std::holds_alternative<const FunctionStmt *>(function.constant) ||
                                              std::holds_alternative<const BuiltinInfo *>(function.constant));
  if (!isFunction)
    return sema.error(Diag::map_function, call.rangeOf(0), {describe(function)});
  std::vector<SymValue> blocks = blockArguments(call);
  if (blocks.empty())
    return {};
  int64_t elements = ShapedType::getNumElements(blocks[0].shape());
  if (*pack < 1 || !llvm::isPowerOf2_64(static_cast<uint64_t>(*pack)) || *pack > elements)
    return sema.error(Diag::map_pack_size, call.rangeOf(2), {std::to_string(*pack), std::to_string(elements)});
  bool isTuple = false;
  std::vector<SymValue> results =
      *pack == 1 ? emitRegion(call, blocks, isTuple) : emitPacked(call, blocks, *pack, isTuple);
  if (results.empty())
    return {};
  return isTuple ? SymValue::makeTuple(std::move(results)) : results[0];
}

} // namespace tile::frontend
