// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine attribute of tcgen05: its syntax, and which dots it fits.
#include "Cta/EngineSyntax.h"

#include "Target/Engines/Tcgen05.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;
using target::MmaType;
using target::OperandSource;

Attribute Tcgen05Attr::parse(AsmParser &parser, Type) {
  ParsedEngine parsed;
  SMLoc start = parser.getCurrentLocation();
  unsigned warps = 0;
  if (parseInstruction(parser, parsed) || parser.parseComma() || parser.parseKeyword("warps") || parser.parseEqual() ||
      parser.parseInteger(warps))
    return {};
  auto sourceA = OperandSource::Tma, sourceB = OperandSource::Tma;
  bool swapped = false, resultTransposed = false;
  unsigned scaleGroup = 0;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("swapped"))) {
      swapped = true;
    } else if (succeeded(parser.parseOptionalKeyword("result_transposed"))) {
      resultTransposed = true;
    } else if (succeeded(parser.parseOptionalKeyword("scales"))) {
      if (parser.parseEqual() || parser.parseInteger(scaleGroup))
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
  return parser.getChecked<Tcgen05Attr>(start, parser.getContext(), parsed.m, parsed.n, parsed.k, parsed.a, parsed.b,
                                        parsed.accumulator, warps, sourceA, sourceB, swapped, scaleGroup,
                                        resultTransposed);
}

void Tcgen05Attr::print(AsmPrinter &printer) const {
  printInstruction(printer, {getM(), getN(), getK(), getA(), getB(), getAccumulator(), {}});
  printer << ", warps = " << getWarps();
  printSources(printer, *this);
  if (getScaleGroup())
    printer << ", scales = " << getScaleGroup();
  printer << (getResultTransposed() ? ", result_transposed" : "") << (getSwapped() ? ", swapped>" : ">");
}

LogicalResult Tcgen05Attr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned m, unsigned n, unsigned k,
                                  Type a, Type b, Type accumulator, unsigned warps, OperandSource sourceA,
                                  OperandSource sourceB, bool swapped, unsigned scaleGroup, bool resultTransposed) {
  std::optional<MmaType> typeA = getMmaType(a), typeB = getMmaType(b), typeAcc = getAccumulatorType(accumulator);
  if (!typeA || !typeB || !typeAcc || !target::isTcgen05Instruction(*typeA, *typeB, *typeAcc, m, n, scaleGroup) ||
      k * target::mmaTypeBits(*typeA) != 8 * target::tcgen05BytesK)
    return emitError() << "tcgen05 has no instruction m" << m << 'n' << n << 'k' << k << " of " << a << " and " << b
                       << " into " << accumulator << (scaleGroup ? " with such scales" : "");
  if (warps % target::warpsPerGroup != 0 || !llvm::isPowerOf2_32(warps))
    return emitError() << "the number of warps that read tensor memory must be 4 times a power of two, but is "
                       << warps;
  if (sourceB == OperandSource::Registers)
    return emitError() << "tcgen05 reads b from shared memory, not from registers";
  if (sourceA == OperandSource::Registers && (m != target::tensorMemoryLanes || scaleGroup))
    return emitError() << "tcgen05 can read a from tensor memory only if a has 128 rows and no scales";
  if (swapped && scaleGroup)
    return emitError() << "dots with scales cannot be swapped";
  if (resultTransposed && (swapped || scaleGroup || sourceA == OperandSource::Registers))
    return emitError()
           << "a transposed result requires operands in shared memory, without scales, that are not swapped";
  if (swapped && (sourceA != OperandSource::Tma || sourceB != OperandSource::Tma))
    return emitError() << "only dots whose operands are loaded by TMA can be swapped";
  return success();
}

LogicalResult Tcgen05Attr::verifyDot(Operation *op) const {
  auto dot = cast<DotOp>(op);
  if (failed(verifyScaleGroup(dot, *this, getScaleGroup())))
    return failure();
  const bool isSwapped = getSwapped() || getResultTransposed();
  EngineDot view = viewDot(dot, isSwapped);
  if (failed(verifyOperands(dot, *this, {getA(), getB(), getAccumulator()}, view.types, getK())))
    return failure();
  int64_t rows = llvm::PowerOf2Ceil(view.m), columns = llvm::PowerOf2Ceil(view.n);
  bool repeatsRows = rows < target::wgmmaRows && getM() == target::wgmmaRows && !isSwapped &&
                     getSourceA() == OperandSource::Threads; // the rows are stored several times
  if ((rows % getM() != 0 && !repeatsRows) || columns % int64_t(llvm::PowerOf2Ceil(getN())) != 0)
    return refuseParts(dot, *this, view, isSwapped);
  return success();
}

std::optional<unsigned> Tcgen05Attr::getNumWarps() const {
  return getWarps();
}

Attribute Tcgen05Attr::withoutSwap() const {
  return get(getContext(), getM(), getN(), getK(), getA(), getB(), getAccumulator(), getWarps(), getSourceA(),
             getSourceB(), /*swapped=*/false, getScaleGroup(), getResultTransposed());
}

unsigned Tcgen05Attr::getGroupsN() const {
  return 1;
}
