// The base of passes on kernels: they check that the kernel has the form that they require.
#pragma once

#include "Analysis/KernelForm.h"

#include "mlir/Pass/Pass.h"

namespace tile {

class FormPass : public mlir::OperationPass<KernelOp>, public InputCheck {
protected:
  FormPass(mlir::TypeID id, Form required) : OperationPass(id), required(required) {}
  virtual void runOnKernel() = 0;

private:
  void runOnOperation() final;

  Form required;
};

/// What the declaration of a pass names as its base.
template <Form form> class RequiringPass : public FormPass {
protected:
  explicit RequiringPass(mlir::TypeID id) : FormPass(id, form) {}
};

} // namespace tile
