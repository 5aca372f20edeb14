// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fills a buffer: the text after `NAME=` of a pointer parameter.
//
//   random, random(seed=3)      zeros, ones, full(2.5)      [3, 1, N // 2]
//   arange, arange(first, step)                 first + step * i
//   uniform, uniform(low, high)                 floats between low (-1) and high (1)
//   randint(low, high), randint(..., seed=3)    integers of which high is the first that is too large
//   permutation, permutation(n)                 different numbers below n (or as many as there are elements)
//   offsets(total), offsets(lengths)            0, ..., total: not descending, at random; or the sums of a buffer
//   addresses(a), addresses(a, offsets)         device addresses: of a[i], or of a and so many elements after it
//   FILE.npy, FILE.ppm, FILE                    anything else
//
// i is the index of the element in row-major order. Numbers are expressions of the integer parameters and constants.
#pragma once

#include "Runner/Inputs/Arguments.h"

namespace tile::runner {

/// A buffer of addresses has distances in bytes in host memory; a device adds the address of what they lead to.
struct FilledBuffer {
  HostBuffer buffer;
  std::optional<size_t> pointsInto; ///< of addresses: the parameter
};

/// Whether the buffers that the manifest declares can be made with these values.
Status checkDeclaredBuffers(const Manifest &manifest, const Bindings &bindings);

/// Buffers for the pointer parameters of a kernel, by parameter; those of scalars are empty.
Result<std::vector<FilledBuffer>> bindBuffers(const Manifest &manifest, const Bindings &bindings, uint64_t seed,
                                              const BufferOffsets &offsets = {});

} // namespace tile::runner
