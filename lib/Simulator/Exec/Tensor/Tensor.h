// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05: the tensor cores of Blackwell and their memory. PTX ISA 9.7.16.
//
//   alloc, dealloc, relinquish   a warp; executed immediately         Allocation
//   ld, st, wait                 a warp; ld is done when it is issued, st at any time before wait::st   TensorMove
//   mma, cp, shift, commit       a thread; executed in the order of their issue, at any time            Pipe
//   fence                        tells the checker                                                      Pipe
#pragma once

#include "Simulator/Exec/Async/Async.h"

#include <fmt/format.h>

namespace tile::sim::tensor {

// Decode tcgen05 instructions, from the suffix after their name on.
Result<OperationPtr> decodeAlloc(Decoding &decoding);
Result<OperationPtr> decodeDealloc(Decoding &decoding);
Result<OperationPtr> decodeRelinquish(Decoding &decoding);
Result<OperationPtr> decodeLoad(Decoding &decoding);
Result<OperationPtr> decodeStore(Decoding &decoding);
Result<OperationPtr> decodeWait(Decoding &decoding, bool ofStores);
Result<OperationPtr> decodeCommit(Decoding &decoding);
Result<OperationPtr> decodeFence(Decoding &decoding, bool isBefore);
Result<OperationPtr> decodeSharedCopy(Decoding &decoding);
Result<OperationPtr> decodeShift(Decoding &decoding);
Result<OperationPtr> decodeMma(Decoding &decoding);

/// Takes .cta_group::1 or .cta_group::2 and returns the number. Returns 0 if the next suffix is neither, or if an
/// earlier instruction of the kernel has the other one. In the latter case decoding has failed, because PTX ISA
/// 9.7.16.5 requires the same group for all instructions.
unsigned takeCtaGroup(Decoding &decoding);

/// Reports an error for a lane of the warp and returns false.
template <typename... Arguments>
bool refuse(Warp &warp, ReportKind kind, const Instruction &instruction, int lane,
            fmt::format_string<Arguments...> text, Arguments &&...arguments) {
  warp.fault(kind, instruction.loc, lane, fmt::format(text, std::forward<Arguments>(arguments)...));
  return false;
}

/// Reports code that violates the ISA but works on all known devices (Report::isLatent).
template <typename... Arguments>
void warn(Warp &warp, ReportKind kind, const Instruction &instruction, int lane, fmt::format_string<Arguments...> text,
          Arguments &&...arguments) {
  Report report;
  report.kind = kind;
  report.actor = warp.actor(instruction.loc, lane);
  report.message = fmt::format(text, std::forward<Arguments>(arguments)...);
  report.isLatent = true;
  warp.cta.cluster.machine.reports.add(std::move(report));
}

/// Returns the other CTA of a pair with cta_group::2, or null after a report if the cluster has none.
Cta *findPeer(Warp &warp, const Instruction &instruction, int lane);

/// Returns true if these columns of the CTA's tensor memory are allocated, and false after a report.
bool checkColumns(Warp &warp, const Instruction &instruction, int lane, const Cta &cta, unsigned column,
                  unsigned count);

/// Returns a region of tensor memory: `lanes` consecutive lanes of one column, or all lanes of several columns.
inline Range rangeOf(const Cta &cta, unsigned lane, unsigned lanes, unsigned column, unsigned columns = 1) {
  constexpr uint32_t cell = sizeof(uint32_t), columnBytes = tensorLanes * cell;
  return {Space::Tensor, cta.rank, uint64_t(column) * columnBytes + lane * cell,
          (columns - 1) * columnBytes + lanes * cell};
}

} // namespace tile::sim::tensor
