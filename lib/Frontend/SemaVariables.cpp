// Records which names have which values, for debuggers (CompileRequest::recordVariables).

#include "Frontend/ModuleSema.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Appends one record for each tensor and constant in the value; elements of tuples are called "name[0]"
/// or "name.field".
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

} // namespace

void ModuleSema::recordVariable(const std::string &name, const Binding &binding, bool isAssigned) {
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

void ModuleSema::recordVariables(const std::vector<std::string> &names) {
  for (const std::string &name : names)
    recordVariable(name, scope.at(name), /*isAssigned=*/false);
}

/// Emission erases what turns out to be no loop, and joins what it began as two.
void ModuleSema::dropErasedVariables(KernelOp kernel) {
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
