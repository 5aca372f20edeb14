// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a grid: the clusters one after the other on as many host threads as there are, or, where thread blocks can talk
// to each other, as many as the multiprocessors hold, interleaved in one.
#include "Simulator/Machine/Machine.h"

#include "Target/GpuTarget.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace tile::sim {

using runtime::Error;
using runtime::makeError;
using runtime::Status;
using runtime::Success;

namespace {

/// Bytes of shared memory that a CTA may have; for targets that tile does not compile for, the most of any.
uint32_t mostShared(std::string_view name) {
  const target::GpuTarget *target = target::findTarget(name);
  return (target ? target : target::findTarget("sm_90a"))->maxSharedPerCta;
}

/// CUDA programming guide, "Technical specifications".
Status checkGrid(const LaunchConfig &config) {
  constexpr uint32_t mostCtas[3] = {2147483647, 65535, 65535}, mostOfCluster = 16;
  for (int i = 0; i < 3; ++i)
    if (config.grid[i] == 0 || config.grid[i] > mostCtas[i])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "grid dimension {} is {}; 1 to {} are possible", i, config.grid[i],
                       mostCtas[i]);
  uint64_t ofCluster = uint64_t(config.cluster[0]) * config.cluster[1] * config.cluster[2];
  if (ofCluster > mostOfCluster)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "a cluster of {} CTAs; at most {} are possible", ofCluster,
                     mostOfCluster);
  return Success{};
}

Status checkLaunch(const Machine &machine) {
  const LaunchConfig &config = machine.config;
  const Program &program = machine.program;
  uint64_t threads = uint64_t(config.block[0]) * config.block[1] * config.block[2];
  if (threads == 0 || threads > 1024)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} threads a CTA; 1 to 1024 are possible", threads);
  const uint32_t *most = program.function.maxThreads;
  if (uint64_t allowed = uint64_t(most[0]) * most[1] * most[2]; allowed && threads > allowed)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} threads a CTA; the kernel allows {}", threads, allowed);
  for (int i = 0; i < 3; ++i) {
    if (uint32_t required = program.function.requiredThreads[i]; required && required != config.block[i])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the kernel wants {} threads in dimension {}, not {}", required, i,
                       config.block[i]);
    if (config.cluster[i] == 0 || config.grid[i] % config.cluster[i] != 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "grid dimension {} is {}, no multiple of the cluster's {}", i,
                       config.grid[i], config.cluster[i]);
    if (uint32_t required = program.function.requiredCluster[i]; required && required != config.cluster[i])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the kernel wants {} CTAs a cluster in dimension {}, not {}",
                       required, i, config.cluster[i]);
  }
  if (config.parameters.size() != program.parameterBytes)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} bytes of parameters; the kernel takes {}",
                     config.parameters.size(), program.parameterBytes);
  uint64_t shared = uint64_t(program.staticShared) + config.dynamicShared,
           available = mostShared(program.module.target);
  if (shared > available)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} bytes of shared memory; a CTA has {} at most on {}", shared,
                     available, program.module.target);
  return checkGrid(config);
}

/// The clusters of a grid, in order.
class ClusterFactory {
public:
  explicit ClusterFactory(Machine &machine) : machine(machine) {
    const LaunchConfig &config = machine.config;
    for (int i = 0; i < 3; ++i)
      counts[i] = config.grid[i] / config.cluster[i];
  }
  uint64_t size() const { return uint64_t(counts[0]) * counts[1] * counts[2]; }
  std::unique_ptr<Cluster> create(uint64_t index, uint64_t *progress) {
    uint32_t id[3] = {uint32_t(index % counts[0]), uint32_t(index / counts[0] % counts[1]),
                      uint32_t(index / counts[0] / counts[1])};
    return std::make_unique<Cluster>(machine, id, Random(machine.config.seed ^ index * 0x9e3779b97f4a7c15).next(),
                                     progress);
  }

private:
  Machine &machine;
  uint32_t counts[3];
};

void reportDeadlock(Machine &machine, const std::vector<Cluster *> &clusters) {
  Report report;
  report.kind = ReportKind::Deadlock;
  report.message = "no thread can go on, and no copy or wgmma is under way";
  for (const Cluster *cluster : clusters)
    cluster->describeWaits(report);
  if (!report.notes.empty())
    report.actor = report.notes.front().first;
  machine.reports.add(std::move(report));
}

/// Asks whether to go on; not at each turn of a cluster, which may be one instruction.
class Leave {
public:
  Leave(const Machine &machine, uint64_t clusters, const std::atomic<uint64_t> &ended)
      : machine(machine), clusters(clusters), ended(ended) {}
  bool isGiven() {
    constexpr unsigned turns = 64;
    return !machine.goesOn || ++turn % turns || machine.goesOn(ended, clusters);
  }

private:
  const Machine &machine;
  uint64_t clusters;
  const std::atomic<uint64_t> &ended;
  unsigned turn = 0;
};

/// One cluster to its end; false after a report that ends the launch, or without leave.
bool runCluster(Machine &machine, Cluster &cluster, Leave &leave) {
  while (!cluster.hasExited()) {
    if (!leave.isGiven())
      return false;
    Cluster::Outcome outcome = cluster.run();
    if (outcome == Cluster::Outcome::Stuck)
      reportDeadlock(machine, {&cluster});
    if (outcome != Cluster::Outcome::Progress)
      return false;
  }
  return true;
}

void runApart(Machine &machine, ClusterFactory &factory) {
  std::atomic<uint64_t> next = 0, ended = 0;
  auto work = [&] {
    Leave leave(machine, factory.size(), ended);
    for (uint64_t index = next++; index < factory.size(); index = next++, ++ended)
      if (!runCluster(machine, *factory.create(index, nullptr), leave))
        next = factory.size();
  };
  std::vector<std::thread> threads;
  uint64_t helpers = std::min<uint64_t>(machine.config.hostThreads, factory.size());
  for (uint64_t i = 1; i < helpers; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

void runTogether(Machine &machine, ClusterFactory &factory) {
  const LaunchConfig &config = machine.config;
  uint64_t clusterSize = uint64_t(config.cluster[0]) * config.cluster[1] * config.cluster[2];
  uint64_t atOnce = std::max<uint64_t>(1, config.multiprocessors * config.ctasPerMultiprocessor / clusterSize);
  Random random(config.seed);
  uint64_t progress = 0, next = 0;
  std::atomic<uint64_t> ended = 0;
  Leave leave(machine, factory.size(), ended);
  std::vector<std::unique_ptr<Cluster>> running;
  std::vector<uint64_t> stuckSince; ///< value of `progress`, for each that runs
  while (next < factory.size() || !running.empty()) {
    if (!leave.isGiven())
      return;
    while (running.size() < atOnce && next < factory.size()) {
      running.push_back(factory.create(next++, &progress));
      stuckSince.push_back(~uint64_t(0));
    }
    size_t first = random.below(running.size()), chosen = running.size();
    for (size_t i = 0; i < running.size() && chosen == running.size(); ++i)
      if (stuckSince[(first + i) % running.size()] != progress)
        chosen = (first + i) % running.size();
    if (chosen == running.size()) {
      std::vector<Cluster *> all;
      for (auto &cluster : running)
        all.push_back(cluster.get());
      return reportDeadlock(machine, all);
    }
    uint64_t before = progress;
    Cluster::Outcome outcome = running[chosen]->run();
    if (outcome == Cluster::Outcome::Faulted)
      return;
    if (outcome == Cluster::Outcome::Stuck)
      stuckSince[chosen] = before;
    if (running[chosen]->hasExited()) {
      running.erase(running.begin() + chosen);
      stuckSince.erase(stuckSince.begin() + chosen);
      ++progress;
      ++ended;
    }
  }
}

} // namespace

Status Machine::run() {
  if (Status valid = checkLaunch(*this); !valid)
    return valid;
  ClusterFactory factory(*this);
  if (program.communicates)
    runTogether(*this, factory);
  else
    runApart(*this, factory);
  if (checker)
    checker->endGrid();
  return Success{};
}

} // namespace tile::sim
