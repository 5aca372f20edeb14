// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/Agreement.h"

#include "Runner/Inputs/Element.h"

#include <cmath>
#include <cstring>
#include <fmt/ranges.h>

namespace tile::runner {

using runtime::BufferRole;
using runtime::makeError;
using runtime::Success;

namespace {

constexpr double shrinkSeconds = 20;

bool isWritten(const Parameter &parameter) {
  return parameter.isPointer && !(parameter.buffer && parameter.buffer->role == BufferRole::Random);
}

/// Formats an element such that different bits give different strings: "0.25 (0x3e800000)".
std::string formatElement(DataType type, const uint8_t *element) {
  const unsigned size = runtime::dataTypeSize(type);
  uint64_t bits = 0;
  std::memcpy(&bits, element, size);
  if (!runtime::isFloatType(type))
    return runtime::isSignedType(type)
               ? fmt::format("{}", static_cast<int64_t>(bits << (64 - 8 * size)) >> (64 - 8 * size))
               : fmt::format("{}", bits);
  return fmt::format("{:.9g} ({:#0{}x})", elementLoader(type)(element), bits, 2 * size + 2);
}

/// Compares elements of one type.
class ElementEquality {
public:
  ElementEquality(DataType type, double within, const std::vector<uint8_t> &reference)
      : size(runtime::dataTypeSize(type)), isFloat(runtime::isFloatType(type)), within(within),
        load(elementLoader(type)) {
    if (!isFloat || within == 0)
      return;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < reference.size(); i += size)
      if (const double value = load(reference.data() + i); std::isfinite(value)) {
        sum += value * value;
        ++count;
      }
    scale = count ? std::sqrt(sum / static_cast<double>(count)) : 0;
  }

  bool operator()(const uint8_t *first, const uint8_t *second) const {
    if (std::memcmp(first, second, size) == 0)
      return true;
    if (!isFloat)
      return false;
    const double a = load(first), b = load(second);
    if (std::isnan(a) || std::isnan(b) || within == 0)
      return std::isnan(a) && std::isnan(b);
    if (!std::isfinite(a) || !std::isfinite(b))
      return a == b;
    return std::abs(a - b) <= within * (std::max(std::abs(a), std::abs(b)) + scale);
  }

private:
  unsigned size;
  bool isFloat;
  double within;
  LoadElement load;
  double scale = 0; ///< root mean square of the finite elements
};

} // namespace

std::string Difference::text(const std::string &firstName, const std::string &secondName) const {
  if (buffer.empty())
    return fmt::format("{}: {}\n{}: {}", firstName, first, secondName, second);
  return fmt::format("{}[{}] is {} in {} and {} in {}; {} of {} elements differ", buffer, fmt::join(index, ", "), first,
                     firstName, second, secondName, count, elements);
}

std::optional<Difference> findDifference(const HostBuffer &first, const HostBuffer &second, double within) {
  const std::vector<uint8_t> ours = first.exportDense(), theirs = second.exportDense();
  if (ours == theirs)
    return std::nullopt;
  const DataType type = first.type();
  const unsigned size = runtime::dataTypeSize(type);
  const ElementEquality isEqual(type, within, ours);
  std::optional<Difference> difference;
  for (size_t at = 0; at < ours.size(); at += size) {
    const uint8_t *a = ours.data() + at, *b = theirs.data() + at;
    if (isEqual(a, b))
      continue;
    if (!difference) {
      difference.emplace();
      difference->first = formatElement(type, a);
      difference->second = formatElement(type, b);
      difference->elements = first.layout().elements;
      auto linear = static_cast<int64_t>(at / size);
      const std::vector<int64_t> &shape = first.layout().shape;
      difference->index.resize(shape.size());
      for (size_t dim = shape.size(); dim-- > 0; linear /= shape[dim])
        difference->index[dim] = linear % shape[dim];
    }
    ++difference->count;
  }
  return difference;
}

RunOptions Agreement::optionsFor(const Side &side, const TrialCall &call) const {
  RunOptions run = options.run;
  run.arguments = side.adapt ? side.adapt(call.arguments) : call.arguments;
  run.offsets.insert(run.offsets.end(), call.offsets.begin(), call.offsets.end());
  run.seed = call.seed;
  return run;
}

Result<Agreement::Outcome> Agreement::runOn(const Side &side, const TrialCall &call) const {
  const RunOptions run = optionsFor(side, call);
  Result<Execution> execution = Execution::prepare(run, *side.manifest, *side.device);
  if (!execution)
    return execution.error();
  RunReport report = startReport(*execution, *side.device, side.name);
  Outcome outcome;
  if (Status status = execution->run(report); !status) {
    if (status.error().code != TILE_ERROR_DRIVER || (options.run.limit && options.run.limit->ended(status.error())))
      return status.error();
    outcome.failure = status.error().message;
    return outcome;
  }
  if (!report.damages.empty())
    outcome.failure = report.damages.front();
  for (const Parameter &parameter : side.manifest->parameters)
    if (isWritten(parameter)) {
      Result<HostBuffer> copy = execution->output(parameter.name).clone();
      if (!copy)
        return copy.error();
      outcome.outputs[parameter.name] = std::move(*copy);
    }
  return outcome;
}

Result<std::optional<Difference>> Agreement::compare(const Trial &trial, AgreementResult &result) const {
  Result<TrialCall> call = plan.callOf(trial);
  if (!call)
    return call.error();
  Result<Outcome> ours = runOn(first, *call);
  if (!ours)
    return ours.error();
  Result<Outcome> theirs = runOn(second, *call);
  if (!theirs)
    return theirs.error();
  std::optional<Difference> difference;
  if (!ours->failure.empty() && !theirs->failure.empty()) {
    if (result.failing++ == 0)
      result.firstFailure = fmt::format("{}: {}", fmt::join(call->arguments, " "), ours->failure);
    return difference;
  }
  if (!ours->failure.empty() || !theirs->failure.empty()) {
    difference.emplace();
    difference->first = ours->failure.empty() ? "no error" : ours->failure;
    difference->second = theirs->failure.empty() ? "no error" : theirs->failure;
  } else {
    for (const Parameter &parameter : first.manifest->parameters) {
      const auto its = ours->outputs.find(parameter.name), other = theirs->outputs.find(parameter.name);
      if (its == ours->outputs.end())
        continue;
      if (other == theirs->outputs.end() || its->second.layout().shape != other->second.layout().shape ||
          its->second.type() != other->second.type())
        return makeError(TILE_ERROR_INVALID_ARGUMENT,
                         "'{}' writes buffer '{}', which '{}' does not write with the same type and shape", first.name,
                         parameter.name, second.name);
      if ((difference = findDifference(its->second, other->second, options.within(parameter)))) {
        difference->buffer = parameter.name;
        break;
      }
    }
  }
  ++result.compared;
  if (difference)
    difference->call = std::move(*call);
  return difference;
}

/// Prepares both runs before either starts, to find arguments that one of the kernels rejects.
Status Agreement::admit(const TrialCall &call, const Admission &admits) const {
  for (const Side *side : {&first, &second}) {
    const RunOptions run = optionsFor(*side, call);
    if (Result<Execution> execution = Execution::prepare(run, *side->manifest, *side->device); !execution)
      return runtime::withContext(side->name, execution.error());
  }
  return admits ? admits(call) : Success{};
}

Result<AgreementResult> Agreement::run(const Admission &admits) {
  AgreementResult result;
  const auto isOver = [&] { return options.run.limit && options.run.limit->isOver(); };
  for (uint64_t number = 0; number < options.trials && !result.difference; ++number) {
    if (isOver()) {
      result.isTimeOver = true;
      break;
    }
    const InputKind kind = options.inputs[number % options.inputs.size()];
    Result<Trial> trial =
        plan.draw(number, kind, options.run.seed, [&](const TrialCall &call) { return admit(call, admits); });
    if (!trial)
      return trial.error();
    Result<std::optional<Difference>> found = compare(*trial, result);
    if (!found && options.run.limit && options.run.limit->ended(found.error())) {
      result.isTimeOver = true;
      break;
    }
    if (!found)
      return found.error();
    if (!*found)
      continue;
    result.difference = std::move(*found);
    const std::string buffer = result.difference->buffer;
    if (buffer.empty() && (first.device->asCuda() || second.device->asCuda()))
      break; // a GPU's context cannot be used after an error
    AgreementResult ignored;
    const auto fails = [&](const Trial &smaller) {
      Result<TrialCall> call = plan.callOf(smaller);
      if (!call || !admit(*call, admits))
        return false;
      Result<std::optional<Difference>> again = compare(smaller, ignored);
      if (!again || !*again || (*again)->buffer != buffer)
        return false;
      result.difference = std::move(*again);
      return true;
    };
    const TimeLimit shrinking(shrinkSeconds);
    plan.shrink(*trial, fails, [&] { return isOver() || shrinking.isOver(); });
  }
  return result;
}

} // namespace tile::runner
