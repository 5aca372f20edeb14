// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The base of passes on kernels: they check that the kernel has the form that they require.
#pragma once

#include "Analysis/KernelForm.h"
#include "Analysis/PassKind.h"

#include "mlir/Pass/Pass.h"

namespace tile {

class FormPass : public mlir::OperationPass<KernelOp>, public InputCheck, public KindedPass {
protected:
  FormPass(mlir::TypeID id, Form required, PassKind kind) : OperationPass(id), KindedPass(kind), required(required) {}
  virtual void runOnKernel() = 0;

private:
  void runOnOperation() final;

  Form required;
};

/// What the declaration of a pass names as its base.
template <Form form, PassKind passKind> class RequiringPass : public FormPass {
protected:
  explicit RequiringPass(mlir::TypeID id) : FormPass(id, form, passKind) {}
};

class CheckingPass : public mlir::OperationPass<KernelOp>, public KindedPass {
protected:
  explicit CheckingPass(mlir::TypeID id) : OperationPass(id), KindedPass(PassKind::Check) {}
};

} // namespace tile
