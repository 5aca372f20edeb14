// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations that one thread has issued to the tensor core: mma, cp, shift and commit. They are executed in order,
// with arbitrary delays.
//
// PTX ISA 9.7.16.6.2 guarantees the order only for some pairs of operations, but compilers rely on the tensor core
// executing all of them in the order of issue. Two of the other pairs are reported nevertheless: writes to an
// accumulator by MMAs of different shapes, and an MMA that reads an operand in tensor memory while an earlier MMA still
// writes it.
#pragma once

#include "Simulator/Exec/Tensor/Tensor.h"

namespace tile::sim::tensor {

class PipeOperation : public AsyncOperation {
public:
  PipeOperation(Warp &warp, unsigned lane, const Instruction &instruction)
      : warp(warp), lane(lane), instruction(instruction) {}

  bool ready() const final { return warp.tensorPipe(lane).queue.front() == this; }
  bool advance(Random &) final {
    execute();
    warp.tensorPipe(lane).queue.pop_front();
    return true;
  }
  std::string describe() const override;

protected:
  virtual void execute() = 0;

  Warp &warp;
  const unsigned lane;
  const Instruction &instruction;
};

/// Appends the operation to its thread's queue.
void issue(Warp &warp, unsigned lane, std::unique_ptr<PipeOperation> operation);

/// Returns the epoch that covers the operations that the lane issues now: the epoch of its next commit. Requires a
/// checker.
Epoch pipeEpoch(Warp &warp, unsigned lane);

/// Informs the checker, if there is one, that a tensor-core operation accesses tensor memory.
void notePipeAccess(Warp &warp, unsigned lane, const Instruction &instruction, AccessKind kind, const Range &range);

/// Reports columns that an earlier MMA of the thread still writes. `m` by `n` is the shape of the accumulator that the
/// new operation writes there, or 0 if it reads the columns or copies to them. Returns false after a report.
bool checkAccumulators(Warp &warp, unsigned lane, const Instruction &instruction, const Cta &cta, TensorAddress address,
                       unsigned columns, unsigned m, unsigned n);
void addAccumulator(Warp &warp, unsigned lane, const Instruction &instruction, const Cta &cta, TensorAddress address,
                    unsigned columns, unsigned m, unsigned n);

} // namespace tile::sim::tensor
