// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/Schedules.h"

#include "Runner/Results/Sha256.h"
#include "Simulator/Machine/Program.h"
#include "Simulator/Profile/Observer.h"

#include <atomic>
#include <fmt/ranges.h>

namespace tile::runner {

using runtime::BufferRole;
using runtime::Success;

class Coverage final : public RunWatcher, public sim::Observer {
public:
  sim::Observer &begin(const sim::Program &program, std::span<const DeviceArgument>,
                       std::span<const uint64_t>) override {
    if (!flags) {
      count = program.function.instructions.size();
      flags = std::make_unique<std::atomic<bool>[]>(count);
      for (const sim::Instruction &instruction : program.function.instructions)
        names.push_back(describeInstruction(program.module, instruction));
    }
    first = program.function.instructions.data();
    return *this;
  }
  void issue(const sim::Warp &, const sim::Instruction &instruction, sim::LaneMask) override {
    const auto index = static_cast<size_t>(&instruction - first);
    if (index < count) // false for the return that Program adds after the last instruction
      flags[index].store(true, std::memory_order_relaxed);
  }
  void access(const sim::Warp &, const sim::LaneAccess &) override {}
  void copy(const sim::Warp &, const sim::Instruction &, uint64_t, bool) override {}
  void tensorCore(const sim::Warp &, const sim::Instruction &, uint64_t) override {}
  void wait(const sim::Warp &, const sim::Instruction &) override {}

  bool isComplete() const {
    return std::all_of(flags.get(), flags.get() + count, [](const std::atomic<bool> &flag) { return flag.load(); });
  }
  void addTo(Verdict &verdict) const {
    verdict.instructions = count;
    for (size_t i = 0; i < count; ++i)
      if (flags[i].load(std::memory_order_relaxed))
        ++verdict.reached;
      else
        verdict.unreached.push_back(names[i]);
  }

private:
  size_t count = 0;
  std::unique_ptr<std::atomic<bool>[]> flags;
  std::vector<std::string> names;
  const sim::Instruction *first = nullptr;
};

namespace {

constexpr double longestShrinking = 20; // seconds

std::string hashOutputs(const Manifest &manifest, const Execution &execution) {
  std::string all;
  for (const Parameter &parameter : manifest.parameters)
    if (parameter.isPointer && !(parameter.buffer && parameter.buffer->role == BufferRole::Random)) {
      const std::vector<uint8_t> dense = execution.output(parameter.name).exportDense();
      all.append(dense.begin(), dense.end());
    }
  return sha256(all);
}

} // namespace

ScheduleTrial::ScheduleTrial(const TestedVariant &variant, const ScheduleOptions &options)
    : variant(variant), options(options), coverage(std::make_unique<Coverage>()), state(variant.startVerdict()) {
  state.planned = options.trials * options.orders;
}

ScheduleTrial::~ScheduleTrial() = default;

bool ScheduleTrial::isDone() const {
  const bool isOver = next >= state.planned + options.most || (next >= state.planned && coverage->isComplete());
  return isOver || !state.problem.empty() || !state.skipped.empty();
}

Result<std::string> ScheduleTrial::runTrial(const Trial &trial, uint64_t order, std::string *outputs) {
  Result<TrialCall> call = variant.plan.callOf(trial);
  if (!call)
    return call.error();
  RunOptions run = variant.optionsFor(*call, options.run);
  run.check = !variant.manifest().expect.empty();
  SimOptions sim;
  sim.seed = order;
  if (run.multiprocessors)
    sim.multiprocessors = run.multiprocessors;
  sim.threads = run.threads;
  sim.steps = run.steps;
  sim.limit = run.limit;
  sim.sourceFolders = sourceFolders(run);
  sim.watcher = coverage.get();
  Result<std::unique_ptr<Device>> device = openSimDevice(variant.artifact, sim);
  if (!device)
    return device.error();
  Result<Execution> execution = Execution::prepare(run, variant.manifest(), **device);
  if (!execution)
    return execution.error();
  RunReport report = startReport(*execution, **device, run.artifact);
  if (Status status = execution->run(report); !status) {
    if (status.error().code != TILE_ERROR_DRIVER || (run.limit && run.limit->ended(status.error())))
      return status.error();
    return status.error().message;
  }
  if (outputs)
    *outputs = hashOutputs(variant.manifest(), *execution);
  if (report.passed())
    return std::string();
  report.lastRun = (*device)->lastRun();
  std::string text = formatText(report);
  text.pop_back(); // the newline
  return text;
}

void ScheduleTrial::reportProblem(const Trial &trial, uint64_t order, std::string problem) {
  state.problem = std::move(problem);
  Result<TrialCall> call = variant.plan.callOf(trial);
  state.command = "tile-run run " + variant.commandFor(call ? *call : TrialCall(), options.run);
  state.command += fmt::format(" --device=sim --order=seed:{}", order);
  if (options.run.multiprocessors)
    state.command += fmt::format(" --sms={}", options.run.multiprocessors);
  if (!variant.manifest().expect.empty())
    state.command += " --check";
}

void ScheduleTrial::shrink(const Trial &failing, uint64_t order) {
  const TimeLimit shrinking(longestShrinking);
  std::string problem = state.problem;
  const auto fails = [&](const Trial &smaller) {
    Result<TrialCall> call = variant.plan.callOf(smaller);
    if (!call || !variant.admits(*call))
      return false;
    Result<std::string> again = runTrial(smaller, order, nullptr);
    if (!again || again->empty())
      return false;
    problem = *again;
    return true;
  };
  const auto isOver = [&] { return shrinking.isOver() || (options.run.limit && options.run.limit->isOver()); };
  reportProblem(variant.plan.shrink(failing, fails, isOver), order, problem);
}

Status ScheduleTrial::tryMore() {
  const uint64_t more = next - state.planned;
  const double effort = static_cast<double>(uint64_t(1) << std::min<uint64_t>(more, 5));
  Result<Trial> trial =
      variant.plan.draw(options.trials + more, InputKind::Random, options.run.seed, variant.admits, effort);
  if (trial) {
    Result<std::string> problem = runTrial(*trial, next, nullptr);
    if (!problem)
      return problem.error();
    ++state.runs;
    if (!problem->empty()) {
      reportProblem(*trial, next, *problem);
      shrink(*trial, next);
    }
  }
  ++next;
  return Success{};
}

Status ScheduleTrial::runNext() {
  if (next >= state.planned)
    return tryMore();
  const uint64_t which = next % options.trials;
  if (which == tried.size()) {
    Result<Trial> trial = variant.plan.draw(which, InputKind::Random, options.run.seed, variant.admits);
    if (!trial) {
      state.skipped = "no call that it accepts was found: " + trial.error().message;
      return Success{};
    }
    tried.push_back({std::move(*trial), ""});
  }
  Tried &call = tried[which];
  std::string outputs;
  Result<std::string> problem = runTrial(call.trial, next, &outputs);
  if (!problem)
    return problem.error();
  ++state.runs;
  if (!problem->empty()) {
    reportProblem(call.trial, next, *problem);
    shrink(call.trial, next);
  } else if (call.outputs.empty()) {
    call.outputs = outputs;
  } else if (call.outputs != outputs) {
    const std::string text =
        fmt::format("results depend on the order of events: --order=seed:{} and --order=seed:{}", which, next);
    if (variant.uses.hasAtomics)
      state.note = text + "; the kernel has atomic operations";
    else
      reportProblem(call.trial, next, text);
  }
  ++next;
  return Success{};
}

Verdict ScheduleTrial::verdict() const {
  Verdict verdict = state;
  coverage->addTo(verdict);
  return verdict;
}

} // namespace tile::runner
