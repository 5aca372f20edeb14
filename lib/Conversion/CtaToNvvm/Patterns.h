// What the files of this folder share: the type conversion and the list of pattern families, one a file.
#pragma once

#include "Words.h"

#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"

#include "mlir/Transforms/DialectConversion.h"

namespace tile::conversion {

/// A tensor with a layout becomes its registers, in order; a pointer or buffer an address; an 8-bit float its bits.
class RegisterTypeConverter : public mlir::TypeConverter {
public:
  explicit RegisterTypeConverter(mlir::MLIRContext *context);
};

/// The registers that replace a result.
using Registers = llvm::SmallVector<mlir::Value>;

/// Base of patterns that ask what the target can do.
template <typename OpType> struct TargetPattern : mlir::OpConversionPattern<OpType> {
  TargetPattern(const mlir::TypeConverter &converter, mlir::MLIRContext *context, const target::GpuTarget &gpu,
                mlir::PatternBenefit benefit = 1)
      : mlir::OpConversionPattern<OpType>(converter, context, benefit), gpu(gpu) {}

  const target::GpuTarget &gpu;
};

/// Name of the external symbol at which the shared memory of a CTA starts.
inline constexpr llvm::StringLiteral sharedSymbol = "tile_shared";
/// Alignment of `sharedSymbol` in bytes: what a 128-byte swizzle needs.
inline constexpr unsigned sharedAlignment = 1024;
/// Alignment in bytes that buffers must have: the widest shared-memory access.
inline constexpr unsigned bufferAlignment = 16;

// Checks of what verifiers cannot see: they report an error on what the patterns cannot lower for this target.
mlir::LogicalResult checkKernel(KernelOp kernel);
mlir::LogicalResult checkElementwise(mlir::Operation *op);
mlir::LogicalResult checkShapeChange(mlir::Operation *op);
mlir::LogicalResult checkReduction(mlir::Operation *op);
mlir::LogicalResult checkScan(ScanOp op);
mlir::LogicalResult checkInlineAsm(InlineAsmOp op);
mlir::LogicalResult checkRowMajor(mlir::Operation *op, cta::BufferType buffer);
mlir::LogicalResult checkAsyncCopy(cta::AsyncCopyOp op, const target::GpuTarget &gpu);
mlir::LogicalResult checkAlloc(cta::AllocOp op);
mlir::LogicalResult checkWholeTile(mlir::Operation *op, cta::BufferType buffer);
mlir::LogicalResult checkMma(cta::MmaSyncOp op, const target::GpuTarget &gpu);
mlir::LogicalResult checkFmaDot(cta::FmaDotOp op);
mlir::LogicalResult checkWgmma(cta::WgmmaOp op, const target::GpuTarget &gpu);
mlir::LogicalResult checkTensorMapInMemory(mlir::Operation *op, const target::GpuTarget &gpu);
mlir::LogicalResult checkMakeTensorMap(cta::MakeTensorMapOp op, const target::GpuTarget &gpu);
mlir::LogicalResult checkTmaCopy(mlir::Operation *op, cta::BufferType buffer, mlir::Value rest,
                                 const target::GpuTarget &gpu);
mlir::LogicalResult checkMbarrierAlloc(cta::MbarrierAllocOp op);
mlir::LogicalResult checkWarpRoles(cta::WarpRolesOp op, const target::GpuTarget &gpu);
mlir::LogicalResult checkCluster(mlir::Operation *op, const target::GpuTarget &gpu);
mlir::LogicalResult checkPrint(PrintOp op);

/// An i1 argument of a kernel is passed as i8 (the launch ABI).
void widenBoolArguments(KernelOp kernel);
/// Turns roles into branches on the number of the warp, behind the initialisation of barriers.
void lowerWarpRoles(KernelOp kernel);
/// Declares `sharedSymbol`.
void declareSharedMemory(mlir::ModuleOp module);

void populateKernelPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populatePrintPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                           const target::GpuTarget &gpu);
void populateElementwisePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateShapePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateShufflePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateReducePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateScanPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateCountPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateGatherPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateAtomicPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            const target::GpuTarget &gpu);
void populateExternPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            const target::GpuTarget &gpu);
void populateMathPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                          const target::GpuTarget &gpu);
void populateFloat8Patterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            const target::GpuTarget &gpu);
void populateElementPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateMemoryPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            const target::GpuTarget &gpu);
void populateAsyncCopyPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateBufferPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            const target::GpuTarget &gpu);
void populateMmaPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateWgmmaPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateGridPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateTensorMapPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateClusterPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateTmaPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateFmaDotPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            const target::GpuTarget &gpu);

/// Whether the operation converts a float to an integer register, which only populateFloatToIntegerPatterns does.
bool isFloatToRegister(mlir::Operation *op);
void populateFloatToIntegerPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Whether a scalar operation of the math or arith dialect reaches PTX through upstream's lowerings.
bool isSelectable(mlir::Operation *op, const target::GpuTarget &gpu);

} // namespace tile::conversion
