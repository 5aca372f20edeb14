// Chooses the baseline; then come interleaved rounds of kernel and baseline.
#include "Runner/Bench.h"

#include "Runner/Cublas.h"
#include "Runner/Rounds.h"

#include <algorithm>
#include <cmath>

namespace tile::runner {

using runtime::BufferRole;
using runtime::CUdeviceptr;
using runtime::CUstream;
using runtime::makeError;
using runtime::Success;

namespace {

/// What the kernel is measured against, and what it needs to stay alive.
struct Baseline {
  std::string name;
  std::string note;
  CudaMemory workspace; ///< of cuBLAS, and so before it
  std::unique_ptr<Cublas> cublas;
  Launch launch;                          ///< may use cuBLAS
  CudaMemory target;                      ///< the baseline's own output
  std::optional<size_t> comparedArgument; ///< output argument that the baseline computes as well
};

double trafficBytes(std::span<const DeviceArgument> arguments) {
  double bytes = 0;
  for (const DeviceArgument &argument : arguments) {
    if (!argument.buffer)
      continue;
    const bool isTwice = argument.parameter->buffer && argument.parameter->buffer->role == BufferRole::Inout;
    bytes += static_cast<double>(argument.buffer->layout().elements) * runtime::dataTypeSize(argument.buffer->type()) *
             (isTwice ? 2 : 1);
  }
  return bytes;
}

std::optional<size_t> indexOf(std::span<const DeviceArgument> arguments, const std::string &name) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].parameter->name == name)
      return i;
  return std::nullopt;
}

Result<Baseline> gemmBaseline(CudaDevice &device, const CudaSession &session, const BenchRequest &request,
                              const GemmPlan &plan) {
  const std::optional<size_t> first = indexOf(request.arguments, plan.first.buffer);
  const std::optional<size_t> second = indexOf(request.arguments, plan.second.buffer);
  const std::optional<size_t> output = indexOf(request.arguments, plan.output.buffer);
  assert(first && second && output && "a plan names buffers of this kernel");
  const DataType inputType = request.arguments[*first].buffer->type();
  const DataType secondType = request.arguments[*second].buffer->type();
  const DataType outputType = request.arguments[*output].buffer->type();
  Baseline baseline;
  const bool isFloat = inputType != DataType::I8 && inputType != DataType::F64;
  if (!Cublas::supports(inputType, secondType, outputType) || (plan.hasEpilogue() && !isFloat)) {
    baseline.note = fmt::format("cuBLAS does not compute {}{} from {}", dataTypeName(outputType),
                                plan.hasEpilogue() ? " with bias or activation" : "", dataTypeName(inputType));
    return baseline;
  }
  const Driver &driver = device.cudaContext().driver();
  Result<CudaMemory> workspace = CudaMemory::allocate(driver, Cublas::workspaceBytes);
  if (!workspace)
    return workspace.error();
  Result<std::unique_ptr<Cublas>> cublas = Cublas::load(request.cublas, workspace->address());
  if (!cublas) {
    baseline.note = cublas.error().message;
    return baseline;
  }
  const size_t bytes = request.arguments[*output].buffer->storageBytes();
  Result<CudaMemory> target = CudaMemory::allocate(driver, bytes);
  if (!target)
    return target.error();
  baseline.workspace = std::move(*workspace);
  baseline.cublas = std::move(*cublas);
  baseline.target = std::move(*target);
  const bool isFloat8 = isFloat && runtime::dataTypeSize(inputType) == 1;
  baseline.name = baseline.cublas->name();
  if (inputType == DataType::F32)
    baseline.name += " (tf32)";
  if (isFloat8)
    baseline.name += request.isPrecise ? " (fp8, added in fp32)" : " (fp8, fast accumulation)";
  baseline.comparedArgument = output;
  Cublas::Pointers pointers = {.first = session.address(*first),
                               .second = session.address(*second),
                               .output = baseline.target.address() + HostBuffer::guardBytes,
                               .firstType = inputType,
                               .secondType = secondType,
                               .outputType = outputType,
                               .isPrecise = request.isPrecise};
  if (!plan.bias.empty()) {
    const std::optional<size_t> bias = indexOf(request.arguments, plan.bias);
    assert(bias && "a plan names buffers of this kernel");
    pointers.bias = session.address(*bias);
    pointers.biasType = request.arguments[*bias].buffer->type();
  }
  Result<std::function<Status(CUstream)>> launch = baseline.cublas->prepare(plan, pointers);
  if (!launch) {
    Baseline none;
    none.note = launch.error().message;
    return none;
  }
  baseline.launch = std::move(*launch);
  return baseline;
}

/// A copy reads and writes every byte: half the traffic in, half out.
Result<Baseline> copyBaseline(CudaDevice &device, double bytes) {
  const Driver &driver = device.cudaContext().driver();
  const size_t half = std::max<size_t>(static_cast<size_t>(bytes / 2), 1);
  Result<CudaMemory> memory = CudaMemory::allocate(driver, 2 * half + 512);
  if (!memory)
    return memory.error();
  Baseline baseline;
  baseline.name = "device copy";
  baseline.target = std::move(*memory);
  const CUdeviceptr source = baseline.target.address();
  const CUdeviceptr destination = source + (half + 255) / 256 * 256;
  baseline.launch = [&driver, source, destination, half](CUstream stream) {
    return driver.check(driver.copyOnDevice(destination, source, half, stream), "cuMemcpyDtoDAsync");
  };
  return baseline;
}

Result<Baseline> chooseBaseline(CudaDevice &device, const CudaSession &session, const BenchRequest &request,
                                BenchResult &result) {
  result.bytes = trafficBytes(request.arguments);
  for (const runtime::Expectation &expectation : request.manifest->expect) {
    const std::optional<size_t> output = indexOf(request.arguments, expectation.buffer);
    if (!output || !request.arguments[*output].buffer)
      continue;
    Result<TensorExpression> expression = TensorExpression::parse(expectation.expression);
    if (!expression)
      return expression.error();
    Result<BoundTensorExpression> bound = BoundTensorExpression::bind(*expression, *request.names);
    if (!bound)
      return bound.error();
    result.flops += bound->matmulFlops({});
    if (const std::optional<GemmPlan> plan = planGemm(expectation, *request.names, *request.arguments[*output].buffer))
      return gemmBaseline(device, session, request, *plan);
  }
  return copyBaseline(device, result.bytes);
}

/// Compares every element of the kernel's output with cuBLAS's.
Result<double> compareWithBaseline(CudaDevice &device, CudaSession &session, const BenchRequest &request,
                                   const Baseline &baseline) {
  HostBuffer &output = *request.arguments[*baseline.comparedArgument].buffer;
  if (Status status = session.download(request.arguments); !status)
    return status.error();
  Result<HostBuffer> other = output.clone();
  if (!other)
    return other.error();
  const Driver &driver = device.cudaContext().driver();
  if (Status status = driver.check(
          driver.copyToHost(other->data(), baseline.target.address() + HostBuffer::guardBytes, other->dataBytes()),
          "copy of the baseline's result");
      !status)
    return status.error();
  TensorNames names;
  names.buffers = {{"ours", &output}, {"theirs", &*other}};
  Result<TensorExpression> difference = TensorExpression::parse("ours - theirs");
  Result<TensorExpression> reference = TensorExpression::parse("theirs");
  if (!difference || !reference)
    return difference ? reference.error() : difference.error();
  double norms[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    Result<BoundTensorExpression> bound = BoundTensorExpression::bind(i == 0 ? *difference : *reference, names);
    if (!bound)
      return bound.error();
    for (double value : bound->evaluate({}).values)
      norms[i] += value * value;
  }
  return norms[1] > 0 ? std::sqrt(norms[0] / norms[1]) : std::sqrt(norms[0]);
}

} // namespace

Status measureContestants(CudaDevice &device, const Stopwatch &watch, std::span<Contestant> contestants, int rounds,
                          bool useGraphs, BenchResult &result) {
  Result<RoundSize> size = prepareRounds(watch, contestants, useGraphs);
  if (!size)
    return size.error();
  result.samplesPerRound = size->samples;
  result.launchesPerGraph = size->launchesPerGraph;
  const std::unique_ptr<Telemetry> telemetry = Telemetry::open(device.cudaContext().info().pciBusId);
  std::vector<Contestant *> all;
  for (Contestant &contestant : contestants)
    all.push_back(&contestant);
  for (int round = 0; round <= rounds; ++round) {
    const std::function<void()> sample = [&] { result.telemetry = telemetry->sample(); };
    const bool isLast = round == rounds;
    if (Status status =
            measureRound(watch, all, static_cast<unsigned>(round), *size, isLast && telemetry ? sample : nullptr);
        !status)
      return status;
    // The round before the first does not count: until its power is limited, a card clocks higher.
    if (round == 0)
      for (Contestant &contestant : contestants)
        contestant.rounds.clear();
  }
  return Success{};
}

Status requireWork(const Grid &grid) {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "nothing to measure: the grid {}x{}x{} is empty", grid[0], grid[1],
                     grid[2]);
  return Success{};
}

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request) {
  if (Status status = requireWork(request.grid); !status)
    return status.error();
  BenchResult result;
  Result<CudaSession> session = device.prepare(request.arguments);
  if (!session)
    return session.error();
  Result<Baseline> baseline = chooseBaseline(device, *session, request, result);
  if (!baseline)
    return baseline.error();
  result.baseline = baseline->name;
  result.baselineNote = baseline->note;
  Result<Stopwatch> watch = Stopwatch::create(device.cudaContext());
  if (!watch)
    return watch.error();

  std::vector<Contestant> contestants;
  contestants.emplace_back([&](CUstream stream) { return session->launch(request.grid, stream); });
  if (baseline->launch)
    contestants.emplace_back(baseline->launch);
  if (Status status = measureContestants(device, *watch, contestants, request.rounds, request.useGraphs, result);
      !status)
    return status.error();
  result.rounds = contestants[0].rounds;
  result.microseconds = contestants[0].microseconds();
  if (baseline->launch) {
    result.baselineRounds = contestants[1].rounds;
    result.baselineMicroseconds = contestants[1].microseconds();
  }
  if (baseline->comparedArgument) {
    Result<double> difference = compareWithBaseline(device, *session, request, *baseline);
    if (!difference)
      return difference.error();
    result.differenceToBaseline = *difference;
  }
  return result;
}

} // namespace tile::runner
