// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions for the environment of a thread: cache hints, dependent grids and cluster addresses. PTX ISA 9.7.9
// (prefetch, createpolicy …, mapa, getctarank), 9.7.13.14, 9.7.19.
//
// Caches have no effect that a program can observe, and no other launch runs at the same time, so most of these
// instructions only check their operands.
#include "Simulator/Exec/Async/Async.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

class NoEffect final : public Operation {
public:
  Step execute(Warp &, Fragment &, LaneMask) const override { return Step::Next; }
};

Result<OperationPtr> noEffect(Decoding &d, size_t operands) {
  return d.finished(operands) ? Result<OperationPtr>(make<NoEffect>()) : d.unsupported();
}

/// prefetch{.space}.level [a]; prefetch.global.level::eviction_priority [a]; prefetch{.space}.tensormap [a]
Result<OperationPtr> decodePrefetch(Decoding &d) {
  int space = d.takeOne({"global", "local", "param", "const"});
  bool known =
      space < 2 ? d.takeOne({"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"}) >= 0 : d.take("tensormap");
  return known ? noEffect(d, 1) : d.unsupported();
}

Result<OperationPtr> decodePrefetchUniform(Decoding &d) {
  return d.take("L1") ? noEffect(d, 1) : d.unsupported();
}

/// discard, applypriority: hints for a line of L2. The simulator does not model that discard leaves the contents
/// undefined.
class LineHint final : public Operation {
public:
  static constexpr uint32_t lineBytes = 128; ///< PTX ISA, "discard": the alignment and the only size
  AddressSource address;
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (; active; active &= active - 1) {
      unsigned lane = firstLane(active);
      Range range;
      if (!resolveGlobal(warp, instruction->loc, lane, address.one(warp, lane), lineBytes, lineBytes, range))
        return Step::Fault;
    }
    return Step::Next;
  }
};

Result<OperationPtr> decodeLineHint(Decoding &d, std::string_view suffix) {
  d.take("global");
  if (!d.take(suffix) || !d.finished(2))
    return d.unsupported();
  if (d.operand(1).kind != Operand::Kind::Immediate || d.operand(1).bits != LineHint::lineBytes)
    return d.error("the size must be 128");
  auto operation = std::make_unique<LineHint>();
  operation->address = d.address(d.operand(0));
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeApplyPriority(Decoding &d) {
  return decodeLineHint(d, "L2::evict_normal");
}

Result<OperationPtr> decodeDiscard(Decoding &d) {
  return decodeLineHint(d, "L2");
}

/// createpolicy. A cache policy is a value that only cache hints accept.
class CreatePolicy final : public Operation {
public:
  Dest<uint64_t> policy;
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    constexpr uint64_t anyPolicy = 0x706f6c696379; // "policy"
    forLanes(active, [&](unsigned lane) { policy.one(warp, lane, anyPolicy); });
    return Step::Next;
  }
};

Result<OperationPtr> decodeCreatePolicy(Decoding &d) {
  int form = d.takeOne({"fractional", "range", "cvt"});
  size_t operands = d.instruction.operands.size();
  bool known = false;
  auto takePriority = [&](std::initializer_list<std::string_view> names) { return d.takeOne(names) >= 0; };
  if (form == 0) {
    known = takePriority({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
    takePriority({"L2::evict_first", "L2::evict_unchanged"});
    known &= operands == 1 || operands == 2;
  } else if (form == 1) {
    d.take("global");
    known = takePriority({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
    takePriority({"L2::evict_first", "L2::evict_unchanged"});
    known &= operands == 4;
  } else if (form == 2) {
    known = d.take("L2") && operands == 2;
  }
  if (!known || !d.take("b64") || !d.suffixesFinished())
    return d.unsupported();
  auto operation = std::make_unique<CreatePolicy>();
  operation->policy = d.dest<uint64_t>(0);
  return decoded(d, std::move(operation));
}

/// griddepcontrol.wait waits for preceding grids, which have already ended in the simulator. launch_dependents allows
/// dependent grids to begin, but the simulator starts them only after this grid has ended.
Result<OperationPtr> decodeGridControl(Decoding &d) {
  return d.takeOne({"wait", "launch_dependents"}) >= 0 ? noEffect(d, 0) : d.unsupported();
}

Result<OperationPtr> decodeNanosleep(Decoding &d) {
  if (!d.take("u32") || !d.finished(1))
    return d.unsupported();
  d.source<uint32_t>(0);
  return decoded(d, make<NoEffect>());
}

Result<OperationPtr> decodeProfilerEvent(Decoding &d) {
  d.take("mask");
  return noEffect(d, 1);
}

/// mapa. Returns the same address in the shared memory of another CTA of the cluster.
template <typename T> class MapAddress final : public Operation {
public:
  Dest<T> result;
  AddressSource address;
  Source<uint32_t> rank;
  bool isGeneric = false;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    const Cluster &cluster = warp.cta.cluster;
    for (; active; active &= active - 1) {
      unsigned lane = firstLane(active);
      uint64_t from = address.one(warp, lane);
      uint32_t target = rank.one(warp, lane);
      if (target >= cluster.ctas.size())
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                          fmt::format("mapa for CTA {} of a cluster of {}", target, cluster.ctas.size()));
      if (isGeneric && !isSharedGeneric(from))
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                          fmt::format("mapa of {:#x}, which is not in shared memory", from));
      uint64_t mapped = (from & sharedOffsetMask) | uint64_t(target) << sharedRankShift;
      result.one(warp, lane, T(isGeneric ? sharedWindow + mapped : mapped));
    }
    return Step::Next;
  }
};

template <typename T> Result<OperationPtr> makeMapAddress(Decoding &d, bool isGeneric) {
  auto operation = std::make_unique<MapAddress<T>>();
  operation->isGeneric = isGeneric;
  operation->result = d.dest<T>(0);
  operation->address = d.address(d.operand(1));
  operation->rank = d.source<uint32_t>(2);
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeMapAddress(Decoding &d) {
  bool isGeneric = !d.take("shared::cluster");
  std::optional<Type> type = d.takeType();
  if (!d.finished(3) || (type != Type::U32 && type != Type::U64))
    return d.unsupported();
  // The name of a variable stands for its shared address, which is not generic.
  if (isGeneric && d.operand(1).kind == Operand::Kind::Symbol)
    return d.error("expected a generic address, found a variable");
  return type == Type::U32 ? makeMapAddress<uint32_t>(d, isGeneric) : makeMapAddress<uint64_t>(d, isGeneric);
}

/// getctarank. Returns the CTA of the cluster that owns a shared address.
class CtaRank final : public Operation {
public:
  Dest<uint32_t> result;
  AddressSource address;
  bool isGeneric = false;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (; active; active &= active - 1) {
      unsigned lane = firstLane(active);
      uint64_t from = address.one(warp, lane);
      if (isGeneric && !isSharedGeneric(from))
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                          fmt::format("getctarank of {:#x}, which is not in shared memory", from));
      uint32_t rank = (from & (windowSize - 1)) >> sharedRankShift;
      result.one(warp, lane, rank);
    }
    return Step::Next;
  }
};

Result<OperationPtr> decodeCtaRank(Decoding &d) {
  auto operation = std::make_unique<CtaRank>();
  operation->isGeneric = !d.take("shared::cluster");
  if (d.takeOne({"u32", "u64"}) < 0 || !d.finished(2))
    return d.unsupported();
  operation->result = d.dest<uint32_t>(0);
  operation->address = d.address(d.operand(1));
  return decoded(d, std::move(operation));
}

constexpr DecoderEntry barriers[] = {{"bar", decodeBar}, {"barrier", decodeBarrier}, {"mbarrier", decodeMbarrier}};

constexpr DecoderEntry copies[] = {{"cp", decodeCopy},
                                   {"tensormap", decodeTensorMapChange},
                                   {"prefetch", decodePrefetch},
                                   {"prefetchu", decodePrefetchUniform},
                                   {"applypriority", decodeApplyPriority},
                                   {"discard", decodeDiscard},
                                   {"createpolicy", decodeCreatePolicy},
                                   {"griddepcontrol", decodeGridControl},
                                   {"clusterlaunchcontrol", decodeLaunchControl},
                                   {"setmaxnreg", decodeSetMaxRegisters},
                                   {"nanosleep", decodeNanosleep},
                                   {"pmevent", decodeProfilerEvent},
                                   {"mapa", decodeMapAddress},
                                   {"getctarank", decodeCtaRank}};

} // namespace

Result<OperationPtr> decodeCopy(Decoding &d) {
  bool reduces = d.take("reduce");
  if (!d.take("async"))
    return d.unsupported();
  if (!d.take("bulk")) {
    bool isGroup = d.peek() == "commit_group" || d.peek() == "wait_group" || d.peek() == "wait_all";
    return reduces ? d.unsupported() : isGroup ? decodeCopyGroups(d) : decodeLaneCopy(d);
  }
  bool isGroup = d.peek() == "commit_group" || d.peek() == "wait_group";
  return isGroup && !reduces ? decodeBulkGroups(d) : decodeBulkCopy(d);
}

std::span<const DecoderEntry> barrierDecoders() {
  return barriers;
}
std::span<const DecoderEntry> copyDecoders() {
  return copies;
}

} // namespace tile::sim
