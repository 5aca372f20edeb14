// Chooses the baseline, then alternates rounds of kernel and baseline.
#include "Runner/Bench.h"

#include "Runner/Cublas.h"
#include "Runner/CudaEvents.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tile::runner {

using runtime::BufferRole;
using runtime::CUdeviceptr;
using runtime::CUstream;
using runtime::makeError;
using runtime::Success;

namespace {

constexpr double roundMilliseconds = 100; // long enough to average over clock changes
constexpr int fewestLaunches = 5, mostLaunches = 200, warmups = 3;

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

using Launch = std::function<Status(CUstream)>;

/// Runs launches between events, each behind an L2 flush.
class Stopwatch {
public:
  static Result<Stopwatch> create(CudaDevice &device) {
    const Driver &driver = device.cudaContext().driver();
    Result<CudaStream> stream = CudaStream::create(driver);
    if (!stream)
      return stream.error();
    // Twice the cache; a card that reports none still gets its lines evicted.
    const size_t flushBytes = std::max<size_t>(2 * device.cudaContext().info().l2Bytes, size_t(64) << 20);
    Result<CudaMemory> flush = CudaMemory::allocate(driver, flushBytes);
    if (!flush)
      return flush.error();
    Stopwatch watch(driver, std::move(*stream), std::move(*flush), flushBytes);
    for (int i = 0; i < mostLaunches; ++i) {
      Result<CudaTimer> timer = CudaTimer::create(driver);
      if (!timer)
        return timer.error();
      watch.timers.push_back(std::move(*timer));
    }
    return watch;
  }

  /// Median of `count` launches in milliseconds. `whileBusy` is called when the work is queued but not finished.
  Result<double> measure(const Launch &launch, int count, const std::function<void()> &whileBusy = {}) {
    for (int i = 0; i < count; ++i) {
      const CudaTimer &timer = timers[static_cast<size_t>(i)];
      Status status = driver->check(driver->fillBytes(flush.address(), 0, flushBytes, stream.get()), "cuMemsetD8Async");
      if (status)
        status = timer.start(stream.get());
      if (status)
        status = launch(stream.get());
      if (status)
        status = timer.stop(stream.get());
      if (!status)
        return status.error();
    }
    if (whileBusy)
      whileBusy();
    if (Status status = driver->check(driver->streamSynchronize(stream.get()), "while the benchmark was running");
        !status)
      return status.error();
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      Result<double> time = timers[static_cast<size_t>(i)].milliseconds();
      if (!time)
        return time.error();
      times.push_back(*time);
    }
    return median(std::move(times));
  }

private:
  Stopwatch(const Driver &driver, CudaStream stream, CudaMemory flush, size_t flushBytes)
      : driver(&driver), stream(std::move(stream)), flush(std::move(flush)), flushBytes(flushBytes) {}
  const Driver *driver;
  CudaStream stream;
  CudaMemory flush;
  size_t flushBytes;
  std::vector<CudaTimer> timers;
};

/// What the kernel is measured against, and what it needs to stay alive.
struct Baseline {
  std::string name;
  std::string note;
  Launch launch;
  std::unique_ptr<Cublas> cublas;
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
  if (!Cublas::supports(inputType, request.arguments[*second].buffer->type(), outputType)) {
    baseline.note =
        fmt::format("cublasGemmEx does not compute {} from {}", dataTypeName(outputType), dataTypeName(inputType));
    return baseline;
  }
  Result<std::unique_ptr<Cublas>> cublas = Cublas::load(request.cublas);
  if (!cublas) {
    baseline.note = cublas.error().message;
    return baseline;
  }
  const size_t bytes = request.arguments[*output].buffer->storageBytes();
  Result<CudaMemory> target = CudaMemory::allocate(device.cudaContext().driver(), bytes);
  if (!target)
    return target.error();
  baseline.cublas = std::move(*cublas);
  baseline.target = std::move(*target);
  baseline.name = baseline.cublas->name() + (inputType == DataType::F32 ? " (tf32)" : "");
  baseline.comparedArgument = output;
  const Cublas::Pointers pointers = {session.address(*first), session.address(*second),
                                     baseline.target.address() + HostBuffer::guardBytes, inputType, outputType};
  baseline.launch = [plan, pointers, cublas = baseline.cublas.get()](CUstream stream) {
    return cublas->launch(plan, pointers, stream);
  };
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

  std::vector<std::pair<Launch, std::vector<double> *>> contestants = {
      {[&](CUstream stream) { return session->launch(request.grid, stream); }, &result.rounds}};
  if (baseline->launch)
    contestants.emplace_back(baseline->launch, &result.baselineRounds);
  double slowest = 0;
  for (const auto &[launch, rounds] : contestants) { // the first launches load code and raise the clocks
    Result<double> time = watch->measure(launch, warmups);
    if (time)
      time = watch->measure(launch, fewestLaunches);
    if (!time)
      return time.error();
    slowest = std::max(slowest, *time);
  }
  result.launchesPerRound = static_cast<int>(
      std::clamp(roundMilliseconds / std::max(slowest, 1e-3), double(fewestLaunches), double(mostLaunches)));
  const std::unique_ptr<Telemetry> telemetry = Telemetry::open(device.cudaContext().info().pciBusId);
  for (int round = 0; round < request.rounds; ++round) {
    for (const auto &[launch, rounds] : contestants) {
      const bool isLastOfKernel = round + 1 == request.rounds && rounds == &result.rounds;
      Result<double> time = watch->measure(launch, result.launchesPerRound, [&] {
        if (isLastOfKernel && telemetry)
          result.telemetry = telemetry->sample();
      });
      if (!time)
        return time.error();
      rounds->push_back(*time * 1000);
    }
    std::reverse(contestants.begin(), contestants.end()); // nobody always runs on the card the other has heated
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
