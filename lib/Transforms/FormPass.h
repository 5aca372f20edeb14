// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The base of passes on kernels: they check that the kernel has the form that they require, and say which one they
// leave.
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

/// What the declaration of a pass names as its base.
template <Form input, Form output, PassKind passKind> class FormChangingPass : public FormPass {
protected:
  explicit FormChangingPass(mlir::TypeID id) : FormPass(id, {input, output}, passKind) {}
};

} // namespace tile
