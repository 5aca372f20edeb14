// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of the times that a kernel compiled with --instrument records in the buffer of its last parameter.
// nvvm-instrument generates the code that writes the records, and tile-run makes a timeline from them.
//
//   CTA 0: globaltimer, clock64 │ warp 0: what, clock64 │ what, clock64 │ … │ warp 1: … ║ CTA 1: …
//
// The last record of a warp is the end of its `Warp` event. All values are 64-bit integers. clock64 is the
// multiprocessor's clock; globaltimer, in nanoseconds, is the same on all multiprocessors.
#pragma once

#include <cstdint>

namespace tile::target {

inline constexpr const char *timesName = "tile_times"; ///< name of the parameter
inline constexpr int64_t timedCtas = 64;               ///< only the CTAs with the lowest indices record times
inline constexpr int64_t timesPerWarp = 512; ///< maximum number of records of a warp; further ones are dropped
inline constexpr int64_t timeBytes = 16;     ///< bytes of a record, and of the header of a CTA

/// The kinds of events. A `Warp` event spans everything that the warp executes; `Copy` and `Mmas` have no end.
enum class TimeMark : uint8_t { Warp = 1, BarrierWait, MmasWait, CopiesWait, BarrierSync, Copy, Mmas, FlagWait };

/// The event of a record; its encoding is never 0.
struct TimeRecord {
  TimeMark mark = TimeMark::Warp;
  bool isEnd = false; ///< whether this is the end of an event that began earlier
  uint32_t line = 0;  ///< line of the kernel's source; 0: none

  constexpr int64_t encode() const { return int64_t(line) << 8 | int64_t(mark) << 1 | int64_t(isEnd); }
  static constexpr TimeRecord decode(int64_t word) {
    return {TimeMark(word >> 1 & 0x7f), (word & 1) != 0, uint32_t(word >> 8)};
  }
};

/// Returns the number of records of a CTA with this many warps, including its header.
constexpr int64_t timesPerCta(int64_t warps) {
  return 1 + warps * timesPerWarp;
}

} // namespace tile::target
