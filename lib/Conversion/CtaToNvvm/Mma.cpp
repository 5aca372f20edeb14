// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix multiply-accumulates with warp-level tensor-core instructions.
//
// A warp's accumulator is a grid of mTiles x nTiles instruction tiles; lib/Layout/MmaLayouts.h documents the registers
// of the fragments. k is the outermost loop, so an accumulator tile is used again only after all other tiles. n is
// traversed back and forth, so each instruction shares one operand with the previous instruction.
//
//   k = 0:  (m0 n0) (m0 n1) (m0 n2) (m1 n2) (m1 n1) (m1 n0)     k = 1: …
#include "EmitLayout.h"
#include "Patterns.h"
#include "Ptx.h"
#include "Words.h"

#include "Analysis/Dots/DotPlan.h"
#include "Layout/MmaLayouts.h"
#include "Target/Engines/MmaSync.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using tile::layout::LinearLayout;
using tile::layout::MmaFragments;
using tile::target::MmaType;

namespace tile::conversion {

namespace {

bool hasSameBases(const LinearLayout &layout, const LinearLayout &fragment) {
  return layout.outShape() == fragment.outShape() &&
         layout.flatBases(layout::registerDim) == fragment.flatBases(layout::registerDim) &&
         layout.flatBases(layout::laneDim) == fragment.flatBases(layout::laneDim);
}

/// Returns true if each warp holds the rows of A and the columns of B that its part of the accumulator needs.
bool warpsAgree(const LinearLayout &a, const LinearLayout &b, const LinearLayout &acc) {
  layout::Bases aBases = a.bases(layout::warpDim), bBases = b.bases(layout::warpDim),
                accBases = acc.bases(layout::warpDim);
  if (aBases.size() != accBases.size() || bBases.size() != accBases.size())
    return false;
  for (size_t bit = 0; bit < accBases.size(); ++bit)
    if (aBases[bit] != std::vector<int32_t>{accBases[bit][0], 0} ||
        bBases[bit] != std::vector<int32_t>{0, accBases[bit][1]})
      return false;
  return true;
}

/// Returns true if there are no scales, or if they have the layouts that the instruction requires.
bool haveScales(cta::MmaSyncOp op, const layout::MmaTiling &tiling) {
  if (!op.getAScale())
    return true;
  const LinearLayout &a = cta::getLayout(op.getAScale().getType()), &b = cta::getLayout(op.getBScale().getType());
  return a == layout::mmaScalesA(a.outShape()[0], a.outShape()[1], tiling) &&
         b == layout::mmaScalesB(b.outShape()[0], b.outShape()[1], tiling);
}

/// Returns the fragments that the operands' layouts describe; nullopt if these are not fragments of the instruction.
std::optional<MmaFragments> planMma(cta::MmaSyncOp op) {
  const LinearLayout &a = cta::getLayout(op.getA().getType()), &b = cta::getLayout(op.getB().getType()),
                     &acc = cta::getLayout(op.getAcc().getType());
  int64_t m = acc.outShape()[0], n = acc.outShape()[1], k = a.outShape()[1];
  const unsigned elementBits = op.getA().getType().getElementType().getIntOrFloatBitWidth(),
                 multipliedBits = op.getMultipliedType(op.getA()).getIntOrFloatBitWidth(),
                 instructionK = op.getShape()[2] * multipliedBits / elementBits, warps = acc.numWarps();
  if (k < instructionK || !warpsAgree(a, b, acc))
    return std::nullopt;
  for (unsigned warpsM = 1; warpsM <= warps; warpsM *= 2) {
    layout::MmaTiling tiling{warpsM, warps / warpsM, elementBits, instructionK};
    if (!hasSameBases(acc, layout::mmaAccumulator(m, n, tiling)))
      continue;
    for (; tiling.kWidth == 32 / elementBits || 4 * tiling.kWidth <= k; tiling.kWidth *= 2)
      if (hasSameBases(a, layout::mmaOperandA(m, k, tiling)) && hasSameBases(b, layout::mmaOperandB(k, n, tiling)) &&
          haveScales(op, tiling))
        return layout::mmaFragments(m, n, k, tiling);
  }
  return std::nullopt;
}

/// Emits the instructions of one cta.mma_sync.
class MmaEmitter {
public:
  MmaEmitter(OpBuilder &builder, cta::MmaSyncOp op, const MmaFragments &fragments)
      : builder(builder), loc(op.getLoc()), op(op), fragments(fragments),
        elementA(op.getA().getType().getElementType()), elementB(op.getB().getType().getElementType()),
        elementAcc(op.getAcc().getType().getElementType()) {}

  Registers emit(ValueRange a, ValueRange b, ValueRange acc, ValueRange aScale, ValueRange bScale);

private:
  /// Packs an operand into 32-bit registers: f16 as vector<2xf16>, all other types as i32. The instruction reads f32
  /// registers as tf32 and ignores the lowest bits, as wgmma does for operands in shared memory. Rounding to tf32
  /// instead would take three instructions per element, as many as all other instructions of a loop.
  SmallVector<Value> packOperands(ValueRange registers, Type element);
  SmallVector<Value> packAccumulator(ValueRange registers);
  Value multiply(ValueRange a, ValueRange b, ValueRange acc);
  /// Returns, for each tile of rows or columns, the word that holds the tile's scales for step `k`.
  SmallVector<Value> packScales(ValueRange registers, int64_t tiles, int64_t k);
  /// Emits the scaled MMA of step `k` and replaces the accumulator by its result.
  void multiplyScaled(ValueRange a, ValueRange b, SmallVector<Value> &acc, Value aScale, Value bScale, int64_t k);
  int64_t firstScale(int64_t k) { return k * op.getShape()[2] / op.getScaleGroup(); }
  Type resultType();

  OpBuilder &builder;
  Location loc;
  cta::MmaSyncOp op;
  const MmaFragments &fragments;
  Type elementA, elementB, elementAcc;
};

SmallVector<Value> MmaEmitter::packOperands(ValueRange registers, Type element) {
  unsigned perWord = 32 / element.getIntOrFloatBitWidth();
  SmallVector<Value> words = packWords(builder, loc, registers, {32, unsigned(registers.size() / perWord), perWord});
  if (element.isF16())
    for (Value &word : words)
      word = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, element), word);
  return words;
}

SmallVector<Value> MmaEmitter::packAccumulator(ValueRange registers) {
  return elementAcc.isF16() ? packOperands(registers, elementAcc) : SmallVector<Value>(registers);
}

Type MmaEmitter::resultType() {
  SmallVector<Type> types(elementAcc.isF16() ? 2 : 4, elementAcc);
  if (elementAcc.isF16())
    types.assign(2, VectorType::get(2, elementAcc));
  return LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
}

Value MmaEmitter::multiply(ValueRange a, ValueRange b, ValueRange acc) {
  ArrayRef<int32_t> shape = op.getShape();
  MmaType typeA = *getMmaType(elementA), typeB = *getMmaType(elementB);
  if (typeA == MmaType::F8E4M3 || typeA == MmaType::F8E5M2) {
    // nvvm.mma.sync does not support 8-bit floats, but LLVM has an intrinsic for them.
    std::string name = "llvm.nvvm.mma.m16n8k32.row.col.f32." + std::string(target::mmaTypeName(typeA)) + "." +
                       std::string(target::mmaTypeName(typeB)) + ".f32";
    SmallVector<Value> operands(a);
    llvm::append_range(operands, b);
    llvm::append_range(operands, acc);
    return LLVM::CallIntrinsicOp::create(builder, loc, resultType(), builder.getStringAttr(name), operands)
        .getResult(0);
  }
  auto ptxType = [](MmaType type) {
    switch (type) {
    case MmaType::F16:
      return NVVM::MMATypes::f16;
    case MmaType::BF16:
      return NVVM::MMATypes::bf16;
    case MmaType::TF32:
      return NVVM::MMATypes::tf32;
    default:
      return NVVM::MMATypes::s8;
    }
  };
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (typeA == MmaType::S8)
    overflow = NVVM::MMAIntOverflow::wrapped;
  return NVVM::MmaOp::create(builder, loc, resultType(), a, b, acc, {shape[0], shape[1], shape[2]},
                             /*b1Op=*/std::nullopt, overflow, std::array{ptxType(typeA), ptxType(typeB)},
                             std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
}

SmallVector<Value> MmaEmitter::packScales(ValueRange registers, int64_t tiles, int64_t k) {
  constexpr int64_t scalesOfWord = 4;
  const int64_t groups = int64_t(registers.size()) / tiles, first = firstScale(k) / scalesOfWord * scalesOfWord;
  const Type i32 = builder.getI32Type(), i8 = builder.getI8Type();
  SmallVector<Value> words;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    Value word;
    for (int64_t byte = 0; byte < std::min(scalesOfWord, groups); ++byte) {
      Value scale = registers[tile * groups + first + byte];
      if (scale.getType() != i8)
        scale = LLVM::BitcastOp::create(builder, loc, i8, scale);
      scale = LLVM::ZExtOp::create(builder, loc, i32, scale);
      if (byte != 0)
        scale = LLVM::ShlOp::create(builder, loc, scale, emitI32(builder, loc, 8 * byte));
      word = word ? Value(LLVM::OrOp::create(builder, loc, word, scale)) : scale;
    }
    words.push_back(word);
  }
  return words;
}

void MmaEmitter::multiplyScaled(ValueRange a, ValueRange b, SmallVector<Value> &acc, Value aScale, Value bScale,
                                int64_t k) {
  constexpr int64_t scalesOfWord = 4;
  PtxStatement statement;
  statement.results.append(acc.size(), elementAcc);
  statement.hasSideEffects = false;
  int64_t next = int64_t(acc.size());
  auto list = [&](int64_t first, int64_t count) {
    std::string text;
    for (int64_t index = first; index < first + count; ++index)
      text += (index == first ? "$" : ", $") + std::to_string(index);
    return "{" + text + "}";
  };
  auto use = [&](ValueRange values) {
    llvm::append_range(statement.operands, values);
    next += int64_t(values.size());
    return list(next - int64_t(values.size()), int64_t(values.size()));
  };
  const std::string from = ", {" + std::to_string(firstScale(k) % scalesOfWord) + ", 0}";
  statement.text = "mma.sync.aligned.m16n8k" + std::to_string(op.getShape()[2]) + ".row.col" +
                   target::scaledMmaSuffix(*getMmaType(op.getMultipliedType(op.getA())),
                                           *getMmaType(op.getMultipliedType(op.getB())), op.getScaleGroup()) +
                   " " + list(0, int64_t(acc.size()));
  for (ValueRange values : {a, b, ValueRange(acc)})
    statement.text += ", " + use(values);
  for (Value scale : {aScale, bScale})
    statement.text += ", " + use(scale) + from;
  statement.text += ";";
  SmallVector<Value> results = emitPtx(builder, loc, statement);
  llvm::copy(results, acc.begin());
}

Registers MmaEmitter::emit(ValueRange a, ValueRange b, ValueRange acc, ValueRange aScale, ValueRange bScale) {
  auto slice = [](ValueRange registers, layout::RegisterRange range) {
    return registers.slice(range.first, range.count);
  };
  auto tilesOf = [&](int64_t tiles, int64_t kTile, auto fragment, ValueRange registers, Type element) {
    SmallVector<SmallVector<Value>> operands;
    for (int64_t index = 0; index < tiles; ++index)
      operands.push_back(packOperands(slice(registers, fragment(index, kTile)), element));
    return operands;
  };
  SmallVector<SmallVector<Value>> accumulators(fragments.mTiles * fragments.nTiles);
  for (int64_t m = 0; m < fragments.mTiles; ++m)
    for (int64_t n = 0; n < fragments.nTiles; ++n)
      accumulators[m * fragments.nTiles + n] = packAccumulator(slice(acc, fragments.accumulator(m, n)));

  for (int64_t k = 0; k < fragments.kTiles; ++k) {
    auto rows = tilesOf(fragments.mTiles, k, [&](int64_t m, int64_t k) { return fragments.a(m, k); }, a, elementA);
    auto columns = tilesOf(fragments.nTiles, k, [&](int64_t n, int64_t k) { return fragments.b(n, k); }, b, elementB);
    SmallVector<Value> scalesA, scalesB;
    if (op.getAScale()) {
      scalesA = packScales(aScale, fragments.mTiles, k);
      scalesB = packScales(bScale, fragments.nTiles, k);
    }
    for (int64_t m = 0; m < fragments.mTiles; ++m)
      for (int64_t step = 0; step < fragments.nTiles; ++step) {
        int64_t n = m % 2 == 0 ? step : fragments.nTiles - 1 - step;
        SmallVector<Value> &accumulator = accumulators[m * fragments.nTiles + n];
        if (op.getAScale()) {
          multiplyScaled(rows[m], columns[n], accumulator, scalesA[m], scalesB[n], k);
          continue;
        }
        Value result = multiply(rows[m], columns[n], accumulator);
        for (auto [index, value] : llvm::enumerate(accumulator))
          value = LLVM::ExtractValueOp::create(builder, loc, result, int64_t(index));
      }
  }

  Registers registers;
  for (const SmallVector<Value> &accumulator : accumulators)
    for (Value value : accumulator) {
      if (!elementAcc.isF16()) {
        registers.push_back(value);
        continue;
      }
      for (int index : {0, 1})
        registers.push_back(LLVM::ExtractElementOp::create(builder, loc, value, emitI32(builder, loc, index)));
    }
  return registers;
}

struct MmaSyncLowering : OpConversionPattern<cta::MmaSyncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::MmaSyncOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<MmaFragments> fragments = planMma(op);
    if (!fragments)
      return rewriter.notifyMatchFailure(op, "operands are not fragments");
    MmaEmitter emitter(rewriter, op, *fragments);
    rewriter.replaceOpWithMultiple(
        op, {emitter.emit(adaptor.getA(), adaptor.getB(), adaptor.getAcc(), adaptor.getAScale(), adaptor.getBScale())});
    return success();
  }
};

} // namespace

static LogicalResult checkMma(cta::MmaSyncOp op, const target::GpuTarget &gpu) {
  Type a = op.getA().getType().getElementType(), b = op.getB().getType().getElementType(),
       acc = op.getAcc().getType().getElementType();
  std::optional<MmaType> typeA = getMmaType(op.getMultipliedType(op.getA())),
                         typeB = getMmaType(op.getMultipliedType(op.getB())), typeAcc = getAccumulatorType(acc);
  ArrayRef<int32_t> shape = op.getShape();
  bool exists = typeA && typeB && typeAcc && shape[0] == target::mmaSyncRows && shape[1] == target::mmaSyncColumns &&
                target::isMmaSyncInstruction(gpu, *typeA, *typeB, *typeAcc, shape[2], op.getScaleGroup());
  if (!exists)
    return op.emitOpError() << "is m" << shape[0] << "n" << shape[1] << "k" << shape[2] << " of " << a << " and " << b
                            << " into " << acc << ", which " << gpu.name << " does not support";
  if (!planMma(op))
    return op.emitOpError() << "operands do not have the fragment layouts of m16n8k" << shape[2];
  return success();
}

void registerMmaLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<MmaSyncLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::MmaSyncOp>(checkMma);
}

} // namespace tile::conversion
