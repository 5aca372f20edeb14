// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assertions and debug output through the device function `vprintf` (CUDA C++ Programming Guide, "Formatted Output").
// It takes a format and a buffer that holds the arguments one after another: integers widened to at least 32 bits,
// floats converted to f64.
//
//   tile.assert %c, "in range"   ==>   if (not all elements that this thread holds) { print the message; trap }
#include "EmitLayout.h"
#include "Float8.h"
#include "GlobalAccess.h"
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

/// Returns a generic pointer to a constant, zero-terminated string.
Value emitString(OpBuilder &builder, Location loc, ModuleOp module, StringRef text) {
  std::string bytes = text.str() + '\0';
  unsigned number = 0;
  auto nameOf = [](unsigned number) { return "tile_string_" + std::to_string(number); };
  LLVM::GlobalOp global;
  while ((global = module.lookupSymbol<LLVM::GlobalOp>(nameOf(number))) &&
         cast<StringAttr>(*global.getValue()).getValue() != bytes)
    ++number;
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    // The global has the location of the module, not of its use: the use may be inlined from a helper, and its location
    // is then a call site, which is valid only within a function.
    global =
        LLVM::GlobalOp::create(builder, module.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
                               /*isConstant=*/true, LLVM::Linkage::Internal, nameOf(number),
                               builder.getStringAttr(bytes), /*alignment=*/1, globalSpace);
  }
  Value address = LLVM::AddressOfOp::create(builder, loc, global);
  return LLVM::AddrSpaceCastOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

LLVM::LLVMFuncOp declareVprintf(OpBuilder &builder, ModuleOp module) {
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>("vprintf"))
    return function;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), "vprintf",
                                  LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer}));
}

/// Emits a call to vprintf. `arguments` must be i32, i64 or f64.
void emitPrintf(OpBuilder &builder, Operation *op, StringRef format, ValueRange arguments) {
  Location loc = op->getLoc();
  auto module = op->getParentOfType<ModuleOp>();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  LLVM::LLVMFuncOp vprintf = declareVprintf(builder, module);
  Value text = emitString(builder, loc, module, format), buffer = LLVM::ZeroOp::create(builder, loc, pointer);
  if (!arguments.empty()) {
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(arguments.getTypes()));
    {
      // The buffer is allocated in the entry block, so that the stack does not grow in a loop.
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front());
      buffer = LLVM::AllocaOp::create(builder, loc, pointer, type, emitI32(builder, loc, 1));
    }
    for (auto [index, argument] : llvm::enumerate(arguments)) {
      Value field = LLVM::GEPOp::create(builder, loc, pointer, type, buffer, ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
      LLVM::StoreOp::create(builder, loc, argument, field);
    }
  }
  LLVM::CallOp::create(builder, loc, vprintf, ValueRange{text, buffer});
}

std::string escaped(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

/// If several threads fail an assertion, one of them reports the failure. All of them trap only afterwards, so that no
/// trap ends the kernel before the report is complete.
struct AssertLowering : OpConversionPattern<AssertOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AssertOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value all;
    for (Value condition : adaptor.getCondition())
      all = emitAnd(rewriter, loc, all, condition);
    Value isFalse =
        arith::XOrIOp::create(rewriter, loc, all, arith::ConstantIntOp::create(rewriter, loc, rewriter.getI1Type(), 1));
    auto tensor = dyn_cast<RankedTensorType>(op.getCondition().getType());
    if (Value isFirst =
            tensor ? emitIsFirstCopy(rewriter, loc, cta::getLayout(tensor)) : emitIsFirstOfRole(rewriter, op))
      isFalse = arith::AndIOp::create(rewriter, loc, isFalse, isFirst);
    auto branch = scf::IfOp::create(rewriter, loc, isFalse, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> arguments;
    for (Value index : {NVVM::BlockIdXOp::create(rewriter, loc, rewriter.getI32Type()).getResult(),
                        NVVM::BlockIdYOp::create(rewriter, loc, rewriter.getI32Type()).getResult(),
                        NVVM::BlockIdZOp::create(rewriter, loc, rewriter.getI32Type()).getResult()})
      arguments.push_back(index);
    emitPrintf(rewriter, op, "pid (%u, %u, %u) assertion failed: " + escaped(op.getMessage()) + "\n", arguments);
    LLVM::Trap::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }
};

/// How a value is printed: its conversion specification and the widened value.
struct Printed {
  std::string conversion;
  Value value;
};

Printed emitPrinted(OpBuilder &builder, Location loc, Value value, Type element, bool hex, bool isUnsigned,
                    const target::GpuTarget &gpu) {
  if (isa<PtrType>(element))
    return {"0x%llx", LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), value)};
  if (hex && isa<FloatType>(element)) // print the bits of the float
    element = builder.getIntegerType(element.getIntOrFloatBitWidth());
  if (isa<IntegerType>(element) && value.getType() != element)
    value = arith::BitcastOp::create(builder, loc, element, value);
  if (isa<FloatType>(element)) {
    if (element.getIntOrFloatBitWidth() == 8)
      value = emitFromFloat8(builder, loc, value, element, builder.getF32Type(), gpu).front();
    if (!value.getType().isF64())
      value = arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
    // These numbers of decimal digits distinguish all values of a format; the interpreter prints the same number.
    return {element.isF64() ? "%.17g" : element.isF32() ? "%.9g" : element.isF16() ? "%.5g" : "%.4g", value};
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits < 32 && (hex || isUnsigned || bits == 1))
    value = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
  else if (bits < 32)
    value = arith::ExtSIOp::create(builder, loc, builder.getI32Type(), value);
  std::string length = bits == 64 ? "ll" : "";
  if (hex)
    return {"0x%0" + std::to_string(std::max(bits / 4, 2u)) + length + "x", value};
  return {"%" + length + (isUnsigned ? "u" : "d"), value};
}

/// Returns the type of the first tensor argument; null if all arguments are scalars. All tensor arguments have the same
/// layout, and scalars are printed again with every element.
RankedTensorType firstTensor(PrintOp op) {
  for (Type type : op.getArgs().getTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tensor;
  return {};
}

struct PrintLowering : TargetPattern<PrintOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(PrintOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType tensor = firstTensor(op);
    Value isFirst = tensor ? emitIsFirstCopy(rewriter, loc, cta::getLayout(tensor)) : emitIsFirstOfRole(rewriter, op);
    if (!isFirst)
      isFirst = arith::ConstantIntOp::create(rewriter, loc, rewriter.getI1Type(), 1);
    auto branch = scf::IfOp::create(rewriter, loc, isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    if (!tensor) {
      printElement(op, adaptor, rewriter, 0, {});
    } else {
      const LinearLayout &layout = cta::getLayout(tensor);
      SmallVector<OffsetEmitter> coordinates;
      for (unsigned axis = 0; axis < layout.rank(); ++axis)
        coordinates.emplace_back(rewriter, loc, ThreadMap::coordinate(layout, axis));
      for (auto [index, canonical] : llvm::enumerate(canonicalRegisters(layout))) {
        if (canonical != int32_t(index))
          continue;
        SmallVector<Value> coordinate;
        for (OffsetEmitter &emitter : coordinates)
          coordinate.push_back(emitter.indexOfRegister(index));
        printElement(op, adaptor, rewriter, index, coordinate);
      }
    }
    rewriter.eraseOp(op);
    return success();
  }

  void printElement(PrintOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter, size_t index,
                    ValueRange coordinate) const {
    Location loc = op.getLoc();
    SmallVector<Value> arguments{NVVM::BlockIdXOp::create(rewriter, loc, rewriter.getI32Type()),
                                 NVVM::BlockIdYOp::create(rewriter, loc, rewriter.getI32Type()),
                                 NVVM::BlockIdZOp::create(rewriter, loc, rewriter.getI32Type())};
    std::string format = "pid (%u, %u, %u) idx (";
    for (auto [axis, value] : llvm::enumerate(coordinate)) {
      format += axis == 0 ? "%d" : ", %d";
      arguments.push_back(value);
    }
    format += ") " + escaped(op.getPrefix());
    for (auto [number, operand, registers] : llvm::enumerate(op.getArgs(), adaptor.getArgs())) {
      Value value = registers.size() == 1 ? registers.front() : registers[index];
      Printed printed = emitPrinted(rewriter, loc, value, getElementTypeOf(operand.getType()), op.getHex(),
                                    op.isUnsignedArg(number), gpu);
      format += (number == 0 ? "" : ", ") + printed.conversion;
      arguments.push_back(printed.value);
    }
    emitPrintf(rewriter, op, format + "\n", arguments);
  }
};

} // namespace

static LogicalResult checkPrint(PrintOp op, const target::GpuTarget &) {
  for (Value argument : op.getArgs()) {
    RankedTensorType first = firstTensor(op);
    if (isa<RankedTensorType>(argument.getType()) &&
        cta::getLayoutAttr(argument.getType()) != cta::getLayoutAttr(first))
      return op.emitOpError() << "prints " << first << " alongside " << argument.getType()
                              << "; all tensors must have the same layout";
  }
  return success();
}

void registerPrintLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<AssertLowering>(lowerings.converter, lowerings.context);
  lowerings.patterns.add<PrintLowering>(lowerings.converter, lowerings.context, lowerings.gpu);
  lowerings.check<PrintOp>(checkPrint);
}

} // namespace tile::conversion
