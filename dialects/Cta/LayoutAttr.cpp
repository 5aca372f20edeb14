// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout attribute: syntax, and verification of a tensor against its encoding.
#include "Cta/CtaDialect.h"

#include "Layout/Print.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

#define GET_ATTRDEF_CLASSES
#include "Cta/CtaAttrs.cpp.inc"

void CtaDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Cta/CtaAttrs.cpp.inc"
      >();
}

static ParseResult parseIntegers(AsmParser &parser, std::vector<int32_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&]() -> ParseResult { return parser.parseInteger(values.emplace_back()); });
}

// `<[128, 64], register = [[0, 1], …], lane = […], warp = […]>`
Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  std::vector<int32_t> shape;
  std::vector<layout::InDim> inputs;
  if (parser.parseLess() || parseIntegers(parser, shape))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    layout::InDim &input = inputs.emplace_back();
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       [&] { return parseIntegers(parser, input.bases.emplace_back()); }))
      return {};
    input.name = name.str();
  }
  if (parser.parseGreater())
    return {};
  std::string error;
  std::optional<layout::LinearLayout> layout =
      layout::LinearLayout::create(inputs, std::vector<int64_t>(shape.begin(), shape.end()), &error);
  if (!layout) {
    parser.emitError(start, error);
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<' << layout::toString(getLayout()) << '>';
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  const layout::LinearLayout &layout = getLayout();
  if (std::optional<std::string> problem = layout::verifyDistributed(layout))
    return emitError() << "not a layout of a tensor: " << *problem;
  // 2^23 is the maximum number of elements of a tensor.
  if (layout.inDimSizeLog2(layout::registerDim) > 23)
    return emitError() << "not a layout of a tensor: it has 2^" << layout.inDimSizeLog2(layout::registerDim)
                       << " registers; at most 2^23 are allowed";
  if (ArrayRef<int64_t>(layout.outShape()) != shape)
    return emitError() << "layout is for shape [" << ArrayRef<int64_t>(layout.outShape()) << "] but the tensor is ["
                       << shape << "]";
  return success();
}
