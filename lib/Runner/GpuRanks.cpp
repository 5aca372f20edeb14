// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs ranks on GPUs that libtiledist connects. The ranks are threads of this process, or one of them is this process.
//
//   open the GPU | connect | allocate what peers access | upload | sync | launch | wait | sync | download | compare
#include "Distributed/Communicator.h"
#include "Runner/Device/Variants.h"
#include "Runner/PreparedRanks.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace tile::runner {

using runtime::Artifact;
using runtime::makeError;
using runtime::Success;

namespace {

constexpr std::chrono::milliseconds waitLimit = std::chrono::seconds(60);

class ConnectedPeers : public CudaPeers {
public:
  explicit ConnectedPeers(std::unique_ptr<dist::Communicator> comm) : comm(std::move(comm)) {}

  int rank() const override { return comm->rank(); }
  Result<std::vector<runtime::CUdeviceptr>> allocate(const std::string &name, size_t bytes) override {
    Result<dist::Window> window = comm->allocate("buffer '" + name + "'", bytes);
    if (!window)
      return window.error();
    windows.push_back(std::move(*window));
    return windows.back().all;
  }
  Status meet() override {
    Result<std::string> met = comm->exchange("run", "");
    return met ? Status(Success{}) : Status(met.error());
  }
  Status wait(runtime::CUstream stream) override {
    comm->lastOperation = "kernel";
    return comm->synchronize(stream);
  }
  Status release() override {
    for (dist::Window &window : windows)
      if (Status status = comm->release("buffers", window); !status)
        return status;
    windows.clear();
    return Success{};
  }
  /// Returns true if `mine` is true on all ranks.
  Result<bool> agree(bool mine) {
    Result<std::string> told = comm->exchange("result", mine ? "1" : "0");
    if (!told)
      return told.error();
    return told->find('0') == std::string::npos;
  }
  void abandon(const Error &reason) { comm->host->abandon(reason); }

private:
  std::unique_ptr<dist::Communicator> comm;
  std::vector<dist::Window> windows;
};

/// A rank of this process. The order of the members ensures that they are destroyed in the order in which they release
/// the GPU.
struct GpuRank {
  RunOptions options;
  std::optional<DeviceLoader> loader;
  std::unique_ptr<ConnectedPeers> peers;
  std::optional<Variants> variants;
  std::optional<Variants::Taken> taken;
  PreparedRanks ranks;
};

Result<std::unique_ptr<ConnectedPeers>> connect(const RankPlan &plan, int rank, int device, tile_runtime *runtime,
                                                dist::ThreadMeeting &meeting) {
  Result<std::unique_ptr<dist::HostGroup>> host = plan.isOneProcess()
                                                      ? dist::joinThreads(meeting, rank, waitLimit)
                                                      : dist::joinProcesses(plan.address, rank, plan.size, waitLimit);
  if (!host)
    return host.error();
  tile_dist_options options = {};
  options.runtime = runtime;
  options.device = device;
  options.transport = TILE_DIST_COPIES; // kernels access the memory of peers
  Result<std::unique_ptr<dist::Communicator>> comm = dist::Communicator::make(std::move(*host), device, options);
  if (!comm && comm.error().code == TILE_ERROR_UNSUPPORTED)
    return makeError(TILE_ERROR_UNSUPPORTED,
                     "rank {}: the GPUs cannot access each other's memory, as kernels with a table of peers do; "
                     "--device=sim --ranks={} simulates GPUs that can",
                     rank, plan.size);
  if (!comm)
    return comm.error();
  return std::make_unique<ConnectedPeers>(std::move(*comm));
}

/// Prepares the rank and runs it as often as the options specify, or until a run fails on any rank.
Status runGpuRank(GpuRank &own, const Artifact &artifact, const RankPlan &plan, int rank) {
  Result<RunOptions> ownOptions = optionsOfRank(own.options, artifact.manifest, rank, plan.size);
  if (!ownOptions)
    return ownOptions.error();
  Result<Variants> variants = Variants::open(*ownOptions, artifact, *own.loader);
  if (!variants)
    return variants.error();
  own.variants = std::move(*variants);
  Result<Variants::Taken> taken = own.variants->take(*ownOptions);
  if (!taken)
    return taken.error();
  own.taken = std::move(*taken);
  Device &device = *own.taken->device;
  device.asCuda()->join(*own.peers);
  Result<PreparedRanks> ranks = prepareRanks(own.options, artifact, *own.taken->manifest, device, plan.size, rank);
  if (!ranks)
    return ranks.error();
  own.ranks = std::move(*ranks);
  PreparedRank &prepared = *own.ranks[static_cast<size_t>(rank)];
  bool shouldContinue = true;
  for (int run = 0; run < own.options.repeat && shouldContinue; ++run) {
    if (Status status = prepared.execution->run(prepared.report); !status)
      return status;
    Result<bool> passed = own.peers->agree(prepared.report.passed());
    if (!passed)
      return passed.error();
    shouldContinue = *passed;
  }
  return prepared.execution->saveOutputs();
}

/// Tells the other ranks that are threads of this process that one of them will not connect. Returns `error`.
Error leave(dist::ThreadMeeting &meeting, const Error &error) {
  const std::lock_guard lock(meeting.mutex);
  meeting.failure = error.message;
  meeting.changed.notify_all();
  return error;
}

/// Opens and connects the GPU in the thread of the rank, and then does the same as runGpuRank().
Result<std::unique_ptr<PreparedRank>> openAndRun(const RunOptions &options, const Artifact &artifact,
                                                 const RankPlan &plan, int index, dist::ThreadMeeting &meeting) {
  const int rank = plan.first + index, ordinal = plan.devices[static_cast<size_t>(index)];
  auto own = std::make_unique<GpuRank>();
  own->options = options;
  own->options.device = fmt::format("cuda:{}", ordinal);
  Result<DeviceLoader> loader = DeviceLoader::open(own->options);
  if (!loader)
    return leave(meeting, loader.error());
  own->loader = std::move(*loader);
  Result<std::unique_ptr<ConnectedPeers>> peers = connect(plan, rank, ordinal, own->loader->cuda()->runtime(), meeting);
  if (!peers)
    return leave(meeting, peers.error());
  own->peers = std::move(*peers);
  Status status = runGpuRank(*own, artifact, plan, rank);
  if (status)
    return std::move(own->ranks[static_cast<size_t>(rank)]);
  own->peers->abandon(status.error());
  (void)own.release(); // leak it: freeing memory would wait for work that may not end
  return status.error();
}

} // namespace

Result<PreparedRanks> runOnGpus(const RunOptions &options, const Artifact &artifact, const RankPlan &plan) {
  const size_t count = plan.devices.size();
  dist::ThreadMeeting meeting(static_cast<int>(count));
  std::vector<std::optional<Result<std::unique_ptr<PreparedRank>>>> results(count);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] { results[i] = openAndRun(options, artifact, plan, static_cast<int>(i), meeting); });
  for (std::thread &thread : threads)
    thread.join();
  PreparedRanks ranks;
  const Error *failure = nullptr;
  for (auto &result : results)
    if (*result)
      ranks.push_back(std::move(**result));
    else if (!failure || failure->code == TILE_ERROR_PEER) // TILE_ERROR_PEER only says that another rank has failed
      failure = &result->error();
  if (!failure)
    return ranks;
  const int code = reportFailure(options, *failure);
  std::fflush(nullptr);
  std::_Exit(code); // a normal exit would wait for GPUs whose kernels may not end
}

} // namespace tile::runner
