// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structures follow CUPTI's documentation ("CUPTI Range Profiling API", "CUPTI Profiler Host API"). Each structure
// begins with its size up to the last member. From this size, the library tells the version of the structure.
#include "Lab/Bench/Counters.h"

#include <cstddef>
#include <dlfcn.h>

namespace tile::runner {

using runtime::makeError;
using runtime::Success;

namespace {

struct Initialize {
  size_t size = offsetof(Initialize, reserved) + sizeof(void *);
  void *reserved = nullptr;
};

struct ChipName {
  size_t size = offsetof(ChipName, name) + sizeof(name);
  void *reserved = nullptr;
  size_t device = 0;
  const char *name = nullptr;
};

struct HostInitialize {
  size_t size = offsetof(HostInitialize, host) + sizeof(host);
  void *reserved = nullptr;
  int profiler = 0; // the range profiler
  const char *chip = nullptr;
  const uint8_t *availability = nullptr;
  void *host = nullptr;
};

struct HostDeinitialize {
  size_t size = offsetof(HostDeinitialize, host) + sizeof(host);
  void *reserved = nullptr;
  void *host = nullptr;
};

struct AddMetrics {
  size_t size = offsetof(AddMetrics, count) + sizeof(count);
  void *reserved = nullptr;
  void *host = nullptr;
  const char **names = nullptr;
  size_t count = 0;
};

struct ConfigSize {
  size_t size = offsetof(ConfigSize, bytes) + sizeof(bytes);
  void *reserved = nullptr;
  void *host = nullptr;
  size_t bytes = 0;
};

struct ConfigImage {
  size_t size = offsetof(ConfigImage, image) + sizeof(image);
  void *reserved = nullptr;
  void *host = nullptr;
  size_t bytes = 0;
  uint8_t *image = nullptr;
};

/// Parameters of four functions: cuptiRangeProfilerEnable writes `profiler`; Disable, Start and PopRange read it.
struct EnableProfiler {
  size_t size = offsetof(EnableProfiler, profiler) + sizeof(profiler);
  void *reserved = nullptr;
  runtime::CUcontext context = nullptr;
  void *profiler = nullptr;
};
struct ProfilerOnly {
  size_t size = offsetof(ProfilerOnly, profiler) + sizeof(profiler);
  void *reserved = nullptr;
  void *profiler = nullptr;
};

struct DataSize {
  size_t size = offsetof(DataSize, bytes) + sizeof(bytes);
  void *reserved = nullptr;
  void *profiler = nullptr;
  const char **names = nullptr;
  size_t count = 0;
  size_t ranges = 1;
  uint32_t nodes = 1;
  size_t bytes = 0;
};

struct DataInitialize {
  size_t size = offsetof(DataInitialize, image) + sizeof(image);
  void *reserved = nullptr;
  void *profiler = nullptr;
  size_t bytes = 0;
  uint8_t *image = nullptr;
};

struct SetConfig {
  size_t size = offsetof(SetConfig, targetNesting) + sizeof(targetNesting);
  void *reserved = nullptr;
  void *profiler = nullptr;
  size_t configBytes = 0;
  const uint8_t *config = nullptr;
  size_t dataBytes = 0;
  uint8_t *data = nullptr;
  int range = 2;  // CUPTI_UserRange
  int replay = 3; // CUPTI_UserReplay: the application repeats the launch for each pass
  size_t ranges = 1;
  uint16_t nestings = 1, minNesting = 1;
  size_t pass = 0;
  uint16_t targetNesting = 1;
};

struct PushRange {
  size_t size = offsetof(PushRange, name) + sizeof(name);
  void *reserved = nullptr;
  void *profiler = nullptr;
  const char *name = "launch";
};

struct Stop {
  size_t size = offsetof(Stop, isComplete) + sizeof(isComplete);
  void *reserved = nullptr;
  void *profiler = nullptr;
  size_t pass = 0, nesting = 0;
  uint8_t isComplete = 0;
};

struct Decode {
  size_t size = offsetof(Decode, dropped) + sizeof(dropped);
  void *reserved = nullptr;
  void *profiler = nullptr;
  size_t dropped = 0;
};

struct Evaluate {
  size_t size = offsetof(Evaluate, values) + sizeof(values);
  void *reserved = nullptr;
  void *host = nullptr;
  const uint8_t *data = nullptr;
  size_t dataBytes = 0;
  size_t range = 0;
  const char **names = nullptr;
  size_t count = 0;
  double *values = nullptr;
};

struct Metric {
  const char *name;
  double scale; ///< converts percent to shares
  std::optional<double> CounterValues::*value;
};

constexpr Metric metrics[] = {
    {"dram__bytes.sum", 1, &CounterValues::memoryBytes},
    {"lts__t_bytes.sum", 1, &CounterValues::l2Bytes},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0.01, &CounterValues::tensorShare},
    {"sm__inst_executed_pipe_xu.sum", 1, &CounterValues::specialInstructions},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", 0.01, &CounterValues::warpsShare}};

class RangeProfiler {
public:
  ~RangeProfiler() {
    if (profiler) {
      ProfilerOnly disable;
      disable.profiler = profiler;
      (void)call("cuptiRangeProfilerDisable", disable);
    }
    closeHost();
    if (isInitialized) {
      Initialize deinitialize;
      (void)call("cuptiProfilerDeInitialize", deinitialize);
    }
  }

  Status open(const std::string &path, int device) {
    std::vector<std::string> names = {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                      "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so"};
    if (!path.empty())
      names = {path};
    for (size_t i = 0; i < names.size() && !library; ++i)
      library = dlopen(names[i].c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return makeError(TILE_ERROR_UNSUPPORTED, "CUPTI not found; name it with --cupti=FILE");
    Initialize initialize;
    if (Status status = call("cuptiProfilerInitialize", initialize); !status)
      return status;
    isInitialized = true;
    ChipName chipName;
    chipName.device = static_cast<size_t>(device);
    if (Status status = call("cuptiDeviceGetChipName", chipName); !status)
      return status;
    chip = chipName.name;
    return Success{};
  }

  /// Selects those metrics that this GPU supports.
  Status chooseMetrics() {
    for (const Metric &metric : metrics) {
      if (Status status = openHost(); !status)
        return status;
      if (addMetrics({metric.name}))
        chosen.push_back(&metric);
    }
    if (chosen.empty())
      return makeError(TILE_ERROR_UNSUPPORTED, "CUPTI has none of the counters for chip {}", chip);
    for (const Metric *metric : chosen)
      names.push_back(metric->name);
    if (Status status = openHost(); !status)
      return status;
    return addMetrics(names);
  }

  Status enable(runtime::CUcontext context) {
    ConfigSize configSize;
    configSize.host = host;
    if (Status status = call("cuptiProfilerHostGetConfigImageSize", configSize); !status)
      return status;
    config.resize(configSize.bytes);
    ConfigImage image;
    image.host = host;
    image.bytes = config.size();
    image.image = config.data();
    if (Status status = call("cuptiProfilerHostGetConfigImage", image); !status)
      return status;
    EnableProfiler enable;
    enable.context = context;
    if (Status status = call("cuptiRangeProfilerEnable", enable); !status)
      return status;
    profiler = enable.profiler;
    DataSize dataSize;
    dataSize.profiler = profiler;
    dataSize.names = names.data();
    dataSize.count = names.size();
    if (Status status = call("cuptiRangeProfilerGetCounterDataSize", dataSize); !status)
      return status;
    data.resize(dataSize.bytes);
    DataInitialize initialize;
    initialize.profiler = profiler;
    initialize.bytes = data.size();
    initialize.image = data.data();
    if (Status status = call("cuptiRangeProfilerCounterDataImageInitialize", initialize); !status)
      return status;
    SetConfig set;
    set.profiler = profiler;
    set.configBytes = config.size();
    set.config = config.data();
    set.dataBytes = data.size();
    set.data = data.data();
    return call("cuptiRangeProfilerSetConfig", set);
  }

  /// Calls `prepare` and `launch` once for each pass; only `launch` is counted.
  Status count(const std::function<Status()> &prepare, const std::function<Status()> &launch) {
    constexpr int maxPasses = 100;
    for (int pass = 0; pass < maxPasses; ++pass) {
      ProfilerOnly only;
      only.profiler = profiler;
      PushRange push;
      push.profiler = profiler;
      Stop stop;
      stop.profiler = profiler;
      Status status = prepare();
      if (status)
        status = call("cuptiRangeProfilerStart", only);
      if (status)
        status = call("cuptiRangeProfilerPushRange", push);
      if (status)
        status = launch();
      if (status)
        status = call("cuptiRangeProfilerPopRange", only);
      if (status)
        status = call("cuptiRangeProfilerStop", stop);
      if (!status)
        return status;
      if (stop.isComplete) {
        Decode decode;
        decode.profiler = profiler;
        return call("cuptiRangeProfilerDecodeData", decode);
      }
    }
    return makeError(TILE_ERROR_UNSUPPORTED, "CUPTI needs more than {} passes", maxPasses);
  }

  Result<CounterValues> evaluate() {
    std::vector<double> values(names.size());
    Evaluate evaluate;
    evaluate.host = host;
    evaluate.data = data.data();
    evaluate.dataBytes = data.size();
    evaluate.names = names.data();
    evaluate.count = names.size();
    evaluate.values = values.data();
    if (Status status = call("cuptiProfilerHostEvaluateToGpuValues", evaluate); !status)
      return status.error();
    CounterValues result;
    for (size_t i = 0; i < chosen.size(); ++i)
      result.*chosen[i]->value = values[i] * chosen[i]->scale;
    return result;
  }

private:
  template <typename Parameters> Status call(const char *name, Parameters &parameters) const {
    const auto function = reinterpret_cast<int (*)(Parameters *)>(dlsym(library, name));
    if (!function)
      return makeError(TILE_ERROR_UNSUPPORTED, "CUPTI has no function {}; CUDA 12.6 has it", name);
    const int status = function(&parameters);
    if (status == 0)
      return Success{};
    const char *text = nullptr;
    if (const auto explain = reinterpret_cast<int (*)(int, const char **)>(dlsym(library, "cuptiGetResultString")))
      (void)explain(status, &text); // the message contains the status anyway
    return makeError(TILE_ERROR_UNSUPPORTED, "{}: {} ({})", name, text ? text : "status", status);
  }

  Status openHost() {
    closeHost();
    HostInitialize initialize;
    initialize.chip = chip.c_str();
    Status status = call("cuptiProfilerHostInitialize", initialize);
    host = status ? initialize.host : nullptr;
    return status;
  }

  void closeHost() {
    if (!host)
      return;
    HostDeinitialize deinitialize;
    deinitialize.host = host;
    (void)call("cuptiProfilerHostDeinitialize", deinitialize);
    host = nullptr;
  }

  Status addMetrics(std::vector<const char *> added) {
    AddMetrics add;
    add.host = host;
    add.names = added.data();
    add.count = added.size();
    return call("cuptiProfilerHostConfigAddMetrics", add);
  }

  void *library = nullptr;
  bool isInitialized = false;
  std::string chip;
  void *host = nullptr, *profiler = nullptr;
  std::vector<const Metric *> chosen;
  std::vector<const char *> names;
  std::vector<uint8_t> config, data;
};

} // namespace

Result<CounterValues> measureCounters(CudaContext &context, const Stopwatch &watch, const Launch &launch,
                                      const std::string &library) {
  const Driver &driver = context.driver();
  runtime::CUcontext current = nullptr;
  RangeProfiler profiler;
  Status status = driver.check(driver.contextGetCurrent(&current), "cuCtxGetCurrent");
  if (status)
    status = profiler.open(library, context.info().ordinal);
  if (status)
    status = profiler.chooseMetrics();
  if (status)
    status = profiler.enable(current);
  const runtime::CUstream stream = watch.ownStream().get();
  const auto wait = [&] { return driver.check(driver.streamSynchronize(stream), "while counters were read"); };
  const auto prepare = [&] {
    Status evicted = watch.evict();
    return evicted ? wait() : evicted;
  };
  const auto run = [&] {
    Status launched = launch(stream);
    return launched ? wait() : launched;
  };
  if (status)
    status = profiler.count(prepare, run);
  return status ? profiler.evaluate() : Result<CounterValues>(status.error());
}

} // namespace tile::runner
