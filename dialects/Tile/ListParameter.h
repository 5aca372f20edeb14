// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists as parameters of attributes: of strings, `["M", "K"]`, or of attributes of the dialect, `[<parameter = "x",
// …>]`.
#pragma once

#include "mlir/IR/DialectImplementation.h"

namespace tile {

template <typename Element> mlir::FailureOr<llvm::SmallVector<Element>> parseList(mlir::AsmParser &parser) {
  llvm::SmallVector<Element> list;
  auto parseElement = [&]() -> mlir::ParseResult {
    mlir::FailureOr<Element> element = mlir::FieldParser<Element>::parse(parser);
    if (failed(element))
      return mlir::failure();
    list.push_back(*element);
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, parseElement))
    return mlir::failure();
  return list;
}

template <typename Element> void printList(mlir::AsmPrinter &printer, llvm::ArrayRef<Element> list) {
  printer << '[';
  llvm::interleaveComma(list, printer, [&](const Element &element) {
    if constexpr (std::is_base_of_v<mlir::Attribute, Element>)
      printer.printStrippedAttrOrType(element);
    else
      printer << element;
  });
  printer << ']';
}

} // namespace tile
