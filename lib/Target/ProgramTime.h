// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expected time of a kernel of which only the work of one program is known: waves, bytes, latency and occupancy.
//
//   alone  = start + steps · latency + exchanges · exchange + its resources, one after the other  (CTA on an idle SM)
//   wave   = alone + (r - 1) · longest resource                                                   (r CTAs share an SM)
//   time   = launch + 8-norm of ((unique + missed bytes) / DRAM, programs · bytes / L2, waves, programs / dispatch)
//
// The rates are those of data sheets (Rates.h), so the times are good for the order of a kernel's configurations.
// CostModel.md explains the terms.
#pragma once

#include "Target/GpuTarget.h"
#include "Target/Rates.h"

namespace tile::target {

/// What a launch does. All but the last two are of one program, padding included.
struct ProgramWork {
  double steps = 0;       ///< global loads that wait for one another
  double exchanges = 0;   ///< values that warps pass through shared memory, one after the other
  double bytes = 0;       ///< loaded and stored, in whole sectors
  double rereadBytes = 0; ///< the part of them that a later loop loads again
  double tensorFlops = 0; ///< of dots
  double operations = 0;  ///< of one element each
  double special = 0;     ///< exponentials, quotients, …
  double programs = 1;
  double uniqueBytes = 0; ///< of all programs: what the buffers hold
};

/// What the compiled kernel takes of a multiprocessor.
struct ProgramResources {
  int64_t threads = 128;      ///< of a CTA
  int64_t computingWarps = 4; ///< of them: others only load
  int64_t registers = 0;      ///< of a thread; 0: unknown
  int64_t sharedBytes = 0;    ///< of a CTA
  int64_t spillBytes = 0;     ///< of a thread
  int64_t residentCtas = 0;   ///< of a persistent kernel; 0: each program has a CTA
  unsigned operandBits = 16;  ///< of dots
};

/// The formula for one kernel, with all that arguments do not change worked out. Touches no heap.
class ProgramTime {
public:
  ProgramTime(const GpuTarget &target, const ProgramResources &resources, unsigned numSms);

  double microseconds(const ProgramWork &work) const;

  /// CTAs of a full multiprocessor.
  double resident() const { return ctas; }

private:
  struct Clocks;
  double waveClocks(const Clocks &clocks, double ctas) const;

  Rates rates;
  double sms, ctas;
  double warps;   ///< that compute, of a CTA
  double spilled; ///< bytes that a program moves through L1 in each step
  bool isPersistent;
  unsigned operandBits;
};

} // namespace tile::target
