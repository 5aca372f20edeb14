// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills buffers from the text after `NAME=` of a pointer parameter.
//
//   random, random(seed=3)      zeros, ones, full(2.5)      [3, 1, N // 2]
//   arange, arange(first, step)                 first + step * i
//   uniform, uniform(low, high)                 floats between low (-1) and high (1)
//   special, special(seed=3)                    random floats, of which every 32nd is an infinity, NaN, -0, …
//   denormals, denormals(seed=3)                floats below the smallest normal one, and little above it
//   randint(low, high), randint(..., seed=3)    integers from low (inclusive) to high (exclusive)
//   permutation, permutation(n)                 distinct integers below n (default: the number of elements)
//   offsets(total), offsets(lengths)            random ascending offsets from 0 to total; or prefix sums of a buffer
//   addresses(a), addresses(a, offsets)         device addresses: of a[i], or at these element offsets in a
//   peers(a)                                    device addresses: of the buffer a of each rank, as many as ranks
//   FILE.npy, FILE.ppm, FILE                    anything else
//
// i is the index of the element in row-major order. Integers are expressions of the integer parameters and constants.
#pragma once

#include "Runner/Inputs/Arguments.h"

namespace tile::runner {

/// A filled buffer. Elements of a table of addresses are byte offsets in host memory; a device adds the address of the
/// buffer to which they refer.
struct FilledBuffer {
  HostBuffer buffer;
  std::optional<TableTarget> pointsInto; ///< for a table of addresses
};

/// Checks that the buffers declared by the manifest can be allocated with these values.
Status checkDeclaredBuffers(const Manifest &manifest, const Bindings &bindings);

/// Returns the buffers of a kernel, indexed by parameter; those of scalars are empty. `ranks`: of the run, for tables
/// of peers.
Result<std::vector<FilledBuffer>> bindBuffers(const Manifest &manifest, const Bindings &bindings, uint64_t seed,
                                              const BufferOffsets &offsets = {}, int ranks = 1);

} // namespace tile::runner
