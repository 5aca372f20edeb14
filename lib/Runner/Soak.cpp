// Plan, draw, run.
#include "Runner/Soak.h"

#include "Runner/Arguments.h"
#include "Runner/Random.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <set>
#include <unistd.h>

namespace tile::runner {

using runtime::Expression;
using runtime::makeError;

namespace {

constexpr int64_t lowestSize = 1, highestSize = 2048; // of parameters without a range: a product takes milliseconds
constexpr int64_t tileMultiple = 64;                  // tiles of kernels are multiples or divisors of it

struct Range {
  int64_t low = lowestSize, high = highestSize;
};

/// `LOW..HIGH`; nothing if the text is something else.
std::optional<Range> parseRange(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos)
    return std::nullopt;
  Range range;
  const char *middle = text.data() + dots, *last = text.data() + text.size();
  const auto low = std::from_chars(text.data(), middle, range.low);
  const auto high = std::from_chars(middle + 2, last, range.high);
  if (low.ec != std::errc() || low.ptr != middle || high.ec != std::errc() || high.ptr != last)
    return std::nullopt;
  return range;
}

int64_t roundUp(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor * divisor;
}

/// Where a manifest uses its parameters.
struct Uses {
  std::set<std::string> inSizes;         ///< shapes and grid
  std::set<std::string> inStrides;       ///< of buffers
  std::set<std::string> inHigherStrides; ///< of buffers with more than two dimensions
  std::map<std::string, int64_t> ofMaps; ///< what tensor maps demand of strides, in elements
};

Uses findUses(const Manifest &manifest) {
  const runtime::ExpressionNames names = expressionNames(manifest);
  const auto collect = [&](const std::vector<std::string> &texts, std::set<std::string> &into) {
    for (const std::string &text : texts)
      if (Result<Expression> expression = Expression::compile(text, names))
        for (unsigned slot : expression->usedSlots())
          into.insert(names.variables[slot].name);
  };
  Uses uses;
  collect(manifest.launch.grid, uses.inSizes);
  for (const Parameter &parameter : manifest.parameters)
    if (parameter.buffer) {
      collect(parameter.buffer->shape, uses.inSizes);
      collect(parameter.buffer->strides, uses.inStrides);
      if (parameter.buffer->shape.size() > 2)
        collect(parameter.buffer->strides, uses.inHigherStrides);
    }
  for (const runtime::TensorMapSpec &map : manifest.tensorMaps)
    for (const std::string &stride : map.strides)
      uses.ofMaps[stride] =
          std::max<int64_t>(uses.ofMaps[stride], 16 / std::gcd<int64_t>(16, runtime::dataTypeSize(map.element)));
  return uses;
}

/// Whether the default depends on other parameters.
bool followsOthers(const Parameter &parameter, const Manifest &manifest) {
  if (!parameter.defaultValue)
    return false;
  Result<Expression> expression = Expression::compile(*parameter.defaultValue, expressionNames(manifest));
  return expression && !expression->usedSlots().empty();
}

Result<SoakPlan::Size> planSize(const Parameter &parameter, Range range, int64_t divisor) {
  const runtime::IntegerRange type = runtime::integerRange(parameter.type);
  SoakPlan::Size size{parameter.name, range.low, std::min(range.high, type.highest), divisor};
  if (range.low < 0 || range.low > size.high || range.low > (int64_t(1) << 40))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={}..{} is not a range of sizes of type {}", parameter.name,
                     range.low, range.high, parameter.typeName());
  size.low = roundUp(range.low, divisor);
  size.high = size.high / divisor * divisor;
  if (size.low > size.high)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={}..{} has no multiple of {}, for which the kernel was compiled",
                     parameter.name, range.low, range.high, divisor);
  return size;
}

/// Several draws for each name and launch.
uint64_t draw(uint64_t seed, const std::string &name, uint64_t launch, unsigned which) {
  return randomBits(seedFor(seed, name), launch * 8 + which);
}

int64_t drawSize(const SoakPlan::Size &size, uint64_t seed, uint64_t launch) {
  const auto bits = [&](unsigned which) { return draw(seed, size.name, launch, which); };
  const auto magnitudes = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(size.high - size.low))) + 1;
  const uint64_t magnitude = std::max(bits(0) % magnitudes, bits(1) % magnitudes);
  int64_t value = size.low + static_cast<int64_t>(bits(2) & ((uint64_t(1) << magnitude) - 1));
  if (bits(3) % 2)
    value = roundUp(value, tileMultiple) + static_cast<int64_t>(bits(4) % 3) - 1;
  value = std::clamp(value, size.low, size.high);
  return value / size.divisor * size.divisor; // `low` is a multiple, too
}

} // namespace

Result<SoakPlan> planSoak(const std::vector<std::string> &arguments, const Manifest &manifest) {
  SoakPlan plan;
  std::map<std::string, Range> ranges;
  std::set<std::string> given;
  for (const std::string &argument : arguments) {
    Result<NamedText> split = splitAssignment(argument);
    if (!split)
      return split.error();
    const Parameter *parameter = manifest.findParameter(split->name);
    const std::optional<Range> range = parseRange(split->value);
    if (range && parameter && parameter->isInteger())
      ranges[split->name] = *range;
    else
      plan.fixed.push_back(argument); // binding explains what is wrong with it
    given.insert(split->name);
  }
  const Uses uses = findUses(manifest);
  for (const Parameter &parameter : manifest.parameters) {
    const std::string &name = parameter.name;
    const bool hasRange = ranges.contains(name);
    if (!parameter.isInteger() || (given.contains(name) && !hasRange))
      continue;
    const auto demand = uses.ofMaps.find(name);
    const int64_t divisor = std::lcm(parameter.divisibility, demand == uses.ofMaps.end() ? 1 : demand->second);
    if (!hasRange && uses.inStrides.contains(name) && !uses.inSizes.contains(name)) {
      if (parameter.defaultValue)
        plan.strides.push_back({name, divisor, !uses.inHigherStrides.contains(name)});
      continue;
    }
    if (!hasRange && followsOthers(parameter, manifest))
      continue;
    Result<SoakPlan::Size> size = planSize(parameter,
                                           hasRange                                  ? ranges[name]
                                           : parameter.type == runtime::DataType::I1 ? Range{0, 1}
                                                                                     : Range{},
                                           divisor);
    if (!size)
      return size.error();
    plan.sizes.push_back(*size);
  }
  return plan;
}

Result<std::vector<std::string>> drawArguments(const SoakPlan &plan, const Manifest &manifest, uint64_t seed,
                                               uint64_t launch, int numSms) {
  std::vector<std::string> arguments = plan.fixed;
  for (const SoakPlan::Size &size : plan.sizes)
    arguments.push_back(fmt::format("{}={}", size.name, drawSize(size, seed, launch)));
  for (const SoakPlan::Stride &stride : plan.strides) { // one after another: a default may use a stride
    Result<Bindings> bindings = Bindings::bind(manifest, arguments, numSms);
    if (!bindings)
      return bindings.error();
    const size_t index = static_cast<size_t>(manifest.findParameter(stride.name) - manifest.parameters.data());
    const int64_t tight = bindings->scalar(index).integer;
    int64_t value = roundUp(tight, stride.divisor);
    if (stride.isPadded && tight > 1 && draw(seed, stride.name, launch, 0) % 2) // 1: neighbours stay neighbours
      value += stride.divisor * static_cast<int64_t>(draw(seed, stride.name, launch, 1) % 17);
    arguments.push_back(fmt::format("{}={}", stride.name, value));
  }
  return arguments;
}

namespace {

std::string describe(const SoakPlan &plan) {
  std::vector<std::string> parts = plan.fixed;
  for (const SoakPlan::Size &size : plan.sizes)
    parts.push_back(fmt::format("{}={}..{}{}", size.name, size.low, size.high,
                                size.divisor > 1 ? fmt::format(" (multiples of {})", size.divisor) : ""));
  for (const SoakPlan::Stride &stride : plan.strides)
    parts.push_back(fmt::format("{} {}", stride.name,
                                stride.divisor > 1 ? fmt::format("(multiples of {})", stride.divisor) : "(any)"));
  return fmt::format("{}", fmt::join(parts, " "));
}

class Soak {
public:
  Soak(const SoakOptions &options, const runtime::Artifact &artifact, SoakPlan plan, Device &device)
      : soak(options), options(options.run), manifest(artifact.manifest), plan(std::move(plan)), device(device),
        start(std::chrono::steady_clock::now()) {}

  int run() {
    if (CudaDevice *gpu = device.asCuda())
      gpu->watch({soak.deadlineSeconds, [this] { reportHang(); }});
    for (; seconds() < soak.seconds; ++launch) {
      showProgress();
      Result<std::vector<std::string>> arguments =
          drawArguments(plan, manifest, options.seed, launch, device.multiprocessorCount());
      if (!arguments)
        return reportFailure(options, arguments.error());
      current = options;
      current.arguments = std::move(*arguments);
      current.seed = options.seed + launch;
      current.check = true;
      Result<RunReport> report = runKernel(current, manifest, device, options.artifact);
      if (!report || !report->passed()) {
        reportEnd("FAILED", report ? formatText(*report) : fmt::format("  {}\n", report.error().message));
        return 1;
      }
      for (const CheckResult &check : report->checks)
        largestError = std::max(largestError, check.relativeError);
    }
    hideProgress();
    fmt::print("soak: {} launches in {:.1f} s passed on {}; {}; largest error {:.2e}\n", launch * options.repeat,
               seconds(), device.name(), describe(plan), largestError);
    return 0;
  }

private:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

  void reportEnd(const char *what, const std::string &details) const {
    hideProgress();
    const std::string order = device.lastRun();
    fmt::print("soak: launch {} {} after {:.1f} s on {}\n{}  again: tile-run {} {} --check --seed={}{}\n", launch + 1,
               what, seconds(), device.name(), details, options.artifact, fmt::join(current.arguments, " "),
               current.seed, order.empty() ? "" : fmt::format(" --device={} {}", device.name(), order));
    std::fflush(stdout);
  }

  /// Does not return: whatever touches the device now waits for the kernel.
  [[noreturn]] void reportHang() const {
    reportEnd("HANGS", fmt::format("  not finished within {} s\n", soak.deadlineSeconds));
    std::_Exit(1);
  }

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
  const RunOptions &options; ///< soak.run
  const Manifest &manifest;
  const SoakPlan plan;
  Device &device;
  const std::chrono::steady_clock::time_point start;
  RunOptions current; ///< of this launch
  uint64_t launch = 0;
  double nextProgress = 0;
  double largestError = 0;
};

} // namespace

int runSoak(const SoakOptions &options, const runtime::Artifact &artifact) {
  Result<SoakPlan> plan = planSoak(options.run.arguments, artifact.manifest);
  if (!plan)
    return reportFailure(options.run, plan.error());
  RunOptions first = options.run; // so that wrong arguments are found before a device is opened
  Result<std::vector<std::string>> arguments = drawArguments(*plan, artifact.manifest, options.run.seed, 0, 1);
  if (!arguments)
    return reportFailure(options.run, arguments.error());
  first.arguments = std::move(*arguments);
  if (Status status = validateRequest(first, artifact.manifest); !status)
    return reportFailure(options.run, status.error());
  Result<DeviceLoader> loader = DeviceLoader::open(options.run);
  if (!loader)
    return reportFailure(options.run, loader.error());
  Result<std::unique_ptr<Device>> device = loader->load(artifact);
  if (!device)
    return reportFailure(options.run, device.error());
  return Soak(options, artifact, std::move(*plan), **device).run();
}

} // namespace tile::runner
