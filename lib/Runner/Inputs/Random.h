// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeded inputs that are bit-identical on every machine. They come from a counter-based generator and use only integer
// arithmetic, no libm.
//
// A float is the sum of eight uniform 16-bit integers, scaled to mean 0 and variance 1. The distribution is close to a
// normal one (with the range +-4.9) and, unlike Box-Muller, exactly reproducible. Integers are uniform in -8..7,
// unsigned integers in 0..15 and i1 in 0..1, so their products and sums are exactly representable.
#pragma once

#include "Runtime/DataType.h"

#include <string_view>

namespace tile::runner {

/// Applies splitmix64's mixing function to a counter.
uint64_t randomBits(uint64_t seed, uint64_t counter);
/// Returns a uniform value in [0, 1), a multiple of 2^-53.
double randomUniform(uint64_t seed, uint64_t index);
double randomNormal(uint64_t seed, uint64_t index);
double randomElement(runtime::DataType type, uint64_t seed, uint64_t index);
/// Returns a random float. Every 32nd element is a zero of either sign, an infinity, NaN, or a limit of the type's
/// range.
double specialElement(runtime::DataType type, uint64_t seed, uint64_t index);
/// Returns a float whose magnitude is below twice the smallest normal number of the type.
double denormalElement(runtime::DataType type, uint64_t seed, uint64_t index);

/// Returns the result of tl.rand(seed, offset), bit for bit: the first word of Philox 4x32-10 (Salmon et al., "Parallel
/// random numbers: as easy as 1, 2, 3", 2011), converted to a number in [0, 1). Both arguments are integers of up to 53
/// bits.
double philoxUniform(double seed, double offset);

/// Returns the seed of a buffer. It depends on the run's seed and the parameter's name, so buffers have different
/// contents.
uint64_t seedFor(uint64_t seed, std::string_view name);

} // namespace tile::runner
