// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target-specific code: inline PTX from the program, waits for flags, and address casts.
//
// One execution of a PTX statement computes `pack` elements of a thread. Elements of 16 bits or less share registers,
// and each register has the type of its constraint letter. If a thread holds fewer than `pack` elements, the last one
// is repeated. A statement with side effects is executed once per element, by the first thread that holds the element;
// cta-lower-conversions passes results that other threads need through shared memory.
#include "EmitLayout.h"
#include "GlobalAccess.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// Returns the register type for a constraint letter (CUDA, "Inline PTX Assembly in CUDA").
Type typeOfLetter(Builder &builder, char letter) {
  switch (letter) {
  case 'h':
    return builder.getI16Type();
  case 'r':
    return builder.getI32Type();
  case 'l':
    return builder.getI64Type();
  case 'f':
    return builder.getF32Type();
  case 'd':
    return builder.getF64Type();
  case 'b':
    return builder.getI1Type();
  default:
    return {};
  }
}

/// The constraint letter of an immediate.
constexpr char immediateLetter = 'n';

/// Returns the letters of the results, followed by those of the operands: "rfr" for "=r,=f,r". Returns an empty string
/// if `text` is not a valid list of constraints.
std::string parseConstraints(StringRef text, size_t numResults) {
  std::string letters;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    part = part.trim();
    if (part.starts_with("~"))
      continue;
    bool isResult = part.consume_front("=");
    isResult |= isResult && part.consume_front("&");
    if (part.size() != 1 || isResult != (letters.size() < numResults))
      return {};
    letters += part;
  }
  return letters;
}

/// Returns the number of elements of this type that share one register.
unsigned elementsPerRegister(Type element, unsigned pack) {
  return std::min(pack, std::max(1u, 32 / std::max(8u, element.getIntOrFloatBitWidth())));
}

struct InlineAsmLowering : OpConversionPattern<InlineAsmOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(InlineAsmOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    unsigned pack = op.getPack();
    size_t numResults = 0, count = 1;
    for (Type type : op.getResultTypes())
      numResults += pack / elementsPerRegister(getElementTypeOf(type), pack);
    for (ValueRange registers : adaptor.getArgs())
      count = std::max(count, registers.size());
    std::string letters = parseConstraints(op.getConstraints(), numResults);
    SmallVector<Registers> results(op->getNumResults(), Registers(count));
    Execution execution = planExecution(op, count, rewriter);
    for (size_t first = 0; first < count; first += pack) {
      if (execution.sources[first] != int32_t(first))
        continue;
      PtxStatement statement{.text = op.getText().str(), .hasSideEffects = !op.getIsPure()};
      for (size_t index = 0; index < numResults; ++index)
        statement.results.push_back(typeOfLetter(rewriter, letters[index]));
      size_t letter = numResults;
      for (auto [operand, registers] : llvm::zip(op.getArgs(), adaptor.getArgs())) {
        unsigned shared = elementsPerRegister(getElementTypeOf(operand.getType()), pack);
        for (unsigned group = 0; group < pack; group += shared) {
          SmallVector<Value> elements;
          for (unsigned index = group; index < group + shared; ++index)
            elements.push_back(registers[std::min(first + index, registers.size() - 1)]);
          char kind = letters[letter++];
          Type type = typeOfLetter(rewriter, kind);
          if (kind == immediateLetter) {
            statement.immediates.push_back(statement.operands.size());
            type = rewriter.getIntegerType(std::max(32u, elements.front().getType().getIntOrFloatBitWidth()));
          }
          statement.operands.push_back(packRegister(rewriter, loc, elements, type));
        }
      }
      SmallVector<Value> zeros;
      for (Type type : execution.isFirst ? ArrayRef<Type>(statement.results) : ArrayRef<Type>())
        zeros.push_back(arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)));
      SmallVector<Value> words =
          emitWhere(rewriter, loc, execution.isFirst, zeros, [&] { return emitPtx(rewriter, loc, statement); });
      size_t word = 0;
      for (auto [type, registers] : llvm::zip(op.getResultTypes(), results)) {
        Type element = getRegisterType(getElementTypeOf(type));
        unsigned shared = elementsPerRegister(getElementTypeOf(type), pack);
        for (unsigned group = 0; group < pack; group += shared, ++word)
          for (unsigned index = 0; index < shared; ++index)
            if (first + group + index < count)
              registers[first + group + index] = extract(rewriter, loc, words[word], element, index);
      }
    }
    for (Registers &registers : results)
      for (auto [index, source] : llvm::enumerate(execution.sources))
        registers[index] = registers[source];
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// Specifies which threads execute a statement, and which register holds the result of each element.
  struct Execution {
    Value isFirst; // null if all threads execute it
    std::vector<int32_t> sources;
  };

  static Execution planExecution(InlineAsmOp op, size_t count, OpBuilder &builder) {
    TypeRange types = op->getNumOperands() ? TypeRange(op->getOperandTypes()) : TypeRange(op->getResultTypes());
    auto tensor = types.empty() ? RankedTensorType() : dyn_cast<RankedTensorType>(types.front());
    if (tensor && !op.getIsPure()) {
      const layout::LinearLayout &layout = cta::getLayout(tensor);
      return {emitIsFirstCopy(builder, op.getLoc(), layout), canonicalRegisters(layout)};
    }
    Execution execution;
    for (size_t index = 0; index < count; ++index)
      execution.sources.push_back(int32_t(index));
    return execution;
  }

  static Value toInteger(OpBuilder &builder, Location loc, Value value) {
    Type type = value.getType();
    Type integer = builder.getIntegerType(type.getIntOrFloatBitWidth());
    return type == integer ? value : arith::BitcastOp::create(builder, loc, integer, value).getResult();
  }
  static Value resize(OpBuilder &builder, Location loc, Value value, unsigned bits) {
    unsigned from = value.getType().getIntOrFloatBitWidth();
    Type type = builder.getIntegerType(bits);
    if (from == bits)
      return value;
    return from < bits ? arith::ExtUIOp::create(builder, loc, type, value).getResult()
                       : arith::TruncIOp::create(builder, loc, type, value).getResult();
  }
  static Value fromInteger(OpBuilder &builder, Location loc, Value value, Type type) {
    return value.getType() == type ? value : arith::BitcastOp::create(builder, loc, type, value).getResult();
  }

  /// Packs the elements into one register, the first one into the lowest bits.
  static Value packRegister(OpBuilder &builder, Location loc, ArrayRef<Value> elements, Type type) {
    unsigned bits = type.getIntOrFloatBitWidth();
    Value word;
    for (auto [index, element] : llvm::enumerate(elements)) {
      unsigned width = std::max(8u, element.getType().getIntOrFloatBitWidth());
      Value part = resize(builder, loc, toInteger(builder, loc, element), std::max(bits, width));
      if (index > 0) {
        Value shift = arith::ConstantIntOp::create(builder, loc, part.getType(), int64_t(index * width));
        part = arith::OrIOp::create(builder, loc, word, arith::ShLIOp::create(builder, loc, part, shift));
      }
      word = part;
    }
    return fromInteger(builder, loc, resize(builder, loc, word, bits), type);
  }

  static Value extract(OpBuilder &builder, Location loc, Value word, Type element, unsigned index) {
    Value bits = toInteger(builder, loc, word);
    unsigned width = std::max(8u, element.getIntOrFloatBitWidth());
    if (index > 0) {
      Value shift = arith::ConstantIntOp::create(builder, loc, bits.getType(), int64_t(index * width));
      bits = arith::ShRUIOp::create(builder, loc, bits, shift);
    }
    return fromInteger(builder, loc, resize(builder, loc, bits, element.getIntOrFloatBitWidth()), element);
  }
};

struct GridDependencyLowering : TargetPattern<GridDependencyOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(GridDependencyOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    bool isWait = op.getKind() == GridDependency::wait;
    if (gpu.capability >= 90)
      emitPtx(rewriter, op.getLoc(), {.text = isWait ? "griddepcontrol.wait;" : "griddepcontrol.launch_dependents;"});
    rewriter.eraseOp(op);
    return success();
  }
};

/// Lowers a wait for a flag. Each thread polls the flag itself, so no barrier is needed, and a single thread of a role
/// may wait alone. A proxy fence orders later TMA copies after the wait.
struct WaitFlagLowering : TargetPattern<WaitFlagOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(WaitFlagOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::string text = "{\n.reg .pred early;\n.reg .b32 flag;\nagain:\nld.acquire.sys.global.b32 flag, [$0];\n"
                       "sub.s32 flag, flag, $1;\nsetp.lt.s32 early, flag, 0;\n@early bra again;\n";
    if (gpu.capability >= 90)
      text += "fence.proxy.async.global;\n";
    emitPtx(rewriter, op.getLoc(),
            {.text = text + "}", .operands = {adaptor.getPtr().front(), adaptor.getValue().front()}});
    rewriter.eraseOp(op);
    return success();
  }
};

/// Converts between addresses as integers and pointers into global memory; the bits stay the same.
struct AddressCastLowering : OpConversionPattern<AddressCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AddressCastOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type to = getRegisterType(getElementTypeOf(op.getResult().getType()));
    Registers registers;
    for (Value value : adaptor.getSrc()) {
      if (value.getType() == to)
        registers.push_back(value);
      else if (isa<LLVM::LLVMPointerType>(to))
        registers.push_back(LLVM::IntToPtrOp::create(rewriter, op.getLoc(), to, value));
      else
        registers.push_back(LLVM::PtrToIntOp::create(rewriter, op.getLoc(), to, value));
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

/// Checks that each operand with constraint 'n' is a known integer and is not packed with others into one register.
static LogicalResult checkImmediates(InlineAsmOp op, StringRef letters) {
  size_t letter = 0;
  for (auto [index, operand] : llvm::enumerate(op.getArgs())) {
    Type element = getElementTypeOf(operand.getType());
    Value scalar = operand;
    if (auto splat = operand.getDefiningOp<SplatOp>())
      scalar = splat.getScalar();
    bool isConstant = isa<IntegerType>(element) && matchPattern(scalar, m_Constant());
    for (unsigned group = 0; group < op.getPack(); group += elementsPerRegister(element, op.getPack()), ++letter)
      if (letters[letter] == immediateLetter && (!isConstant || elementsPerRegister(element, op.getPack()) > 1))
        return op.emitOpError() << "has constraint 'n' for argument " << index
                                << ", which is not a constant integer; 'n' "
                                << "needs one that is not packed with others in a register";
  }
  return success();
}

static LogicalResult checkInlineAsm(InlineAsmOp op, const target::GpuTarget &) {
  size_t numResults = 0;
  for (Type type : op.getResultTypes())
    numResults += op.getPack() / elementsPerRegister(getElementTypeOf(type), op.getPack());
  std::string letters = parseConstraints(op.getConstraints(), numResults);
  Builder builder(op.getContext());
  bool isKnown = llvm::all_of(llvm::enumerate(letters), [&](auto entry) {
    bool isImmediate = entry.value() == immediateLetter && entry.index() >= numResults;
    return isImmediate || typeOfLetter(builder, entry.value());
  });
  if (isKnown && letters.size() >= numResults &&
      (!letters.empty() || op.getConstraints().empty() || op.getConstraints().starts_with("~")))
    return checkImmediates(op, StringRef(letters).substr(numResults));
  return op.emitOpError()
         << "has constraints '" << op.getConstraints()
         << "'; expected one of h, r, l, f, d, b or n for each operand, and '=' before those of results, "
         << "which cannot be n";
}

void registerExternLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<InlineAsmLowering, AddressCastLowering>(lowerings.converter, lowerings.context, /*benefit=*/2);
  lowerings.patterns.add<GridDependencyLowering, WaitFlagLowering>(lowerings.converter, lowerings.context,
                                                                   lowerings.gpu);
  lowerings.check<InlineAsmOp>(checkInlineAsm);
}

} // namespace tile::conversion
