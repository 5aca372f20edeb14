// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records the values of names for debuggers (CompileRequest::recordVariables) and editors (observe).

#include "Frontend/Sema/Records.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Appends one record for each tensor and constant in the value; elements of tuples are called "name[0]" or
/// "name.field".
void appendRecords(const SymValue &value, const VariableRecord &like, std::vector<VariableRecord> &records) {
  VariableRecord record = like;
  if (value.isTuple() || value.kind == SymValue::Kind::Object) {
    for (auto [index, element] : llvm::enumerate(value.elements)) {
      bool hasName = index < value.names.size();
      record.name = like.name + (hasName ? "." + value.names[index] : "[" + std::to_string(index) + "]");
      appendRecords(element, record, records);
    }
    return;
  }
  record.value = value.value;
  record.isUnsigned = value.isTensor() && !value.type.isPointer && value.type.isUnsigned();
  if (value.isConstant())
    record.constant = str(value.constant);
  if (record.value || value.isConstant())
    records.push_back(std::move(record));
}

/// Formats a type for editors; returns an empty string for functions, modules and the like.
std::string typeText(const SymValue &value) {
  auto dims = [](ArrayRef<int64_t> shape) {
    std::string text;
    for (int64_t size : shape)
      text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
  };
  switch (value.kind) {
  case SymValue::Kind::Tensor:
    return describe(value);
  case SymValue::Kind::Descriptor:
    return "tensordesc<" + toString(value.type) + dims(llvm::cast<DescType>(value.value.getType()).getShape()) + ">";
  case SymValue::Kind::BlockPointer:
    return "block pointer " + toString(value.type) + dims(value.dims);
  case SymValue::Kind::Object:
    return value.record->name;
  case SymValue::Kind::Tuple: {
    std::string text;
    for (const SymValue &element : value.elements)
      text += (text.empty() ? "" : ", ") + typeText(element);
    return "(" + text + (value.elements.size() == 1 ? ",)" : ")");
  }
  case SymValue::Kind::Constant:
    return std::holds_alternative<bool>(value.constant)          ? "bool"
           : std::holds_alternative<Int128>(value.constant)      ? "int"
           : std::holds_alternative<double>(value.constant)      ? "float"
           : std::holds_alternative<std::string>(value.constant) ? "str"
           : std::holds_alternative<DType>(value.constant)       ? "dtype"
           : std::holds_alternative<NoneValue>(value.constant)   ? "None"
                                                                 : "";
  default:
    return "";
  }
}

/// Formats the value if it is known at compile time, also for constant run-time scalars.
std::string constantText(const SymValue &value) {
  if (value.isConstant())
    return repr(value.constant);
  if (value.isTuple() && llvm::all_of(value.elements, [](const SymValue &element) { return element.isConstant(); }))
    return printed(value);
  llvm::APInt integer;
  if (value.isScalar() && matchPattern(value.value, m_ConstantInt(&integer)))
    return llvm::toString(integer, 10, /*Signed=*/!value.type.isUnsigned() && !value.type.isBool());
  llvm::APFloat number(0.0);
  if (value.isScalar() && matchPattern(value.value, m_ConstantFloat(&number))) {
    llvm::SmallString<32> text;
    number.toString(text);
    return text.str().str();
  }
  return "";
}

} // namespace

void Records::observe(SourceRange range, const SymValue &value, bool isName) {
  if (!request.observe || quietDepth > 0 || emitter.isTrial || host || range.file != module.file ||
      range.begin == range.end)
    return;
  std::string type = typeText(value);
  if (!type.empty())
    request.observe({range, isName, std::move(type), constantText(value)});
}

void Records::recordVariable(const std::string &name, const Binding &binding, bool isAssigned) {
  bool isHidden = name.front() == '$';
  if (!request.recordVariables || isHidden || !builder.getInsertionBlock())
    return;
  VariableRecord record;
  record.name = name;
  record.line = diagnostics.locate(binding.defined).line;
  if (!frames.empty())
    record.frame = frames.back().caller;
  if (isAssigned) {
    record.block = builder.getInsertionBlock();
    if (builder.getInsertionPoint() != record.block->begin())
      record.after = &*std::prev(builder.getInsertionPoint());
  }
  appendRecords(binding.value, record, text.variables);
}

void Records::recordVariables(const std::vector<std::string> &names) {
  for (const std::string &name : names)
    recordVariable(name, scope.at(name), /*isAssigned=*/false);
}

/// Drops records of erased values and blocks: emission replaces loops that never run, and merges blocks.
void Records::dropErasedVariables(KernelOp kernel) {
  llvm::DenseSet<void *> present{nullptr};
  auto insertValue = [&](mlir::Value value) { present.insert(value.getAsOpaquePointer()); };
  kernel->walk([&](Operation *op) {
    present.insert(op);
    llvm::for_each(op->getResults(), insertValue);
    for (Region &region : op->getRegions())
      for (mlir::Block &block : region) {
        present.insert(&block);
        llvm::for_each(block.getArguments(), insertValue);
      }
  });
  llvm::erase_if(text.variables, [&](const VariableRecord &record) {
    return !present.contains(record.block) || !present.contains(record.after) ||
           !present.contains(record.value.getAsOpaquePointer());
  });
}

} // namespace tile::frontend
