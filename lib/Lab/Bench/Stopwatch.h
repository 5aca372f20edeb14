// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times launches on a separate stream, between events.
//
//   single   fill | launch | fill | launch | ...      each launch separately; the fill evicts the L2 cache, so that
//                                                     inputs come from memory, and keeps the host ahead of the device
//   graph    [launch launch ... launch] [launch ...   replays of a CUDA graph of many launches, which measure device
//                                                     time only; for kernels that take less time than a launch
//
// To measure single launches with a warm cache, all fills precede the first launch. To measure a graph with a cold
// cache, its launches cycle through copies of the buffers that together exceed the cache.
#pragma once

#include "Runner/Device/CudaDevice.h"
#include "Runner/Device/CudaEvents.h"

#include <functional>
#include <span>

namespace tile::runner {

using Launch = std::function<Status(runtime::CUstream)>;

double median(std::vector<double> values);

/// The unit of measurement: one launch after a fill, or one replay of a graph of `launches`.
struct Sample {
  Launch run;
  int launches = 1;
  bool isGraph = false;
  bool isCold = true; ///< single launch: the fill evicts the cache
};

class Stopwatch {
public:
  /// Maximum number of samples of one measurement.
  static constexpr int maxSamples = 200;

  static Result<Stopwatch> create(CudaContext &context);

  /// Captures a graph of the given number of launches, which cycles through all elements of `launch`. All elements must
  /// have run before, because nothing may be loaded or allocated during capture.
  Result<Sample> capture(std::span<const Launch> launch, int launches) const;

  /// Returns the median time of a launch over `count` samples, in milliseconds. `whileBusy` is called while the work is
  /// queued but not finished.
  Result<double> measure(const Sample &sample, int count, const std::function<void()> &whileBusy = {}) const;

  /// Evicts the L2 cache by filling memory on the stream.
  Status evict() const;
  /// Returns the number of bytes that evict() writes.
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
