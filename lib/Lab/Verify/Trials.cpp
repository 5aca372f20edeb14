// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/Trials.h"

#include "Runner/Inputs/Arguments.h"
#include "Runner/Inputs/BufferSource.h"
#include "Runner/Inputs/Random.h"

#include <CLI/CLI.hpp>

namespace tile::runner {

namespace {

constexpr SizeRange trialSizes{0, 4096}; // default range of integers that the arguments do not specify
constexpr int64_t largestBlock = 2048;   // constants above this are not block sizes
constexpr int64_t trialPadding = 3;      // maximum number of steps by which a stride is padded
constexpr double programCost = 4096;     // cost of a program, in elements of buffers
constexpr double maxTrialCost = 300000;  // a simulation takes well below a second
constexpr unsigned maxAttempts = 48;
constexpr int64_t plainSizes[] = {1, 0, 2, 3, 7, 16, 31, 100};

constexpr std::pair<InputKind, std::string_view> kindNames[] = {{InputKind::Random, "random"},
                                                                {InputKind::Special, "special"},
                                                                {InputKind::Denormals, "denormals"},
                                                                {InputKind::Zeros, "zeros"}};

/// Returns one of the `values` of the parameter at `position` of `count`. The first trial uses the first values, which
/// are one more than a block. From the fifth trial on, one parameter at a time is 0, then one at a time is large,
/// because zero-trip loops and second waves of programs take other paths. All other values are random.
int64_t chooseSize(const std::vector<int64_t> &values, uint64_t position, uint64_t count, uint64_t number,
                   uint64_t bits) {
  constexpr uint64_t firstDirected = 4;
  if (number == 0)
    return values.front();
  if (number < firstDirected || number >= firstDirected + 2 * count)
    return values[bits % values.size()];
  const uint64_t which = number - firstDirected;
  if (which % count != position)
    return values.front();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return which < count ? *least : *most;
}

/// Returns the block sizes among the constants. Those named after the size come first.
std::vector<int64_t> blocksFor(const std::string &size, const Manifest &kernel) {
  std::vector<int64_t> named, others;
  for (const auto &[name, value] : kernel.constants) {
    const int64_t *integer = std::get_if<int64_t>(&value);
    if (!integer || *integer < 2 || *integer > largestBlock)
      continue;
    const bool isNamed = name.size() > size.size() && name.ends_with("_" + size);
    (isNamed ? named : others).push_back(*integer);
  }
  named.insert(named.end(), others.begin(), others.end());
  return named;
}

} // namespace

std::string_view inputKindName(InputKind kind) {
  return std::find_if(std::begin(kindNames), std::end(kindNames), [&](auto &row) { return row.first == kind; })->second;
}

CLI::Option *addInputKinds(CLI::App &app, std::vector<InputKind> &kinds) {
  std::map<std::string, InputKind> names;
  for (const auto &[kind, name] : kindNames)
    names.emplace(name, kind);
  return app
      .add_option("--inputs", kinds,
                  "Contents of float buffers in comparisons: random, special (with infinities, NaN, ...), denormals, "
                  "zeros (default: each in turn)")
      ->transform(CLI::CheckedTransformer(names).description(""))
      ->delimiter(',')
      ->type_name("KIND,...")
      ->allow_extra_args(false);
}

Result<TrialPlan> TrialPlan::make(const std::vector<std::string> &arguments, const Manifest &kernel,
                                  const Manifest &general, int multiprocessors, const Manifest *other) {
  Result<SoakPlan> sizes = planVariant(arguments, kernel, general, trialSizes);
  if (!sizes)
    return sizes.error();
  std::set<std::string> given;
  for (const std::string &argument : arguments)
    given.insert(argument.substr(0, argument.find('=')));
  TrialPlan plan(general, std::move(*sizes), multiprocessors);
  for (const Parameter &parameter : general.parameters) {
    if (given.contains(parameter.name) || parameter.defaultValue)
      continue;
    if (!parameter.isPointer && !parameter.isInteger())
      plan.plan.fixed.push_back(parameter.name + "=0.625"); // exact in every type
    const bool isRead = !parameter.buffer || parameter.buffer->role == runtime::BufferRole::Random ||
                        parameter.buffer->role == runtime::BufferRole::Inout;
    if (parameter.isPointer && isRead && runtime::isFloatType(parameter.type))
      plan.fillable.push_back(parameter.name);
  }
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.isPointer && parameter.alignment <= static_cast<int64_t>(runtime::dataTypeSize(parameter.type)))
      plan.shiftable.push_back(parameter.name);
  plan.listCandidates(kernel, other);
  return plan;
}

void TrialPlan::listCandidates(const Manifest &kernel, const Manifest *other) {
  for (const SoakPlan::Size &size : plan.sizes) {
    std::vector<int64_t> &values = candidates[size.name];
    const auto add = [&](int64_t value) {
      for (int64_t rounded :
           {value / size.divisor * size.divisor, (value + size.divisor - 1) / size.divisor * size.divisor})
        if (rounded >= size.low && rounded <= size.high &&
            std::find(values.begin(), values.end(), rounded) == values.end())
          values.push_back(rounded);
    };
    std::vector<int64_t> blocks = blocksFor(size.name, kernel);
    if (other)
      for (int64_t block : blocksFor(size.name, *other))
        blocks.push_back(block);
    for (int64_t block : blocks)
      for (int64_t value : {block + 1, 3 * block - 1, block, block - 1, 5 * block + 1})
        add(value);
    for (int64_t value : plainSizes)
      add(value);
    add(size.low);
    if (size.high < largestBlock)
      add(size.high);
  }
}

Result<double> TrialPlan::costOf(const std::vector<std::string> &arguments) const {
  Result<Bindings> bindings = Bindings::bind(*general, arguments, multiprocessors);
  if (!bindings)
    return bindings.error();
  if (Status status = checkDeclaredBuffers(*general, *bindings); !status)
    return status.error();
  double cost = 0;
  for (const Parameter &parameter : general->parameters) {
    if (!parameter.buffer)
      continue;
    Result<std::vector<int64_t>> shape = bindings->evaluate(parameter.buffer->shape, *general);
    if (!shape)
      return shape.error();
    double elements = 1;
    for (int64_t extent : *shape)
      elements *= static_cast<double>(extent);
    cost += elements;
  }
  if (general->launch.grid.empty())
    return cost;
  Result<std::vector<int64_t>> grid = bindGrid(*general, *bindings);
  if (!grid)
    return grid.error();
  double programs = 1;
  for (int64_t extent : *grid)
    programs *= static_cast<double>(extent);
  return cost + programCost * programs;
}

Result<TrialCall> TrialPlan::callOf(const Trial &trial) const {
  TrialCall call{plan.fixed, {}, trial.seed};
  for (const auto &[name, value] : trial.sizes)
    call.arguments.push_back(fmt::format("{}={}", name, value));
  const auto paddingOf = [&](const SoakPlan::Stride &) { return trial.isPadded ? trialPadding : 0; };
  if (Status status = addStrides(plan, *general, multiprocessors, paddingOf, call.arguments); !status)
    return status.error();
  for (const auto &[name, text] : trial.fills)
    call.arguments.push_back(name + "=" + text);
  if (trial.isShifted)
    for (const std::string &buffer : shiftable)
      call.offsets.push_back(buffer + "=1");
  return call;
}

Result<Trial> TrialPlan::draw(uint64_t number, InputKind kind, uint64_t seed, const Admission &admits,
                              double effort) const {
  std::optional<Trial> cheapest; // the cheapest of those that are too large
  double least = 0;
  Error reason = runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "there are no sizes to try");
  for (unsigned attempt = 0; attempt < maxAttempts; ++attempt) {
    Trial trial;
    trial.seed = seed + number;
    trial.isPadded = number % 2 == 1;
    trial.isShifted = number % 4 == 2 && !shiftable.empty();
    if (kind != InputKind::Random)
      for (const std::string &buffer : fillable)
        trial.fills[buffer] = inputKindName(kind);
    uint64_t position = 0;
    for (const auto &[name, values] : candidates) {
      const uint64_t bits = randomBits(seedFor(0, name), number * maxAttempts + attempt);
      trial.sizes[name] =
          attempt ? values[bits % values.size()] : chooseSize(values, position, candidates.size(), number, bits);
      ++position;
    }
    Result<TrialCall> call = callOf(trial);
    Result<double> cost = call ? costOf(call->arguments) : Result<double>(call.error());
    if (!cost) {
      reason = cost.error();
      continue;
    }
    if (*cost > effort * maxTrialCost) { // do not call `admits` for it, which may take long
      if (!cheapest || *cost < least) {
        cheapest = trial;
        least = *cost;
      }
    } else if (Status admitted = admits(*call); admitted) {
      return trial;
    } else {
      reason = admitted.error();
    }
    if (trial.sizes.empty())
      break;
  }
  if (!cheapest)
    return reason;
  Result<TrialCall> call = callOf(*cheapest);
  if (!call)
    return call.error();
  Status admitted = admits(*call);
  return admitted ? Result<Trial>(*cheapest) : admitted.error();
}

Trial TrialPlan::shrink(Trial failing, const std::function<bool(const Trial &)> &fails,
                        const std::function<bool()> &isOver) const {
  const auto accept = [&](Trial smaller) {
    if (isOver() || !fails(smaller))
      return false;
    failing = std::move(smaller);
    return true;
  };
  // Tries small values first, then half the value and one step less, until no size becomes smaller.
  for (bool isSmaller = true; isSmaller && !isOver();) {
    isSmaller = false;
    for (const SoakPlan::Size &size : plan.sizes) {
      const int64_t value = failing.sizes[size.name], step = size.divisor;
      for (int64_t lower : {size.low, size.low + step, size.low + 2 * step, value / 2 / step * step, value - step}) {
        Trial smaller = failing;
        smaller.sizes[size.name] = lower;
        if (lower >= size.low && lower < value && accept(smaller)) {
          isSmaller = true;
          break;
        }
      }
    }
  }
  for (bool Trial::*complication : {&Trial::isPadded, &Trial::isShifted})
    if (failing.*complication) {
      Trial simpler = failing;
      simpler.*complication = false;
      accept(simpler);
    }
  for (const std::string &buffer : fillable) {
    failing.fills.try_emplace(buffer, "random");
    for (const char *text : {"zeros", "ones", "random"}) {
      Trial simpler = failing;
      simpler.fills[buffer] = text;
      if (failing.fills[buffer] == text || accept(simpler))
        break;
    }
  }
  std::erase_if(failing.fills, [](const auto &fill) { return fill.second == "random"; });
  return failing;
}

} // namespace tile::runner
