// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeded inputs that are the same bits on every machine: a counter-based generator and integer arithmetic only, no
// libm.
//
// Floats: the sum of eight 16-bit uniform numbers, scaled to mean 0 and variance 1. That is close to a normal
// distribution (range +-4.9) and, unlike Box-Muller, exact. Integers: uniform in -8..7, unsigned 0..15, i1 0..1:
// products and sums of them stay exactly representable.
#pragma once

#include "Runtime/DataType.h"

#include <string_view>

namespace tile::runner {

/// splitmix64's mixing function applied to a counter.
uint64_t randomBits(uint64_t seed, uint64_t counter);
/// Uniform in [0, 1), a multiple of 2^-53.
double randomUniform(uint64_t seed, uint64_t index);
double randomNormal(uint64_t seed, uint64_t index);
double randomElement(runtime::DataType type, uint64_t seed, uint64_t index);

/// What tl.rand(seed, offset) gives, bit for bit: the first word of Philox 4x32-10 (Salmon et al., "Parallel random
/// numbers: as easy as 1, 2, 3", 2011) as a number of [0, 1). Both are integers of up to 53 bits.
double philoxUniform(double seed, double offset);

/// The seed of a buffer: the run's seed and the parameter's name, so that two inputs differ.
uint64_t seedFor(uint64_t seed, std::string_view name);

} // namespace tile::runner
