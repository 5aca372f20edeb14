// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times that a kernel records which is compiled with --instrument, as they lie in the buffer of its last parameter. The
// compiler writes code that fills it (nvvm-instrument), tile-run makes a time line of it.
//
//   CTA 0: globaltimer, clock64 │ warp 0: what, clock64 │ what, clock64 │ … │ warp 1: … ║ CTA 1: …
//
// The last record of a warp is of its end. All are 64-bit numbers. The clock is the multiprocessor's; the timer, in
// nanoseconds, is the same everywhere.
#pragma once

#include <cstdint>

namespace tile::target {

inline constexpr const char *timesName = "tile_times"; ///< of the parameter
inline constexpr int64_t timedCtas = 64;               ///< the first ones of the grid
inline constexpr int64_t timesPerWarp = 512;           ///< the last one is of its end; what finds no place is not there
inline constexpr int64_t timeBytes = 16;               ///< of a record, and of what a CTA has before its warps

/// `Warp`: all that the warp does; `Copy` and `Products` have no end.
enum class TimeMark : uint8_t { Warp = 1, BarrierWait, ProductsWait, CopiesWait, Meeting, Copy, Products };

/// What a record is of; never 0.
struct TimeRecord {
  TimeMark mark = TimeMark::Warp;
  bool isEnd = false; ///< of what began before
  uint32_t line = 0;  ///< of the kernel's source; 0: of none

  constexpr int64_t encode() const { return int64_t(line) << 8 | int64_t(mark) << 1 | int64_t(isEnd); }
  static constexpr TimeRecord decode(int64_t word) {
    return {TimeMark(word >> 1 & 0x7f), (word & 1) != 0, uint32_t(word >> 8)};
  }
};

/// Records of a CTA of so many warps, with the one before them.
constexpr int64_t timesPerCta(int64_t warps) {
  return 1 + warps * timesPerWarp;
}

} // namespace tile::target
