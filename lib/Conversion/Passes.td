// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes that lower the cta dialect to LLVM and NVVM.
#ifndef TILE_CONVERSION_PASSES_TD
#define TILE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

// A pass on per-thread functions; `kind` as in lib/Transforms/Passes.td.
class FunctionsPass<string flag, string kind> : PassBase<flag, "::tile::FunctionsPass<::tile::PassKind::" # kind # ">">;

def ConvertCtaToNvvm : FunctionsPass<"convert-cta-to-nvvm", "Correctness"> {
  let summary = "lower kernels to per-thread functions";
  let description = [{
    Requires: phase allocated. Ensures: no tile or cta operation or type and no tensor remains; each tensor has become
    one scalar per register, and each kernel an `llvm.func` with `nvvm.kernel`, `nvvm.reqntid` and `tile.shared_bytes`;
    all remaining operations are llvm, nvvm, scf, cf, arith and math on scalars. Does not: lower scf, arith and math.
    Example: test/Conversion/CtaToNvvm/kernel.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def NvvmCarryWords : FunctionsPass<"nvvm-carry-words", "Optimisation"> {
  let summary = "let loops carry 32-bit words instead of their elements";
  let description = [{
    Requires: per-thread functions with scf loops. Ensures: a loop whose body yields all elements of a 32-bit vector, in
    order, carries the vector. Example: test/Conversion/carry-words.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def NvvmSinkFragments : FunctionsPass<"nvvm-sink-fragments", "Optimisation"> {
  let summary = "compute each fragment of a left operand right before the wgmma that reads it";
  let description = [{
    Requires: per-thread functions in which each k step of a wgmma is a separate statement. Ensures: if the results of
    operations, such as loads from shared memory and conversions, are used only by step k and later steps, the
    operations come after step k - 1. Example: test/Conversion/sink-fragments.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def NvvmLowerControlFlow : FunctionsPass<"nvvm-lower-control-flow", "Correctness"> {
  let summary = "lower loops and branches to blocks and jumps";
  let description = [{
    Requires: per-thread functions. Ensures: no scf operation remains. The result is that of upstream's
    convert-scf-to-cf, computed in time linear in the size of the function, except that counting loops end before their
    induction variable would overflow. Example: test/Conversion/lower-control-flow.mlir.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect"];
}

def NvvmInstrument : FunctionsPass<"nvvm-instrument", "Correctness"> {
  let summary = "record when warps wait, copy and multiply";
  let description = [{
    Requires: kernels in the LLVM and NVVM dialects. Ensures: each kernel has an additional parameter, a buffer, which
    follows the parameters of the source and precedes the launcher's arguments. The kernel writes the clock value at
    each wait, copy and MMA into this buffer; lib/Target/TimeRecords.h defines the format. Example:
    test/Conversion/instrument.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
