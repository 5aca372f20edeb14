// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces constants, shapes, attributes, layouts and types by others.
#include "fuzz/IrMutator.h"

#include "Cta/CtaDialect.h"
#include "Layout/LinearLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;

int64_t IrMutator::changed(int64_t number) {
  static constexpr int64_t odd[] = {0,  1,   -1,  2,   3,   4,    7,     8,         16,        31,        32,       33,
                                    64, 127, 128, 255, 256, 1024, 65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  switch (below(6)) {
  case 0:
    return int64_t(uint64_t(number) * 2);
  case 1:
    return number / 2;
  case 2:
    return int64_t(uint64_t(number) + 1);
  case 3:
    return int64_t(uint64_t(number) - 1);
  default:
    return odd[below(std::size(odd))];
  }
}

SmallVector<int64_t> IrMutator::changed(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes(shape);
  if (sizes.empty() || oneIn(8))
    sizes.insert(sizes.begin() + below(sizes.size() + 1), int64_t(1) << below(8));
  else if (sizes.size() > 1 && oneIn(6))
    sizes.erase(sizes.begin() + below(sizes.size()));
  else if (sizes.size() > 1 && oneIn(3))
    std::swap(sizes[below(sizes.size())], sizes[below(sizes.size())]);
  else {
    int64_t &size = sizes[below(sizes.size())];
    size = oneIn(4) ? changed(size) : std::max<int64_t>(1, oneIn(2) ? size / 2 : int64_t(uint64_t(size) * 2));
  }
  return sizes;
}

Attribute IrMutator::changed(Attribute attribute) {
  Builder builder(attribute.getContext());
  return llvm::TypeSwitch<Attribute, Attribute>(attribute)
      .Case([&](BoolAttr flag) { return builder.getBoolAttr(!flag.getValue()); })
      .Case([&](IntegerAttr number) -> Attribute {
        if (number.getValue().getBitWidth() > 64)
          return number;
        APInt value = number.getValue();
        return IntegerAttr::get(number.getType(), APInt(value.getBitWidth(), uint64_t(changed(value.getSExtValue())),
                                                        /*isSigned=*/false, /*implicitTrunc=*/true));
      })
      .Case([&](DenseI32ArrayAttr numbers) -> Attribute {
        SmallVector<int64_t> list(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
        return builder.getDenseI32ArrayAttr(llvm::map_to_vector(changed(list), [](int64_t n) { return int32_t(n); }));
      })
      .Case([&](DenseI64ArrayAttr numbers) -> Attribute {
        return builder.getDenseI64ArrayAttr(changed(numbers.asArrayRef()));
      })
      .Case([&](StringAttr text) -> Attribute {
        return oneIn(2) ? builder.getStringAttr("") : builder.getStringAttr(text.getValue().drop_back(!text.empty()));
      })
      .Case([&](TypeAttr type) -> Attribute {
        Type other = changed(type.getValue());
        return other ? TypeAttr::get(other) : type;
      })
      .Case([&](ArrayAttr list) -> Attribute {
        SmallVector<Attribute> entries(list.begin(), list.end());
        if (entries.empty())
          return builder.getUnitAttr();
        Attribute &entry = entries[below(entries.size())];
        if (oneIn(4))
          entries.pop_back();
        else
          entry = changed(entry);
        return builder.getArrayAttr(entries);
      })
      .Case([&](DictionaryAttr dictionary) -> Attribute {
        SmallVector<NamedAttribute> entries(dictionary.begin(), dictionary.end());
        if (entries.empty())
          return builder.getDictionaryAttr(builder.getNamedAttr("tile.scratch", builder.getI64IntegerAttr(64)));
        size_t index = below(entries.size());
        if (oneIn(4))
          entries.erase(entries.begin() + index);
        else
          entries[index].setValue(changed(entries[index].getValue()));
        return builder.getDictionaryAttr(entries);
      })
      .Case([&](cta::LayoutAttr layout) { return changedLayout(layout); })
      .Default([&](Attribute other) -> Attribute { return oneIn(2) ? builder.getI32IntegerAttr(1) : other; });
}

Attribute IrMutator::changedLayout(Attribute attribute) {
  const layout::LinearLayout &layout = cast<cta::LayoutAttr>(attribute).getLayout();
  std::vector<layout::InDim> dims = layout.inDims();
  std::vector<int64_t> shape = layout.outShape();
  auto someBasis = [&]() -> std::vector<int32_t> * {
    layout::InDim &dim = dims[below(dims.size())];
    return dim.bases.empty() ? nullptr : &dim.bases[below(dim.bases.size())];
  };
  std::vector<int32_t> *a = someBasis(), *b = someBasis();
  switch (below(4)) {
  case 0:
  case 1:
    if (a && b)
      std::swap(*a, *b);
    break;
  case 2:
    if (a && b && a != b)
      for (size_t axis = 0; axis < a->size(); ++axis)
        (*a)[axis] ^= (*b)[axis];
    break;
  default:
    dims[below(dims.size())].bases.push_back(std::vector<int32_t>(shape.size(), 0));
  }
  std::string error;
  std::optional<layout::LinearLayout> result = layout::LinearLayout::create(dims, shape, &error);
  return result ? Attribute(cta::LayoutAttr::get(attribute.getContext(), *result)) : attribute;
}

Type IrMutator::changed(Type type) {
  Builder builder(type.getContext());
  Type elements[] = {builder.getI1Type(),
                     builder.getI8Type(),
                     builder.getI16Type(),
                     builder.getI32Type(),
                     builder.getI64Type(),
                     builder.getF16Type(),
                     builder.getBF16Type(),
                     builder.getF32Type(),
                     builder.getF64Type(),
                     Float8E4M3FNType::get(type.getContext()),
                     PtrType::get(type.getContext(), builder.getF16Type()),
                     builder.getIndexType(),
                     builder.getIntegerType(7)};
  Type element = elements[below(oneIn(10) ? std::size(elements) : 10)];
  auto ignore = [&] { return emitError(builder.getUnknownLoc()); };
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (oneIn(2))
      return RankedTensorType::getChecked(ignore, tensor.getShape(), element, tensor.getEncoding());
    Attribute layout = isa_and_present<cta::LayoutAttr>(tensor.getEncoding()) && !oneIn(6)
                           ? changedLayout(tensor.getEncoding())
                           : Attribute();
    SmallVector<int64_t> shape(tensor.getShape());
    if (!layout)
      shape = changed(shape);
    if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
      return {};
    return RankedTensorType::getChecked(ignore, ArrayRef<int64_t>(shape),
                                        element = oneIn(2) ? element : tensor.getElementType(), layout);
  }
  if (auto buffer = dyn_cast<cta::BufferType>(type)) {
    int64_t slots = oneIn(3) ? changed(buffer.getSlots()) : buffer.getSlots();
    auto layout = oneIn(3) ? cast<cta::LayoutAttr>(changedLayout(buffer.getLayout())) : buffer.getLayout();
    SmallVector<int64_t> shape = oneIn(4) ? changed(buffer.getShape()) : SmallVector<int64_t>(buffer.getShape());
    return cta::BufferType::getChecked(ignore, type.getContext(), ArrayRef<int64_t>(shape),
                                       oneIn(3) ? element : buffer.getElementType(), layout, slots);
  }
  if (auto desc = dyn_cast<DescType>(type)) {
    SmallVector<int64_t> shape = changed(desc.getShape());
    return DescType::getChecked(ignore, type.getContext(), ArrayRef<int64_t>(shape),
                                oneIn(3) ? element : desc.getElementType());
  }
  if (auto ring = dyn_cast<cta::MbarrierType>(type))
    return cta::MbarrierType::getChecked(ignore, type.getContext(), changed(ring.getSlots()));
  if (isa<PtrType>(type))
    return PtrType::getChecked(ignore, type.getContext(), element);
  return isa<FunctionType>(type) ? type : element;
}
