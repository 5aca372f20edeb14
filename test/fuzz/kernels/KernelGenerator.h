// Random kernels: a seed gives the text of a `.tile` file whose directives say how to launch it.
//
// Names say what the driver fills a buffer with and how it compares it: `x…` small numbers that are exact, `bits…` any
// bits, `approx…` results that need not be exact.
#pragma once

#include <cstdint>
#include <string>

namespace tile::fuzz {

std::string generateKernel(uint64_t seed);

} // namespace tile::fuzz
