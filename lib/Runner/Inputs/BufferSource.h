// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills the buffer of a pointer parameter as the string after `NAME=` specifies.
//
//   random, random(seed=3)      zeros, ones, full(2.5)      [3, 1, N // 2]
//   arange, arange(first, step)                 first + step * i
//   uniform, uniform(low, high)                 floats between low (-1) and high (1)
//   special, special(seed=3)                    random floats; every 32nd is an infinity, NaN, -0, …
//   denormals, denormals(seed=3)                floats whose magnitude is below twice the smallest normal number
//   randint(low, high), randint(..., seed=3)    integers from low (inclusive) to high (exclusive)
//   permutation, permutation(n)                 distinct integers below n (default: the number of elements)
//   offsets(total), offsets(lengths)            random ascending offsets from 0 to total; or prefix sums of a buffer
//   addresses(a), addresses(a, offsets)         device addresses of the rows a[i], or at these element offsets in a
//   peers(a)                                    device addresses of the buffer a of each rank; one element per rank
//   FILE.npy, FILE.ppm, FILE                    any other string: the contents of a file
//
// i is the index of an element in row-major order. Integers are expressions over the integer parameters and constants.
#pragma once

#include "Runner/Inputs/Arguments.h"

namespace tile::runner {

/// A filled buffer. The elements of a table of addresses are byte offsets into another buffer, to which a device adds
/// the address of that buffer.
struct FilledBuffer {
  HostBuffer buffer;
  std::optional<TableTarget> pointsInto; ///< for a table of addresses
};

/// Checks that the buffers that the manifest declares can be allocated with these values.
Status checkDeclaredBuffers(const Manifest &manifest, const Bindings &bindings);

/// Returns the buffers of a kernel, indexed by parameter; the entries of scalars are empty. `ranks` is the number of
/// ranks of the run, for tables with addresses of peers.
Result<std::vector<FilledBuffer>> bindBuffers(const Manifest &manifest, const Bindings &bindings, uint64_t seed,
                                              const BufferOffsets &offsets = {}, int ranks = 1);

} // namespace tile::runner
