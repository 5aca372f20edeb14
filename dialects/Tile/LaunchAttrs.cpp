// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of launch attributes.
#include "Target/Limits.h"
#include "Tile/TileDialect.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tile;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

TensorMapAttr TensorMapAttr::withBox(ArrayRef<int64_t> box, int64_t swizzle) const {
  return get(getContext(), getBase(), getShape(), getStrides(), box, swizzle, getL2Promotion(), getElement());
}

TensorMapAttr TensorMapAttr::withL2Promotion(int64_t bytes) const {
  return get(getContext(), getBase(), getShape(), getStrides(), getBox(), getSwizzle(), bytes, getElement());
}

// CUDA driver API, cuTensorMapEncodeTiled.
LogicalResult TensorMapAttr::verify(EmitError emitError, StringAttr base, ArrayRef<StringAttr> shape,
                                    ArrayRef<StringAttr> strides, ArrayRef<int64_t> box, int64_t swizzle,
                                    int64_t l2Promotion, Type element) {
  constexpr size_t highestRank = 5;
  if (base.empty())
    return emitError() << "base is empty but must be the name of a parameter";
  if (shape.size() > highestRank)
    return emitError() << "shape has " << shape.size() << " dimensions; a tensor map has at most " << highestRank;
  if (strides.size() != (shape.empty() ? 0 : shape.size() - 1))
    return emitError() << "has " << strides.size() << " strides for a shape of " << shape.size()
                       << " dimensions; expected one for each dimension but the last";
  if (!shape.empty() && !box.empty() && box.size() != shape.size())
    return emitError() << "box has " << box.size() << " dimensions but the shape has " << shape.size();
  for (int64_t side : box)
    if (side < 1 || side > target::maxBoxExtent)
      return emitError() << "box is [" << box << "]; its sides must be from 1 to " << target::maxBoxExtent;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "swizzle is " << swizzle << " but must be 0, 32, 64 or 128 bytes";
  if (!llvm::is_contained({128, 256}, l2Promotion))
    return emitError() << "l2_promotion is " << l2Promotion << " but must be 128 or 256 bytes";
  return success();
}

LogicalResult BufferAttr::verify(EmitError emitError, StringAttr parameter, ArrayRef<StringAttr> shape,
                                 ArrayRef<StringAttr> strides, BufferRole role) {
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "buffer '" << parameter.getValue() << "' has " << strides.size() << " strides for "
                       << shape.size() << " dimensions";
  return success();
}

LogicalResult ExpectAttr::verify(EmitError emitError, StringAttr buffer, StringAttr expression, FloatAttr tolerance) {
  if (!(tolerance.getValueAsDouble() >= 0))
    return emitError() << "tolerance is " << tolerance.getValueAsDouble() << " but must be at least 0";
  return success();
}

LogicalResult LaunchAttr::verify(EmitError emitError, ArrayRef<StringAttr> grid, ArrayRef<StringAttr> requirements,
                                 ArrayRef<BufferAttr> buffers, ArrayRef<DefaultAttr> defaults,
                                 ArrayRef<ExpectAttr> expect) {
  constexpr size_t maxAxes = 3;
  if (grid.size() > maxAxes)
    return emitError() << "grid has " << grid.size() << " axes; expected at most " << maxAxes;
  auto verifyNames = [&](auto list, StringRef what) -> LogicalResult {
    llvm::StringSet<> names;
    for (auto entry : list)
      if (!names.insert(entry.getParameter().getValue()).second)
        return emitError() << "parameter '" << entry.getParameter().getValue() << "' has more than one " << what;
    return success();
  };
  return success(succeeded(verifyNames(buffers, "buffer")) && succeeded(verifyNames(defaults, "default")));
}

BufferAttr LaunchAttr::findBuffer(StringRef parameter) const {
  auto found = llvm::find_if(getBuffers(), [&](BufferAttr entry) { return entry.getParameter() == parameter; });
  return found == getBuffers().end() ? BufferAttr() : *found;
}

DefaultAttr LaunchAttr::findDefault(StringRef parameter) const {
  auto found = llvm::find_if(getDefaults(), [&](DefaultAttr entry) { return entry.getParameter() == parameter; });
  return found == getDefaults().end() ? DefaultAttr() : *found;
}
