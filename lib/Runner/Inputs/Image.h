// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images in the formats of the Netpbm package: .ppm (colour, three bytes per pixel) and .pgm (grey, one byte per
// pixel).
//
//   "P6" width height 255 bytes...       "P3": the same as decimal numbers      "P5", "P2": grey
//
// Numbers in the header are separated by white space; '#' starts a comment. The array is [height, width, 3] or, for
// grey, [height, width, 1]; its elements are unsigned bytes.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

namespace tile::runner {

struct Image {
  std::vector<int64_t> shape;
  std::string pixels; ///< row-major
};

/// Returns true if the file name is that of an image.
bool isImageFile(std::string_view path);

/// Parses a whole file in any of the four formats.
Result<Image> parseImage(std::string_view bytes);

/// Formats bytes of shape [height, width, 3] as P6, of [height, width] or [height, width, 1] as P5.
Result<std::string> formatImage(const std::vector<int64_t> &shape, std::string_view pixels);

} // namespace tile::runner
