// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target attribute: syntax, verification and access.
#include "Cta/CtaDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

static constexpr StringLiteral targetName = "cta.target", defaultTarget = "sm_90a";

// `<sm_90a>`
Attribute TargetAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  if (parser.parseLess())
    return {};
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseGreater())
    return {};
  const target::GpuTarget *gpu = target::findTarget(name.str());
  if (!gpu) {
    parser.emitError(place) << "unknown target '" << name << "'; expected one of " << target::listTargets();
    return {};
  }
  return TargetAttr::get(parser.getContext(), gpu);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << '<' << getGpu()->name << '>';
}

LogicalResult CtaDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != targetName)
    return op->emitOpError() << "has the attribute '" << attribute.getName().getValue()
                             << "'; the cta dialect defines only '" << targetName << "'";
  if (!isa<ModuleOp>(op) || !isa<TargetAttr>(attribute.getValue()))
    return op->emitOpError() << "has '" << targetName << " = " << attribute.getValue()
                             << "'; expected a #cta.target on a module";
  return success();
}

const target::GpuTarget &tile::cta::getTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto attribute = op->getAttrOfType<TargetAttr>(targetName))
      return *attribute.getGpu();
  return *target::findTarget(defaultTarget.str());
}

const target::GpuTarget *tile::cta::findStatedTarget(ModuleOp module) {
  auto attribute = module->getAttrOfType<TargetAttr>(targetName);
  return attribute ? attribute.getGpu() : nullptr;
}

void tile::cta::setTarget(ModuleOp module, const target::GpuTarget &gpu) {
  module.getContext()->getOrLoadDialect<CtaDialect>(); // the front end only loads the tile dialect
  module->setAttr(targetName, TargetAttr::get(module.getContext(), &gpu));
}
