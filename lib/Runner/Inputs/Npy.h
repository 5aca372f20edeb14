// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays in files: NumPy's .npy format (versions 1 to 3), images (Image.h) and raw elements.
//
//   "\x93NUMPY" major minor headerLength "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }\n" data
//
// bf16 and the 8-bit floats have no NumPy name. They are written as NumPy stores unknown types ('<V2', '|V1'), and read
// from these types or from unsigned integers of the same size.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

namespace tile::runner {

struct NpyArray {
  std::string descr; ///< NumPy's type string: "<f2"
  std::vector<int64_t> shape;
  std::string data; ///< elements in row-major order
};

/// Parses a whole file and converts the data to row-major order.
Result<NpyArray> parseNpy(std::string_view bytes);
std::string formatNpy(DataType type, const std::vector<int64_t> &shape, const std::vector<uint8_t> &dense);

/// Fills `buffer` from a .npy file, an image, or any other file, whose bytes are the elements in row-major order.
/// Floats of a .npy file are rounded to the buffer's type, and integers must fit it. Any shape with the same number of
/// elements is accepted, except a permutation of the sizes, which suggests a transposed array.
Status loadBufferFile(HostBuffer &buffer, const std::string &path);

/// Writes a .npy file, an image (.ppm, .pgm) or, for other names, the raw bytes. The file is written completely or not
/// at all.
Status saveBufferFile(const HostBuffer &buffer, const std::string &path);

/// Writes a temporary file in the same folder and renames it. A replaced file keeps its permissions, and links to it
/// remain valid. Devices and pipes are written to directly.
Status writeFileAtomically(const std::string &path, std::string_view contents);

/// Fails if `appendToFile` could not write to the path. Leaves the file unchanged or absent. An empty path is not an
/// error.
Status checkAppendable(const std::string &path);
/// Appends whole lines to a file, or nothing if that fails.
Status appendToFile(const std::string &path, std::string_view text);

} // namespace tile::runner
