// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prepares the workload, the copies of the buffers and the rounds. Baselines.cpp prepares the baselines.
#include "Lab/Bench/Bench.h"

#include "Lab/Bench/Baselines.h"
#include "Lab/Bench/Energy.h"
#include "Lab/Bench/Rounds.h"
#include "Runner/Options.h"

#include <algorithm>
#include <cmath>

namespace tile::runner {

using runtime::BufferRole;
using runtime::CUstream;
using runtime::makeError;
using runtime::Success;

namespace {

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

/// Returns the first buffer in the subtree below a node, from the left.
const HostBuffer *firstBuffer(const TensorNode &node, const TensorNames &names) {
  if (node.kind == TensorNode::Kind::Name) {
    const auto found = names.buffers.find(node.name);
    return found == names.buffers.end() ? nullptr : found->second;
  }
  for (const auto &operand : node.operands)
    if (const HostBuffer *buffer = firstBuffer(*operand, names))
      return buffer;
  return nullptr;
}

std::optional<DataType> findGemmType(const TensorNode &node, const TensorNames &names) {
  for (const auto &operand : node.operands)
    if (const std::optional<DataType> type = findGemmType(*operand, names))
      return type;
  if (node.kind != TensorNode::Kind::Matmul)
    return std::nullopt;
  const HostBuffer *buffer = firstBuffer(node, names);
  return buffer ? std::optional(buffer->type()) : std::nullopt;
}

/// Compares every element of the kernel's output with the baseline's output. Returns the norm of the difference
/// relative to the norm of the baseline's output.
Result<double> compareWithBaseline(CudaDevice &device, CudaSession &session, const BenchRequest &request,
                                   const Baseline &baseline) {
  HostBuffer &output = *request.arguments[*baseline.comparedArgument].buffer;
  if (Status status = session.download(request.arguments); !status)
    return status.error();
  Result<HostBuffer> other = output.clone();
  if (!other)
    return other.error();
  const Driver &driver = device.cudaContext().driver();
  if (Status status = driver.check(driver.copyToHost(other->data(), baseline.result, other->dataBytes()),
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

/// Returns the number of copies of the buffers through which the launches of a graph must cycle so that no launch finds
/// its own data in the cache.
size_t countCopies(const CudaDevice &device, const Stopwatch &watch, const BenchRequest &request) {
  constexpr size_t most = 100; // enough for tiny buffers, whose guard regions then also fill the cache
  size_t bytes = 0;
  for (const DeviceArgument &argument : request.arguments)
    bytes += argument.buffer ? argument.buffer->storageBytes() : 0;
  if (!request.useGraphs || !request.isCold || bytes == 0)
    return 1;
  const size_t fitting = std::max<size_t>(device.cudaContext().info().memoryBytes / 4 / bytes, 1);
  return std::min({watch.evictingBytes() / bytes + 2, fitting, most});
}

void note(CardState &card, const TelemetrySample &sample) {
  card.lowestClockMhz = card.rounds == 0 ? sample.smClockMhz : std::min(card.lowestClockMhz, sample.smClockMhz);
  card.highestClockMhz = std::max(card.highestClockMhz, sample.smClockMhz);
  card.slowdowns |= sample.slowdowns;
  card.slowedRounds += !slowdownText(sample.slowdowns).empty();
  ++card.rounds;
  card.last = sample;
}

} // namespace

Result<Workload> findWorkload(const runtime::Manifest &manifest, std::span<const DeviceArgument> arguments,
                              const TensorNames &names) {
  Workload work;
  work.bytes = trafficBytes(arguments);
  std::set<std::string> counted;
  for (const runtime::Expectation &expectation : manifest.expect) {
    const auto output = std::find_if(arguments.begin(), arguments.end(), [&](const DeviceArgument &argument) {
      return argument.parameter->name == expectation.buffer;
    });
    if (output == arguments.end() || !output->buffer)
      continue;
    Result<TensorExpression> expression = TensorExpression::parse(expectation.expression);
    if (!expression)
      return expression.error();
    Result<BoundTensorExpression> bound = BoundTensorExpression::bind(*expression, names);
    if (!bound)
      return bound.error();
    const TensorWork its = bound->countWork(counted);
    work.flops += its.flops;
    work.special += its.special;
    if (!work.gemmType)
      work.gemmType = findGemmType(expression->root(), names);
    if (!work.plan)
      work.plan = planGemm(expectation, names, *output->buffer);
  }
  return work;
}

Status measureContestants(CudaDevice &device, const Stopwatch &watch, std::span<Contestant> contestants,
                          const BenchRequest &request, BenchResult &result) {
  for (Contestant &contestant : contestants)
    contestant.sample.isCold = request.isCold;
  Result<RoundSize> size = prepareRounds(watch, contestants, request.useGraphs);
  if (!size)
    return size.error();
  result.samplesPerRound = size->samples;
  result.launchesPerGraph = size->launchesPerGraph;
  result.isCold = request.isCold;
  const std::unique_ptr<Telemetry> telemetry = Telemetry::open(device.cudaContext().info().pciBusId);
  std::vector<Contestant *> all;
  for (Contestant &contestant : contestants)
    all.push_back(&contestant);
  CardState card;
  const std::function<void()> look = [&] { note(card, telemetry->sample()); };
  for (int round = 0; round <= request.rounds; ++round) {
    if (Status status =
            measureRound(watch, all, static_cast<unsigned>(round), *size, telemetry && round > 0 ? look : nullptr);
        !status)
      return status;
    // Discard the warm-up round: a GPU runs at higher clocks until its power limit takes effect.
    if (round == 0)
      for (Contestant &contestant : contestants)
        contestant.rounds.clear();
  }
  if (telemetry)
    result.card = card;
  return Success{};
}

Status requireWork(const Grid &grid) {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "nothing to measure: the grid {}x{}x{} is empty", grid[0], grid[1],
                     grid[2]);
  return Success{};
}

/// Returns the baselines that the request names, or the default one if it names none.
static Result<std::vector<BaselineChoice>> parseBaselines(const std::vector<std::string> &texts) {
  std::vector<BaselineChoice> choices;
  for (const std::string &text : texts) {
    Result<BaselineChoice> choice = parseBaseline(text);
    if (!choice)
      return choice.error();
    choices.push_back(std::move(*choice));
  }
  if (choices.empty())
    choices.emplace_back();
  return choices;
}

/// Prepares the sessions through which launches cycle. There are several if the launches of a graph must not find their
/// own data in the cache.
static Result<std::vector<CudaSession>> prepareSessions(CudaDevice &device, const Stopwatch &watch,
                                                        const BenchRequest &request) {
  std::vector<CudaSession> sessions;
  for (size_t copies = countCopies(device, watch, request); sessions.size() < copies;) {
    Result<CudaSession> session = device.prepare(request.arguments);
    if (!session)
      return session.error();
    sessions.push_back(std::move(*session));
  }
  return sessions;
}

static Result<std::vector<Baseline>> prepareBaselines(std::span<const BaselineChoice> choices,
                                                      const BaselineRequest &request) {
  std::vector<Baseline> baselines;
  for (const BaselineChoice &choice : choices) {
    Result<Baseline> baseline = prepareBaseline(choice, request);
    if (!baseline)
      return baseline.error();
    baselines.push_back(std::move(*baseline));
  }
  return baselines;
}

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request) {
  if (Status status = requireWork(request.grid); !status)
    return status.error();
  Result<std::vector<BaselineChoice>> choices = parseBaselines(request.baselines);
  if (!choices)
    return choices.error();
  Result<Workload> work = findWorkload(*request.manifest, request.arguments, *request.names);
  if (!work)
    return work.error();
  BenchResult result;
  result.flops = request.flops.value_or(work->flops);
  result.bytes = work->bytes;
  result.gemmType = work->gemmType;
  Result<Stopwatch> watch = Stopwatch::create(device.cudaContext());
  if (!watch)
    return watch.error();
  Result<std::vector<CudaSession>> sessions = prepareSessions(device, *watch, request);
  if (!sessions)
    return sessions.error();
  const BaselineRequest baselineRequest = {&request, &device, *sessions, &*watch, work->plan, work->bytes};
  Result<std::vector<Baseline>> baselines = prepareBaselines(*choices, baselineRequest);
  if (!baselines)
    return baselines.error();

  std::vector<Contestant> contestants;
  std::vector<Launch> launches;
  for (CudaSession &session : *sessions)
    launches.push_back([&](CUstream stream) { return session.launch(request.grid, stream); });
  contestants.emplace_back(std::move(launches));
  for (const Baseline &baseline : *baselines)
    if (!baseline.launches.empty())
      contestants.emplace_back(baseline.launches);
  if (Status status = measureContestants(device, *watch, contestants, request, result); !status)
    return status.error();
  const auto energyOf = [&](const Contestant &contestant) -> Result<std::optional<double>> {
    const std::unique_ptr<Telemetry> telemetry =
        request.measuresEnergy ? Telemetry::open(device.cudaContext().info().pciBusId) : nullptr;
    return telemetry ? measureEnergy(*watch, *telemetry, contestant) : std::optional<double>();
  };
  result.rounds = contestants[0].rounds;
  result.microseconds = contestants[0].microseconds();
  Result<std::optional<double>> energy = energyOf(contestants[0]);
  if (!energy)
    return energy.error();
  result.millijoules = *energy;
  size_t next = 1;
  for (const Baseline &baseline : *baselines) {
    BaselineTime time;
    time.name = baseline.name;
    time.note = baseline.note;
    time.command = baseline.command;
    time.isRecorded = baseline.recordedMicroseconds > 0;
    time.microseconds = baseline.recordedMicroseconds;
    if (!baseline.launches.empty()) {
      const Contestant &contestant = contestants[next++];
      time.rounds = contestant.rounds;
      time.microseconds = contestant.microseconds();
      energy = energyOf(contestant);
      if (!energy)
        return energy.error();
      time.millijoules = *energy;
    }
    if (baseline.comparedArgument) {
      Result<double> difference = compareWithBaseline(device, sessions->front(), request, baseline);
      if (!difference)
        return difference.error();
      time.difference = *difference;
    }
    result.baselines.push_back(std::move(time));
  }
  return result;
}

} // namespace tile::runner
