// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images in the formats of the Netpbm package: .ppm (colour, three bytes per pixel) and .pgm (grey, one byte per
// pixel).
//
//   "P6" width height 255 bytes...       "P3": the same in decimal numbers      "P5", "P2": grey
//
// Numbers in the header are separated by white space; '#' starts a comment. The array is [height, width, 3] or, for
// grey, [height, width, 1]; its elements are unsigned bytes.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

namespace tile::runner {

struct Image {
  std::vector<int64_t> shape;
  std::string pixels; ///< in row-major order
};

/// Returns true if the name has the extension of an image file.
bool isImageFile(std::string_view path);

/// Parses a whole file in any of the four formats.
Result<Image> parseImage(std::string_view bytes);

/// Formats bytes as P6 if the shape is [height, width, 3], and as P5 if it is [height, width] or [height, width, 1].
Result<std::string> formatImage(const std::vector<int64_t> &shape, std::string_view pixels);

} // namespace tile::runner
