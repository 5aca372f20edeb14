// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification and effects of target-specific code.
#include "Tile/TileDialect.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;

void InlineAsmOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getIsPure())
    return;
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

void ReadRegisterOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getSource() == SpecialRegister::smid)
    return;
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

LogicalResult ReadRegisterOp::verify() {
  unsigned bits = getSource() == SpecialRegister::smid ? 32 : 64;
  if (getType().isInteger(bits))
    return success();
  return emitOpError() << "returns " << getType() << " but '" << stringifySpecialRegister(getSource()) << "' has "
                       << bits << " bits";
}

std::string InlineAsmOp::describeMismatch(TypeRange results, TypeRange args, StringRef text, StringRef constraints,
                                          int64_t pack, bool isPure) {
  if (pack < 1 || pack > 16 || !llvm::isPowerOf2_64(pack))
    return llvm::formatv("pack is {0} but must be a power of two from 1 to 16", pack);
  if (isPure && results.empty())
    return "is pure and has no result";
  auto countRegisters = [&](TypeRange types) {
    int64_t registers = 0;
    for (Type type : types) {
      int64_t bits = getElementTypeOf(type).getIntOrFloatBitWidth();
      registers += llvm::divideCeil(pack, std::max<int64_t>(1, 32 / std::max<int64_t>(bits, 8)));
    }
    return registers;
  };
  int64_t written = countRegisters(results), registers = written + countRegisters(args);
  SmallVector<StringRef> letters;
  constraints.split(letters, ',', -1, /*KeepEmpty=*/false);
  int64_t given = llvm::count_if(letters, [](StringRef text) { return !text.trim().starts_with("~"); });
  if (given != registers)
    return llvm::formatv("has {0} constraints but its operands take {1} registers for each {2} elements; elements of "
                         "16 and 8 bits share registers",
                         given, registers, pack);
  int64_t outputs = llvm::count_if(letters, [](StringRef letter) { return letter.trim().starts_with("="); });
  if (outputs != written)
    return llvm::formatv("has {0} constraints with '=' but its results take {1} registers", outputs, written);
  // $0, ${0} and ${0:…} stand for operands, $$ for a dollar sign.
  while (!(text = text.substr(text.find('$'))).empty()) {
    text = text.drop_front();
    if (text.consume_front("$"))
      continue;
    StringRef remaining = text;
    remaining.consume_front("{");
    if (int64_t number = 0; !remaining.consumeInteger(10, number) && number >= registers)
      return llvm::formatv("uses ${0}, but its operands are $0 to ${1}", number, registers - 1);
  }
  return "";
}

LogicalResult InlineAsmOp::verify() {
  std::string mismatch =
      describeMismatch(getResultTypes(), getArgs().getTypes(), getText(), getConstraints(), getPack(), getIsPure());
  return mismatch.empty() ? success() : emitOpError() << mismatch;
}

unsigned LibraryCallOp::countArguments(LibraryFunction function) {
  switch (function) {
  case LibraryFunction::norm3d:
  case LibraryFunction::rnorm3d:
    return 3;
  case LibraryFunction::fdim:
  case LibraryFunction::hypot:
  case LibraryFunction::nextafter:
  case LibraryFunction::remainder:
  case LibraryFunction::rhypot:
    return 2;
  default:
    return 1;
  }
}

LogicalResult LibraryCallOp::verify() {
  Type type = getElementTypeOf(getType());
  if (getFunction() == LibraryFunction::rsqrt_rn && !type.isF32())
    return emitOpError() << "is a function of f32, not of " << type;
  if (!type.isF32() && !type.isF64())
    return emitOpError() << "is a function of f32 and f64, not of " << type;
  if (unsigned count = countArguments(getFunction()); count != getArgs().size())
    return emitOpError() << "has " << getArgs().size() << " arguments but '" << stringifyLibraryFunction(getFunction())
                         << "' takes " << count;
  return success();
}
