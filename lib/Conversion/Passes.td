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
    Requires: phase allocated. Ensures: no tile or cta operation or type and no tensor is left; a tensor has become one
    scalar per register, a kernel an `llvm.func` with `nvvm.kernel`, `nvvm.reqntid` and `tile.shared_bytes`; all else is
    llvm, nvvm, scf, cf, arith and math on scalars. Does not: lower scf, arith and math. Example:
    test/Conversion/CtaToNvvm/kernel.mlir.
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
    Requires: per-thread functions in which the steps of a wgmma are statements. Ensures: what only later steps use,
    such as loads from shared memory and conversions, follows the previous step. Example:
    test/Conversion/sink-fragments.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def NvvmLowerControlFlow : FunctionsPass<"nvvm-lower-control-flow", "Correctness"> {
  let summary = "lower loops and branches to blocks and jumps";
  let description = [{
    Requires: per-thread functions. Ensures: no scf operation; the result of upstream's convert-scf-to-cf, in time
    linear in the size of the function, except for counting loops, which end before their variable passes the largest
    integer of its type. Example: test/Conversion/lower-control-flow.mlir.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect"];
}

def NvvmInstrument : FunctionsPass<"nvvm-instrument", "Correctness"> {
  let summary = "record when warps wait, copy and multiply";
  let description = [{
    Requires: kernels in the LLVM and NVVM dialects. Ensures: a kernel takes a buffer after its parameters and before
    the launcher's arguments, and writes the clock of each wait, copy and MMA into it, as lib/Target/TimeRecords.h
    defines. Example: test/Conversion/instrument.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
