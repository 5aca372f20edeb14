// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous MMAs of warp groups (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//
// All instructions of one operation form one inline PTX statement: a fence, the wgmmas for all k steps, m tiles and n
// tiles, and a commit. The accumulators must not be accessed in between, and LLVM cannot insert anything into a
// statement. The operands are matrix descriptors (MatrixDescriptor.h); the left operand may also be in registers, with
// two 16-bit elements in each.
//
// If accumulators are promoted, each promotion step is a separate statement. It also waits for its wgmmas, and returns
// the partial sums in separate registers.
#include "EmitLayout.h"
#include "MatrixDescriptor.h"
#include "Patterns.h"
#include "Ptx.h"
#include "Words.h"

#include "Analysis/Dots/DotPlan.h"
#include "Layout/MmaLayouts.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Target/Engines/Wgmma.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

constexpr int64_t instructionM = target::wgmmaRows;
constexpr int64_t instructionBytesK = target::wgmmaBytesK;

Type elementTypeOfA(cta::WgmmaOp op) {
  return op.getBufferA() ? op.getBufferA().getType().getElementType() : getElementTypeOf(op.getA().getType());
}

struct WgmmaPlan {
  std::optional<MatrixOperand> a; ///< nullopt if the left operand is in registers.
  MatrixOperand b;
  layout::WgmmaTiling tiling;
  layout::MmaFragments fragments;
  /// The accumulator registers that are computed; `fragments` counts only these.
  std::vector<int32_t> registers;
};

/// Returns nullopt if the instruction does not support the layouts of the operands or of the accumulator.
std::optional<WgmmaPlan> planWgmma(cta::WgmmaOp op) {
  std::optional<MatrixOperand> a, b = planMatrixOperand(op.getB().getType(), 0);
  if (auto buffer = op.getBufferA())
    a = planMatrixOperand(buffer.getType(), 1);
  const LinearLayout &acc = cta::getLayout(op.getAcc().getType());
  int64_t m = acc.outShape()[0], n = acc.outShape()[1];
  if ((op.getBufferA() && !a) || !b || acc.numWarps() % target::warpsPerGroup != 0 || m < instructionM)
    return std::nullopt;
  WgmmaPlan plan{a, *b, {}, {}, layout::registersOfPart(acc, 1, b->extent)};
  plan.tiling.elementBits = 8 * b->elementBytes;
  plan.tiling.instructionN = op.getN();
  unsigned groups = acc.numWarps() / target::warpsPerGroup, groupsN = op.getGroupsN();
  if (groups % groupsN != 0 || !llvm::isPowerOf2_32(groupsN) || m * groupsN < instructionM * groups)
    return std::nullopt;
  plan.tiling.groupsM = groups / groupsN;
  plan.tiling.groupsN = groupsN;
  if (layout::wgmmaAccumulator(m, n, plan.tiling) != acc || (b->extent != n && groupsN != 1))
    return std::nullopt;
  if (!a && layout::wgmmaOperandA(m, b->k, plan.tiling) != cta::getLayout(cast<RankedTensorType>(op.getA().getType())))
    return std::nullopt;
  plan.fragments = layout::wgmmaFragments(m, b->extent, b->k, plan.tiling);
  const layout::MmaFragments &tiles = plan.fragments;
  // An instruction must start at the start of a panel, because descriptor offsets are counted from there.
  bool startsPanel = b->kMajor || tiles.nTiles == 1 || op.getN() % b->form.panelElements == 0;
  bool isWhole = int64_t(plan.registers.size()) == tiles.mTiles * tiles.nTiles * tiles.sizeAccumulator;
  if (tiles.nTiles > 0 && tiles.kTiles > 0 && startsPanel && isWhole)
    return plan;
  return std::nullopt;
}

/// Returns the index of this thread's warp group along one dimension of the grid of groups, times `extent`; uniform in
/// the warp, and null if there is only one group.
Value emitGroupStart(OpBuilder &builder, Location loc, unsigned firstGroup, unsigned count, int64_t extent) {
  if (count == 1)
    return {};
  Value group = arith::ShRUIOp::create(builder, loc, emitUniformWarpId(builder, loc),
                                       emitI32(builder, loc, std::countr_zero(4 * firstGroup)));
  group = arith::AndIOp::create(builder, loc, group, emitI32(builder, loc, count - 1));
  return arith::MulIOp::create(builder, loc, group, emitI32(builder, loc, extent));
}

/// Returns `values`, in which the values at `indices` are replaced by `others`.
Registers replaceSome(ValueRange values, ArrayRef<int32_t> indices, ArrayRef<Value> others) {
  Registers result(values);
  for (auto [index, other] : llvm::zip_equal(indices, others))
    result[index] = other;
  return result;
}

class WgmmaEmitter {
public:
  /// `a` is the address of a buffer, or the registers of the left operand.
  WgmmaEmitter(OpBuilder &builder, cta::WgmmaOp op, const WgmmaPlan &plan, ValueRange a, Value b)
      : builder(builder), loc(op.getLoc()), op(op), plan(plan), fragments(plan.fragments), a(a) {
    int64_t groupN = fragments.nTiles * plan.tiling.instructionN, groupM = fragments.mTiles * instructionM;
    bool isInCluster = op->getParentOfType<LLVM::LLVMFuncOp>()->hasAttr(NVVM::NVVMDialect::getClusterDimAttrName());
    constexpr auto ofWgmma = DescriptorEmitter::Format::Wgmma;
    if (plan.a)
      rows.emplace(builder, loc, ofWgmma, *plan.a, a.front(),
                   emitGroupStart(builder, loc, 1, plan.tiling.groupsM, groupM), isInCluster);
    columns.emplace(builder, loc, ofWgmma, plan.b, b,
                    emitGroupStart(builder, loc, plan.tiling.groupsM, plan.tiling.groupsN, groupN), isInCluster);
  }

  Registers emit(ValueRange acc, Value accumulate) {
    Registers accumulators;
    for (int32_t index : plan.registers)
      accumulators.push_back(acc[index]);
    return replaceSome(acc, plan.registers,
                       op.getPromote() ? emitPromoted(accumulators) : emitInPlace(accumulators, accumulate));
  }

private:
  Registers emitInPlace(ValueRange accumulators, Value accumulate) {
    // Two f16 elements share a register; any other element has a register of its own.
    Type element = op.getAcc().getType().getElementType();
    WordFormat format = wordsFor(element, accumulators.size());
    bool isPacked = format.elementsPerWord > 1;
    Registers words(isPacked ? packWords(builder, loc, accumulators, format) : Registers(accumulators));
    for (Value word : words)
      statement.results.push_back(word.getType());
    // Zero accumulators are not passed as operands; if they were, each register would be zeroed before the wgmma.
    bool isFresh = !accumulate && (matchPattern(op.getAcc(), m_AnyZeroFloat()) || matchPattern(op.getAcc(), m_Zero()));
    if (!isFresh)
      statement.initial = words;
    statement.readsAfterWriting = !op.getBufferA();
    std::string enable = isFresh ? "never" : accumulate ? operandNumber(accumulate) : "always";
    std::string body;
    for (int64_t k = 0; k < fragments.kTiles; ++k) {
      if (op.getStepwise() && k > 0) {
        SmallVector<Value> partial = emitStatement(body, /*isLast=*/false);
        statement.operands.clear();
        statement.initial = std::move(partial);
        body.clear();
      }
      for (int64_t m = 0; m < fragments.mTiles; ++m)
        for (int64_t n = 0; n < fragments.nTiles; ++n) {
          layout::RegisterRange range = fragments.accumulator(m, n);
          layout::RegisterRange inWords{range.first / format.elementsPerWord, range.count / format.elementsPerWord};
          body += instruction(inWords, m, n, k, k == 0 ? enable : "always");
        }
    }
    Registers result(emitStatement(body));
    return isPacked ? Registers(unpackWords(builder, loc, result, element, format)) : result;
  }

  /// Computes one part of the columns at a time, so that few registers hold partial sums before promotion. Each
  /// statement takes the registers of the previous statement as initial values, so that all statements use the same
  /// registers; otherwise ptxas would use two sets of registers, and spill.
  Registers emitPromoted(Registers accumulators) {
    SmallVector<Value> partials;
    int64_t stepsPerSum = *op.getPromote() * plan.b.elementBytes / instructionBytesK;
    for (int64_t m = 0; m < fragments.mTiles; ++m)
      for (int64_t n = 0; n < fragments.nTiles; ++n)
        for (int64_t first = 0; first < fragments.kTiles; first += stepsPerSum) {
          layout::RegisterRange range = fragments.accumulator(m, n);
          statement = {};
          statement.results.assign(range.count, accumulators.front().getType());
          std::string body;
          for (int64_t k = first; k < std::min(first + stepsPerSum, fragments.kTiles); ++k)
            body += instruction({0, range.count}, m, n, k, k == first ? "never" : "always");
          statement.initial = partials;
          partials = emitStatement(body);
          for (auto [index, partial] : llvm::enumerate(partials)) {
            Value &accumulator = accumulators[range.first + index];
            accumulator = arith::AddFOp::create(builder, loc, accumulator, partial);
          }
        }
    return accumulators;
  }

  /// Emits the statement with the instructions in `body`. Only the last statement of an operation commits its wgmmas as
  /// a group.
  SmallVector<Value> emitStatement(const std::string &body, bool isLast = true) {
    statement.text =
        "{\n.reg .pred always, never;\nmov.pred always, 1;\nmov.pred never, 0;\nwgmma.fence.sync.aligned;\n" + body;
    if (isLast)
      statement.text += "wgmma.commit_group.sync.aligned;\n";
    if (isLast && op.isSynchronous())
      statement.text += "wgmma.wait_group.sync.aligned 0;\n";
    statement.text += "}";
    return emitPtx(builder, loc, statement);
  }

  /// Adds an operand and returns its name in the assembly string, such as "$8".
  std::string operandNumber(Value value) {
    statement.operands.push_back(value);
    return "$" + std::to_string(statement.results.size() + statement.operands.size() - 1);
  }

  /// Adds the 32-bit registers of one fragment of the left operand; returns "{$8, $9, $10, $11}".
  std::string fragmentNumbers(layout::RegisterRange fragment) {
    ValueRange elements = a.slice(fragment.first, fragment.count);
    WordFormat format = wordsFor(elements.front().getType(), elements.size());
    std::string operands;
    for (Value word : packWords(builder, loc, elements, format))
      operands += (operands.empty() ? "{" : ", ") + operandNumber(word);
    return operands + "}";
  }

  /// Returns the instruction for one step along k of one tile of the accumulator, which is in `registers`. The left
  /// operand is a matrix descriptor or a fragment in registers.
  std::string instruction(layout::RegisterRange registers, int64_t m, int64_t n, int64_t k, const std::string &scaleD) {
    int64_t kIndex = k * instructionBytesK / plan.b.elementBytes;
    std::string left = rows ? operandNumber(rows->at(m * instructionM, kIndex)) : fragmentNumbers(fragments.a(m, k));
    std::string descB = operandNumber(columns->at(n * plan.tiling.instructionN, kIndex));
    StringRef typeA = mmaTypeName(*getMmaType(elementTypeOfA(op))),
              typeB = mmaTypeName(*getMmaType(op.getB().getType().getElementType())),
              typeD = mmaTypeName(*getAccumulatorType(op.getAcc().getType().getElementType()));
    bool isInteger = typeD == "s32", is16Bit = plan.b.elementBytes == 2;
    std::string text = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(op.getN()) + "k" +
                       std::to_string(instructionBytesK / plan.b.elementBytes) + "." + typeD.str() + "." + typeA.str() +
                       "." + typeB.str() + " " + ptxVector(registers.first, registers.count) + ", " + left + ", " +
                       descB + ", " + scaleD;
    if (!isInteger)
      text += ", 1, 1";
    if (is16Bit && plan.a)
      text += plan.a->kMajor ? ", 0" : ", 1";
    if (is16Bit)
      text += plan.b.kMajor ? ", 0" : ", 1";
    return text + ";\n";
  }

  OpBuilder &builder;
  Location loc;
  cta::WgmmaOp op;
  const WgmmaPlan &plan;
  const layout::MmaFragments &fragments;
  ValueRange a;
  std::optional<DescriptorEmitter> rows, columns;
  PtxStatement statement;
};

struct WgmmaLowering : OpConversionPattern<cta::WgmmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::WgmmaOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<WgmmaPlan> plan = planWgmma(op);
    if (!plan)
      return rewriter.notifyMatchFailure(op, "operands have no descriptor");
    Value accumulate = op.getAccumulate() ? adaptor.getAccumulate().front() : Value();
    WgmmaEmitter emitter(rewriter, op, *plan, adaptor.getA(), adaptor.getB().front());
    Registers registers = emitter.emit(adaptor.getAcc(), accumulate);
    rewriter.replaceOpWithMultiple(op, SmallVector<Registers>{registers, {}});
    return success();
  }
};

struct TokenNoneLowering : OpConversionPattern<cta::TokenNoneOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::TokenNoneOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {Registers()});
    return success();
  }
};

struct UndefinedLowering : OpConversionPattern<cta::UndefinedOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::UndefinedOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    PtxStatement statement;
    if (failed(getTypeConverter()->convertType(op.getType(), statement.results)))
      return failure();
    statement.text = "{\n.reg .b32 any;\n";
    for (size_t index = 0; index < statement.results.size(); ++index)
      statement.text += "mov.b32 $" + std::to_string(index) + ", any;\n";
    statement.text += "}";
    rewriter.replaceOpWithMultiple(op, {Registers(emitPtx(rewriter, op.getLoc(), statement))});
    return success();
  }
};

/// Emits zeros by inline PTX ("mov"), about which LLVM assumes nothing, not even that the result is a constant or a
/// copy.
struct ZerosLowering : OpConversionPattern<cta::ZerosOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::ZerosOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    Value zero = emitPtx(rewriter, op.getLoc(), {.text = "mov.b32 $0, 0;", .results = {types.front()}}).front();
    rewriter.replaceOpWithMultiple(op, {Registers(types.size(), zero)});
    return success();
  }
};

/// Copies registers. Two halves share one register.
struct CopyRegistersLowering : OpConversionPattern<cta::CopyRegistersOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::CopyRegistersOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = op.getType().getElementType();
    auto copy = [&](Value word) {
      return emitPtx(
                 rewriter, loc,
                 {.text = "mov.b32 $0, $1;", .results = {word.getType()}, .operands = {word}, .hasSideEffects = false})
          .front();
    };
    ValueRange source = adaptor.getSrc();
    if (!element.isF16()) {
      rewriter.replaceOpWithMultiple(op, {llvm::map_to_vector(source, copy)});
      return success();
    }
    WordFormat format = wordsFor(element, source.size());
    SmallVector<Value> words = llvm::map_to_vector(packWords(rewriter, loc, source, format), copy);
    rewriter.replaceOpWithMultiple(op, {Registers(unpackWords(rewriter, loc, words, element, format))});
    return success();
  }
};

struct WgmmaWaitLowering : OpConversionPattern<cta::WgmmaWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::WgmmaWaitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    PtxStatement statement;
    statement.text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
    emitPtx(rewriter, op.getLoc(), statement);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Emits an empty statement that takes and returns the accumulators, so that LLVM cannot move their uses before the
/// wait.
struct AwaitLowering : OpConversionPattern<cta::AwaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::AwaitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    PtxStatement statement;
    // f16 accumulators have been unpacked from registers that held two elements, and are complete
    if (op.getType().getElementType().isF16()) {
      rewriter.replaceOpWithMultiple(op, {Registers(adaptor.getAcc())});
      return success();
    }
    // Registers that no wgmma writes need not be kept in place.
    std::vector<int32_t> computed = cta::registersInColumns(op.getAcc().getType(), op.getColumns());
    for (int32_t index : computed) {
      Value value = adaptor.getAcc()[index];
      statement.results.push_back(value.getType());
      statement.initial.push_back(value);
    }
    Registers awaited = emitPtx(rewriter, op.getLoc(), statement);
    rewriter.replaceOpWithMultiple(op, {replaceSome(adaptor.getAcc(), computed, awaited)});
    return success();
  }
};

} // namespace

static LogicalResult checkWgmma(cta::WgmmaOp op, const target::GpuTarget &gpu) {
  if (!gpu.has(target::Feature::Wgmma))
    return op.emitOpError() << "needs wgmma, which " << gpu.name << " lacks; sm_90a has it";
  Type a = elementTypeOfA(op), b = op.getB().getType().getElementType(), acc = op.getAcc().getType().getElementType();
  std::optional<target::MmaType> typeA = getMmaType(a), typeB = getMmaType(b), typeAcc = getAccumulatorType(acc);
  bool exists = typeA && typeB && typeAcc && target::isWgmmaInstruction(*typeA, *typeB, *typeAcc, op.getN());
  if (!exists)
    return op.emitOpError() << "is m64n" << op.getN() << " of " << a << " and " << b << " into " << acc
                            << ", which wgmma does not support";
  if (!planWgmma(op))
    return op.emitOpError() << "operands or accumulator do not have a layout of m64n" << op.getN();
  return success();
}

void registerWgmmaLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<WgmmaLowering, TokenNoneLowering, UndefinedLowering, ZerosLowering, CopyRegistersLowering,
                         WgmmaWaitLowering, AwaitLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::WgmmaOp>(checkWgmma);
}

} // namespace tile::conversion
