// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds slow accesses to global memory: accesses without contiguous elements, or without a known alignment.
#include "Lint/Lint.h"

#include "Analysis/Addresses/AccessPromises.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile::frontend;

namespace tile::lint {
namespace {

std::string nameOf(BlockArgument parameter) {
  auto kernel = cast<KernelOp>(parameter.getOwner()->getParentOp());
  return kernel.getArgAttrOfType<StringAttr>(parameter.getArgNumber(), argNameAttrName).str();
}

/// Shows the parameter with a suggested annotation.
void suggest(const Subject &subject, frontend::DiagnosticEngine::Builder &builder, BlockArgument parameter,
             const std::string &annotation) {
  auto [name, old] = subject.declarationOf(parameter);
  if (name.end <= name.begin)
    return;
  builder.note(name, "'" + nameOf(parameter) + "' is declared here");
  std::string_view text = subject.diagnostics.text(old);
  bool isPlain = !text.empty() && text.find_first_of("[\"'") == std::string_view::npos;
  if (isPlain)
    builder.fixItOfNote(old, annotation);
}

} // namespace

void findUncoalesced(const Subject &subject) {
  AxisInfoAnalysis analysis(subject.kernel);
  for (const GlobalAccess &access : collectGlobalAccesses(subject.kernel)) {
    if (isContiguous(access.pointer, analysis) || collectInputs(access, /*withMask=*/false).dependsOnMemory)
      continue; // addresses that are loaded from memory cannot be rearranged
    SmallVector<BlockArgument> strides = findUnitStrides(subject.kernel, access);
    std::string name = strides.empty() ? "" : nameOf(strides.front());
    std::string hint = strides.empty() ? "" : "; if '" + name + "' is always 1, use -D " + name + "=1";
    auto builder = subject.report(Diag::uncoalesced, access.op, {hint});
    if (!strides.empty())
      suggest(subject, builder, strides.front(), "constexpr");
  }
}

void findMissingDivisibility(const Subject &subject) {
  KernelOp kernel = subject.kernel;
  AxisInfoAnalysis analysis(kernel);
  for (const GlobalAccess &access : collectGlobalAccesses(kernel)) {
    if (!isContiguous(access.pointer, analysis))
      continue;
    Divisors divisors = findDivisors(kernel, access, {widestAccess, subject.hasTma});
    if (divisors.empty())
      continue;
    std::vector<std::string> names, promises;
    for (auto [parameter, divisor] : divisors) {
      names.push_back(nameOf(kernel.getArgument(parameter)));
      promises.push_back("--assume=" + names.back() + "=" + std::to_string(divisor));
    }
    int64_t width = PromiseTrial(kernel).widthInBytes(access);
    auto builder = subject.report(Diag::missing_divisibility, access.op,
                                  {std::to_string(width), std::to_string(widestAccess),
                                   "'" + llvm::join(names, "' and '") + "'", llvm::join(promises, " ")});
    for (auto [number, divisor] : divisors) {
      BlockArgument parameter = kernel.getArgument(number);
      auto [name, annotation] = subject.declarationOf(parameter);
      std::string type(subject.diagnostics.text(annotation));
      if (isa<IntegerType>(parameter.getType())) // annotations of pointers have a different syntax
        suggest(subject, builder, parameter, type + "[" + std::to_string(divisor) + "]");
    }
  }
}

} // namespace tile::lint
