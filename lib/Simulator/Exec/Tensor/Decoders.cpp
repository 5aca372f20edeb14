// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Tensor/Tensor.h"

namespace tile::sim {

namespace tensor {

unsigned takeCtaGroup(Decoding &d) {
  unsigned group = unsigned(d.takeOne({"cta_group::1", "cta_group::2"}) + 1);
  unsigned &before = d.program.tensorCtaGroup;
  if (group && before && before != group) {
    d.failed = true;
    d.failure = fmt::format("cta_group::{} in a kernel with cta_group::{}; it must be the same for all", group, before);
    return 0;
  }
  if (group)
    before = group;
  return group;
}

Cta *findPeer(Warp &warp, const Instruction &instruction, int lane) {
  Cta *peer = warp.cta.cluster.cta(warp.cta.rank ^ 1);
  if (!peer)
    refuse(warp, ReportKind::InvalidOperand, instruction, lane, "{}: CTA {} of a cluster of {} has no peer",
           instruction.text(), warp.cta.rank, warp.cta.cluster.ctas.size());
  return peer;
}

bool checkColumns(Warp &warp, const Instruction &instruction, int lane, const Cta &cta, unsigned column,
                  unsigned count) {
  for (uint64_t i = column; i < uint64_t(column) + count; ++i) // 64 bits, so the sum cannot overflow
    if (!cta.tensor.isAllocated(i))
      return refuse(warp, ReportKind::TensorMemory, instruction, lane,
                    "{} accesses columns {} to {} of tensor memory{}, of which column {} is not allocated",
                    instruction.text(), column, column + count - 1,
                    &cta == &warp.cta ? "" : " of the other CTA of the pair", i);
  return true;
}

namespace {

/// Returns true if a target such as "sm_100a" or "sm_103f" has tensor memory. Targets without `a` or `f` are not
/// checked.
bool hasTensorMemory(std::string_view target) {
  for (std::string_view architecture : {"sm_100", "sm_101", "sm_103", "sm_110"})
    if (target.starts_with(architecture))
      return target.ends_with('a') || target.ends_with('f');
  return false;
}

Result<OperationPtr> decodeTensor(Decoding &d) {
  if (!hasTensorMemory(d.program.module.target))
    return d.error(fmt::format("{} has no tensor memory", d.program.module.target));
  switch (d.takeOne({"alloc", "dealloc", "relinquish_alloc_permit", "ld", "st", "wait::ld", "wait::st", "commit",
                     "fence::before_thread_sync", "fence::after_thread_sync", "cp", "shift", "mma"})) {
  case 0:
    return decodeAlloc(d);
  case 1:
    return decodeDealloc(d);
  case 2:
    return decodeRelinquish(d);
  case 3:
    return decodeLoad(d);
  case 4:
    return decodeStore(d);
  case 5:
    return decodeWait(d, false);
  case 6:
    return decodeWait(d, true);
  case 7:
    return decodeCommit(d);
  case 8:
    return decodeFence(d, true);
  case 9:
    return decodeFence(d, false);
  case 10:
    return decodeSharedCopy(d);
  case 11:
    return decodeShift(d);
  case 12:
    return decodeMma(d);
  default:
    return d.unsupported();
  }
}

} // namespace

} // namespace tensor

std::span<const DecoderEntry> tensorDecoders() {
  static constexpr DecoderEntry table[] = {{"tcgen05", tensor::decodeTensor}};
  return table;
}

} // namespace tile::sim
