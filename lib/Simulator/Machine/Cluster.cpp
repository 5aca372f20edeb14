// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Machine/Machine.h"
#include "Simulator/Ptx/ControlFlow.h"
#include "Target/Plan/Residency.h"
#include "Target/Plan/RoleRegisters.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim {

/// Returns the number of registers with which a thread starts, if directives declare it (PTX ISA, "setmaxnreg");
/// otherwise 0.
static uint32_t registersAtLaunch(const Function &function, uint32_t threads) {
  constexpr uint32_t maxOfThread = target::maxRegistersPerThread + 1, granule = target::registerGranule;
  if (function.maxRegisters)
    return std::min((function.maxRegisters + granule - 1) / granule * granule, maxOfThread);
  return function.minCtas ? target::registersAtStart(function.minCtas, threads) : 0;
}

Cta::Cta(Cluster &cluster, unsigned rank, const uint32_t id[3]) : cluster(cluster), rank(rank) {
  const Machine &machine = cluster.machine;
  const LaunchConfig &config = machine.config;
  std::copy(id, id + 3, this->id);
  linearId = id[0] + uint64_t(config.grid[0]) *
                         (id[1] + uint64_t(config.grid[1]) * (id[2] + uint64_t(config.grid[2]) * cluster.gpu));
  sharedBytes.resize(machine.program.staticShared + config.dynamicShared);
  for (std::byte &byte : sharedBytes) // stands for the contents that an earlier CTA left
    byte = std::byte(cluster.random.next());
  threadCount = liveThreads = config.block[0] * config.block[1] * config.block[2];
  for (unsigned first = 0; first < threadCount; first += warpSize) {
    unsigned count = std::min(threadCount - first, warpSize);
    warps.push_back(std::make_unique<Warp>(*this, first / warpSize, count == 32 ? allLanes : (1u << count) - 1));
    warps.back()->registersPerThread = registersAtLaunch(machine.program.function, threadCount);
  }
}

Cta::~Cta() = default;

void Cta::checkRegisterChanges() {
  for (const auto &warp : warps) {
    const Warp &leader = *warps[warp->index / warpsInGroup * warpsInGroup];
    size_t both = std::min(warp->registerChanges.size(), leader.registerChanges.size());
    const Warp &further = warp->registerChanges.size() > both ? *warp : leader;
    if (further.registerChanges.size() == both)
      continue;
    const Instruction &instruction = *further.registerChanges[both];
    further.fault(ReportKind::InvalidOperand, instruction.loc, -1,
                  fmt::format("{} was executed by warp {}, but not by warp {} of the same group", instruction.text(),
                              further.index, &further == &leader ? warp->index : leader.index));
    return;
  }
}

void Cta::checkTensorMemory() {
  for (const TensorMemory::Allocation &left : tensor.allocations())
    warps[left.warp]->fault(ReportKind::TensorMemory, left.loc, -1,
                            fmt::format("the CTA ends with {} columns of tensor memory from column {} on: no "
                                        "tcgen05.dealloc has freed them",
                                        left.columns, left.column));
}

Cluster::Cluster(Machine &machine, const uint32_t id[3], unsigned gpu, uint64_t seed, Progress *sharedProgress)
    : machine(machine), gpu(gpu), random(seed), progress(sharedProgress ? sharedProgress : &ownProgress) {
  const LaunchConfig &config = machine.config;
  std::copy(id, id + 3, this->id);
  for (unsigned z = 0; z < config.cluster[2]; ++z)
    for (unsigned y = 0; y < config.cluster[1]; ++y)
      for (unsigned x = 0; x < config.cluster[0]; ++x) {
        uint32_t cta[3] = {id[0] * config.cluster[0] + x, id[1] * config.cluster[1] + y, id[2] * config.cluster[2] + z};
        ctas.push_back(std::make_unique<Cta>(*this, ctas.size(), cta));
      }
  for (auto &cta : ctas) {
    if (machine.checker)
      machine.checker->startCta(*cta);
    for (auto &warp : cta->warps)
      warps.push_back(warp.get());
  }
  if (config.isFair) {
    pace = Pace::Lazy;
    return;
  }
  constexpr Pace paces[] = {Pace::Any, Pace::Lazy, Pace::Eager, Pace::Any};
  pace = paces[random.below(4)];
  if (random.below(2))
    slowWarp = random.below(warps.size());
}

Cluster::~Cluster() = default;

void Cluster::start(std::unique_ptr<AsyncOperation> operation) {
  operations.push_back(std::move(operation));
}

bool Cluster::hasExited() const {
  return operations.empty() && std::all_of(ctas.begin(), ctas.end(), [](const auto &cta) { return cta->hasExited(); });
}

Cluster::Outcome Cluster::run() {
  if (progress->events != lastProgress) {
    lastProgress = progress->events;
    idleInstructions = 0;
  }
  if (pace == Pace::Eager || (pace == Pace::Any && random.below(2)))
    if (runAsync(false) == Outcome::Progress)
      return Outcome::Progress;
  bool holdBack = slowWarp != ~0u && random.below(8);
  size_t first = machine.config.isFair ? nextWarp++ : random.below(warps.size());
  for (size_t i = 0; i < warps.size(); ++i) {
    size_t chosen = (first + i) % warps.size();
    if (chosen == slowWarp && holdBack)
      continue;
    if (Outcome outcome = runWarp(*warps[chosen]); outcome != Outcome::Stuck)
      return outcome;
  }
  if (slowWarp != ~0u)
    if (Outcome outcome = runWarp(*warps[slowWarp]); outcome != Outcome::Stuck)
      return outcome;
  if (runAsync(true) == Outcome::Progress)
    return Outcome::Progress;
  const bool isAlone = progress == &ownProgress; // no other cluster can enable this one to proceed
  return isAlone && releaseBarriers() ? Outcome::Progress : Outcome::Stuck;
}

bool Cluster::releaseBarriers() {
  bool released = false;
  for (Warp *warp : warps)
    if (warp->releaseBarriers()) {
      warp->idleSince = ~uint64_t(0);
      released = true;
    }
  return released;
}

Cluster::Outcome Cluster::runWarp(Warp &warp) {
  if (warp.fragments.empty() || warp.idleSince == progress->events)
    return Outcome::Stuck;
  uint64_t before = progress->events;
  constexpr uint64_t budgets[] = {1, 8, 64, 512}, fairBudget = 64;
  Warp::Turn turn = warp.run(machine.config.isFair ? fairBudget : budgets[random.below(4)]);
  if (turn.faulted)
    return Outcome::Faulted;
  if (turn.idle)
    warp.idleSince = before;
  if (warp.instructionsRun > machine.config.stepLimit && !warp.fragments.empty()) {
    const Fragment &fragment = warp.fragments.front();
    warp.fault(ReportKind::Endless, machine.program.operations[fragment.pc]->instruction->loc,
               firstLane(fragment.lanes),
               fmt::format("a warp has executed more than {} instructions, in a loop that may have no end; --steps "
                           "allows more",
                           machine.config.stepLimit));
    return Outcome::Faulted;
  }
  if (warp.fragments.empty() && warp.cta.hasExited()) {
    warp.cta.checkRegisterChanges();
    warp.cta.checkTensorMemory();
    if (machine.checker)
      machine.checker->endCta(warp.cta);
  }
  if (progress->events == before) {
    idleInstructions += turn.instructions;
    if (idleInstructions > machine.config.idleLimit)
      return Outcome::Stuck;
  }
  return turn.instructions ? Outcome::Progress : Outcome::Stuck;
}

Cluster::Outcome Cluster::runAsync(bool ignorePace) {
  if (operations.empty() || (pace == Pace::Lazy && !ignorePace))
    return Outcome::Stuck;
  size_t first = random.below(operations.size());
  for (size_t i = 0; i < operations.size(); ++i) {
    size_t chosen = (first + i) % operations.size();
    if (!operations[chosen]->ready())
      continue;
    if (operations[chosen]->advance(random)) {
      operations.erase(operations.begin() + chosen);
      noteProgress();
    }
    return Outcome::Progress;
  }
  return Outcome::Stuck;
}

void Cluster::describeWaits(Report &report) const {
  for (const Warp *warp : warps)
    for (const Fragment &fragment : warp->fragments) {
      // The lanes may be anywhere in the loop around a failed test, but the test itself tells what they wait for.
      const Operation &here = *machine.program.operations[fragment.pc];
      const Operation &spun = fragment.spunAt == noInstruction ? here : *machine.program.operations[fragment.spunAt];
      const Operation *waiting = &here;
      std::string text = here.describeWait(*warp, fragment);
      if (text.empty() && fragment.spunAt != noInstruction) {
        waiting = &spun;
        text = spun.describeWait(*warp, fragment);
        if (text.empty())
          text = "repeatedly reads memory that no thread changes";
      }
      if (text.empty() && here.aligned && fragment.lanes != warp->alive)
        text = fmt::format("lanes {:#010x} wait for the others of the warp, {:#010x}", fragment.lanes,
                           warp->alive & ~fragment.lanes);
      if (text.empty())
        text = "is still running, without changing anything";
      report.notes.push_back({warp->actor(waiting->instruction->loc, firstLane(fragment.lanes)), std::move(text)});
    }
  for (const auto &operation : operations)
    report.notes.push_back({Actor{}, operation->describe()});
}

} // namespace tile::sim
