// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The micro-benchmarks of `tile-run tune --calibrate`: kernels in PTX. The driver compiles them, so they run even on
// GPUs that are newer than this program.
//
// Each kernel has the parameters (out, data, iterations, mask) and repeats its body `iterations` times. Thread 0 of a
// CTA writes three 64-bit words at out + 32 * CTA: the global timer in ns before and after the loop, and the clock
// cycles of the loop. Each thread then writes a 32-bit result, which shows whether the body did its work.
#pragma once

#include "Target/Card/Card.h"
#include "Target/GpuTarget.h"

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tile::runner {

/// The quantity that a micro-benchmark measures.
enum class Quantity {
  WorkPerClock,     ///< work of a CTA per clock cycle
  ClocksPerStep,    ///< clock cycles of a CTA per unit of work
  CardWorkPerClock, ///< work of all CTAs per clock cycle
  CardWorkPerNs,    ///< work of all CTAs per ns
  Clock,            ///< clock cycles of a CTA per ns
};

/// The number of CTAs to launch.
enum class Residency {
  OnePerSm, ///< one on each multiprocessor
  Full,     ///< as many as can be resident
  Single,   ///< one on the card
};

/// The location of the data that loads access: all of it in L2, or nearly all of it in DRAM.
enum class Place { L2, Dram };

/// The contents of `data`: equal words, or a repeating sequence of f16 values drawn from a normal distribution.
enum class Operands { Equal, Random };

struct MicroKernel {
  std::string_view figure; ///< key in CardFigures.def; also the name of the entry
  std::string how = {};    ///< describes to readers what the body does
  Quantity quantity = Quantity::WorkPerClock;
  Residency residency = Residency::OnePerSm;
  unsigned threads = 256;
  unsigned cluster = 1;
  double work = 0; ///< work of one CTA in one iteration: multiply-adds, operations, bytes, steps
  Operands operands = Operands::Equal;
  uint32_t word = 0x01010101; ///< the word that fills `data`, unless operands are random
  Place place = Place::L2;

  /// Each thread's result modulo 2^32 is firstResult + iterations * resultOfIteration, up to `tolerance`.
  uint32_t firstResult = 0, resultOfIteration = 0, tolerance = 0;

  /// Parts of the entry in PTX. The measured time of the loop includes `end`.
  std::string setUp = {}, body = {}, end = {}, fold = {}, tearDown = {};
  std::string shared = {};  ///< declarations of shared memory
  bool isOfThread0 = false; ///< only thread 0 executes the loop
};

/// Returns the kernels for which the target has instructions, in the order of CardFigures.def.
std::vector<MicroKernel> microKernels(const target::GpuTarget &target);

/// Returns true if this is the result that a thread must write, up to the kernel's tolerance.
bool isExpected(const MicroKernel &kernel, uint32_t iterations, uint32_t result);

/// Appends the micro-benchmarks of tensor cores.
void addDotKernels(const target::GpuTarget &target, std::vector<MicroKernel> &kernels);

/// Returns a PTX module with the given kernels and an empty kernel, "empty".
std::string moduleOf(const target::GpuTarget &target, std::span<const MicroKernel> kernels);

/// Replaces $0, $1, ... in `text` by `texts`.
std::string fillIn(std::string_view text, std::initializer_list<std::string_view> texts);

} // namespace tile::runner
