// Chooses the baseline, then alternates rounds of kernel and baseline.
#include "Runner/Bench.h"

#include "Runner/Cublas.h"
#include "Runner/Stopwatch.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tile::runner {

using runtime::BufferRole;
using runtime::CUdeviceptr;
using runtime::CUstream;
using runtime::makeError;
using runtime::Success;

namespace {

constexpr double roundMilliseconds = 60; // long enough to average over the clock's steps
constexpr int fewestSamples = 5, warmups = 3;
constexpr double graphMilliseconds = 2; // long beside the start of a graph, which is measured with it
constexpr int fewestLaunchesOfGraph = 20, mostLaunchesOfGraph = 500;

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
  const DataType outputType = request.arguments[*output].buffer->type();
  Baseline baseline;
  const bool isFloat = inputType != DataType::I8 && inputType != DataType::F64;
  if (!Cublas::supports(inputType, request.arguments[*second].buffer->type(), outputType) ||
      (plan.hasEpilogue() && !isFloat)) {
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
  baseline.name = baseline.cublas->name() + (inputType == DataType::F32 ? " (tf32)" : "");
  baseline.comparedArgument = output;
  Cublas::Pointers pointers = {.first = session.address(*first),
                               .second = session.address(*second),
                               .output = baseline.target.address() + HostBuffer::guardBytes,
                               .inputType = inputType,
                               .outputType = outputType};
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

/// One of the two that are measured, and where its figures go.
struct Contestant {
  Sample sample;
  std::vector<double> *rounds; ///< microseconds
};

/// Runs everything a few times, which loads code and raises the clocks; the slowest sample in milliseconds.
Result<double> warmUp(const Stopwatch &watch, const std::vector<Contestant> &contestants) {
  double slowest = 1e-3; // below the resolution of events
  for (const Contestant &contestant : contestants) {
    Result<double> time = watch.measure(contestant.sample, warmups);
    if (time)
      time = watch.measure(contestant.sample, fewestSamples);
    if (!time)
      return time;
    slowest = std::max(slowest, *time * contestant.sample.launches);
  }
  return slowest;
}

/// Captures graphs if they are wanted, and chooses how much a round measures: the same of all contestants.
Status prepare(const Stopwatch &watch, std::vector<Contestant> &contestants, bool useGraphs, BenchResult &result) {
  const auto choose = [](double count, int fewest, int most) {
    return static_cast<int>(std::clamp(count, double(fewest), double(most)));
  };
  Result<double> slowest = warmUp(watch, contestants);
  if (slowest && useGraphs) {
    result.launchesPerGraph = choose(graphMilliseconds / *slowest, fewestLaunchesOfGraph, mostLaunchesOfGraph);
    for (Contestant &contestant : contestants) {
      Result<Sample> graph = watch.capture(contestant.sample.run, result.launchesPerGraph);
      if (!graph)
        return graph.error();
      contestant.sample = std::move(*graph);
    }
    slowest = warmUp(watch, contestants);
  }
  if (!slowest)
    return slowest.error();
  result.samplesPerRound = choose(roundMilliseconds / *slowest, fewestSamples, Stopwatch::mostSamples);
  return Success{};
}

/// Whether the baseline goes first in a round. By the Thue-Morse sequence, because a card's clocks swing with periods
/// of about a second: with turns in a fixed pattern the same one always had the slow half (by up to 20 % at
/// 8192x8192x8192 on an H200, every eighth measurement of 0.12 s).
bool isReversed(unsigned round) {
  return std::popcount(round) % 2 == 1;
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

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request) {
  if (request.grid[0] == 0 || request.grid[1] == 0 || request.grid[2] == 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "nothing to measure: the grid {}x{}x{} is empty", request.grid[0],
                     request.grid[1], request.grid[2]);
  BenchResult result;
  Result<CudaSession> session = device.prepare(request.arguments);
  if (!session)
    return session.error();
  Result<Baseline> baseline = chooseBaseline(device, *session, request, result);
  if (!baseline)
    return baseline.error();
  result.baseline = baseline->name;
  result.baselineNote = baseline->note;
  Result<Stopwatch> watch = Stopwatch::create(device);
  if (!watch)
    return watch.error();

  std::vector<Contestant> contestants = {
      {{[&](CUstream stream) { return session->launch(request.grid, stream); }}, &result.rounds}};
  if (baseline->launch)
    contestants.push_back({{baseline->launch}, &result.baselineRounds});
  if (Status status = prepare(*watch, contestants, request.useGraphs, result); !status)
    return status.error();
  const std::unique_ptr<Telemetry> telemetry = Telemetry::open(device.cudaContext().info().pciBusId);
  // The round before the first does not count: until its power is limited, a card clocks higher.
  for (int round = 0; round <= request.rounds; ++round) {
    std::vector<const Contestant *> order;
    for (const Contestant &contestant : contestants)
      order.push_back(&contestant);
    if (isReversed(static_cast<unsigned>(round)))
      std::reverse(order.begin(), order.end());
    for (const Contestant *contestant : order) {
      const bool isLastOfKernel = round == request.rounds && contestant->rounds == &result.rounds;
      Result<double> time = watch->measure(contestant->sample, result.samplesPerRound, [&] {
        if (isLastOfKernel && telemetry)
          result.telemetry = telemetry->sample();
      });
      if (!time)
        return time.error();
      if (round > 0)
        contestant->rounds->push_back(*time * 1000);
    }
  }
  result.microseconds = median(result.rounds);
  result.baselineMicroseconds = median(result.baselineRounds);
  if (baseline->comparedArgument) {
    Result<double> difference = compareWithBaseline(device, *session, request, *baseline);
    if (!difference)
      return difference.error();
    result.differenceToBaseline = *difference;
  }
  return result;
}

} // namespace tile::runner
