// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Soak/SoakLoop.h"

#include "Runner/LongWork.h"
#include "Runner/Run.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/ranges.h>
#include <fstream>
#include <malloc.h>
#include <mutex>
#include <unistd.h>

namespace tile::runner {

namespace {

/// Memory use between launches, after the buffers have been freed.
struct MemoryUse {
  size_t hostBytes = 0;
  std::optional<size_t> deviceBytes; ///< used by all processes on the GPU
};

MemoryUse measureMemory(const DeviceLoader &loader) {
  MemoryUse use;
  malloc_trim(0); // return freed memory to the system
  size_t pages = 0;
  std::ifstream statm("/proc/self/statm");
  if (statm >> pages >> pages) // the second value is the resident size
    use.hostBytes = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (const CudaContext *context = loader.cuda())
    use.deviceBytes = context->usedMemory();
  return use;
}

class SoakLoop {
public:
  SoakLoop(const SoakOptions &options, const SoakSource &source, LoadedArtifacts &artifacts)
      : soak(options), source(source), artifacts(artifacts), deviceName(artifacts.device().name()),
        start(std::chrono::steady_clock::now()) {}

  int run() {
    // In the simulator, work that does not check the limit, such as filling large buffers, must not exceed it either.
    // On a GPU, ending the process would hide a launch that hangs.
    const std::optional<TimeLimit> limit = artifacts.device().cuda() ? std::nullopt : soak.run.limit;
    const HardLimit enforced(limit, [this](const runtime::Error &error) { endProcess(error); });
    while (seconds() < soak.seconds) {
      showProgress();
      if (!atHalfTime && seconds() >= soak.seconds / 2)
        atHalfTime = measureMemory(artifacts.device());
      Result<RunOptions> drawn = source.draw(launch);
      if (drawn) {
        current = std::move(*drawn);
        current.seed = soak.run.seed + launch;
      }
      Result<RunReport> report =
          drawn ? artifacts.run(current, [&](Device &its) { watch(its); }) : Result<RunReport>(drawn.error());
      const std::lock_guard lock(reporting);
      const bool isTimeOver = !report && current.limit && current.limit->ended(report.error());
      if (isTimeOver && launch > 0)
        break;
      if (isTimeOver || !drawn) {
        hideProgress();
        return finish(reportFailure(soak.run, report.error()));
      }
      if (!report || !report->passed()) {
        reportEnd("FAILED", report ? formatText(*report) : fmt::format("  {}\n", report.error().message));
        return finish(1);
      }
      count(*report);
    }
    const std::lock_guard lock(reporting);
    reportSuccess();
    return finish(0);
  }

private:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

  int finish(int code) {
    finished = code;
    return code;
  }

  /// Called by another thread: reports the launches before the current one, and ends the process.
  void endProcess(const runtime::Error &error) {
    const std::lock_guard lock(reporting);
    if (!finished && launch == 0) {
      hideProgress();
      finish(reportFailure(soak.run, error));
    } else if (!finished) {
      reportSuccess();
      finish(0);
    }
    std::_Exit(finishOutput(soak.run.program, *finished));
  }

  void watch(Device &its) {
    device = &its;
    if (CudaDevice *gpu = its.asCuda())
      gpu->watch({soak.deadlineSeconds, [this] { reportEnd("HANGS", hangText()), std::_Exit(1); }});
  }

  void count(const RunReport &report) {
    ++launches[source.cases ? current.label : report.variant];
    for (const CheckResult &check : report.checks)
      if (check.relativeError > largestError) {
        largestError = check.relativeError;
        largestCase = current.label;
      }
    ++launch;
  }

  void reportSuccess() {
    hideProgress();
    fmt::print("soak: {} launches in {:.1f} s passed on {}; {}; largest error {:.2e}{}\n", launch * repeats(),
               seconds(), deviceName, source.what, largestError,
               largestCase.empty() ? "" : fmt::format(" (case '{}')", largestCase));
    if (source.cases)
      fmt::print("  {}\n", describeCases());
    else if (launches.size() > 1)
      fmt::print("  variants: {}\n", describeVariants());
    if (atHalfTime)
      fmt::print("  memory: {}\n", describeMemory(*atHalfTime, measureMemory(artifacts.device())));
  }

  std::string describeCases() const {
    if (launches.empty())
      return fmt::format("none of {} cases", source.cases);
    const auto [least, most] =
        std::minmax_element(launches.begin(), launches.end(), [](auto &a, auto &b) { return a.second < b.second; });
    return fmt::format("{} of {} cases, {} to {} launches each", launches.size(), source.cases,
                       least->second * repeats(), most->second * repeats());
  }

  std::string describeVariants() const {
    std::vector<std::string> counts;
    for (const auto &[name, count] : launches)
      counts.push_back(fmt::format("{} {}", name, count * repeats()));
    return fmt::format("{}", fmt::join(counts, ", "));
  }

  static std::string describeMemory(const MemoryUse &half, const MemoryUse &end) {
    const auto mebibytes = [](size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    std::string text = fmt::format("{:.0f} MiB of the host halfway through, {:.0f} at the end",
                                   mebibytes(half.hostBytes), mebibytes(end.hostBytes));
    if (half.deviceBytes && end.deviceBytes)
      text += fmt::format("; {:.0f} MiB of the GPU (all processes), then {:.0f}", mebibytes(*half.deviceBytes),
                          mebibytes(*end.deviceBytes));
    return text;
  }

  std::string hangText() const { return fmt::format("  not finished within {} s\n", soak.deadlineSeconds); }

  void reportEnd(const char *what, const std::string &details) const {
    hideProgress();
    std::string again = fmt::format("tile-run {} {}", current.artifact, fmt::join(current.arguments, " "));
    for (const std::string &offset : current.offsets)
      again += " --offset " + offset;
    if (!current.variant.empty())
      again += " --variant=" + current.variant;
    again += fmt::format(" --check --seed={}", current.seed);
    if (const std::string order = device ? device->lastRun() : ""; !order.empty())
      again += fmt::format(" --device={} {}", deviceName, order);
    const std::string of = current.label.empty() ? "" : fmt::format(", case '{}',", current.label);
    fmt::print("soak: launch {}{} {} after {:.1f} s on {}\n{}  again: {}\n", launch + 1, of, what, seconds(),
               deviceName, details, again);
    std::fflush(stdout); // if a launch hangs, the process exits without flushing
  }

  uint64_t repeats() const { return static_cast<uint64_t>(soak.run.repeat); }

  void showProgress() {
    if (!isatty(fileno(stderr)) || seconds() < nextProgress)
      return;
    nextProgress = seconds() + 1;
    fmt::print(stderr, "\r\x1b[K{:.0f} of {:.0f} s, {} launches", seconds(), soak.seconds, launch);
  }
  void hideProgress() const {
    if (nextProgress > 0)
      fmt::print(stderr, "\r\x1b[K");
  }

  const SoakOptions &soak;
  const SoakSource &source;
  LoadedArtifacts &artifacts;
  const std::string deviceName;
  const std::chrono::steady_clock::time_point start;
  RunOptions current; ///< options of this launch
  Device *device = nullptr;
  std::mutex reporting;        ///< guards the counts and the report
  std::optional<int> finished; ///< the exit code, if the report has been made
  uint64_t launch = 0;
  std::map<std::string, uint64_t> launches; ///< number of launches by case or variant
  std::optional<MemoryUse> atHalfTime;
  double nextProgress = 0;
  double largestError = 0;
  std::string largestCase;
};

} // namespace

int runSoakLoop(const SoakOptions &options, const SoakSource &source, LoadedArtifacts &artifacts) {
  return SoakLoop(options, source, artifacts).run();
}

} // namespace tile::runner
