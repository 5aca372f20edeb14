// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates with upstream's exporter and adds attributes that the exporter cannot express.
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
  manager.enableVerifier(false); // the module has been verified, and this pass only adds locations
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  // With Full and LineTablesOnly, LLVM prints `.target ..., debug`, which disables the optimisations of ptxas.
  options.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
  if (failed(manager.run(module)))
    return llvm::createStringError("cannot attach line tables");
  return llvm::Error::success();
}

/// Marks inline assembly as convergent. Also checks that constraints match the operands: LLVM's verifier does not check
/// this, and LLVM's code generator would crash.
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

/// Removes attributes of the tile dialect, which are no longer needed: the exporter would warn about them.
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
