// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/Verify.h"

#include "Verify/Checker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::verify {

size_t Report::count(Answer answer) const {
  return size_t(llvm::count_if(accesses, [&](const Finding &finding) { return finding.answer == answer; }));
}

bool Report::isRefuted() const {
  auto isRefuted = [](const Finding &finding) { return finding.answer == Answer::Refuted; };
  return llvm::any_of(accesses, isRefuted) || llvm::any_of(conditions, isRefuted);
}

Report verify(KernelOp kernel, const runtime::Manifest &manifest, Solver &solver, const Options &options) {
  Checker checker(kernel, manifest, solver, options);
  Report report;
  const std::vector<Operation *> accesses = listAccesses(kernel);
  std::vector<Operation *> conditions, stores;
  kernel.walk([&](Operation *op) {
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
            AssumeOp>(op))
      conditions.push_back(op);
    auto described = dyn_cast<DescStoreOp>(op);
    if (isa<StoreOp>(op) || (described && !described.getReduce()))
      stores.push_back(op);
  });
  std::vector<unsigned> outputs; // arguments of the kernel
  for (unsigned index = 0; index < kernel.getArgumentTypes().size(); ++index) {
    auto name = kernel.getArgAttrOfType<StringAttr>(index, argNameAttrName);
    const runtime::Parameter *parameter = name ? manifest.findParameter(name.getValue()) : nullptr;
    if (parameter && parameter->buffer && parameter->buffer->role == runtime::BufferRole::Output)
      outputs.push_back(index);
  }
  size_t left = accesses.size() + conditions.size() + stores.size() + outputs.size();
  for (Operation *op : accesses) {
    checker.expect(left--);
    report.accesses.push_back(checker.checkAccess(op));
  }
  for (Operation *op : conditions) {
    checker.expect(left--);
    if (auto assume = dyn_cast<AssumeOp>(op))
      report.conditions.push_back(checker.checkAssumption(assume));
    else if (std::optional<Finding> finding = checker.checkDivision(op))
      report.conditions.push_back(std::move(*finding));
  }
  for (Operation *op : stores) {
    checker.expect(left--);
    report.conditions.push_back(checker.checkPrograms(op));
  }
  for (unsigned output : outputs) {
    checker.expect(left--);
    report.conditions.push_back(checker.checkOutput(output, stores));
  }
  report.isTimeOver = checker.isTimeOver();
  return report;
}

} // namespace tile::verify
