// tile-run roofline gemm.cubin M=4096 N=4096 K=4096
#include "Runner/Roofline.h"
#include "Runner/Commands/Commands.h"
#include "Runner/Variants.h"

namespace tile::runner {

namespace {

/// In graphs, with a cold or a warm cache, without a baseline.
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

Result<RooflineFacts> findFacts(const RunOptions &options, CudaDevice &device, Execution &execution) {
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
      facts.clockMhz = bench->card->lowestClockMhz;
  }
  Result<Workload> work = findWorkload(execution.kernel(), *arguments, execution.names());
  if (!work)
    return work.error();
  CeilingMeter meter(device.cudaContext(), options.cublas);
  Result<Ceilings> ceilings = meter.measure(work->productType);
  if (!ceilings)
    return ceilings.error();
  facts.ceilings = *ceilings;
  facts.memoryBytes.value = work->bytes;
  facts.flops.value = work->flops;
  facts.special.value = work->special;
  const CudaDeviceInfo &info = device.cudaContext().info();
  if (facts.clockMhz == 0)
    facts.clockMhz = info.clockKhz / 1000.0;
  modelKernel(execution.kernel(), execution.launchGrid(), execution.values().slots(), info, facts);
  return facts;
}

int roofline(const RunOptions &options, const runtime::Artifact &artifact) {
  if (Status status = validateRequest(options, artifact.manifest); !status)
    return reportFailure(options, status.error());
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
  if (!loader->cuda())
    return reportFailure(options, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                     "only a GPU can be measured; the device is '{}'", loader->name()));
  Result<Variants> variants = Variants::open(options, artifact, *loader);
  if (!variants)
    return reportFailure(options, variants.error());
  Result<Variants::Taken> taken = variants->take(options);
  if (!taken)
    return reportFailure(options, taken.error());
  Result<Execution> execution = Execution::prepare(taken->options, *taken->manifest, *taken->device);
  if (!execution)
    return reportFailure(options, execution.error());
  Result<RooflineFacts> facts = findFacts(taken->options, *taken->device->asCuda(), *execution);
  if (!facts)
    return reportFailure(options, facts.error());
  const RooflineVerdict verdict = judge(*facts);
  if (options.format == "json") {
    fmt::print("{}\n", rooflineJson(*facts, verdict));
    return 0;
  }
  fmt::print("{}{}", formatText(startReport(*execution, *taken->device, options.artifact)),
             formatRoofline(*facts, verdict));
  return 0;
}

} // namespace

Action addRoofline(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<RunOptions>(start);
  options->bench = true; // a GPU, even if there is none
  addArtifact(app, *options);
  addKernelOptions(app, *options);
  addVariantOptions(app, *options);
  app.add_option("--rounds", options->rounds, "Rounds of measuring; their median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--cublas", options->cublas, "The cuBLAS library that shows what the tensor cores can do")
      ->type_name("FILE");
  app.add_option("--format", options->format, "Form of the report: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  return [options] {
    return withArtifact(*options, [&](const runtime::Artifact &artifact) { return roofline(*options, artifact); });
  };
}

} // namespace tile::runner
