// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a grid. Independent clusters run in parallel on all host threads. If thread blocks can communicate, as many
// clusters as fit on the multiprocessors run interleaved in one host thread.
#include "Simulator/Machine/Machine.h"

#include "Target/GpuTarget.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <system_error>
#include <thread>

namespace tile::sim {

using runtime::Error;
using runtime::makeError;
using runtime::Status;
using runtime::Success;

namespace {

/// The maximum size of the registers and local memory of all running clusters, in bytes.
constexpr uint64_t maxBytesOfClusters = uint64_t(2) << 30;

/// Returns the maximum number of bytes of shared memory of a CTA. A target that tile does not compile for has the limit
/// of its family (sm_121a that of sm_120), or otherwise the largest limit of all targets.
uint32_t maxShared(std::string_view name) {
  const target::GpuTarget *target = target::findTarget(name);
  if (!target)
    target = target::findTarget(name.starts_with("sm_12") ? "sm_120" : "sm_90a");
  return target->maxSharedPerCta;
}

/// Checks the grid against the limits in the CUDA programming guide, "Technical specifications".
Status checkGrid(const LaunchConfig &config) {
  constexpr uint32_t maxCtas[3] = {2147483647, 65535, 65535}, mostThreads[3] = {1024, 1024, 64}, maxOfCluster = 16;
  for (int i = 0; i < 3; ++i) {
    if (config.grid[i] == 0 || config.grid[i] > maxCtas[i])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "grid dimension {} is {}; 1 to {} are allowed", i, config.grid[i],
                       maxCtas[i]);
    if (config.block[i] > mostThreads[i])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} threads per CTA in dimension {}; at most {} are allowed",
                       config.block[i], i, mostThreads[i]);
  }
  uint64_t ofCluster = uint64_t(config.cluster[0]) * config.cluster[1] * config.cluster[2];
  if (ofCluster > maxOfCluster)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "a cluster of {} CTAs; at most {} are allowed", ofCluster,
                     maxOfCluster);
  return Success{};
}

/// Returns the size of the registers and local memory of a cluster's threads on the host, in bytes.
uint64_t bytesOfCluster(const Machine &machine) {
  const LaunchConfig &config = machine.config;
  const uint64_t ctas = uint64_t(config.cluster[0]) * config.cluster[1] * config.cluster[2];
  const uint64_t warps = (uint64_t(config.block[0]) * config.block[1] * config.block[2] + warpSize - 1) / warpSize;
  return ctas * warps * (machine.program.registerBytes + uint64_t(machine.program.localBytes) * warpSize);
}

/// Checks the amount of memory that the kernel needs, since a few words of PTX can request any amount.
Status checkMemory(const Machine &machine) {
  if (uint64_t bytes = bytesOfCluster(machine); bytes > maxBytesOfClusters)
    return makeError(
        TILE_ERROR_INVALID_ARGUMENT,
        "registers ({} bytes per warp) and local memory ({} bytes per thread) of a cluster take {} bytes; the "
        "simulator has {}",
        machine.program.registerBytes, machine.program.localBytes, bytes, maxBytesOfClusters);
  return Success{};
}

Status checkLaunch(const Machine &machine) {
  const LaunchConfig &config = machine.config;
  const Program &program = machine.program;
  uint64_t threads = uint64_t(config.block[0]) * config.block[1] * config.block[2];
  if (threads == 0 || threads > 1024)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} threads per CTA; 1 to 1024 are allowed", threads);
  const uint32_t *most = program.function.maxThreads;
  if (uint64_t allowed = uint64_t(most[0]) * most[1] * most[2]; allowed && threads > allowed)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} threads per CTA; the kernel allows {}", threads, allowed);
  for (int i = 0; i < 3; ++i) {
    if (uint32_t required = program.function.requiredThreads[i]; required && required != config.block[i])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the kernel requires {} threads in dimension {}, not {}", required,
                       i, config.block[i]);
    if (config.cluster[i] == 0 || config.grid[i] % config.cluster[i] != 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "grid dimension {} is {}, not a multiple of the cluster's {}", i,
                       config.grid[i], config.cluster[i]);
    if (uint32_t required = program.function.requiredCluster[i]; required && required != config.cluster[i])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "the kernel requires {} CTAs per cluster in dimension {}, not {}",
                       required, i, config.cluster[i]);
  }
  for (unsigned gpu = 0; gpu < config.gpus(); ++gpu)
    if (const size_t bytes = config.parametersOf(gpu).size(); bytes != program.parameterBytes)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} bytes of parameters; the kernel takes {}", bytes,
                       program.parameterBytes);
  uint64_t shared = uint64_t(program.staticShared) + config.dynamicShared, available = maxShared(program.module.target);
  if (shared > available)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} bytes of shared memory; a CTA has {} at most on {}", shared,
                     available, program.module.target);
  if (Status valid = checkGrid(config); !valid)
    return valid;
  return checkMemory(machine);
}

/// Creates the clusters of a grid, in order, for each GPU.
class ClusterFactory {
public:
  explicit ClusterFactory(Machine &machine) : machine(machine) {
    const LaunchConfig &config = machine.config;
    for (int i = 0; i < 3; ++i)
      counts[i] = config.grid[i] / config.cluster[i];
  }
  uint64_t size() const { return uint64_t(counts[0]) * counts[1] * counts[2]; }
  std::unique_ptr<Cluster> create(uint64_t index, unsigned gpu, Progress *progress) {
    uint32_t id[3] = {uint32_t(index % counts[0]), uint32_t(index / counts[0] % counts[1]),
                      uint32_t(index / counts[0] / counts[1])};
    const uint64_t number = gpu * size() + index;
    return std::make_unique<Cluster>(machine, id, gpu, Random(machine.config.seed ^ number * 0x9e3779b97f4a7c15).next(),
                                     progress);
  }

private:
  Machine &machine;
  uint32_t counts[3];
};

constexpr const char *noThreadCanProceed = "no thread can proceed, and no copy or wgmma is in flight";

void reportDeadlock(Machine &machine, const std::vector<Cluster *> &clusters, std::string message) {
  Report report;
  report.kind = ReportKind::Deadlock;
  report.isFatal = true;
  report.message = std::move(message);
  for (const Cluster *cluster : clusters)
    cluster->describeWaits(report);
  if (!report.notes.empty())
    report.actor = report.notes.front().first;
  machine.reports.add(std::move(report));
}

/// Asks the caller of the machine whether to continue, but only once every `turns` turns of a cluster, because a turn
/// may be as short as one instruction.
class Leave {
public:
  Leave(const Machine &machine, uint64_t clusters, const std::atomic<uint64_t> &ended)
      : machine(machine), clusters(clusters), ended(ended) {}
  bool isGiven() {
    constexpr unsigned turns = 64;
    return !machine.shouldContinue || ++turn % turns || machine.shouldContinue(ended, clusters);
  }

private:
  const Machine &machine;
  uint64_t clusters;
  const std::atomic<uint64_t> &ended;
  unsigned turn = 0;
};

/// Runs one cluster to its end. Returns false after a report that ends the launch, or if it is told to stop.
bool runCluster(Machine &machine, Cluster &cluster, Leave &leave) {
  while (!cluster.hasExited()) {
    if (!leave.isGiven())
      return false;
    Cluster::Outcome outcome = cluster.run();
    if (outcome == Cluster::Outcome::Stuck)
      reportDeadlock(machine, {&cluster}, noThreadCanProceed);
    if (outcome != Cluster::Outcome::Progress)
      return false;
  }
  return true;
}

/// Returns the number of clusters that fit in memory at the same time; at least one.
uint64_t clustersInMemory(const Machine &machine) {
  return std::max<uint64_t>(1, maxBytesOfClusters / std::max<uint64_t>(1, bytesOfCluster(machine)));
}

/// Runs clusters in several host threads. If a thread throws, rethrows the exception after all threads have ended.
void runClusters(Machine &machine, ClusterFactory &factory) {
  std::atomic<uint64_t> next = 0, ended = 0;
  std::exception_ptr thrown;
  std::mutex mutex; // guards `thrown`
  auto work = [&] {
    try {
      Leave leave(machine, factory.size(), ended);
      for (uint64_t index = next++; index < factory.size(); index = next++, ++ended)
        if (!runCluster(machine, *factory.create(index, /*gpu=*/0, nullptr), leave))
          next = factory.size();
    } catch (...) { // out of memory
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
      next = factory.size();
    }
  };
  std::vector<std::thread> threads;
  uint64_t helpers = std::min({uint64_t(machine.config.hostThreads), factory.size(), clustersInMemory(machine)});
  try {
    for (uint64_t i = 1; i < helpers; ++i)
      threads.emplace_back(work);
  } catch (const std::system_error &) { // continue with the threads that exist
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (thrown)
    std::rethrow_exception(thrown);
}

/// Runs the communicating clusters of all GPUs interleaved: on each GPU as many as fit on its multiprocessors.
class Together {
public:
  Together(Machine &machine, ClusterFactory &factory) : machine(machine), factory(factory) {
    constexpr uint32_t maxCtas = 32; // CUDA programming guide: maximum for a multiprocessor
    const LaunchConfig &config = machine.config;
    clusterSize = config.cluster[0] * config.cluster[1] * config.cluster[2];
    ctasPerMultiprocessor = std::clamp<uint32_t>(config.ctasPerMultiprocessor, 1, maxCtas);
    machine.numClusters = factory.size();
    atOnce = std::clamp<uint64_t>(uint64_t(config.multiprocessors) * ctasPerMultiprocessor / clusterSize, 1,
                                  std::max<uint64_t>(1, clustersInMemory(machine) / config.gpus()));
    ofGpu.resize(config.gpus());
  }

  void run() {
    Random random(machine.config.seed);
    Leave leave(machine, factory.size() * ofGpu.size(), ended);
    while (hasUnstarted() || !running.empty()) {
      if (!leave.isGiven())
        return;
      startClusters();
      Running *chosen = choose(random.below(running.size()));
      if (!chosen && releaseBarriers())
        continue;
      if (!chosen)
        return report(noThreadCanProceed);
      const uint64_t before = progress.events;
      const Cluster::Outcome outcome = chosen->cluster->run();
      if (outcome == Cluster::Outcome::Faulted)
        return;
      if (outcome == Cluster::Outcome::Stuck)
        chosen->stuckSince = before;
      if (chosen->cluster->hasExited()) {
        --ofGpu[chosen->cluster->gpu];
        running.erase(running.begin() + (chosen - running.data()));
        ++progress.events;
        ++progress.globalChanges;
        ended = ++numEnded + machine.cancelledClusters;
      } else if (allPollInVain(*chosen->cluster)) {
        return report("all thread blocks that run wait for a change of global memory, which none of them makes");
      }
    }
  }

private:
  struct Running {
    std::unique_ptr<Cluster> cluster;
    uint64_t stuckSince = ~uint64_t(0); ///< Progress::events when the cluster was last unable to proceed
  };

  bool hasUnstarted() const {
    return std::any_of(machine.nextClusters.begin(), machine.nextClusters.end(),
                       [&](uint64_t next) { return next < factory.size(); });
  }
  void startClusters() {
    for (unsigned gpu = 0; gpu < ofGpu.size(); ++gpu)
      for (uint64_t &next = machine.nextClusters[gpu]; ofGpu[gpu] < atOnce && next < factory.size(); ++ofGpu[gpu])
        running.push_back({factory.create(next++, gpu, &progress)});
  }

  /// Returns the first cluster from index `first` on that may proceed, or null if there is none.
  Running *choose(size_t first) {
    for (size_t i = 0; i < running.size(); ++i)
      if (Running &candidate = running[(first + i) % running.size()]; candidate.stuckSince != progress.events)
        return &candidate;
    return nullptr;
  }

  bool releaseBarriers() {
    bool released = false;
    for (Running &one : running)
      if (one.cluster->releaseBarriers()) {
        one.stuckSince = ~uint64_t(0);
        released = true;
      }
    return released;
  }

  /// Returns true if all running clusters only poll memory that does not change. Called after each turn of `last`,
  /// which is tested first because its state usually decides the result. If some clusters have not started, they are
  /// the likely cause, so the limit is lower.
  bool allPollInVain(const Cluster &last) const {
    const uint64_t limit = hasUnstarted() ? 10'000 : 50'000;
    return last.pollsInVain(limit) && std::all_of(running.begin(), running.end(),
                                                  [&](const Running &one) { return one.cluster->pollsInVain(limit); });
  }

  void report(std::string message) const {
    std::vector<Cluster *> all;
    for (const Running &one : running)
      all.push_back(one.cluster.get());
    if (hasUnstarted())
      message += describeUnstarted();
    reportDeadlock(machine, all, std::move(message));
  }

  /// Describes clusters that have not started, for which the running ones may be waiting: for example, a barrier among
  /// more thread blocks than can run at the same time.
  std::string describeUnstarted() const {
    constexpr uint64_t maxMultiprocessors = 1024; // the number of SMs, set by --sms
    const char *what = clusterSize == 1 ? "programs" : "clusters";
    const uint64_t next = *std::min_element(machine.nextClusters.begin(), machine.nextClusters.end());
    std::string text = next + 1 == factory.size()
                           ? fmt::format("; of the {}, {} has not started", what, next)
                           : fmt::format("; {} {} to {} have not started", what, next, factory.size() - 1);
    text += fmt::format(", because {} run at the same time", atOnce);
    const uint64_t needed = (factory.size() * clusterSize + ctasPerMultiprocessor - 1) / ctasPerMultiprocessor;
    if (needed <= maxMultiprocessors)
      text += fmt::format(": --sms={} lets all run", needed);
    return text;
  }

  Machine &machine;
  ClusterFactory &factory;
  uint32_t clusterSize = 1, ctasPerMultiprocessor = 1;
  uint64_t atOnce = 1;         ///< number of clusters that run on each GPU at the same time
  std::vector<uint64_t> ofGpu; ///< number of running clusters of each GPU
  Progress progress;
  uint64_t numEnded = 0;
  std::atomic<uint64_t> ended = 0; ///< including cancelled clusters
  std::vector<Running> running;
};

} // namespace

void PrintBuffer::add(const std::vector<std::string> &records) {
  const std::lock_guard lock(mutex);
  for (const std::string &record : records) {
    full = full || record.size() > capacity - bytes.size();
    if (full)
      drop();
    else
      bytes += record;
  }
}

std::string PrintBuffer::text() const {
  const std::lock_guard lock(mutex);
  if (!dropped)
    return bytes;
  const char *lineEnd = bytes.empty() || bytes.back() == '\n' ? "" : "\n";
  return fmt::format("{}{}... and {} more calls to printf: a launch prints at most {} bytes\n", bytes, lineEnd,
                     dropped.load(), capacity);
}

void UnreleasedMaps::add(uint64_t address) {
  const std::lock_guard lock(mutex);
  addresses.insert(address);
}

void UnreleasedMaps::release(const std::vector<uint64_t> &released) {
  const std::lock_guard lock(mutex);
  for (uint64_t address : released)
    addresses.erase(address);
}

bool UnreleasedMaps::contains(uint64_t address) const {
  const std::lock_guard lock(mutex);
  return addresses.contains(address);
}

Status Machine::run() {
  if (Status valid = checkLaunch(*this); !valid)
    return valid;
  ClusterFactory factory(*this);
  if (communicates())
    Together(*this, factory).run();
  else
    runClusters(*this, factory);
  if (checker)
    checker->endGrid();
  return Success{};
}

} // namespace tile::sim
