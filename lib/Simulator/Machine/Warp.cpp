// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Machine/Warp.h"

#include "Simulator/Machine/Machine.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim {

namespace {

/// The byte that fills registers and local memory before they are written. The resulting values are conspicuous: a huge
/// f32 number, a 16-bit NaN, or an address that is never allocated.
constexpr int garbage = 0x7f;

/// Returns the value of a special register at the start of a warp, for one lane. Only the stack pointer changes later.
uint32_t specialValue(SpecialRegister special, const Cta &cta, unsigned warp, unsigned lane) {
  const Cluster &cluster = cta.cluster;
  const Machine &machine = cluster.machine;
  const LaunchConfig &config = machine.config;
  const uint32_t *block = config.block;
  unsigned thread = warp * warpSize + lane;
  uint32_t shared = machine.program.staticShared + config.dynamicShared;
  using R = SpecialRegister;
  auto axis = [&](R first) { return unsigned(special) - unsigned(first); };
  if (special >= R::NtidX && special <= R::NtidZ)
    return block[axis(R::NtidX)];
  if (special >= R::CtaidX && special <= R::CtaidZ)
    return cta.id[axis(R::CtaidX)];
  if (special >= R::NctaidX && special <= R::NctaidZ)
    return config.grid[axis(R::NctaidX)];
  if (special >= R::ClusterIdX && special <= R::ClusterIdZ)
    return cluster.id[axis(R::ClusterIdX)];
  if (special >= R::NClusterIdX && special <= R::NClusterIdZ)
    return config.grid[axis(R::NClusterIdX)] / config.cluster[axis(R::NClusterIdX)];
  if (special >= R::ClusterCtaIdX && special <= R::ClusterCtaIdZ)
    return cta.id[axis(R::ClusterCtaIdX)] % config.cluster[axis(R::ClusterCtaIdX)];
  if (special >= R::ClusterNCtaIdX && special <= R::ClusterNCtaIdZ)
    return config.cluster[axis(R::ClusterNCtaIdX)];
  switch (special) {
  case R::TidX:
    return thread % block[0];
  case R::TidY:
    return thread / block[0] % block[1];
  case R::TidZ:
    return thread / block[0] / block[1];
  case R::LaneId:
    return lane;
  case R::WarpId:
    return warp;
  case R::NWarpId:
    return 64;
  case R::SmId:
    return cta.linearId % config.multiprocessors;
  case R::NSmId:
    return config.multiprocessors;
  case R::IsExplicitCluster:
    return config.cluster[0] * config.cluster[1] * config.cluster[2] > 1;
  case R::ClusterCtaRank:
    return cta.rank;
  case R::ClusterNCtaRank:
    return config.cluster[0] * config.cluster[1] * config.cluster[2];
  case R::LaneMaskEq:
    return 1u << lane;
  case R::LaneMaskLt:
    return (1u << lane) - 1;
  case R::LaneMaskLe:
    return (1u << lane) | ((1u << lane) - 1);
  case R::LaneMaskGt:
    return ~((1u << lane) | ((1u << lane) - 1));
  case R::LaneMaskGe:
    return ~((1u << lane) - 1);
  case R::DynamicSmemSize:
    return config.dynamicShared;
  case R::TotalSmemSize:
    return shared;
  case R::AggrSmemSize:
    return shared + sharedBase;
  case R::EnvReg1:
    return uint32_t(config.gridWorkspace >> 32);
  case R::EnvReg2:
    return uint32_t(config.gridWorkspace);
  case R::StackPointer:
    return uint32_t(machine.program.stackBegin);
  default:
    return 0;
  }
}

} // namespace

Warp::Warp(Cta &cta, unsigned index, LaneMask threads)
    : cta(cta), index(index), threads(threads), sharedRankBits(cta.rank << sharedRankShift), alive(threads) {
  components.fill(noComponent);
  const Program &program = cta.cluster.machine.program;
  registerLines.resize((program.registerBytes + sizeof(Line) - 1) / sizeof(Line));
  registers = reinterpret_cast<std::byte *>(registerLines.data());
  if (!registerLines.empty())
    std::memset(registers, garbage, registerLines.size() * sizeof(Line));
  for (unsigned special = 0; special < numSpecialRegisters; ++special) {
    uint32_t offset = program.specialOffset(SpecialRegister(special));
    if (offset == noRegister)
      continue;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      lanes<uint32_t>(offset)[lane] = specialValue(SpecialRegister(special), cta, index, lane);
  }
  localMemory.resize(size_t(program.localBytes) * warpSize, std::byte(garbage));
  fragments.emplace_back().lanes = threads;
}

std::byte *Warp::local(unsigned lane) {
  return localMemory.data() + localMemory.size() / warpSize * lane;
}

Component Warp::component(Waitable kind) {
  static constexpr const char *names[] = {"instructions",        "cp.async copies",  "reads of bulk copies",
                                          "bulk copies",         "wgmma operations", "tensor-memory loads",
                                          "tensor-memory stores"};
  Component &component = components[unsigned(kind)];
  if (component == noComponent)
    component = cta.cluster.machine.checker->addComponent(
        fmt::format("{} of warp {} in CTA ({},{},{})", names[unsigned(kind)], index, cta.id[0], cta.id[1], cta.id[2]));
  return component;
}

Warp::Snapshot::Snapshot(const Warp &warp) : registers(warp.registerLines), local(warp.localMemory), carry(warp.carry) {
  for (const Fragment &fragment : warp.fragments)
    positions.emplace_back(fragment.pc, fragment.lanes);
}

bool Warp::Snapshot::isOf(const Warp &warp) const {
  return carry == warp.carry && local == warp.localMemory &&
         std::equal(positions.begin(), positions.end(), warp.fragments.begin(), warp.fragments.end(),
                    [](const auto &position, const Fragment &fragment) {
                      return position == std::pair(fragment.pc, fragment.lanes);
                    }) &&
         std::memcmp(registers.data(), warp.registerLines.data(), registers.size() * sizeof(Line)) == 0;
}

Step Warp::notePoll(const Fragment &fragment, unsigned lane, bool isGlobal) {
  Poll &poll = polls[(fragment.pc * 7 + lane) % polls.size()];
  if (poll.pc != fragment.pc || poll.lane != lane) {
    poll = Poll();
    poll.pc = fragment.pc;
    poll.lane = lane;
  }
  const Progress &now = *cta.cluster.progress;
  Step step = Step::Next;
  if (++poll.age > poll.lifetime) {
    poll.state = std::make_unique<Snapshot>(*this);
    poll.lifetime = std::max(2 * poll.lifetime, Poll::first);
  } else if (poll.age <= Poll::compared && poll.state->isOf(*this)) {
    poll.lifetime = Poll::first;
    if (poll.events == now.events)
      step = Step::Spin;
    else if (isGlobal && poll.globalChanges == now.globalChanges)
      cta.cluster.noteGlobalPoll();
  } else {
    return Step::Next;
  }
  poll.age = 0;
  poll.events = now.events;
  poll.globalChanges = now.globalChanges;
  return step;
}

Actor Warp::actor(const SourceLoc &loc, int32_t lane) const {
  Actor actor;
  actor.loc = loc;
  std::copy(cta.id, cta.id + 3, actor.cta);
  if (cta.cluster.machine.config.gpus() > 1)
    actor.gpu = int32_t(cta.cluster.gpu);
  actor.warp = index;
  actor.lane = lane;
  return actor;
}

Step Warp::fault(ReportKind kind, const SourceLoc &loc, int32_t lane, std::string message) const {
  Report report;
  report.kind = kind;
  report.actor = actor(loc, lane);
  report.message = std::move(message);
  report.isFatal = true;
  cta.cluster.machine.reports.add(std::move(report));
  return Step::Fault;
}

} // namespace tile::sim
