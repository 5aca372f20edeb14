// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the boxes of a panel layout; see TmaBoxes.h.
#include "Layout/TmaBoxes.h"

#include "Layout/SharedLayouts.h"
#include "Target/Limits.h"

#include <algorithm>

namespace tile::layout {

namespace {
using target::maxBoxExtent;
constexpr int64_t minRowBytes = 16; // minimum and granularity of the innermost extent
constexpr unsigned swizzleRows = 8;
} // namespace

std::optional<TmaBoxes> planTmaBoxes(const LinearLayout &buffer, unsigned elementBytes,
                                     const std::vector<int64_t> &bufferShape) {
  std::optional<SwizzleForm> form = matchSwizzle(buffer, elementBytes);
  const std::vector<int64_t> &shape = bufferShape.empty() ? buffer.outShape() : bufferShape;
  if (!form || shape.empty() || shape.size() > 2 || form->order.front() != shape.size() - 1 ||
      form->panelElements * elementBytes < minRowBytes)
    return std::nullopt;
  TmaBoxes boxes;
  boxes.swizzleBytes = form->swizzleBytes;
  int64_t rows = shape.size() == 2 ? shape[0] : 1, layoutRows = shape.size() == 2 ? buffer.outShape()[0] : 1;
  int64_t columns = shape.back(), panel = form->panelElements;
  int64_t boxRows = std::min(rows, maxBoxExtent), boxColumns = std::min(panel, maxBoxExtent);
  // A box that is narrower than a row would leave gaps. A box that reaches beyond the last row would write into the
  // next panel.
  if ((boxColumns < panel && rows > 1) || rows % boxRows != 0)
    return std::nullopt;
  if (shape.size() == 2)
    boxes.shape.push_back(boxRows);
  boxes.shape.push_back(boxColumns);
  boxes.tailColumns = columns % boxColumns;
  if (boxes.tailColumns * elementBytes % minRowBytes != 0)
    return std::nullopt;
  for (int64_t column = 0; column < columns; column += boxColumns)
    for (int64_t row = 0; row < rows; row += boxRows) {
      TmaBoxes::Box box;
      if (shape.size() == 2)
        box.coordinates.push_back(row);
      box.coordinates.push_back(column);
      box.byteOffset = (column * layoutRows + row * boxColumns) * elementBytes;
      box.isTail = column + boxColumns > columns;
      boxes.boxes.push_back(box);
    }
  return boxes;
}

std::optional<TmaParts> splitTmaBoxes(const LinearLayout &buffer, unsigned elementBytes, unsigned parts) {
  std::optional<TmaBoxes> whole = planTmaBoxes(buffer, elementBytes);
  if (!whole || parts == 0 || whole->tailColumns != 0)
    return std::nullopt;
  TmaParts split{*whole, std::vector<int64_t>(whole->shape.size(), 0), 0};
  std::vector<TmaBoxes::Box> &list = split.boxes.boxes;
  int64_t boxBytes = elementBytes;
  for (int64_t extent : whole->shape)
    boxBytes *= extent;
  if (list.size() % parts != 0) {
    // The swizzle pattern repeats every eight rows.
    if (list.size() != 1 || whole->shape.size() != 2 || whole->shape[0] % (parts * swizzleRows) != 0)
      return std::nullopt;
    split.boxes.shape[0] /= parts;
    split.coordinates[0] = split.boxes.shape[0];
    split.bytes = boxBytes / parts;
    return split;
  }
  size_t count = list.size() / parts;
  split.bytes = count * boxBytes;
  list.resize(count);
  for (size_t index = count; index < whole->boxes.size(); ++index) {
    const TmaBoxes::Box &box = whole->boxes[index], &before = whole->boxes[index - count];
    for (size_t dim = 0; dim < box.coordinates.size(); ++dim) {
      int64_t step = box.coordinates[dim] - before.coordinates[dim];
      if (index == count)
        split.coordinates[dim] = step;
      if (step != split.coordinates[dim])
        return std::nullopt;
    }
    if (box.byteOffset - before.byteOffset != split.bytes)
      return std::nullopt;
  }
  return split;
}

} // namespace tile::layout
