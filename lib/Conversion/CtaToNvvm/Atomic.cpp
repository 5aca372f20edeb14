// Atomic operations: one instruction for each element, done by the first thread that holds it.
//
// The other holders get no result; cta-lower-conversions has sent results that they need through shared memory. PTX
// ISA, "atom". sm_80 has no addition of bf16, and no target a maximum or minimum of one 16-bit float: they are
// loops around compare-and-swap.
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

/// ".add.noftz.f16": operation and type.
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

template <typename OpType> struct AtomicLowering : TargetPattern<OpType> {
  using TargetPattern<OpType>::TargetPattern;
  using Adaptor = typename OpConversionPattern<OpType>::OneToNOpAdaptor;

  LogicalResult matchAndRewrite(OpType op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    const layout::LinearLayout &layout = cta::getLayout(cast<RankedTensorType>(op.getPtr().getType()));
    std::vector<int32_t> canonical = canonicalRegisters(layout);
    Value isFirst = emitIsFirstCopy(rewriter, op.getLoc(), layout);
    Registers results;
    for (auto [index, source] : llvm::enumerate(canonical))
      results.push_back(source != int32_t(index) ? results[source] : update(op, adaptor, index, isFirst, rewriter));
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  Value update(OpType op, Adaptor adaptor, size_t index, Value isFirst, OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = getElementTypeOf(op.getValue().getType());
    PtxStatement statement;
    statement.operands = {adaptor.getPtr()[index]};
    std::string operation = ".cas.b" + std::to_string(element.getIntOrFloatBitWidth());
    Value predicate = isFirst;
    if constexpr (std::is_same_v<OpType, AtomicRmwOp>) {
      operation = operationOf(op.getKind(), element);
      if (op.getMask())
        predicate = emitAnd(builder, loc, dropTrue(adaptor.getMask()[index]), isFirst);
      if (op.getKind() == AtomicKind::fmax || op.getKind() == AtomicKind::fmin)
        return selectInLoop(op, adaptor.getPtr()[index], adaptor.getValue()[index], predicate, builder);
      if (element.isBF16() && this->gpu.capability < 90)
        return addInLoop(loc, adaptor.getPtr()[index], adaptor.getValue()[index], predicate, builder);
    } else {
      statement.operands.push_back(toBits(builder, loc, adaptor.getExpected()[index], /*keepsFloat=*/false));
    }
    bool keepsFloat = operation.find(".f") != std::string::npos;
    statement.operands.push_back(toBits(builder, loc, adaptor.getValue()[index], keepsFloat));
    Type word = statement.operands.back().getType();
    statement.results = {word};
    statement.text = ("atom." + stringifyMemoryOrder(op.getOrder()) + "." + stringifyMemoryScope(op.getScope()) +
                      ".global" + operation + " $0, [$1], $2")
                         .str();
    for (size_t operand = 2; operand < statement.operands.size(); ++operand)
      statement.text += ", $" + std::to_string(operand + 1);
    statement.text += ";";
    if (predicate) {
      statement.text = "@$" + std::to_string(statement.operands.size() + 1) + " " + statement.text;
      statement.operands.push_back(predicate);
      // An instruction that is not done leaves its result as it is.
      statement.initial = {arith::ConstantOp::create(builder, loc, builder.getZeroAttr(word))};
    }
    Value result = emitPtx(builder, loc, statement).front();
    return result.getType() == element ? result : arith::BitcastOp::create(builder, loc, element, result).getResult();
  }

  /// Instructions take integers, but for additions of f32 and f64.
  static Value toBits(OpBuilder &builder, Location loc, Value value, bool keepsFloat) {
    Type type = value.getType();
    unsigned bits = type.getIntOrFloatBitWidth();
    if (isa<IntegerType>(type) || (keepsFloat && bits >= 32))
      return value;
    return arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), value);
  }

  /// `emit` where the predicate holds, if there is one.
  static Value emitWhere(Location loc, Value predicate, Value otherwise, OpBuilder &builder,
                         llvm::function_ref<Value()> emit) {
    if (!predicate)
      return emit();
    auto branch = scf::IfOp::create(builder, loc, otherwise.getType(), predicate, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, emit());
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, otherwise);
    return branch.getResult(0);
  }

  static Value addInLoop(Location loc, Value pointer, Value value, Value predicate, OpBuilder &builder) {
    return emitWhere(loc, predicate, value, builder, [&]() -> Value {
      return LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::fadd, pointer, value,
                                       LLVM::AtomicOrdering::acq_rel);
    });
  }

  /// Until nobody else has changed the element between.
  static Value selectInLoop(AtomicRmwOp op, Value pointer, Value value, Value predicate, OpBuilder &builder) {
    Location loc = op.getLoc();
    StringRef type = value.getType().isBF16() ? "bf16" : "f16";
    StringRef selection = op.getKind() == AtomicKind::fmax ? "max" : "min";
    StringRef scope = stringifyMemoryScope(op.getScope()), order = stringifyMemoryOrder(op.getOrder());
    PtxStatement statement;
    statement.text = ("{\n.reg .pred changed;\n.reg .b16 old, seen, new;\nld.relaxed." + scope +
                      ".global.b16 seen, [$1];\nagain:\nmov.b16 old, seen;\n" + selection + "." + type +
                      " new, old, $2;\natom." + order + "." + scope +
                      ".global.cas.b16 seen, [$1], old, new;\nsetp.ne.u16 changed, seen, old;\n@changed bra again;\n"
                      "mov.b16 $0, seen;\n}")
                         .str();
    statement.operands = {pointer, toBits(builder, loc, value, /*keepsFloat=*/false)};
    statement.results = {statement.operands.back().getType()};
    return emitWhere(loc, predicate, value, builder, [&]() -> Value {
      return arith::BitcastOp::create(builder, loc, value.getType(), emitPtx(builder, loc, statement).front());
    });
  }
};

} // namespace

void registerAtomicLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<AtomicLowering<AtomicRmwOp>, AtomicLowering<AtomicCasOp>>(lowerings.converter,
                                                                                   lowerings.context, lowerings.gpu);
}

} // namespace tile::conversion
