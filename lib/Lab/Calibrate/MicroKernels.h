// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The micro-benchmarks of `tile-run tune --calibrate`: kernels in PTX, which the driver compiles, so that they run on
// GPUs that were not known when this was written.
//
// Each kernel has the parameters (out, data, iterations, mask) and repeats its body `iterations` times. Thread 0 of a
// CTA writes the time of the card before and after the loop in ns, and the clocks of the loop, as three 64-bit words at
// out + 32 * CTA; each thread then writes a 32-bit result that tells whether the body did its work.
#pragma once

#include "Target/Card/Card.h"
#include "Target/GpuTarget.h"

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tile::runner {

/// The quantities that a figure is computed from.
enum class Quantity {
  WorkPerClock,     ///< work of a CTA per clock
  ClocksPerStep,    ///< clocks of a CTA per unit of work
  CardWorkPerClock, ///< work of all CTAs per clock
  CardWorkPerNs,    ///< work of all CTAs per ns
  Clock,            ///< clocks of a CTA per ns
};

/// The number of CTAs.
enum class Residency {
  OnePerSm, ///< one on each multiprocessor
  Full,     ///< as many as are resident
  Single,   ///< one on the card
};

/// Where `data` is found: all of it in L2, or hardly any.
enum class Place { L2, Dram };

/// The contents of `data`: equal words, or random normal numbers of f16 that repeat.
enum class Operands { Equal, Random };

struct MicroKernel {
  std::string_view figure; ///< key in CardFigures.def; also the name of the entry
  std::string how = {};    ///< for readers: what the body does
  Quantity quantity = Quantity::WorkPerClock;
  Residency residency = Residency::OnePerSm;
  unsigned threads = 256;
  unsigned cluster = 1;
  double work = 0; ///< of a CTA and an iteration: multiply-adds, operations, bytes, steps
  Operands operands = Operands::Equal;
  uint32_t word = 0x01010101; ///< of which `data` consists, unless operands are random
  Place place = Place::L2;

  /// The result of each thread, modulo 2^32: at first, for each iteration, and by how much it may differ.
  uint32_t firstResult = 0, resultOfIteration = 0, tolerance = 0;

  /// Parts of the entry in PTX; `end` still counts as time of the loop.
  std::string setUp = {}, body = {}, end = {}, fold = {}, tearDown = {};
  std::string shared = {};  ///< declarations of shared memory
  bool isOfThread0 = false; ///< whether thread 0 alone executes the loop
};

/// Returns the kernels that the target has instructions for, in the order of CardFigures.def.
std::vector<MicroKernel> microKernels(const target::GpuTarget &target);

/// Returns true if a thread may write this result.
bool isExpected(const MicroKernel &kernel, uint32_t iterations, uint32_t result);

/// Appends the kernels of tensor cores.
void addDotKernels(const target::GpuTarget &target, std::vector<MicroKernel> &kernels);

/// Returns the module with the given kernels and an empty one, "empty".
std::string moduleOf(const target::GpuTarget &target, std::span<const MicroKernel> kernels);

/// Replaces $0, $1, ... by the texts.
std::string fillIn(std::string_view text, std::initializer_list<std::string_view> texts);

} // namespace tile::runner
