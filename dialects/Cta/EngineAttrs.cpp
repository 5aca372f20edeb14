// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Engine attributes: syntax, valid instructions, and which dots an engine fits.
#include "Cta/EngineSyntax.h"

#include "Target/Engines/MmaSync.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;
using target::MmaType;
using target::OperandSource;

#include "Cta/BufferEngine.cpp.inc"

std::optional<MmaType> tile::getMmaType(Type element) {
  if (element.isF16())
    return MmaType::F16;
  if (element.isBF16())
    return MmaType::BF16;
  if (element.isF32())
    return MmaType::TF32;
  if (isa<Float8E4M3FNType>(element))
    return MmaType::F8E4M3;
  if (isa<Float8E5M2Type>(element))
    return MmaType::F8E5M2;
  if (isa<Float4E2M1FNType>(element))
    return MmaType::F4E2M1;
  if (element.isInteger(8))
    return MmaType::S8;
  return std::nullopt;
}

std::optional<MmaType> tile::getAccumulatorType(Type element) {
  if (element.isF16())
    return MmaType::F16;
  if (element.isF32())
    return MmaType::F32;
  if (element.isInteger(32))
    return MmaType::S32;
  return std::nullopt;
}

// Syntax: `<m64n256k16, f16, f16, f32, groups = [2, 1]`, followed by optional parameters.

/// Parses a shape such as "m64n256k16".
static bool readShape(StringRef text, ParsedEngine &parsed) {
  return text.consume_front("m") && !text.consumeInteger(10, parsed.m) && text.consume_front("n") &&
         !text.consumeInteger(10, parsed.n) && text.consume_front("k") && !text.consumeInteger(10, parsed.k) &&
         text.empty();
}

ParseResult cta::parseInstruction(AsmParser &parser, ParsedEngine &parsed) {
  StringRef shape;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&shape))
    return failure();
  if (!readShape(shape, parsed))
    return parser.emitError(start) << "'" << shape << "' is not an instruction shape, such as m64n256k16";
  for (Type *type : {&parsed.a, &parsed.b, &parsed.accumulator})
    if (parser.parseComma() || parser.parseType(*type))
      return failure();
  return success();
}

/// Parses an instruction and a grid, such as ", groups = [2, 1]".
static ParseResult parseEngine(AsmParser &parser, StringRef gridName, ParsedEngine &parsed) {
  SMLoc start = parser.getCurrentLocation();
  if (parseInstruction(parser, parsed))
    return failure();
  if (parser.parseComma() || parser.parseKeyword(gridName) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(parsed.grid.emplace_back()); }))
    return failure();
  if (parsed.grid.size() != 2)
    return parser.emitError(start) << "a grid of " << gridName << " has two sizes, along m and n";
  return success();
}

ParseResult cta::parseSource(AsmParser &parser, OperandSource &source) {
  StringRef name;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseEqual() || parser.parseKeyword(&name))
    return failure();
  for (OperandSource candidate :
       {OperandSource::Tma, OperandSource::Threads, OperandSource::Registers, OperandSource::Transposed})
    if (name == StringRef(sourceName(candidate))) {
      source = candidate;
      return success();
    }
  return parser.emitError(start) << "'" << name
                                 << "' is not a source of operands; expected tma, threads, registers or transposed";
}

void cta::printInstruction(AsmPrinter &printer, const ParsedEngine &parsed) {
  printer << "<m" << parsed.m << 'n' << parsed.n << 'k' << parsed.k << ", " << parsed.a << ", " << parsed.b << ", "
          << parsed.accumulator;
}

void cta::printSources(AsmPrinter &printer, BufferEngine engine) {
  for (auto [name, source] : {std::pair("a", engine.getSourceA()), std::pair("b", engine.getSourceB())})
    if (source != OperandSource::Tma)
      printer << ", " << name << " = " << sourceName(source);
}

static void printEngine(AsmPrinter &printer, const ParsedEngine &parsed, StringRef gridName) {
  printInstruction(printer, parsed);
  printer << ", " << gridName << " = [" << parsed.grid[0] << ", " << parsed.grid[1] << ']';
}

LogicalResult cta::verifyOperands(DotOp dot, Attribute engine, ArrayRef<Type> types, ArrayRef<Type> given,
                                  unsigned stepK) {
  if (types != given)
    return dot.emitOpError() << "multiplies " << given[0] << " by " << given[1] << " into " << given[2]
                             << ", which its engine " << engine << " does not support";
  if (int64_t k = dot.getDepth(); int64_t(llvm::PowerOf2Ceil(k)) < stepK)
    return dot.emitOpError() << "has " << k << " elements along k, fewer than a step of its engine " << engine;
  return success();
}

static SmallVector<Type, 3> operandTypesOf(DotOp dot) {
  return {dot.getMultipliedType(dot.getA()), dot.getMultipliedType(dot.getB()),
          dot.getAcc().getType().getElementType()};
}

LogicalResult cta::verifyScaleGroup(DotOp dot, Attribute engine, unsigned scaleGroup) {
  if (dot.getScaleGroup() != scaleGroup)
    return dot.emitOpError() << "has " << dot.getScaleGroup() << " elements along k for each scale, but its engine "
                             << engine << " takes " << scaleGroup;
  return success();
}

EngineDot cta::viewDot(DotOp dot, bool swapped) {
  EngineDot view{operandTypesOf(dot), dot.getType().getDimSize(0), dot.getType().getDimSize(1)};
  if (swapped) {
    std::swap(view.types[0], view.types[1]);
    std::swap(view.m, view.n);
  }
  return view;
}

LogicalResult cta::refuseParts(DotOp dot, Attribute engine, const EngineDot &view, bool swapped) {
  return dot.emitOpError() << "has " << view.m << " rows and " << view.n << " columns" << (swapped ? ", swapped," : ",")
                           << " which its engine " << engine << " cannot compute with whole instructions";
}

// The wgmma engine.

Attribute WgmmaAttr::parse(AsmParser &parser, Type) {
  ParsedEngine parsed;
  SMLoc start = parser.getCurrentLocation();
  if (parseEngine(parser, "groups", parsed))
    return {};
  auto sourceA = OperandSource::Tma, sourceB = OperandSource::Tma;
  unsigned promote = 0;
  bool swapped = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("swapped"))) {
      swapped = true;
    } else if (succeeded(parser.parseOptionalKeyword("promote"))) {
      if (parser.parseEqual() || parser.parseInteger(promote))
        return {};
    } else if (succeeded(parser.parseOptionalKeyword("b"))) {
      if (parseSource(parser, sourceB))
        return {};
    } else if (parser.parseKeyword("a") || parseSource(parser, sourceA)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  if (parsed.m != target::wgmmaRows) {
    parser.emitError(start) << "wgmma instructions have 64 rows, not " << parsed.m;
    return {};
  }
  return parser.getChecked<WgmmaAttr>(start, parser.getContext(), parsed.n, parsed.k, parsed.a, parsed.b,
                                      parsed.accumulator, parsed.grid[0], parsed.grid[1], sourceA, sourceB, promote,
                                      swapped);
}

void WgmmaAttr::print(AsmPrinter &printer) const {
  printEngine(printer,
              {target::wgmmaRows, getN(), getK(), getA(), getB(), getAccumulator(), {getGroupsM(), getGroupsN()}},
              "groups");
  printSources(printer, *this);
  if (getPromote() != 0)
    printer << ", promote = " << getPromote();
  printer << (getSwapped() ? ", swapped>" : ">");
}

LogicalResult WgmmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned n, unsigned k, Type a, Type b,
                                Type accumulator, unsigned groupsM, unsigned groupsN, OperandSource sourceA,
                                OperandSource sourceB, unsigned promote, bool swapped) {
  std::optional<MmaType> typeA = getMmaType(a), typeB = getMmaType(b), typeAcc = getAccumulatorType(accumulator);
  bool exists = typeA && typeB && typeAcc && target::isWgmmaInstruction(*typeA, *typeB, *typeAcc, n) &&
                k * target::mmaTypeBits(*typeA) == 8 * target::wgmmaBytesK;
  if (!exists)
    return emitError() << "wgmma has no instruction m64n" << n << 'k' << k << " of " << a << " and " << b << " into "
                       << accumulator;
  if (!llvm::isPowerOf2_32(groupsM) || !llvm::isPowerOf2_32(groupsN))
    return emitError() << "the sizes of a grid of warp groups must be powers of two, not " << groupsM << " and "
                       << groupsN;
  if (sourceB == OperandSource::Registers)
    return emitError() << "wgmma reads b from shared memory, not from registers";
  bool isFloat8 = target::mmaTypeBits(*typeA) == 8 && typeAcc == MmaType::F32;
  if (promote != 0 && !isFloat8)
    return emitError() << "accumulators of " << a << " have full precision and must not be promoted";
  if (promote % k != 0)
    return emitError() << "promote is " << promote << " but must be a multiple of the " << k
                       << " elements of a step along k";
  constexpr unsigned wordBits = 32;
  bool isReadOfBlock = sourceA == OperandSource::Registers && target::mmaTypeBits(*typeA) == wordBits;
  if (swapped && ((sourceA != OperandSource::Tma && !isReadOfBlock) || sourceB != OperandSource::Tma))
    return emitError() << "only dots whose operands are loaded by TMA can be swapped";
  return success();
}

LogicalResult WgmmaAttr::verifyDot(Operation *op) const {
  auto dot = cast<DotOp>(op);
  EngineDot view = viewDot(dot, getSwapped());
  if (failed(verifyScaleGroup(dot, *this, /*scaleGroup=*/0)) ||
      failed(verifyOperands(dot, *this, {getA(), getB(), getAccumulator()}, view.types, getK())))
    return failure();
  // If the number of columns is not a power of two, a single instruction must compute all columns.
  int64_t rows = llvm::PowerOf2Ceil(view.m), columns = llvm::PowerOf2Ceil(view.n) / getGroupsN();
  if (rows < int64_t(target::wgmmaRows) * getGroupsM() || columns % int64_t(llvm::PowerOf2Ceil(getN())) != 0)
    return refuseParts(dot, *this, view, getSwapped());
  return success();
}

std::optional<unsigned> WgmmaAttr::getNumWarps() const {
  return target::warpsPerGroup * getGroupsM() * getGroupsN();
}

Attribute WgmmaAttr::withoutSwap() const {
  return get(getContext(), getN(), getK(), getA(), getB(), getAccumulator(), getGroupsM(), getGroupsN(), getSourceA(),
             getSourceB(), getPromote(), /*swapped=*/false);
}

// The mma.sync engine.

Attribute MmaSyncAttr::parse(AsmParser &parser, Type) {
  ParsedEngine parsed;
  SMLoc start = parser.getCurrentLocation();
  if (parseEngine(parser, "warps", parsed))
    return {};
  unsigned kWidth = parsed.a.isIntOrFloat() ? getLeastKWidth(parsed.a) : 1;
  unsigned scaleGroup = 0;
  while (succeeded(parser.parseOptionalComma())) {
    bool isScale = succeeded(parser.parseOptionalKeyword("scales"));
    if ((!isScale && parser.parseKeyword("kWidth")) || parser.parseEqual() ||
        parser.parseInteger(isScale ? scaleGroup : kWidth))
      return {};
  }
  if (parser.parseGreater())
    return {};
  if (parsed.m != target::mmaSyncRows || parsed.n != target::mmaSyncColumns) {
    parser.emitError(start) << "mma.sync instructions are m16n8, not m" << parsed.m << 'n' << parsed.n;
    return {};
  }
  return parser.getChecked<MmaSyncAttr>(start, parser.getContext(), parsed.k, parsed.a, parsed.b, parsed.accumulator,
                                        parsed.grid[0], parsed.grid[1], kWidth, scaleGroup);
}

void MmaSyncAttr::print(AsmPrinter &printer) const {
  printEngine(printer,
              {target::mmaSyncRows,
               target::mmaSyncColumns,
               getK(),
               getA(),
               getB(),
               getAccumulator(),
               {getWarpsM(), getWarpsN()}},
              "warps");
  if (getKWidth() != getLeastKWidth(getA()))
    printer << ", kWidth = " << getKWidth();
  if (getScaleGroup())
    printer << ", scales = " << getScaleGroup();
  printer << '>';
}

LogicalResult MmaSyncAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned k, Type a, Type b,
                                  Type accumulator, unsigned warpsM, unsigned warpsN, unsigned kWidth,
                                  unsigned scaleGroup) {
  std::optional<MmaType> typeA = getMmaType(a), typeB = getMmaType(b), typeAcc = getAccumulatorType(accumulator);
  // Instructions of any target are accepted, because an attribute does not know the target of the module.
  bool exists = typeA && typeB && typeAcc && llvm::any_of(target::allTargets(), [&](const target::GpuTarget *gpu) {
                  return target::isMmaSyncInstruction(*gpu, *typeA, *typeB, *typeAcc, k, scaleGroup);
                });
  if (!exists)
    return emitError() << "mma.sync has no instruction m16n8k" << k << " of " << a << " and " << b << " into "
                       << accumulator << (scaleGroup ? " with such scales" : "");
  if (scaleGroup && kWidth != getLeastKWidth(a))
    return emitError() << "kWidth is " << kWidth << ", but elements with scales keep their order along k";
  if (!llvm::isPowerOf2_32(warpsM) || !llvm::isPowerOf2_32(warpsN))
    return emitError() << "the sizes of a grid of warps must be powers of two, not " << warpsM << " and " << warpsN;
  if (unsigned least = getLeastKWidth(a); kWidth < least || !llvm::isPowerOf2_32(kWidth))
    return emitError() << "kWidth is " << kWidth << " but must be " << least
                       << ", the elements along k in a register, or that times a power of two";
  return success();
}

LogicalResult MmaSyncAttr::verifyDot(Operation *op) const {
  auto dot = cast<DotOp>(op);
  if (failed(verifyScaleGroup(dot, *this, getScaleGroup())))
    return failure();
  return verifyOperands(dot, *this, {getA(), getB(), getAccumulator()}, operandTypesOf(dot),
                        std::max(getK(), 4 * getKWidth()));
}

std::optional<unsigned> MmaSyncAttr::getNumWarps() const {
  return getWarpsM() * getWarpsN();
}

// The engine of fused multiply-adds.

LogicalResult FmaAttr::verifyDot(Operation *op) const {
  return verifyScaleGroup(cast<DotOp>(op), *this, /*scaleGroup=*/0);
}

std::optional<unsigned> FmaAttr::getNumWarps() const {
  return std::nullopt;
}
