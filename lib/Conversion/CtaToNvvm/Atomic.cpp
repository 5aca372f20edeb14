// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic operations: one instruction per element, or per vector for additions of floats. Only the first thread that
// holds an element executes it.
//
// Other threads that hold the element get no result; if they need it, cta-lower-conversions passes it through shared
// memory (PTX ISA, "atom", "red"). sm_80 cannot add bf16, and no target has a maximum or minimum of a single 16-bit
// float. These operations become loops around compare-and-swap, which first read the element with a relaxed access in
// the scope of the operation. An ordered instruction waits for all preceding accesses. So if a thread executes several
// instructions, they are relaxed, and fences before and after them give the order.
#include "EmitLayout.h"
#include "GlobalAccess.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// Returns the suffix for the operation and type, for example ".add.noftz.f16".
std::string operationOf(AtomicKind kind, Type element) {
  std::string bits = std::to_string(element.getIntOrFloatBitWidth());
  switch (kind) {
  case AtomicKind::add:
    if (element.isBF16())
      return ".add.noftz.bf16";
    if (element.isF16())
      return ".add.noftz.f16";
    return ".add." + std::string(isa<FloatType>(element) ? "f" : "u") + bits;
  case AtomicKind::max:
  case AtomicKind::min:
    return "." + stringifyAtomicKind(kind).str() + ".s" + bits;
  case AtomicKind::umax:
    return ".max.u" + bits;
  case AtomicKind::umin:
    return ".min.u" + bits;
  case AtomicKind::xchg:
    return ".exch.b" + bits;
  default:
    return "." + stringifyAtomicKind(kind).str() + ".b" + bits;
  }
}

/// How a thread's atomic operation gets its memory order: from the instruction if there is only one, otherwise from
/// fences around all instructions. If the results are unused, no acquire is needed: nothing can depend on the order
/// that it would establish.
struct OrderPlan {
  MemoryOrder ofInstruction;
  bool fenceBefore = false, fenceAfter = false;
};

OrderPlan planOrder(MemoryOrder order, size_t instructions, bool isRead) {
  bool releases = order == MemoryOrder::release || order == MemoryOrder::acq_rel;
  bool acquires = order == MemoryOrder::acquire || order == MemoryOrder::acq_rel;
  if (instructions <= 1)
    return {order};
  return {MemoryOrder::relaxed, releases, acquires && isRead};
}

template <typename OpType> struct AtomicLowering : TargetPattern<OpType> {
  using TargetPattern<OpType>::TargetPattern;
  using Adaptor = typename OpConversionPattern<OpType>::OneToNOpAdaptor;

  LogicalResult matchAndRewrite(OpType op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const layout::LinearLayout &layout = cta::getLayout(cast<RankedTensorType>(op.getPtr().getType()));
    std::vector<int32_t> canonical = canonicalRegisters(layout);
    size_t size = std::min(sizeOfGroups(op), canonical.size());
    SmallVector<size_t> groups;
    for (size_t first = 0; first < canonical.size(); first += size)
      if (canonical[first] == int32_t(first))
        groups.push_back(first);
    OrderPlan order = planOrder(op.getOrder(), groups.size(), !op->use_empty());
    std::string fence = ("fence.acq_rel." + stringifyMemoryScope(op.getScope()) + ";").str();
    Value isFirst = emitIsFirstCopy(rewriter, loc, layout);
    if (order.fenceBefore)
      emitPtx(rewriter, loc, {.text = fence});
    Registers results(canonical.size());
    for (size_t first : groups)
      llvm::copy(update(op, adaptor, first, size, isFirst, order.ofInstruction, rewriter), results.begin() + first);
    if (order.fenceAfter)
      emitPtx(rewriter, loc, {.text = fence});
    for (auto [index, source] : llvm::enumerate(canonical))
      results[index] = results[source];
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  /// Returns the number of registers that one instruction can update.
  size_t sizeOfGroups(OpType op) const {
    if constexpr (std::is_same_v<OpType, AtomicRmwOp>) {
      Type element = getElementTypeOf(op.getValue().getType());
      if (op.getKind() == AtomicKind::add && isa<FloatType>(element))
        return std::min(op.getVector(), this->gpu.atomicAdditions(element.getIntOrFloatBitWidth(), element.isBF16()));
    }
    return 1;
  }

  /// Updates `size` registers starting at `first`; returns their previous values.
  Registers update(OpType op, Adaptor adaptor, size_t first, size_t size, Value isFirst, MemoryOrder order,
                   OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = getElementTypeOf(op.getValue().getType());
    Value pointer = adaptor.getPtr()[first], value = adaptor.getValue()[first], predicate = isFirst;
    std::string operation = ".cas.b" + std::to_string(element.getIntOrFloatBitWidth());
    if constexpr (std::is_same_v<OpType, AtomicRmwOp>) {
      operation = operationOf(op.getKind(), element);
      if (op.getMask())
        predicate = emitAnd(builder, loc, dropTrue(adaptor.getMask()[first]), isFirst);
      if (op.getKind() == AtomicKind::fmax || op.getKind() == AtomicKind::fmin)
        return {updateInLoop(op, pointer, value, order, predicate, builder)};
      if (op.getKind() == AtomicKind::add && element.isBF16() && this->gpu.capability < 90)
        return {updateInLoop(op, pointer, value, order, predicate, builder)};
      if (size > 1)
        return addVector(op, pointer, adaptor.getValue().slice(first, size), order, predicate, builder);
    }
    PtxStatement statement;
    statement.operands = {pointer};
    if constexpr (std::is_same_v<OpType, AtomicCasOp>)
      statement.operands.push_back(toBits(builder, loc, adaptor.getExpected()[first], /*keepsFloat=*/false));
    bool keepsFloat = operation.find(".f") != std::string::npos;
    statement.operands.push_back(toBits(builder, loc, value, keepsFloat));
    Type word = statement.operands.back().getType();
    statement.results = {word};
    statement.text = prefix("atom", op, order) + operation + " $0, [$1], $2";
    if (statement.operands.size() == 3)
      statement.text += ", $3";
    statement.text += ";";
    addPredicate(statement, predicate, builder, loc);
    Value result = emitPtx(builder, loc, statement).front();
    if (result.getType() != element)
      result = arith::BitcastOp::create(builder, loc, element, result);
    return {result};
  }

  /// Returns the start of an instruction, for example "atom.relaxed.gpu.global".
  static std::string prefix(StringRef name, OpType op, MemoryOrder order) {
    return (name + "." + stringifyMemoryOrder(order) + "." + stringifyMemoryScope(op.getScope()) + ".global").str();
  }

  static void addPredicate(PtxStatement &statement, Value predicate, OpBuilder &builder, Location loc) {
    if (!predicate)
      return;
    size_t number = statement.results.size() + statement.operands.size();
    statement.text = "@$" + std::to_string(number) + " " + statement.text;
    statement.operands.push_back(predicate);
    // A predicated-off instruction leaves its results unchanged.
    for (Type word : statement.results)
      statement.initial.push_back(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(word)));
  }

  /// Emits "red.relaxed.gpu.global.add.noftz.v4.bf16x2 [$0], {$1, $2, $3, $4};", or `atom` if the results are used. An
  /// ordered addition is emitted as `atom` as well, because `red` does not support every memory order.
  static Registers addVector(AtomicRmwOp op, Value pointer, ValueRange values, MemoryOrder order, Value predicate,
                             OpBuilder &builder) {
    Location loc = op.getLoc();
    Type element = getElementTypeOf(op.getValue().getType());
    WordFormat format = wordsFor(element, values.size());
    bool isAddedOnly = op->use_empty() && order == MemoryOrder::relaxed;
    PtxStatement statement;
    if (!isAddedOnly)
      statement.results.assign(format.count, builder.getIntegerType(format.bits));
    statement.operands = {pointer};
    llvm::append_range(statement.operands, packWords(builder, loc, values, format));
    unsigned place = statement.results.size();
    statement.text = prefix(isAddedOnly ? "red" : "atom", op, order) + ".add" + (element.isF32() ? "" : ".noftz") +
                     (format.count > 1 ? ".v" + std::to_string(format.count) : "") +
                     (element.isF32()    ? ".f32 "
                      : element.isBF16() ? ".bf16x2 "
                                         : ".f16x2 ") +
                     (isAddedOnly ? "" : ptxVector(0, format.count) + ", ") + "[$" + std::to_string(place) + "], " +
                     ptxVector(place + 1, format.count) + ";";
    addPredicate(statement, predicate, builder, loc);
    SmallVector<Value> words = emitPtx(builder, loc, statement);
    if (isAddedOnly)
      return Registers(values); // unused
    return Registers(unpackWords(builder, loc, words, element, format));
  }

  /// Converts a value to an integer of the same width, because instructions take integers. With `keepsFloat`, which is
  /// used for additions, f32 and f64 remain floats.
  static Value toBits(OpBuilder &builder, Location loc, Value value, bool keepsFloat) {
    Type type = value.getType();
    unsigned bits = type.getIntOrFloatBitWidth();
    if (isa<IntegerType>(type) || (keepsFloat && bits >= 32))
      return value;
    return arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), value);
  }

  /// Emits code that executes `emit` if the predicate is true or null. Returns the result of `emit`, or `otherwise`
  /// where the predicate is false.
  static Value emitWhere(Location loc, Value predicate, Value otherwise, OpBuilder &builder,
                         llvm::function_ref<Value()> emit) {
    return conversion::emitWhere(builder, loc, predicate, otherwise, [&] { return SmallVector<Value>{emit()}; })
        .front();
  }

  /// Combines the old value of a 16-bit float with the operand of the operation.
  static Value combine(AtomicKind kind, Value old, Value value, OpBuilder &builder) {
    Location loc = value.getLoc();
    if (kind == AtomicKind::add)
      return arith::AddFOp::create(builder, loc, old, value);
    if (kind == AtomicKind::fmax)
      return arith::MaxNumFOp::create(builder, loc, old, value);
    return arith::MinNumFOp::create(builder, loc, old, value);
  }

  /// Emits a loop that repeats the update until no other thread has changed the element between the read and the
  /// compare-and-swap.
  static Value updateInLoop(AtomicRmwOp op, Value pointer, Value value, MemoryOrder order, Value predicate,
                            OpBuilder &builder) {
    Location loc = op.getLoc();
    Type bits = builder.getI16Type();
    auto asFloat = [&](Value word) { return arith::BitcastOp::create(builder, loc, value.getType(), word); };
    return emitWhere(loc, predicate, value, builder, [&]() -> Value {
      std::string scope = stringifyMemoryScope(op.getScope()).str();
      Value first =
          emitPtx(builder, loc,
                  {.text = "ld.relaxed." + scope + ".global.b16 $0, [$1];", .results = {bits}, .operands = {pointer}})
              .front();
      auto emitTry = [&](OpBuilder &nested, Location loc, ValueRange seen) {
        Value updated =
            combine(op.getKind(), arith::BitcastOp::create(nested, loc, value.getType(), seen.front()), value, nested);
        Value word = arith::BitcastOp::create(nested, loc, bits, updated);
        Value now = emitPtx(nested, loc,
                            {.text = prefix("atom", op, order) + ".cas.b16 $0, [$1], $2, $3;",
                             .results = {bits},
                             .operands = {pointer, seen.front(), word}})
                        .front();
        Value isChanged = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::ne, now, seen.front());
        scf::ConditionOp::create(nested, loc, isChanged, now);
      };
      auto again = [](OpBuilder &nested, Location loc, ValueRange seen) { scf::YieldOp::create(nested, loc, seen); };
      return asFloat(scf::WhileOp::create(builder, loc, bits, first, emitTry, again).getResult(0));
    });
  }
};

} // namespace

void registerAtomicLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<AtomicLowering<AtomicRmwOp>, AtomicLowering<AtomicCasOp>>(lowerings.converter,
                                                                                   lowerings.context, lowerings.gpu);
}

} // namespace tile::conversion
