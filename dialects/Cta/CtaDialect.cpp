// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the cta dialect.
#include "Cta/CtaDialect.h"

#include "Cta/PanelOps.h"
#include "Layout/ShapeTransforms.h"
#include "Tile/TileShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <numeric>

#include "Cta/CtaDialect.cpp.inc"
#include "Cta/LayoutInterface.cpp.inc"

using namespace mlir;

namespace tile::cta {

namespace {
/// Lets the printer define each layout once, as the alias `#layout`, because layouts are long.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const final {
    if (!isa<LayoutAttr>(attribute))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void CtaDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "Cta/CtaOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Cta/PanelOps.cpp.inc"
      >();
  addInterfaces<LayoutAliases>();
  attachLayouts();
}

/// Materializes folded values as arith constants.
Operation *CtaDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  return arith::ConstantOp::materialize(builder, value, type, location);
}

LayoutAttr getLayoutAttr(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_if_present<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
}

const layout::LinearLayout &getLayout(Type type) {
  LayoutAttr attribute = getLayoutAttr(type);
  assert(attribute && "the tensor has no layout; the phase is tile");
  return attribute.getLayout();
}

RankedTensorType withLayout(RankedTensorType type, LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

std::vector<int32_t> registersInColumns(RankedTensorType type, std::optional<uint32_t> columns) {
  const layout::LinearLayout &layout = getLayout(type);
  if (columns)
    return layout::registersOfPart(layout, 1, *columns);
  std::vector<int32_t> all(layout.numRegisters());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

} // namespace tile::cta

#define GET_OP_CLASSES
#include "Cta/CtaOps.cpp.inc"
