// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The base class of passes on kernels, which checks that the kernel has the required form, and declares the form that
// the pass leaves.
#pragma once

#include "Analysis/KernelForm.h"
#include "Analysis/PassKind.h"

#include "mlir/Pass/Pass.h"

namespace tile {

class FormPass : public mlir::OperationPass<KernelOp>, public FormContract, public KindedPass {
protected:
  FormPass(mlir::TypeID id, FormContract contract, PassKind kind)
      : OperationPass(id), FormContract(contract), KindedPass(kind) {}
  virtual void runOnKernel() = 0;

private:
  void runOnOperation() final;
};

/// The base class that a pass declaration names.
template <Form input, Form output, PassKind passKind> class FormChangingPass : public FormPass {
protected:
  explicit FormChangingPass(mlir::TypeID id) : FormPass(id, {input, output}, passKind) {}
};

} // namespace tile
