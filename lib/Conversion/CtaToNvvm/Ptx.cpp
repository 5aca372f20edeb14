// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inline PTX through llvm.inline_asm; see Ptx.h. The constraint letters are those of CUDA's asm() ("Inline PTX Assembly
// in CUDA"), and "b" stands for a predicate.
#include "Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tile::conversion {

static StringRef constraintOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return "l";
  if (type.isF32())
    return "f";
  if (type.isF64())
    return "d";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "b";
  case 16:
    return "h";
  case 32:
    return "r";
  default:
    assert(type.isInteger(64) && "not a type of a PTX register");
    return "l";
  }
}

SmallVector<Value> emitPtx(OpBuilder &builder, Location loc, const PtxStatement &statement) {
  SmallVector<std::string> constraints;
  for (Type type : statement.results)
    constraints.push_back((statement.readsAfterWriting ? "=&" : "=") + constraintOf(type).str());
  SmallVector<Value> operands(statement.operands);
  for (auto [index, operand] : llvm::enumerate(statement.operands))
    constraints.push_back(llvm::is_contained(statement.immediates, index) ? "n"
                                                                          : constraintOf(operand.getType()).str());
  assert((statement.initial.empty() || statement.initial.size() == statement.results.size()) &&
         "every result has an initial value, or none");
  for (auto [index, value] : llvm::enumerate(statement.initial)) {
    operands.push_back(value);
    constraints.push_back(std::to_string(index));
  }

  Type result;
  if (statement.results.size() == 1)
    result = statement.results.front();
  if (statement.results.size() > 1)
    result = LLVM::LLVMStructType::getLiteral(builder.getContext(), statement.results);
  auto call = LLVM::InlineAsmOp::create(builder, loc, result ? TypeRange(result) : TypeRange(), operands,
                                        statement.text, llvm::join(constraints, ","), statement.hasSideEffects,
                                        /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                        LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
                                        /*operand_attrs=*/ArrayAttr());
  if (statement.results.size() <= 1)
    return SmallVector<Value>(call->getResults());
  SmallVector<Value> values;
  for (int64_t index = 0; index < int64_t(statement.results.size()); ++index)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, call->getResult(0), index));
  return values;
}

std::string ptxVector(unsigned first, unsigned count) {
  if (count == 1)
    return "$" + std::to_string(first);
  SmallVector<std::string> names;
  for (unsigned index = first; index < first + count; ++index)
    names.push_back("$" + std::to_string(index));
  return "{" + llvm::join(names, ", ") + "}";
}

} // namespace tile::conversion
