// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits tile.kernel: parameters with their assumptions, constants, directives for the manifest, and the body.

#include "Frontend/Frontend.h"
#include "Frontend/Sema/ModuleSema.h"
#include "Target/Limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tile::frontend {

/// Converts a constant to an attribute for the manifest.
static Attribute constantAttribute(OpBuilder &builder, const SymValue &value) {
  if (value.isTuple()) {
    SmallVector<Attribute> elements;
    for (const SymValue &element : value.elements)
      elements.push_back(constantAttribute(builder, element));
    return builder.getArrayAttr(elements);
  }
  if (const bool *flag = std::get_if<bool>(&value.constant))
    return builder.getBoolAttr(*flag);
  if (const double *number = std::get_if<double>(&value.constant))
    return builder.getF64FloatAttr(*number);
  if (const Int128 *integer = std::get_if<Int128>(&value.constant))
    if (*integer >= INT64_MIN && *integer <= INT64_MAX)
      return builder.getI64IntegerAttr(static_cast<int64_t>(*integer));
  return builder.getStringAttr(str(value.constant));
}

void ModuleSema::setKernelAttributes(KernelOp op, const FunctionStmt &kernel, const InstanceDirective *instance,
                                     const std::vector<KernelParameter> &parameters) {
  SmallVector<NamedAttribute> constants;
  unsigned argument = 0;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters)) {
    sema.signature.forEachLeaf(formal.name, parameter, [&](const std::string &name, const KernelParameter &leaf) {
      if (leaf.constant)
        constants.push_back(builder.getNamedAttr(name, constantAttribute(builder, *leaf.constant)));
    });
    for (const KernelArgument &passed : sema.signature.argumentsOf(formal.name, parameter)) {
      op.setArgAttr(argument, argNameAttrName, builder.getStringAttr(passed.name));
      op.setArgAttr(argument, divisibilityAttrName, builder.getI32IntegerAttr(passed.divisibility));
      if (passed.type.isUnsigned()) // for pointers, this describes the elements
        op.setArgAttr(argument, unsignedAttrName, builder.getUnitAttr());
      ++argument;
    }
  }
  op.setConstantsAttr(builder.getDictionaryAttr(constants));
  op.setLaunchAttr(sema.launch.launchAttribute(kernel, instance));
  constexpr int maxWarps = 32;
  if (sema.choices.numWarps &&
      (*sema.choices.numWarps < 1 || *sema.choices.numWarps > maxWarps || !llvm::isPowerOf2_32(*sema.choices.numWarps)))
    error(Diag::num_warps, kernel.nameRange, {std::to_string(*sema.choices.numWarps)});
  else if (sema.choices.numWarps)
    op.setNumWarps(*sema.choices.numWarps);
  if (sema.choices.numStages && (*sema.choices.numStages < 1 || *sema.choices.numStages > int(target::maxStages)))
    error(Diag::num_stages, kernel.nameRange, {std::to_string(*sema.choices.numStages)});
  else if (sema.choices.numStages)
    op.setNumStages(*sema.choices.numStages);
  if (sema.choices.cluster && !isCluster(*sema.choices.cluster))
    error(Diag::cluster_shape, kernel.nameRange, {});
  else if (sema.choices.cluster && *sema.choices.cluster != ClusterShape{1, 1, 1})
    op.setCluster(ArrayRef(*sema.choices.cluster));
  op.setPingPong(sema.choices.schedule == Schedule::PingPong);
}

/// Reports a block that is reduced and also used afterwards, if threads cannot hold it in registers. A thread has 255
/// registers: with 1024 elements for each thread, most are spilled and ptxas takes half a minute; with 2048, it takes
/// three minutes.
bool ModuleSema::checkHeldBlocks(KernelOp kernel, SourceRange name) {
  constexpr int64_t mostPerThread = 1024, mostThreads = 1024;
  const int64_t threads = counter.threads;
  Operation *found = nullptr;
  kernel.walk([&](Operation *op) {
    if (!isa<ReduceOp, ScanOp>(op))
      return;
    for (mlir::Value operand : op->getOperands())
      if (auto block = dyn_cast<RankedTensorType>(operand.getType()))
        if (!found && block.getNumElements() > mostPerThread * threads && !operand.hasOneUse())
          found = op;
  });
  if (!found)
    return true;
  const int64_t elements = cast<RankedTensorType>(found->getOperand(0).getType()).getNumElements();
  if (auto place = dyn_cast<FileLineColLoc>(found->getLoc())) // otherwise the operation is in a helper
    name = diagnostics.characterAt(module.file, {place.getLine(), place.getColumn()});
  error(Diag::held_elements, name,
        {std::to_string(elements), std::to_string(elements / threads), std::to_string(threads),
         std::to_string(mostPerThread),
         elements <= mostPerThread * mostThreads ? "more warps, or a loop over smaller blocks"
                                                 : "a loop over smaller blocks"});
  return false;
}

OwningOpRef<ModuleOp> ModuleSema::emitKernel(const FunctionStmt &kernel, const InstanceDirective *instance,
                                             const std::vector<KernelParameter> &parameters) {
  OwningOpRef<ModuleOp> result = ModuleOp::create(location(kernel.range));
  constexpr int defaultWarps = 4, warpSize = 32;
  counter.threads =
      warpSize *
      std::max(1, sema.choices.numWarps && *sema.choices.numWarps != leftOpen ? *sema.choices.numWarps : defaultWarps);
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters)) {
    for (const KernelArgument &passed : sema.signature.argumentsOf(formal.name, parameter)) {
      types.push_back(mlirType(passed.type));
      locations.push_back(location(formal.range));
    }
  }
  builder.setInsertionPointToEnd(result->getBody());
  auto op = KernelOp::create(builder, location(kernel.nameRange), kernel.name, builder.getFunctionType(types, {}));
  mlir::Block *entry = op.getBody().empty() ? &op.getBody().emplaceBlock() : &op.getBody().front();
  if (entry->getNumArguments() == 0)
    entry->addArguments(types, locations);
  builder.setInsertionPointToStart(entry);
  unsigned argument = 0;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters)) {
    unsigned count = static_cast<unsigned>(sema.signature.argumentsOf(formal.name, parameter).size());
    SymValue value =
        sema.signature.parameterValue(parameter, entry->getArguments().slice(argument, count), formal.range);
    argument += count;
    if (parameter.isTuple)
      sema.signature.rememberLeaves(formal.name, value);
    Binding &binding = session.scope[formal.name] = Binding{value, formal.range};
    sema.records.recordVariable(formal.name, binding);
    sema.records.observe(formal.range, value, /*isName=*/true);
  }
  setKernelAttributes(op, kernel, instance, parameters);
  // Statements that failed to parse assign nothing, so later errors would be spurious.
  if (sema.names.reportBroken(kernel) && !request.isDraft)
    return {};
  BlockResult end = sema.statements.emitBlock({&kernel.body, 0, nullptr});
  if (end.returned && !end.value.isError() && !end.value.isNoneValue())
    error(Diag::kernel_returns, end.range, {describe(end.value)});
  ReturnOp::create(builder, location(kernel.range));
  // Evaluating the host program may have exhausted the work limit without a report.
  if (sema.session.exhausted && !diagnostics.hasErrors())
    error(Diag::too_much_work, kernel.nameRange, {std::to_string(request.maxWork)});
  if (diagnostics.hasErrors())
    return {};
  if (!checkHeldBlocks(op, kernel.nameRange))
    return {};
  // Emitted IR must verify. If it does not, report a compiler bug instead of crashing.
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  if (failed(verify(*result))) {
    error(Diag::invalid_module, kernel.nameRange, {kernel.name, message});
    return {};
  }
  sema.records.dropErasedVariables(op);
  // Warnings on an incomplete kernel would be spurious.
  bool isWhole = llvm::none_of(
      parameters, [](const KernelParameter &parameter) { return parameter.constant && parameter.constant->isError(); });
  if (request.inspect && isWhole)
    request.inspect(op, records.text);
  return result;
}

void loadDialects(MLIRContext &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
}

OwningOpRef<ModuleOp> emitModule(MLIRContext &context, const Module &module, const CompileRequest &request,
                                 DiagnosticEngine &diagnostics) {
  if (diagnostics.hasErrors() && !request.isDraft)
    return {};
  loadDialects(context);
  return ModuleSema(context, module, request, diagnostics).run();
}

OwningOpRef<ModuleOp> emitModule(MLIRContext &context, const SourceFile &file, const CompileRequest &request,
                                 DiagnosticEngine &diagnostics) {
  Module module = parse(file, diagnostics);
  return emitModule(context, module, request, diagnostics);
}

} // namespace tile::frontend
