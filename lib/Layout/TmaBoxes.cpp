// Boxes of a panel layout; see TmaBoxes.h.
#include "Layout/TmaBoxes.h"

#include "Layout/SharedLayouts.h"

#include <algorithm>

namespace tile::layout {

namespace {
constexpr int64_t maxBoxExtent = 256; // elements along each dimension of a box
constexpr int64_t minRowBytes = 16;   // of the innermost extent, and its granularity
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
  // A box narrower than a row would leave gaps; one that reaches beyond the rows would fill the next panel.
  if ((boxColumns < panel && rows > 1) || rows % boxRows != 0)
    return std::nullopt;
  if (shape.size() == 2)
    boxes.shape.push_back(boxRows);
  boxes.shape.push_back(boxColumns);
  for (int64_t column = 0; column < columns; column += boxColumns)
    for (int64_t row = 0; row < rows; row += boxRows) {
      TmaBoxes::Place place;
      if (shape.size() == 2)
        place.coordinates.push_back(row);
      place.coordinates.push_back(column);
      place.byteOffset = (column * layoutRows + row * boxColumns) * elementBytes;
      boxes.places.push_back(place);
    }
  return boxes;
}

} // namespace tile::layout
