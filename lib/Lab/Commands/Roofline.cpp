// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run roofline gemm.cubin M=4096 N=4096 K=4096
#include "Lab/Bench/Roofline.h"
#include "Lab/Bench/Counters.h"
#include "Lab/Bench/MeasureRun.h"
#include "Lab/Bench/Sweep.h"
#include "Lab/Commands/Commands.h"
#include "Runner/Device/Variants.h"

namespace tile::runner {

namespace {

struct RooflineOptions {
  RunOptions run;
  std::string cupti; ///< path of libcupti, or ""
};

/// Measures in CUDA graphs, with a cold or a warm cache, and without a baseline.
Result<BenchResult> measure(const RunOptions &options, CudaDevice &device, const Execution &execution,
                            std::span<DeviceArgument> arguments, bool isCold) {
  BenchRequest request = startBench(options);
  request.manifest = &execution.kernel();
  request.grid = execution.launchGrid();
  request.arguments = arguments;
  request.names = &execution.names();
  request.useGraphs = true;
  request.isCold = isCold;
  request.baselines = {"none"};
  return runBench(device, request);
}

/// Replaces modelled values by hardware counters.
Status readCounters(const RooflineOptions &options, CudaDevice &device, const Execution &execution,
                    std::span<DeviceArgument> arguments, RooflineFacts &facts) {
  Result<Stopwatch> watch = Stopwatch::create(device.cudaContext());
  if (!watch)
    return watch.error();
  Result<CudaSession> session = device.prepare(arguments);
  if (!session)
    return session.error();
  const Launch launch = [&](runtime::CUstream stream) { return session->launch(execution.launchGrid(), stream); };
  Result<CounterValues> values = measureCounters(device.cudaContext(), *watch, launch, options.cupti);
  if (!values)
    return values.error();
  const auto take = [](Figure &figure, const std::optional<double> &value, double scale = 1) {
    if (value)
      figure = {*value * scale, true};
  };
  take(facts.memoryBytes, values->memoryBytes);
  take(facts.l2Bytes, values->l2Bytes);
  take(facts.special, values->specialInstructions, 32); // lanes per warp
  if (values->tensorShare)
    facts.tensorShare = Figure{*values->tensorShare, true};
  facts.warpsShare = values->warpsShare;
  return runtime::Success{};
}

Result<RooflineFacts> findFacts(const RooflineOptions &roofline, const RunOptions &options, CudaDevice &device,
                                Execution &execution) {
  Result<std::vector<DeviceArgument>> arguments = execution.freshArguments();
  if (!arguments)
    return arguments.error();
  RooflineFacts facts;
  for (const bool isCold : {true, false}) {
    Result<BenchResult> bench = measure(options, device, execution, *arguments, isCold);
    if (!bench)
      return bench.error();
    (isCold ? facts.coldMicroseconds : facts.warmMicroseconds) = bench->microseconds;
    if (bench->card)
      facts.clockMhz = bench->card->highestClockMhz;
  }
  Result<Workload> work = findWorkload(execution.kernel(), *arguments, execution.names());
  if (!work)
    return work.error();
  CeilingMeter meter(device.cudaContext(), options.cublas);
  Result<Ceilings> ceilings = meter.measure(work->gemmType);
  if (!ceilings)
    return ceilings.error();
  facts.ceilings = *ceilings;
  facts.minBytes = facts.memoryBytes.value = work->bytes;
  facts.flops.value = work->flops;
  facts.special.value = work->special;
  const CudaDeviceInfo &info = device.cudaContext().info();
  if (facts.clockMhz == 0)
    facts.clockMhz = info.clockKhz / 1000.0;
  modelKernel(execution.kernel(), execution.launchGrid(), execution.values().slots(), info, facts);
  if (Status status = readCounters(roofline, device, execution, *arguments, facts); !status)
    facts.whyModelled = status.error().message;
  return facts;
}

Status rooflineOf(const RooflineOptions &all, RunOptions options, Variants &variants) {
  if (Status status = validateRequest(options, variants.artifact().manifest); !status)
    return status;
  Result<Variants::Taken> taken = variants.take(options);
  if (!taken)
    return taken.error();
  Result<Execution> execution = Execution::prepare(taken->options, *taken->manifest, *taken->device);
  if (!execution)
    return execution.error();
  Result<RooflineFacts> facts = findFacts(all, taken->options, *taken->device->asCuda(), *execution);
  if (!facts)
    return facts.error();
  const RooflineVerdict verdict = judge(*facts);
  const RunReport report = startReport(*execution, *taken->device, options.artifact);
  if (options.format == "json")
    fmt::print("{}\n", rooflineJson(report, *facts, verdict));
  else
    fmt::print("{}{}", formatText(report), formatRoofline(*facts, verdict));
  std::fflush(stdout);
  return runtime::Success{};
}

int roofline(const RooflineOptions &all, const runtime::Artifact &artifact) {
  const RunOptions &options = all.run;
  Result<std::vector<SweepPoint>> points = expandSweep(options.arguments);
  if (!points)
    return reportFailure(options, points.error());
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
  if (!loader->cuda())
    return reportFailure(options, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                     "only a GPU can be measured; the device is '{}'", loader->name()));
  Result<Variants> variants = Variants::open(options, artifact, *loader);
  if (!variants)
    return reportFailure(options, variants.error());
  for (const SweepPoint &point : *points) {
    RunOptions its = options;
    its.arguments = point.arguments;
    if (Status status = rooflineOf(all, std::move(its), *variants); !status)
      return reportFailure(options, status.error());
  }
  return 0;
}

} // namespace

Action addRoofline(CLI::App &app, const RunOptions &start) {
  auto all = std::make_shared<RooflineOptions>(RooflineOptions{start, ""});
  RunOptions *options = &all->run;
  options->bench = true; // requires a GPU
  addArtifact(app, *options);
  addKernelOptions(app, *options);
  addVariantOptions(app, *options);
  app.add_option("--rounds", options->rounds, "Number of rounds to measure; the median is reported")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--cublas", options->cublas,
                 "The cuBLAS library that measures what the tensor cores can do (default: libcublas.so.13, .12 or .11)")
      ->type_name("FILE");
  app.add_option("--cupti", all->cupti,
                 "The CUPTI library that reads hardware counters (default: libcupti.so.13 or .12)")
      ->type_name("FILE");
  app.add_option("--format", options->format, "Format of the report: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  return [all] {
    return withArtifact(all->run, [&](const runtime::Artifact &artifact) { return roofline(*all, artifact); });
  };
}

} // namespace tile::runner
