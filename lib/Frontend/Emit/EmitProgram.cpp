// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: the program and its grid, hints, assertions, printing.

#include "Frontend/Emit/Builtins.h"

using namespace mlir;

namespace tile::frontend {

/// Returns a program index or grid size: int32, or int64 in --std=tile1, so that products do not overflow.
static SymValue programNumber(BuiltinCall &call, mlir::Value number) {
  SymValue value = SymValue::makeTensor(number, Scalar::Int32);
  return call.sema.isTile1() ? call.sema.cast(value, Scalar::Int64, call.range) : value;
}

template <typename GridOp> static SymValue emitGrid(BuiltinCall &call) {
  std::optional<int64_t> axis = call.integer(0);
  if (!axis)
    return {};
  if (*axis < 0 || *axis > 2)
    return call.sema.error(Diag::grid_axis, call.rangeOf(0), {std::to_string(*axis)});
  Emitter &sema = call.sema;
  mlir::Value result = GridOp::create(sema.builder, sema.location(call.range), static_cast<uint32_t>(*axis));
  return programNumber(call, result);
}

SymValue emitProgramId(Emitter &, BuiltinCall &call) {
  return emitGrid<ProgramIdOp>(call);
}
SymValue emitNumPrograms(Emitter &, BuiltinCall &call) {
  return emitGrid<NumProgramsOp>(call);
}

SymValue emitSwizzle2d(Emitter &sema, BuiltinCall &call) {
  SmallVector<mlir::Value> operands;
  for (size_t i = 0; i < 5; ++i) {
    SymValue value = call.tensor(i);
    if (value.isError())
      return {};
    unsigned mostBits = sema.isTile1() ? 64 : 32; // tile1's program indices are int64, but fit in 32 bits
    if (!value.isScalar() || !value.type.isInt() || value.type.bits() > mostBits)
      return sema.error(Diag::swizzle_operand, call.rangeOf(i), {std::string(call.arguments[i].name), describe(value)});
    operands.push_back(sema.cast(value, Scalar::Int32, call.rangeOf(i)).value);
  }
  auto op = Swizzle2dOp::create(sema.builder, sema.location(call.range), operands[0], operands[1], operands[2],
                                operands[3], operands[4]);
  return SymValue::makeTuple({programNumber(call, op.getNewI()), programNumber(call, op.getNewJ())});
}

static SymValue none() {
  return SymValue::makeConstant(NoneValue{});
}

SymValue emitAssume(Emitter &sema, BuiltinCall &call) {
  if (call[0].isConstant()) {
    std::optional<bool> holds = call.flag(0);
    if (holds && !*holds)
      return sema.error(Diag::static_assert_failed, call.range, {"the assumption is false"});
    return none();
  }
  SymValue condition = sema.condition(call[0], call.rangeOf(0));
  if (condition.isError())
    return {};
  AssumeOp::create(sema.builder, sema.location(call.range), condition.value);
  return none();
}

/// Emits tl.condition, which wraps the condition of a while loop with a hint about loop-invariant code motion that only
/// Triton uses.
SymValue emitCondition(Emitter &, BuiltinCall &call) {
  return call.flag(1) ? call[0] : SymValue();
}

SymValue emitStaticAssert(Emitter &sema, BuiltinCall &call) {
  std::optional<bool> holds = call[0].isTuple() ? !call[0].elements.empty() : call.flag(0);
  if (!holds)
    return {};
  std::string message = call[1].isConstant() ? str(call[1].constant) : "";
  if (!*holds)
    return sema.error(Diag::static_assert_failed, call.range,
                      {message.empty() ? "static assertion failed" : "static assertion failed: " + message});
  return none();
}

SymValue emitStaticPrint(Emitter &sema, BuiltinCall &call) {
  std::string line;
  std::optional<std::string> separator = call.text(1), end = call.text(2);
  if (!separator || !end)
    return {};
  for (const SymValue &value : call[0].elements)
    line += (line.empty() ? "" : *separator) + printed(value);
  line += *end == "\\n" ? "\n" : *end;
  if (!sema.isTrial && sema.request.print)
    sema.request.print(line);
  return none();
}

SymValue emitDevicePrint(Emitter &sema, BuiltinCall &call) {
  std::optional<std::string> prefix = call.text(0);
  std::optional<bool> hex = call.flag(2);
  if (!prefix || !hex)
    return {};
  SmallVector<mlir::Value> operands;
  SmallVector<bool> isUnsigned;
  SymValue block; // all blocks are printed together, element by element
  for (const SymValue &element : call[1].elements) {
    SymValue value = sema.toTensor(element, call.rangeOf(1));
    if (value.isError())
      return {};
    if (value.isBlock() && block.isTensor() && value.shape() != block.shape())
      return sema.error(Diag::print_shapes, call.range, {describe(block), describe(value)});
    if (value.isBlock())
      block = value;
    operands.push_back(value.value);
    isUnsigned.push_back(value.type.isUnsigned());
  }
  // As in Triton, separate values from the prefix.
  if (!operands.empty() && !prefix->empty() && prefix->back() != ' ')
    *prefix += llvm::is_contained({':', '='}, prefix->back()) ? " " : ": ";
  PrintOp::create(sema.builder, sema.location(call.range), *prefix, *hex,
                  llvm::is_contained(isUnsigned, true) ? sema.builder.getDenseBoolArrayAttr(isUnsigned)
                                                       : mlir::DenseBoolArrayAttr(),
                  operands);
  return none();
}

SymValue emitDeviceAssert(Emitter &sema, BuiltinCall &call) {
  SymValue condition = sema.cast(call.tensor(0), Scalar::Int1, call.rangeOf(0));
  std::optional<std::string> message = call.text(1);
  if (condition.isError() || !message)
    return {};
  if (!sema.request.debug)
    return none();
  if (!call.isNone(2)) {
    // The condition needs to hold only where the mask is set.
    SymValue ignored = sema.unary(UnaryOp::Not, sema.cast(call.tensor(2), Scalar::Int1, call.rangeOf(2)), call.range);
    condition = sema.logical(BoolOperator::Or, ignored, condition, call.range);
    if (condition.isError())
      return {};
  }
  AssertOp::create(sema.builder, sema.location(call.range), condition.value, *message);
  return none();
}

/// Returns the values of a hint, one for each dimension; nullopt after an error.
static std::optional<SmallVector<int64_t>> hintNumbers(BuiltinCall &call, const SymValue &source) {
  std::vector<SymValue> values = call[1].isTuple() ? call[1].elements : std::vector<SymValue>{call[1]};
  SmallVector<int64_t> hints;
  for (const SymValue &value : values) {
    std::optional<Int128> number = value.isConstant() ? asInteger(value.constant) : std::nullopt;
    if (!number) {
      if (!value.isError())
        call.constantNeeded(1);
      return std::nullopt;
    }
    hints.push_back(int64_t(*number));
    if (*number < 1) {
      call.sema.error(Diag::hint_value, call.rangeOf(1), {std::string(call.info.name), printed(value)});
      return std::nullopt;
    }
  }
  if (hints.size() == std::max<size_t>(1, source.shape().size()))
    return hints;
  call.sema.error(Diag::hint_values, call.rangeOf(1),
                  {std::string(call.info.name), std::to_string(hints.size()), describe(source)});
  return std::nullopt;
}

/// Turns a hint about a pointer parameter that holds for all programs into an assumption, which every launch checks.
void promiseAlignment(Emitter &sema, mlir::Value value, int64_t divisor) {
  auto argument = dyn_cast<mlir::BlockArgument>(value);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  if (!kernel || !isa<PtrType>(value.getType()) || argument.getOwner() != sema.builder.getInsertionBlock())
    return;
  constexpr int64_t most = 1 << 20;
  const unsigned index = argument.getArgNumber();
  const auto known = kernel.getArgAttrOfType<mlir::IntegerAttr>(index, divisibilityAttrName);
  const int64_t promised = std::min(divisor & -divisor, most); // the largest power of two that divides it
  if (promised > (known ? known.getInt() : 1))
    kernel.setArgAttr(index, divisibilityAttrName, sema.builder.getI32IntegerAttr(int32_t(promised)));
}

/// Emits multiple_of, max_contiguous and max_constancy. In Triton these functions annotate their argument rather than
/// only their result, so the hint applies to all uses of the argument if it is computed in the same block.
SymValue emitHint(Emitter &sema, BuiltinCall &call) {
  SymValue source = call.tensor(0);
  if (source.isError())
    return {};
  std::optional<SmallVector<int64_t>> hints = hintNumbers(call, source);
  if (!hints)
    return {};
  if (source.type.isFloat())
    return source;
  mlir::Value value = source.value;
  auto hint = value.getDefiningOp<HintOp>();
  auto isSaid = [&] {
    return call.info.name == "multiple_of"      ? hint.getDivisibility().has_value()
           : call.info.name == "max_contiguous" ? hint.getContiguity().has_value()
                                                : hint.getConstancy().has_value();
  };
  bool isHere = value.getParentBlock() == sema.builder.getInsertionBlock();
  if (!hint || !isHere || isSaid())
    hint = HintOp::create(sema.builder, sema.location(call.range), value.getType(), value, {}, {}, {});
  if (call.info.name == "multiple_of") {
    hint.setDivisibility(*hints);
    promiseAlignment(sema, value, hints->front());
  } else if (call.info.name == "max_contiguous") {
    hint.setContiguity(*hints);
  } else {
    hint.setConstancy(*hints);
  }
  if (isHere && hint.getResult() != value)
    sema.rebind(value, hint.getResult());
  source.value = hint.getResult();
  return source;
}

SymValue emitIsCuda(Emitter &, BuiltinCall &) {
  return SymValue::makeConstant(true);
}

SymValue emitCapability(Emitter &sema, BuiltinCall &call) {
  std::optional<int64_t> major = call.integer(0), minor = call.integer(1);
  if (!major || !minor)
    return {};
  return SymValue::makeConstant(sema.request.targetCapability >= *major * 10 + *minor);
}

SymValue emitDebugBarrier(Emitter &sema, BuiltinCall &call) {
  BarrierOp::create(sema.builder, sema.location(call.range));
  return none();
}

/// Counts the estimated instructions of a new operation: at least one per element that a thread holds.
void Emitter::OperationCounter::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) {
  ++operations;
  int64_t elements = 1;
  for (Type type : llvm::concat<Type>(op->getResultTypes(), op->getOperandTypes()))
    if (auto block = dyn_cast<RankedTensorType>(type))
      // Larger blocks are an error.
      elements = std::max(elements, std::min(block.getNumElements(), maxBlockElements) / threads);
  instructions += elements;
}

} // namespace tile::frontend
