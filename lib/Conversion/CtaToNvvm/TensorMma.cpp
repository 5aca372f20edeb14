// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MMAs that accumulate in tensor memory, with and without scales (PTX ISA, "tcgen05.mma", "tcgen05.cp",
// "tcgen05.commit"). One thread issues all instructions of a tile:
//
//   tcgen05.cp [scales], …                        with scales: from shared to tensor memory
//   tcgen05.mma [acc], a, b, …, [scales], …       one for each 32 bytes of k
#include "EmitLayout.h"
#include "MatrixDescriptor.h"
#include "Patterns.h"
#include "Ptx.h"
#include "TensorMemory.h"
#include "Tma.h"

#include "Target/Engines/Tcgen05.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

using namespace mlir;

namespace tile::conversion {

namespace {

/// Begins a branch that only the issuing thread of the role enters. If `synchronizes` is true and the role has several
/// threads, these threads synchronize first, so that their accesses precede the accesses of the instructions.
void beginIssue(ConversionPatternRewriter &rewriter, Operation *op, bool synchronizes) {
  std::optional<cta::Role> role = cta::findRole(op);
  if (role && role->getAttr().getOneThread())
    return;
  Location loc = op->getLoc();
  if (synchronizes) {
    emitTensorFence(rewriter, loc, /*before=*/true);
    cta::BarrierOp::create(rewriter, loc, /*groups=*/false);
  }
  auto branch = scf::IfOp::create(rewriter, loc, emitIsFirstOfRole(rewriter, op), /*withElseRegion=*/false);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  if (synchronizes)
    emitTensorFence(rewriter, loc, /*before=*/false);
}

/// The operands of an MMA that are in shared memory; `a` is nullopt if the left operand is in tensor memory.
struct MmaOperands {
  std::optional<MatrixOperand> a;
  MatrixOperand b;
};
/// Returns nullopt if no matrix descriptor can express the operands.
std::optional<MmaOperands> planOperands(cta::Tcgen05MmaOp op) {
  cta::BufferType bufferA = op.getBufferA();
  std::optional<MatrixOperand> a = bufferA ? planMatrixOperand(bufferA, 1) : std::nullopt,
                               b = planMatrixOperand(op.getB().getType(), 0);
  if ((bufferA && !a) || !b)
    return std::nullopt;
  // An instruction must start at the start of a panel, because descriptor offsets are counted from there.
  auto startsPanel = [](const MatrixOperand &operand, int64_t step) {
    return operand.kMajor || operand.extent == step || step % operand.form.panelElements == 0;
  };
  if ((a && !startsPanel(*a, op.getM())) || !startsPanel(*b, op.getN()))
    return std::nullopt;
  return MmaOperands{a, *b};
}

struct MmaLowering : OpConversionPattern<cta::Tcgen05MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::Tcgen05MmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    std::optional<MmaOperands> operands = planOperands(op);
    if (!operands)
      return rewriter.notifyMatchFailure(op, "operands have no descriptor");
    bool isInCluster = op->getParentOfType<LLVM::LLVMFuncOp>()->hasAttr(NVVM::NVVMDialect::getClusterDimAttrName());
    beginIssue(rewriter, op, /*synchronizes=*/true);
    constexpr auto format = DescriptorEmitter::Format::Tcgen05;
    std::optional<DescriptorEmitter> rows;
    if (operands->a)
      rows.emplace(rewriter, loc, format, *operands->a, adaptor.getA(), /*firstRow=*/Value(), isInCluster);
    DescriptorEmitter columns(rewriter, loc, format, operands->b, adaptor.getB(), /*firstRow=*/{}, isInCluster);
    MmaStatement statement(op);
    if (op.getAScale())
      emitCopies(rewriter, op, adaptor, isInCluster, statement);
    const std::string first = op.getAccumulate() ? statement.use(adaptor.getAccumulate()) : "always";
    const int64_t blockStep = op.getAcc().getType().getShape()[1], bytes = target::tcgen05BytesK,
                  elementBytes = operands->b.elementBytes;
    const bool aKMajor = !operands->a || operands->a->kMajor;
    for (int64_t row = 0; row < op.getShapeA()[0]; row += op.getM())
      for (int64_t column = 0; column < operands->b.extent; column += op.getN()) {
        const std::string result = statement.use(
            emitTensorAddress(rewriter, loc, adaptor.getAcc(), row / target::tensorMemoryLanes * blockStep + column));
        for (int64_t step = 0; step < operands->b.k * elementBytes; step += bytes) {
          const int64_t k = step / elementBytes;
          const std::string left = rows ? statement.use(rows->at(row, k))
                                        : "[" + statement.use(emitOperandAddress(rewriter, op, adaptor, row, k)) + "]",
                            right = statement.use(columns.at(column, k));
          statement.text += "tcgen05.mma.cta_group::1" + target::tcgen05Suffix(statement.a, op.getScaleGroup()) + " [" +
                            result + "], " + left + ", " + right + ", ";
          if (op.getAScale())
            addScales(rewriter, op, adaptor.getScales(), {row, column, step / bytes}, statement);
          else
            statement.text += statement.descriptor(
                rewriter, target::tcgen05Descriptor(statement.a, statement.b, statement.acc, op.getM(), op.getN(),
                                                    aKMajor, operands->b.kMajor));
          statement.text += ", " + (step == 0 ? first : "always") + ";\n";
        }
      }
    statement.text += "}";
    // Emits PTX instead of the intrinsic: LLVM 22 would select an expression, "%rd1+128", as the second descriptor,
    // which is not a valid PTX operand.
    emitPtx(rewriter, loc, statement);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Returns the address of the part of the left operand in tensor memory that one instruction reads.
  static Value emitOperandAddress(OpBuilder &builder, cta::Tcgen05MmaOp op, OpAdaptor adaptor, int64_t row, int64_t k) {
    auto type = cast<cta::TensorMemoryType>(op.getA().getType());
    const int64_t perColumn = type.getElementsPerColumn(), blockStep = type.getShape()[1] / perColumn;
    return emitTensorAddress(builder, op.getLoc(), adaptor.getA(),
                             row / target::tensorMemoryLanes * blockStep + k / perColumn);
  }

  /// The instructions of an MMA, and the operands that they use.
  struct MmaStatement : PtxStatement {
    explicit MmaStatement(cta::Tcgen05MmaOp op)
        : loc(op.getLoc()), a(*getMmaType(op.getMultipliedTypeA())),
          b(*getMmaType(op.getMultipliedType(op.getB().getType()))),
          acc(*getAccumulatorType(op.getAcc().getType().getElementType())) {
      text = "{\n.reg .pred always;\nmov.pred always, 1;\n";
    }
    std::string use(Value operand) {
      operands.push_back(operand);
      return "$" + std::to_string(operands.size() - 1);
    }
    /// Returns the operand that holds an instruction descriptor; equal descriptors share one operand.
    std::string descriptor(OpBuilder &builder, uint32_t bits) {
      std::string &name = descriptors[bits];
      return name.empty() ? name = use(emitI32(builder, loc, int32_t(bits))) : name;
    }

    Location loc;
    target::MmaType a, b, acc;

  private:
    std::map<uint32_t, std::string> descriptors;
  };

  /// The position of an instruction in the MMA: its first row and column, and its index along k.
  struct MmaPosition {
    int64_t row, column, step;
  };

  /// Copies the scales of both operands to tensor memory; each instruction copies 32 lanes of 16 bytes.
  static void emitCopies(OpBuilder &builder, cta::Tcgen05MmaOp op, OpAdaptor adaptor, bool isInCluster,
                         MmaStatement &statement) {
    constexpr int64_t copyBytes = 512;
    int64_t column = 0;
    for (auto [type, buffer] :
         {std::pair(op.getAScale().getType(), adaptor.getAScale()), {op.getBScale().getType(), adaptor.getBScale()}}) {
      Value descriptor = emitScalesDescriptor(builder, op.getLoc(), buffer, isInCluster);
      for (int64_t byte = 0; byte < type.getBytesPerSlot(); byte += copyBytes, column += target::scaleColumnsOfCopy) {
        Value distance = arith::ConstantIntOp::create(builder, op.getLoc(), builder.getI64Type(), byte / 16);
        Value from = arith::AddIOp::create(builder, op.getLoc(), descriptor, distance);
        const std::string to = statement.use(emitTensorAddress(builder, op.getLoc(), adaptor.getScales(), column));
        statement.text += "tcgen05.cp.cta_group::1.32x128b.warpx4 [" + to + "], " + statement.use(from) + ";\n";
      }
    }
  }

  /// Appends the instruction descriptor and the addresses of the scales.
  static void addScales(OpBuilder &builder, cta::Tcgen05MmaOp op, Value memory, MmaPosition position,
                        MmaStatement &statement) {
    const unsigned group = op.getScaleGroup();
    const int64_t first = position.step * target::scalesOfInstruction(statement.a, group),
                  columnGroup = first / target::scalesOfColumn;
    auto columnOf = [&](int64_t lines, int64_t line) {
      return columnGroup * (lines / target::linesOfScaleColumn) + line / target::linesOfScaleColumn;
    };
    ArrayRef<int64_t> ofA = op.getAScale().getType().getShape(), ofB = op.getBScale().getType().getShape();
    statement.text +=
        statement.descriptor(builder, target::tcgen05ScaledDescriptor(statement.a, statement.b, op.getM(), op.getN(),
                                                                      group, unsigned(first % target::scalesOfColumn)));
    const int64_t columnB = target::scaleColumnsOf(ofA[0], ofA[1]) + columnOf(ofB[0], position.column);
    for (int64_t column : {columnOf(ofA[0], position.row), columnB})
      statement.text += ", [" + statement.use(emitTensorAddress(builder, op.getLoc(), memory, column)) + "]";
  }
};

struct CommitLowering : OpConversionPattern<cta::Tcgen05CommitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::Tcgen05CommitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    beginIssue(rewriter, op, /*synchronizes=*/false);
    NVVM::Tcgen05CommitOp::create(rewriter, loc,
                                  emitBarrierSlot(rewriter, loc, adaptor.getBarrier(), adaptor.getSlot()),
                                  /*multicastMask=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void registerTensorMmaLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<MmaLowering, CommitLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::Tcgen05MmaOp>([](cta::Tcgen05MmaOp op, const target::GpuTarget &gpu) -> LogicalResult {
    if (failed(checkTensorMemory(op, gpu)))
      return failure();
    if (!planOperands(op))
      return op.emitOpError() << "operands do not have a layout that a matrix descriptor can express";
    return success();
  });
}

} // namespace tile::conversion
