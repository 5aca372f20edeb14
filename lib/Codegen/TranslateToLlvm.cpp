// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translation with upstream's exporter, and the marks that it cannot make.
#include "Codegen/TranslateToLlvm.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tile::codegen {

llvm::Error addLineTables(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false); // done: this pass adds nothing but locations
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  // Full and LineTablesOnly make LLVM print `.target ..., debug`, at which ptxas stops optimising.
  options.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
  if (failed(manager.run(module)))
    return llvm::createStringError("cannot attach line tables");
  return llvm::Error::success();
}

/// And checks what LLVM's verifier does not: constraints that do not go with the operands break its code generator.
static llvm::Error markInlineAssemblyConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm()) {
        auto *code = cast<llvm::InlineAsm>(call->getCalledOperand());
        if (llvm::Error error = llvm::InlineAsm::verify(code->getFunctionType(), code->getConstraintString()))
          return llvm::createStringError("constraints '" + code->getConstraintString() +
                                         "' of inline assembly: " + llvm::toString(std::move(error)));
        call->setConvergent();
      }
  return llvm::Error::success();
}

/// The exporter warns about attributes that it does not know; ours have done their work.
static void removeTileAttributes(ModuleOp module) {
  auto isOurs = [](NamedAttribute attribute) { return attribute.getName().strref().starts_with("tile."); };
  module.walk([&](LLVM::LLVMFuncOp function) {
    SmallVector<NamedAttribute> attributes(function->getAttrs());
    for (NamedAttribute attribute : llvm::make_filter_range(attributes, isOurs))
      function->removeAttr(attribute.getName());
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      ArrayRef<NamedAttribute> ofArgument = mlir::function_interface_impl::getArgAttrs(function, index);
      attributes.assign(ofArgument.begin(), ofArgument.end());
      for (NamedAttribute attribute : llvm::make_filter_range(attributes, isOurs))
        function.removeArgAttr(index, attribute.getName());
    }
  });
}

llvm::Expected<std::unique_ptr<llvm::Module>> translateToLlvm(ModuleOp module, llvm::LLVMContext &context) {
  removeTileAttributes(module);
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context, "tile");
  if (!result)
    return llvm::createStringError("the lowered kernel cannot be translated to LLVM IR");
  if (llvm::Error error = markInlineAssemblyConvergent(*result))
    return error;
  return result;
}

} // namespace tile::codegen
