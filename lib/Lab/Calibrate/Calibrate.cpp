// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Calibrate/Calibrate.h"

#include "Lab/Calibrate/CardMeter.h"
#include "Runner/Inputs/Npy.h"

#include <chrono>
#include <cmath>
#include <ctime>

namespace tile::runner {

using runtime::makeError;
using runtime::Success;
using target::Card;
using target::GpuTarget;

namespace {

/// Rounds to four significant digits.
double rounded(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 3);
  return std::stod(fmt::format("{:.10g}", std::round(value / unit) * unit));
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm day = {};
  gmtime_r(&now, &day);
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

Status measureAll(const RunOptions &run, CudaContext &context, const GpuTarget &gpu, Card &card) {
  Result<CardMeter> meter = CardMeter::create(context, gpu);
  if (!meter)
    return meter.error();
  const auto begin = std::chrono::steady_clock::now();
  const auto report = [&](std::string_view key, Status status) -> Status {
    if (!status && status.error().code == TILE_ERROR_UNSUPPORTED) {
      reportWarning(run, fmt::format("{} is skipped: {}", key, status.error().message));
      return Success{};
    }
    if (!status)
      return runtime::withContext(std::string(key), status.error());
    if (const target::CardFigure *figure = target::findFigure(key))
      fmt::print(stderr, "{:<20} {:>10.4g} {}\n", key, card.figures.*figure->member, figure->unit);
    return status;
  };
  for (const MicroKernel &kernel : microKernels(gpu))
    if (Status status = report(kernel.figure, meter->measure(kernel, card)); !status)
      return status;
  if (Status status = report("launches", meter->measureLaunches(card)); !status)
    return status;
  for (const target::CardFigure &figure : target::cardFigures())
    if (double &value = card.figures.*figure.member; value > 0)
      value = rounded(value);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  fmt::print(stderr, "tune: {} measured in {:.0f} s\n", card.name, passed.count());
  return Success{};
}

Result<Card> calibrate(const CalibrateOptions &options) {
  Result<DeviceLoader> loader = DeviceLoader::open(options.run);
  if (!loader)
    return loader.error();
  const CudaDeviceInfo *info = loader->gpu();
  constexpr std::string_view simulated = "tile simulator"; // the name that lib/SimDriver reports
  if (!options.onlyQueried && (!info || std::string_view(info->name).starts_with(simulated)))
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "--calibrate measures times, which the simulator does not model; the device is '{}'",
                     loader->name());
  if (!info)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--query needs a GPU; the device is '{}'", loader->name());
  Card card = describeCard(*info);
  if (options.onlyQueried)
    return card;
  const GpuTarget *gpu = target::findTargetOf(card.capability);
  if (!gpu)
    return makeError(TILE_ERROR_UNSUPPORTED, "no target runs on a GPU of compute capability {}.{}; the targets are {}",
                     info->major, info->minor, target::listTargets());
  if (Status status = measureAll(options.run, *loader->cuda(), *gpu, card); !status)
    return status.error();
  return card;
}

} // namespace

Card describeCard(const CudaDeviceInfo &info) {
  Card card;
  card.name = info.name;
  card.capability = unsigned(info.major * 10 + info.minor);
  card.multiprocessors = info.multiprocessors;
  card.clockGHz = info.clockKhz / 1e6;
  constexpr double transfersPerClock = 2, bitsOfByte = 8;
  if (info.memoryClockKhz > 0 && info.memoryBusBits > 0)
    card.memory = rounded(transfersPerClock * info.memoryClockKhz / 1e6 * info.memoryBusBits / bitsOfByte);
  card.l2Bytes = double(info.l2Bytes);
  card.memoryBytes = double(info.memoryBytes);
  card.driver = fmt::format("CUDA {}.{}", info.driverVersion / 1000, info.driverVersion % 1000 / 10);
  card.tile = tile_version();
  card.date = today();
  return card;
}

int runCalibrate(const CalibrateOptions &options) {
  if (!options.kernels.empty()) {
    const GpuTarget *gpu = target::findTarget(options.kernels);
    if (!gpu)
      return reportFailure(options.run, makeError(TILE_ERROR_INVALID_ARGUMENT, "--kernels={}: expected one of {}",
                                                  options.kernels, target::listTargets()));
    const std::vector<MicroKernel> kernels = microKernels(*gpu);
    const std::string text = moduleOf(*gpu, kernels);
    if (options.output.empty())
      return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
    const Status status = writeFileAtomically(options.output, text);
    return status ? 0 : reportFailure(options.run, status.error());
  }
  if (Status status = options.output.empty() ? Status(Success{}) : checkAppendable(options.output); !status)
    return reportFailure(options.run, runtime::withContext("-o", status.error()));
  const Result<Card> card = calibrate(options);
  if (!card)
    return reportFailure(options.run, card.error());
  const std::string text = target::printCard(*card);
  if (options.output.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  if (Status status = writeFileAtomically(options.output, text); !status)
    return reportFailure(options.run, status.error());
  fmt::print("tune: card in {}\n", options.output);
  return 0;
}

} // namespace tile::runner
