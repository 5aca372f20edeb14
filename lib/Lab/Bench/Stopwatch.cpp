// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samples are queued without synchronization; only the end of a measurement synchronizes.
#include "Lab/Bench/Stopwatch.h"

#include <algorithm>

namespace tile::runner {

using runtime::makeError;

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Result<Stopwatch> Stopwatch::create(CudaContext &context) {
  const Driver &driver = context.driver();
  Result<CudaStream> stream = CudaStream::create(driver);
  if (!stream)
    return stream.error();
  // Twice the size of the cache; at least 64 MiB for GPUs that do not report it.
  const size_t flushBytes = std::max<size_t>(2 * context.info().l2Bytes, size_t(64) << 20);
  Result<CudaMemory> flush = CudaMemory::allocate(driver, flushBytes);
  if (!flush)
    return flush.error();
  Stopwatch watch(driver, std::move(*stream), std::move(*flush), flushBytes);
  for (int i = 0; i < maxSamples; ++i) {
    Result<CudaTimer> timer = CudaTimer::create(driver);
    if (!timer)
      return timer.error();
    watch.timers.push_back(std::move(*timer));
  }
  return watch;
}

Result<Sample> Stopwatch::capture(std::span<const Launch> launch, int launches) const {
  Result<CudaGraph> graph = CudaGraph::capture(*driver, stream.get(), [&] {
    Status status = runtime::Success{};
    for (int i = 0; i < launches && status; ++i)
      status = launch[static_cast<size_t>(i) % launch.size()](stream.get());
    return status;
  });
  if (!graph)
    return graph.error();
  Sample sample;
  sample.run = [owner = std::make_shared<CudaGraph>(std::move(*graph))](runtime::CUstream stream) {
    return owner->replay(stream);
  };
  sample.launches = launches;
  sample.isGraph = true;
  return sample;
}

Status Stopwatch::evict() const {
  return driver->check(driver->fillBytes(flush.address(), 0, flushBytes, stream.get()), "cuMemsetD8Async");
}

/// Queues fills that keep the GPU busy while the host queues the samples. A launch follows, which brings the data of
/// the samples into the cache.
Status Stopwatch::getAhead(const Sample &sample, int count) const {
  constexpr int samplesPerFill = 3; // a sample takes 10 us of host time; filling twice the L2 cache takes 30 us
  Status status = runtime::Success{};
  for (int i = 0; i <= count / samplesPerFill && status; ++i)
    status = evict();
  return status ? sample.run(stream.get()) : status;
}

Result<double> Stopwatch::measure(const Sample &sample, int count, const std::function<void()> &whileBusy) const {
  if (!sample.isGraph && !sample.isCold)
    if (Status status = getAhead(sample, count); !status)
      return status.error();
  for (int i = 0; i < count; ++i) {
    const CudaTimer &timer = timers[static_cast<size_t>(i)];
    Status status = runtime::Success{};
    if (!sample.isGraph && sample.isCold)
      status = evict();
    if (status)
      status = timer.start(stream.get());
    if (status)
      status = sample.run(stream.get());
    if (status)
      status = timer.stop(stream.get());
    if (!status)
      return status.error();
  }
  if (whileBusy)
    whileBusy();
  if (Status status = driver->check(driver->streamSynchronize(stream.get()), "while the benchmark was running");
      !status)
    return status.error();
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    Result<double> time = timers[static_cast<size_t>(i)].milliseconds();
    if (!time)
      return time.error();
    times.push_back(*time / sample.launches);
  }
  return median(std::move(times));
}

} // namespace tile::runner
