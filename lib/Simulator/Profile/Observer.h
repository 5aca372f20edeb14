// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events that the machine reports to the profiler. A null pointer to an Observer turns counting off.
#pragma once

#include "Simulator/Machine/Access.h"

namespace tile::sim {

class Observer {
public:
  virtual ~Observer() = default;
  virtual void issue(const Warp &warp, const Instruction &instruction, LaneMask active) = 0;
  virtual void access(const Warp &warp, const LaneAccess &access) = 0;
  /// Counts the bytes that an asynchronous copy moves between global and shared memory.
  virtual void copy(const Warp &warp, const Instruction &instruction, uint64_t bytes, bool toShared) = 0;
  /// Reports consecutive bytes of global memory that an asynchronous copy reads (if `toShared`) or writes. Each byte is
  /// reported once per copy.
  virtual void copyBytes(const Warp &, const Instruction &, uint64_t /*address*/, uint64_t /*bytes*/,
                         bool /*toShared*/) {}
  /// Counts the multiply-adds of one tensor-core instruction of one warp.
  virtual void tensorCore(const Warp &warp, const Instruction &instruction, uint64_t multiplyAdds) = 0;
  /// Counts a wait: a warp tested a barrier that was not ready. Each test is reported.
  virtual void wait(const Warp &warp, const Instruction &instruction) = 0;
};

} // namespace tile::sim
