// The passes that turn the cta dialect into LLVM and NVVM.
#ifndef TILE_CONVERSION_PASSES_TD
#define TILE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertCtaToNvvm : Pass<"convert-cta-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "turn kernels into functions of one thread";
  let description = [{
    Kind: correctness. Requires: phase allocated. Ensures: no tile or cta operation or type and no tensor is left; a
    tensor has become one scalar for each register, a kernel an `llvm.func` with `nvvm.kernel`, `nvvm.reqntid` and
    `tile.shared_bytes`; the rest is llvm, nvvm, scf, cf, arith and math on scalars.
    Does not: lower scf, arith and math. Example: test/Conversion/CtaToNvvm/kernel.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "GPU to compile for">];
}

def NvvmCarryWords : Pass<"nvvm-carry-words", "::mlir::ModuleOp"> {
  let summary = "let loops carry 32-bit words instead of the elements in them";
  let description = [{
    Kind: optimisation. Requires: functions of one thread with scf loops. Ensures: a loop whose body yields all elements
    of a vector of 32 bits, in order, carries the vector. Example: test/Conversion/carry-words.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def NvvmLowerControlFlow : Pass<"nvvm-lower-control-flow", "::mlir::ModuleOp"> {
  let summary = "turn loops and branches into blocks and jumps";
  let description = [{
    Kind: correctness. Requires: functions of one thread. Ensures: no scf operation; what upstream's convert-scf-to-cf
    makes, in time linear in the size of the function. Example: test/Conversion/lower-control-flow.mlir.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect"];
}

#endif
