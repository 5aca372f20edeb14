// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times launches on a stream of its own, between events.
//
//   single   fill | launch | fill | launch | ...      each launch for itself; the fill evicts the L2 cache, so that
//                                                     inputs come from memory, and keeps the host ahead of the device
//   graph    [launch launch ... launch] [launch ...   replays of a CUDA graph of many launches: the device's time
//                                                     alone, for kernels that take less than a launch
//
// Single launches with a warm cache have all fills before the first one; a graph with a cold cache goes through copies
// of the buffers that together are larger than it.
#pragma once

#include "Runner/Device/CudaDevice.h"
#include "Runner/Device/CudaEvents.h"

#include <functional>
#include <span>

namespace tile::runner {

using Launch = std::function<Status(runtime::CUstream)>;

double median(std::vector<double> values);

/// What is measured at once: one launch after a fill, or one replay of a graph of `launches`.
struct Sample {
  Launch run;
  int launches = 1;
  bool isGraph = false;
  bool isCold = true; ///< of one launch: the fill evicts the cache
};

class Stopwatch {
public:
  /// Most samples of one measurement.
  static constexpr int mostSamples = 200;

  static Result<Stopwatch> create(CudaContext &context);

  /// A graph of so many launches, of all in turns. They have run before: nothing may be loaded or allocated in them.
  Result<Sample> capture(std::span<const Launch> launch, int launches) const;

  /// Median time of a launch over `count` samples, in milliseconds. `whileBusy` is called when the work is queued but
  /// not finished.
  Result<double> measure(const Sample &sample, int count, const std::function<void()> &whileBusy = {}) const;

  /// Fills memory until nothing else is in the L2 cache, on the stream.
  Status evict() const;
  /// Bytes that a fill evicts the cache with.
  size_t evictingBytes() const { return flushBytes; }
  const CudaStream &ownStream() const { return stream; }

private:
  Stopwatch(const Driver &driver, CudaStream stream, CudaMemory flush, size_t flushBytes)
      : driver(&driver), stream(std::move(stream)), flush(std::move(flush)), flushBytes(flushBytes) {}
  Status getAhead(const Sample &sample, int count) const;

  const Driver *driver;
  CudaStream stream;
  CudaMemory flush;
  size_t flushBytes;
  std::vector<CudaTimer> timers;
};

} // namespace tile::runner
