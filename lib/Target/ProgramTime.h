// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts the time of a kernel from the work of one program: waves, bytes, latency and occupancy.
//
//   alone  = start + steps · latency + exchanges · exchange + its resources, one after another  (CTA on an idle SM)
//   wave   = alone + (r - 1) · longest resource                                                   (r CTAs share an SM)
//   time   = launch + 8-norm of ((unique + missed bytes) / DRAM, programs · bytes / L2, waves, programs / dispatch)
//
// The rates are those of data sheets (Rates.h), so the times are good enough to rank a kernel's configurations.
// CostModel.md explains the terms.
#pragma once

#include "Target/GpuTarget.h"
#include "Target/Rates.h"

namespace tile::target {

/// The work of a launch. All values but the last two are those of one program, including padding.
struct ProgramWork {
  double steps = 0;       ///< length of the longest chain of global loads, each of which waits for the previous one
  double exchanges = 0;   ///< values that warps exchange through shared memory, one after another
  double bytes = 0;       ///< bytes loaded and stored, in whole sectors
  double rereadBytes = 0; ///< the part of `bytes` that a later loop loads again
  double tensorFlops = 0; ///< FLOP of dots
  double operations = 0;  ///< operations on one element each
  double special = 0;     ///< exponentials, quotients, …
  double programs = 1;
  double uniqueBytes = 0; ///< bytes of all programs: the size of the buffers
};

/// The resources of a multiprocessor that the compiled kernel uses.
struct ProgramResources {
  int64_t threads = 128;      ///< per CTA
  int64_t computingWarps = 4; ///< warps that compute; the other warps only load
  int64_t registers = 0;      ///< per thread; 0: unknown
  int64_t sharedBytes = 0;    ///< per CTA
  int64_t spillBytes = 0;     ///< per thread
  int64_t residentCtas = 0;   ///< CTAs of a persistent kernel; 0: each program has a separate CTA
  unsigned operandBits = 16;  ///< bits of operands of dots
};

/// The formula for one kernel. Everything that does not depend on the arguments is precomputed. Evaluation does not
/// allocate memory.
class ProgramTime {
public:
  ProgramTime(const GpuTarget &target, const ProgramResources &resources, unsigned numSms);

  double microseconds(const ProgramWork &work) const;

  /// Returns the number of CTAs of a full multiprocessor.
  double resident() const { return ctas; }

private:
  struct Clocks;
  double waveClocks(const Clocks &clocks, double ctas) const;

  Rates rates;
  double launch; ///< ns
  double sms, ctas;
  double warps;   ///< warps of a CTA that compute
  double spilled; ///< bytes that a program moves through L1 in each step
  bool isPersistent;
  unsigned operandBits;
};

} // namespace tile::target
