// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each figure is the median of several launches of about a millisecond. Before the measurement, a launch with a few
// iterations checks the results.
#include "Lab/Calibrate/CardMeter.h"

#include "Runner/Inputs/Element.h"
#include "Runner/Inputs/Random.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace tile::runner {

using runtime::CUdeviceptr;
using runtime::CUfunction;
using runtime::CUmodule;
using runtime::CUstream;
using runtime::makeError;
using runtime::Success;
using target::Card;
namespace cuda = runtime::cuda;

namespace {

constexpr uint32_t checkedIterations = 16;
constexpr size_t filledBytes = 64 << 10; // size of the part of `data` that dots read
constexpr size_t timeBytes = 32;         // bytes of times that a CTA records
// Minimum duration of a sample, because the card's clock may advance in steps of a microsecond.
constexpr double leastNanoseconds = 1e6;
constexpr int samples = 9;
constexpr double sustainedSeconds = 2;

double medianOf(std::vector<double> &values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<uint32_t> operandsOf(const MicroKernel &kernel) {
  std::vector<uint32_t> words(filledBytes / sizeof(uint32_t), kernel.word);
  if (kernel.operands == Operands::Random) {
    const StoreElement store = elementStorer(runtime::DataType::F16);
    auto *bytes = reinterpret_cast<uint8_t *>(words.data());
    for (size_t i = 0; i < filledBytes / 2; ++i)
      store(bytes + 2 * i, randomElement(runtime::DataType::F16, 1, i));
  }
  return words;
}

} // namespace

double valueOf(const MicroKernel &kernel, const MicroTimes &times, double ctas, double iterations) {
  const double work = kernel.work * iterations;
  switch (kernel.quantity) {
  case Quantity::WorkPerClock:
    return work / times.clocks;
  case Quantity::ClocksPerStep:
    return times.clocks / work;
  case Quantity::CardWorkPerClock:
    return work * ctas / (times.nanoseconds * times.clockGHz);
  case Quantity::CardWorkPerNs:
    return work * ctas / times.nanoseconds;
  case Quantity::Clock:
    return times.clockGHz;
  }
  return 0;
}

Card::Note spreadOf(std::vector<double> values, double &median) {
  median = medianOf(values);
  const double range = values[values.size() * 3 / 4] - values[values.size() / 4];
  return {std::round(1000 * range / median) / 10, ""};
}

/// A module with one micro-benchmark and the empty kernel.
struct CardMeter::Loaded {
  Loaded() = default;
  Loaded(const Loaded &) = delete;
  ~Loaded() {
    if (module)
      (void)driver->moduleUnload(module);
  }

  const MicroKernel *kernel = nullptr;
  const Driver *driver = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr, empty = nullptr;
  unsigned ctas = 0;
};

CardMeter::CardMeter(CudaContext &context, const target::GpuTarget &target, Stopwatch watch)
    : context(&context), target(&target), watch(std::move(watch)) {}

Result<CardMeter> CardMeter::create(CudaContext &context, const target::GpuTarget &target) {
  const CudaDeviceInfo &info = context.info();
  Result<Stopwatch> watch = Stopwatch::create(context);
  if (!watch)
    return watch.error();
  CardMeter meter(context, target, std::move(*watch));
  constexpr size_t mostBytes = size_t(1) << 30;
  meter.dramBytes = std::bit_floor(std::min(mostBytes, info.memoryBytes / 4));
  meter.l2Bytes = std::bit_floor(std::clamp<size_t>(info.l2Bytes / 4, size_t(1) << 20, mostBytes));
  const size_t ctas = size_t(info.multiprocessors) * target.maxCtasPerSm,
               threads = size_t(info.multiprocessors) * target.maxWarpsPerSm * target::threadsPerWarp;
  for (auto [memory, bytes] : {std::pair(&meter.out, ctas * timeBytes + threads * sizeof(uint32_t)),
                               std::pair(&meter.data, meter.dramBytes)}) {
    Result<CudaMemory> allocated = CudaMemory::allocate(context.driver(), bytes);
    if (!allocated)
      return allocated.error();
    *memory = std::move(*allocated);
  }
  return meter;
}

/// Fills `data`. If the bytes of the kernel's fill word are all equal, fills all of `data`; afterwards its end is in L2
/// and its beginning is not.
Status CardMeter::fill(const MicroKernel &kernel) {
  const Driver &driver = context->driver();
  const uint32_t byte = kernel.word & 0xff;
  if (kernel.operands == Operands::Equal && kernel.word == byte * 0x01010101)
    return driver.check(
        driver.fillBytes(data.address(), static_cast<unsigned char>(byte), dramBytes, watch.ownStream().get()),
        "cuMemsetD8Async");
  const std::vector<uint32_t> words = operandsOf(kernel);
  Status status = driver.check(driver.copyToDevice(data.address(), words.data(), filledBytes), "cuMemcpyHtoD");
  return status ? driver.check(driver.streamSynchronize(nullptr), "cuMemcpyHtoD") : status;
}

Status CardMeter::load(const MicroKernel &kernel, Loaded &loaded) {
  const Driver &driver = context->driver();
  const std::string text = moduleOf(*target, {&kernel, 1});
  char log[512] = "";
  int options[] = {cuda::jitErrorLog, cuda::jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  loaded.kernel = &kernel;
  loaded.driver = &driver;
  if (Status status =
          driver.check(driver.moduleLoadDataEx(&loaded.module, text.c_str(), 2, options, values), "cuModuleLoadData");
      !status)
    return makeError(TILE_ERROR_UNSUPPORTED, "{}{}{}", status.error().message, *log ? ": " : "", log);
  for (auto [function, name] :
       {std::pair(&loaded.function, std::string(kernel.figure)), std::pair(&loaded.empty, std::string("empty"))})
    if (Status status = driver.check(driver.moduleGetFunction(function, loaded.module, name.c_str()), name); !status)
      return status;
  const unsigned multiprocessors = unsigned(context->info().multiprocessors),
                 resident = target->maxWarpsPerSm * target::threadsPerWarp / kernel.threads;
  loaded.ctas = kernel.residency == Residency::Single ? 1
                : kernel.residency == Residency::Full ? multiprocessors * resident
                                                      : multiprocessors / kernel.cluster * kernel.cluster;
  return Success{};
}

Result<MicroTimes> CardMeter::run(const Loaded &loaded, uint32_t iterations, bool isChecked) {
  const Driver &driver = context->driver();
  const MicroKernel &kernel = *loaded.kernel;
  CUdeviceptr outAddress = out.address(), dataAddress = data.address();
  // Chains of dependent loads from DRAM use only the first half of `data`, which is no longer in L2 after the fill.
  const bool isChain = kernel.quantity == Quantity::ClocksPerStep;
  uint32_t mask = uint32_t((kernel.place == Place::L2 ? l2Bytes : isChain ? dramBytes / 2 : dramBytes) - 1);
  void *arguments[] = {&outAddress, &dataAddress, &iterations, &mask};
  runtime::LaunchConfig config{loaded.ctas, 1, 1, kernel.threads, 1, 1, 0, watch.ownStream().get(), nullptr, 0};
  Status status =
      driver.check(driver.launchKernelEx(&config, loaded.function, arguments, nullptr), std::string(kernel.figure));
  if (status)
    status = driver.check(driver.streamSynchronize(config.stream), std::string(kernel.figure));
  const size_t threads = size_t(loaded.ctas) * kernel.threads;
  std::vector<uint64_t> recorded(loaded.ctas * timeBytes / sizeof(uint64_t));
  std::vector<uint32_t> results(isChecked ? threads : 0);
  if (status)
    status = driver.check(driver.copyToHost(recorded.data(), outAddress, loaded.ctas * timeBytes), "cuMemcpyDtoH");
  if (status && isChecked)
    status = driver.check(
        driver.copyToHost(results.data(), outAddress + loaded.ctas * timeBytes, threads * sizeof(uint32_t)),
        "cuMemcpyDtoH");
  if (!status)
    return status.error();
  for (size_t thread = 0; thread < results.size(); ++thread)
    if (!isExpected(kernel, iterations, results[thread]))
      return makeError(TILE_ERROR_DRIVER, "{}: thread {} computes {}, not {}", kernel.figure, thread, results[thread],
                       kernel.firstResult + iterations * kernel.resultOfIteration);
  MicroTimes times;
  uint64_t first = UINT64_MAX, last = 0;
  std::vector<double> clocks, rates;
  for (size_t cta = 0; cta < loaded.ctas; ++cta) {
    const uint64_t *record = &recorded[cta * timeBytes / sizeof(uint64_t)];
    first = std::min(first, record[0]);
    last = std::max(last, record[1]);
    clocks.push_back(double(record[2]));
    rates.push_back(double(record[2]) / double(std::max<uint64_t>(record[1] - record[0], 1)));
  }
  times.nanoseconds = double(std::max<uint64_t>(last - first, 1));
  times.clocks = medianOf(clocks);
  times.clockGHz = medianOf(rates);
  return times;
}

/// Doubles the number of iterations until a launch takes long enough. These launches also raise the clock rate.
Result<uint32_t> CardMeter::chooseIterations(const Loaded &loaded) {
  constexpr uint32_t most = 1 << 20, ofColdChains = 64;
  if (loaded.kernel->place == Place::Dram && loaded.kernel->quantity == Quantity::ClocksPerStep)
    return ofColdChains;
  for (uint32_t iterations = checkedIterations;; iterations *= 2) {
    Result<MicroTimes> times = run(loaded, iterations, false);
    if (!times)
      return times.error();
    if (times->nanoseconds >= leastNanoseconds || iterations >= most)
      return iterations;
  }
}

Status CardMeter::measure(const MicroKernel &kernel, Card &card) {
  Loaded loaded;
  if (Status status = load(kernel, loaded); !status)
    return status;
  Status status = fill(kernel);
  if (!status)
    return status;
  if (Result<MicroTimes> checked = run(loaded, checkedIterations, kernel.operands == Operands::Equal); !checked)
    return checked.error();
  Result<uint32_t> iterations = chooseIterations(loaded);
  if (!iterations)
    return iterations.error();
  const bool isSustained = kernel.operands == Operands::Random;
  if (isSustained)
    *iterations *= 16; // make launches long, so that no pauses between them cool the card
  const auto begin = std::chrono::steady_clock::now();
  std::vector<double> values, clocks;
  for (int sample = 0;; ++sample) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (isSustained ? passed.count() > sustainedSeconds : sample == samples)
      break;
    if (status = kernel.place == Place::Dram ? fill(kernel) : Status(Success{}); !status)
      return status;
    Result<MicroTimes> times = run(loaded, *iterations, false);
    if (!times)
      return times.error();
    values.push_back(valueOf(kernel, *times, loaded.ctas, *iterations));
    clocks.push_back(times->clockGHz);
  }
  if (isSustained) // discard the first three quarters, during which the card heats up
    for (std::vector<double> *all : {&values, &clocks})
      all->erase(all->begin(), all->begin() + std::ptrdiff_t(all->size() * 3 / 4));
  const target::CardFigure &figure = *target::findFigure(kernel.figure);
  double value = 0;
  Card::Note note = spreadOf(values, value);
  note.how = fmt::format("{}; {} launches, {} iterations, {:.3g} GHz", kernel.how, values.size(), *iterations,
                         medianOf(clocks));
  if (const std::string reason = target::checkFigure(figure, value); !reason.empty())
    return makeError(TILE_ERROR_UNSUPPORTED, "measured as {}", reason);
  card.figures.*figure.member = value;
  card.notes[std::string(figure.key)] = std::move(note);
  return Success{};
}

/// Returns the time in ns of one launch of the empty kernel, measured over many consecutive launches.
Result<double> CardMeter::launchTime(const Loaded &loaded, unsigned ctas, unsigned sharedBytes, int launches) {
  const Driver &driver = context->driver();
  const Launch launch = [&](CUstream stream) {
    runtime::LaunchConfig config{ctas, 1, 1, target::threadsPerWarp, 1, 1, sharedBytes, stream, nullptr, 0};
    return driver.check(driver.launchKernelEx(&config, loaded.empty, nullptr, nullptr), "launch of an empty kernel");
  };
  if (Status status = launch(watch.ownStream().get()); !status)
    return status.error();
  Result<Sample> sample = watch.capture({&launch, 1}, launches);
  if (!sample)
    return sample.error();
  Result<double> milliseconds = watch.measure(*sample, 1); // loads the graph
  if (milliseconds)
    milliseconds = watch.measure(*sample, samples);
  if (!milliseconds)
    return milliseconds.error();
  return *milliseconds * 1e6;
}

Status CardMeter::measureLaunches(Card &card) {
  const Driver &driver = context->driver();
  const MicroKernel kernel = microKernels(*target).front();
  Loaded loaded;
  if (Status status = load(kernel, loaded); !status)
    return status;
  const auto note = [&](const char *key, double target::CardFigures::*member, double value, std::string how) -> Status {
    if (const std::string reason = target::checkFigure(*target::findFigure(key), value); !reason.empty())
      return makeError(TILE_ERROR_UNSUPPORTED, "{}: measured as {}", key, reason);
    card.figures.*member = value;
    card.notes[key] = {0, std::move(how)};
    return Success{};
  };
  /// Returns the time in ns that each further CTA takes.
  const auto slope = [&](unsigned ctas, unsigned sharedBytes) -> Result<double> {
    Result<double> once = launchTime(loaded, ctas, sharedBytes, 4),
                   twice = launchTime(loaded, 2 * ctas, sharedBytes, 4);
    if (!once || !twice)
      return once ? twice.error() : once.error();
    return (*twice - *once) / ctas;
  };
  constexpr int launches = 200;
  Result<double> launch = launchTime(loaded, 1, 0, launches);
  if (!launch)
    return launch.error();
  Status status = note("launch", &target::CardFigures::launch, *launch,
                       fmt::format("graph of {} empty kernels, median of {} replays", launches, samples));
  if (!status)
    return status;
  constexpr unsigned waves = 64;
  const unsigned multiprocessors = unsigned(context->info().multiprocessors);
  Result<double> ofCta = slope(multiprocessors * target->maxCtasPerSm * waves, 0);
  if (!ofCta)
    return ofCta.error();
  status = note("cta_rate", &target::CardFigures::ctaRate, 1 / (*ofCta * card.figures.clock),
                fmt::format("grids of {} and twice as many waves of empty CTAs of 32 threads", waves));
  if (!status)
    return status;
  const int shared = context->info().sharedBytes;
  status = driver.check(driver.functionSetAttribute(loaded.empty, cuda::functionMaxDynamicShared, shared),
                        "cuFuncSetAttribute");
  if (!status)
    return status;
  Result<double> ofLargeCta = slope(multiprocessors * waves, unsigned(shared));
  if (!ofLargeCta)
    return ofLargeCta.error();
  return note(
      "wave", &target::CardFigures::wave, *ofLargeCta * multiprocessors,
      fmt::format("grids of {} and twice as many waves of empty CTAs with {} bytes of shared memory", waves, shared));
}

} // namespace tile::runner
