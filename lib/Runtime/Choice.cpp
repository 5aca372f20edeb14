// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `decide` makes the choice; the other functions prepare, cache or explain it.
#include "Runtime/Choice.h"

#include "Runtime/ArgumentSlots.h"
#include "Runtime/ChoiceMemo.h"
#include "Runtime/Grid.h"

#include <algorithm>
#include <limits>
#include <set>

namespace tile::runtime {
namespace {

/// Returns the variant's constants, except those that are parameters of the general variant.
std::set<std::pair<std::string, ConstantValue>> ownConstants(const Manifest &manifest, const Manifest &general) {
  std::set<std::pair<std::string, ConstantValue>> constants;
  for (const auto &constant : manifest.constants)
    if (!general.findParameter(constant.first))
      constants.insert(constant);
  return constants;
}

} // namespace

struct Chooser::Slots {
  std::array<int64_t, TILE_MAX_PARAMETERS + 1> values;
  const Manifest *general;
  size_t count;

  CallSlots call() const { return {{values.data(), count}, *general}; }
};

Result<Chooser> Chooser::make(std::vector<const Manifest *> manifests, std::vector<bool> withPtx) {
  Chooser chooser;
  chooser.manifests = std::move(manifests);
  chooser.withPtx = std::move(withPtx);
  assert((chooser.withPtx.empty() || chooser.withPtx.size() == chooser.manifests.size()) && "one for each");
  assert(!chooser.manifests.empty() && chooser.manifests.size() <= maxVariants);
  for (const Manifest *manifest : chooser.manifests)
    if (Status status = chooser.add(*manifest); !status)
      return status.error();
  const std::vector<Parameter> &parameters = chooser.manifests[0]->parameters;
  for (uint16_t slot = 0; slot < parameters.size(); ++slot)
    if (parameters[slot].isPointer || parameters[slot].isInteger())
      chooser.reads.push_back({slot, parameters[slot].isPointer ? DataType::I64 : parameters[slot].type});
  chooser.findRelevantSlots();
  return chooser;
}

Status Chooser::add(const Manifest &manifest) {
  const Manifest &general = *manifests[0];
  Result<std::vector<Condition>> derived = deriveConditions(manifest, general);
  if (!derived)
    return derived.error();
  Variant variant;
  for (Condition &condition : *derived) {
    const auto known = std::find(conditions.begin(), conditions.end(), condition);
    const size_t number = static_cast<size_t>(known - conditions.begin());
    if (number == maxConditions)
      return makeError(TILE_ERROR_MANIFEST, "the variants of kernel '{}' have more than {} conditions", general.kernel,
                       maxConditions);
    if (known == conditions.end()) {
      tests.push_back(simplify(condition));
      conditions.push_back(std::move(condition));
      needing.emplace_back();
    }
    if (needing[number][variants.size()])
      continue;
    needing[number].set(variants.size());
    variant.promises += !needing[number][0];
    variant.conditions.push_back(static_cast<uint16_t>(number));
  }
  const ExpressionNames names = namesInCall(manifest, general);
  for (const std::string &text : manifest.launch.grid) {
    Result<Expression> expression = Expression::compile(text, names);
    if (!expression)
      return expression.error();
    variant.grid.push_back(std::move(*expression));
  }
  if (manifest.cost) {
    Result<CostSizes> sizes = CostSizes::compile(*manifest.cost, names);
    if (!sizes)
      return sizes.error();
    const auto known = std::find(gemms.begin(), gemms.end(), *sizes);
    if (target::findTarget(manifest.target))
      variant.gemm = static_cast<uint16_t>(known - gemms.begin());
    if (known == gemms.end())
      gemms.push_back(std::move(*sizes));
  }
  if (manifest.programs) {
    Result<ProgramsExpressions> work = ProgramsExpressions::compile(*manifest.programs, names);
    if (!work)
      return work.error();
    const auto known = std::find(works.begin(), works.end(), *work);
    if (target::findTarget(manifest.target))
      variant.work = static_cast<uint16_t>(known - works.begin());
    if (known == works.end())
      works.push_back(std::move(*work));
  }
  alternatives[variants.size()] = manifest.isAlternative;
  variant.takesCallersGrid = ownConstants(manifest, general) == ownConstants(general, general);
  variants.push_back(std::move(variant));
  return Success{};
}

void Chooser::findRelevantSlots() {
  std::set<uint16_t> slots;
  const auto addAll = [&](const Expression &expression) {
    for (unsigned slot : expression.usedSlots())
      if (slot < manifests[0]->parameters.size()) // otherwise num_sms, which is a property of the device
        slots.insert(static_cast<uint16_t>(slot));
  };
  for (size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i].kind == Condition::Kind::Alignment)
      pointerConditions.push_back(static_cast<uint16_t>(i));
    else if (conditions[i].expression)
      addAll(*conditions[i].expression);
    else
      slots.insert(static_cast<uint16_t>(conditions[i].slot));
  }
  for (const Variant &variant : variants)
    std::for_each(variant.grid.begin(), variant.grid.end(), addAll);
  for (const CostSizes &sizes : gemms)
    std::for_each(sizes.all().begin(), sizes.all().end(), addAll);
  for (const ProgramsExpressions &work : works)
    std::for_each(work.all().begin(), work.all().end(), addAll);
  integers.assign(slots.begin(), slots.end());
}

Chooser::Slots Chooser::read(const Call &call, const DeviceVariants &device) const {
  Slots slots; // slots of floats are never read
  slots.general = manifests[0];
  slots.count = manifests[0]->parameters.size() + 1;
  for (const Read &read : reads)
    slots.values[read.slot] = readInteger(read.type, call.arguments[read.slot]);
  slots.values[slots.count - 1] = device.multiprocessors;
  return slots;
}

bool Chooser::holds(size_t condition, const Slots &slots) const {
  const std::optional<SlotTest> &test = tests[condition];
  return test ? test->holds(slots.values) : runtime::holds(conditions[condition], slots.call());
}

/// Returns the variants whose conditions hold, regardless of their grids.
VariantSet Chooser::findPromised(const Slots &slots) const {
  VariantSet lacking;
  for (size_t i = 0; i < conditions.size(); ++i)
    if (!holds(i, slots))
      lacking |= needing[i];
  return ~lacking;
}

Chooser::GridState Chooser::evaluateGrid(size_t index, const Call &call, const Slots &slots, int64_t grid[3]) const {
  const Variant &variant = variants[index];
  std::fill(grid, grid + 3, 1);
  if (call.grid && !variant.takesCallersGrid)
    return GridState::OtherPrograms;
  if (call.grid)
    std::copy(call.grid, call.grid + 3, grid);
  else if (variant.grid.empty())
    return GridState::NoValue;
  for (size_t i = 0; !call.grid && i < variant.grid.size(); ++i) {
    const Evaluation evaluation = variant.grid[i].evaluate(slots.call().values);
    if (evaluation.error != EvaluationError::None || !slots.call().canEvaluate(variant.grid[i]))
      return GridState::NoValue;
    grid[i] = evaluation.value;
  }
  return checkGrid(manifests[index]->launch, grid) ? GridState::TooLarge : GridState::Fits;
}

VariantSet Chooser::findServing(const Call &call, const DeviceVariants &device, const Slots &slots) const {
  const VariantSet promised = findPromised(slots);
  VariantSet serving;
  for (const RankedVariants &ranked : device.ranks)
    for (uint16_t i : ranked.all) {
      int64_t grid[3];
      serving[i] = promised[i] && evaluateGrid(i, call, slots, grid) == GridState::Fits;
    }
  return serving;
}

/// Chooses by the cost model. The model is evaluated for only a few variants, because a cheap lower bound excludes most
/// variants. The variant with the lowest bound is evaluated first, since it is usually the fastest.
Choice Chooser::findFastest(const Call &call, const DeviceVariants &device, const Slots &slots) const {
  const VariantSet promised = findPromised(slots) & ~alternatives;
  Choice best{-1, false, -1, {}};
  for (const RankedVariants &ranked : device.ranks)
    if (best = findFastest(call, device, slots, promised, ranked); best.index >= 0)
      break;
  return best;
}

Choice Chooser::findFastest(const Call &call, const DeviceVariants &device, const Slots &slots,
                            const VariantSet &promised, const RankedVariants &among) const {
  constexpr double unknown = -1;
  std::optional<target::GemmSize> size;
  if (among.gemm)
    size = gemms[*among.gemm].evaluate(slots.call().values);
  std::array<float, maxVariants> bounds;
  size_t numBounds = 0, likely = 0; // `likely`: position of the lowest bound
  if (size) {
    numBounds = among.timed.size();
    among.bounds.compute(*size, bounds);
    for (size_t i = 0; i < numBounds; ++i) {
      if (!promised[among.timed[i]])
        bounds[i] = std::numeric_limits<float>::infinity();
      if (bounds[i] < bounds[likely])
        likely = i;
    }
  }
  const auto fits = [&](Choice &choice) {
    return evaluateGrid(static_cast<size_t>(choice.index), call, slots, choice.grid) == GridState::Fits;
  };
  const auto timeOf = [&](uint16_t index) {
    if (device.programTimes[index])
      return estimate(index, call, device, slots);
    if (!device.times[index])
      return unknown;
    const std::optional<target::GemmSize> own =
        variants[index].gemm == among.gemm ? size : gemms[*variants[index].gemm].evaluate(slots.call().values);
    return own ? device.times[index]->microseconds(*own) : unknown;
  };
  Choice known{-1, false, std::numeric_limits<double>::infinity(), {}}; // a variant known to serve the call
  if (numBounds > 0 && promised[among.timed[likely]]) {
    Choice first{among.timed[likely], false, timeOf(among.timed[likely]), {}};
    known = fits(first) ? first : known;
  }
  Choice best{-1, false, unknown, {}};
  double limit = known.microseconds;
  size_t row = 0; // position of the next bound
  for (uint16_t i : among.all) {
    const bool hasBound = row < numBounds && among.timed[row] == i;
    const bool isTooSlow = hasBound && bounds[row] > limit;
    row += hasBound;
    if (isTooSlow || !promised[i])
      continue;
    const bool isKnown = i == known.index;
    Choice next = isKnown ? known : Choice{i, false, timeOf(i), {}};
    const bool promisesMore =
        best.index >= 0 && variants[i].promises > variants[static_cast<size_t>(best.index)].promises;
    const bool isBetter = best.index < 0 ? true
                          : best.microseconds < 0
                              ? next.microseconds >= 0 || promisesMore
                              : next.microseconds >= 0 && (next.microseconds < best.microseconds ||
                                                           (next.microseconds == best.microseconds && promisesMore));
    if (!isBetter || (!isKnown && !fits(next)))
      continue;
    best = next;
    limit = best.microseconds >= 0 ? std::min(limit, best.microseconds) : limit;
  }
  return best;
}

Choice Chooser::decide(const Call &call, const DeviceVariants &device, const Slots &slots) const {
  const Choice best = findFastest(call, device, slots);
  if (!device.tuning || best.index < 0)
    return best;
  const VariantSet serving = findServing(call, device, slots);
  VariantSet candidates;
  for (size_t i = 0; i < variants.size(); ++i)
    candidates[i] = serving[i] && device.rank[i] == device.rank[static_cast<size_t>(best.index)];
  const std::optional<TunedChoice::Found> tuned =
      device.tuning->find(slots.call().values, serving, candidates, /*anyDistance=*/best.microseconds < 0);
  if (!tuned)
    return best;
  const double measured = tuned->microseconds;
  Choice choice{static_cast<int32_t>(tuned->variant),
                true,
                measured >= 0 ? measured : estimate(tuned->variant, call, device),
                {}};
  evaluateGrid(tuned->variant, call, slots, choice.grid); // fits, since the variant serves the call
  return choice;
}

Choice Chooser::choose(const Call &call, const DeviceVariants &device) const {
  static constinit thread_local ChoiceMemo<Choice> memo;
  const Slots slots = read(call, device);
  if (!device.canRemember)
    return decide(call, device, slots);
  ChoiceMemo<Choice>::Key key;
  key[0] = device.number; // also identifies the chooser
  uint64_t bits = call.grid ? uint64_t(1) << 63 : 0;
  for (size_t i = 0; i < pointerConditions.size(); ++i)
    bits |= static_cast<uint64_t>(holds(pointerConditions[i], slots)) << i;
  key[1] = bits;
  size_t count = 2;
  for (uint16_t slot : device.integers)
    key[count++] = static_cast<uint64_t>(slots.values[slot]);
  for (size_t i = 0; call.grid && i < 3; ++i)
    key[count++] = static_cast<uint64_t>(call.grid[i]);
  if (const Choice *known = memo.find(key, count))
    return *known;
  const Choice choice = decide(call, device, slots);
  memo.insert(key, count, choice);
  return choice;
}

Status Chooser::explain(size_t index, const Call &call, const DeviceVariants &device) const {
  if (device.rank[index] == 0)
    return Error{TILE_ERROR_ARCHITECTURE, device.obstacles[index]};
  const Slots slots = read(call, device);
  for (uint16_t number : variants[index].conditions)
    if (!holds(number, slots))
      return explainFailure(conditions[number], slots.call());
  const LaunchInfo &launch = manifests[index]->launch;
  int64_t grid[3];
  switch (evaluateGrid(index, call, slots, grid)) {
  case GridState::Fits:
    return Success{};
  case GridState::NoValue:
    return Error{TILE_ERROR_GRID, variants[index].grid.empty()
                                      ? "it has no grid in its manifest; the caller must give one"
                                      : "its grid cannot be evaluated in 64 bits"};
  case GridState::OtherPrograms:
    return makeError(TILE_ERROR_GRID,
                     "the caller passes a grid, which applies only to variants with the constants of '{}'",
                     manifests[0]->variant);
  case GridState::TooLarge:
    break;
  }
  fmt::memory_buffer text;
  describe(checkGrid(launch, grid), launch, grid, text);
  return Error{TILE_ERROR_GRID, std::string(text.data(), text.size())};
}

Error Chooser::explainAll(const Call &call, const DeviceVariants &device, size_t limit) const {
  // Many variants fail for the same reason, which is reported once.
  struct Reason {
    std::string text;
    size_t first = 0, others = 0;
  };
  std::vector<Reason> reasons;
  tile_status code = TILE_OK;
  for (size_t i = 0; i < variants.size(); ++i) {
    // Variants for other devices are irrelevant if there are some for this one.
    if (device.rank[i] == 0 && !device.ranks.empty())
      continue;
    const Status status = explain(i, call, device);
    if (status)
      continue;
    // Return the status code of the first failing variant, which is the most general one.
    if (code == TILE_OK)
      code = status.error().code;
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const Reason &reason) { return reason.text == status.error().message; });
    if (known == reasons.end())
      reasons.push_back({status.error().message, i, 0});
    else
      ++known->others;
  }
  if (variants.size() == 1 && !reasons.empty()) // a single variant has no name
    return Error{code, fmt::format("kernel '{}' does not serve this call: {}", manifests[0]->kernel, reasons[0].text)};
  std::string message = fmt::format("no variant of kernel '{}' serves this call: ", manifests[0]->kernel);
  constexpr size_t reserve = 32; // space for the end of the message
  for (size_t i = 0; i < reasons.size(); ++i) {
    const Reason &reason = reasons[i];
    std::string part = i == 0 ? "" : "; ";
    part += variantLabel(*manifests[reason.first]);
    if (reason.others > 0)
      part += fmt::format(" and {} other{}", reason.others, reason.others == 1 ? "" : "s");
    part += ": " + reason.text;
    if (i > 0 && message.size() + part.size() + reserve > limit)
      return Error{code,
                   message + fmt::format("; {} more reason{}", reasons.size() - i, reasons.size() - i == 1 ? "" : "s")};
    message += part;
  }
  return Error{code, message};
}

double Chooser::estimate(size_t index, const Call &call, const DeviceVariants &device) const {
  return estimate(index, call, device, read(call, device));
}

double Chooser::estimate(size_t index, const Call &call, const DeviceVariants &device, const Slots &slots) const {
  constexpr double unknown = -1;
  const std::span<const int64_t> values = slots.call().values;
  if (device.programTimes[index]) {
    int64_t grid[3];
    if (evaluateGrid(index, call, slots, grid) != GridState::Fits)
      return unknown;
    const std::optional<target::ProgramWork> work =
        works[*variants[index].work].evaluate(values, double(grid[0]) * double(grid[1]) * double(grid[2]));
    return work ? device.programTimes[index]->microseconds(*work) : unknown;
  }
  if (!device.times[index])
    return unknown;
  const std::optional<target::GemmSize> size = gemms[*variants[index].gemm].evaluate(values);
  return size ? device.times[index]->microseconds(*size) : unknown;
}

std::string Chooser::callClass(const Call &call, const DeviceVariants &device) const {
  return toHex(findServing(call, device, read(call, device)));
}

std::vector<std::string> Chooser::integersThatMatter() const {
  std::vector<std::string> names;
  for (uint16_t slot : integers)
    names.push_back(manifests[0]->parameters[slot].name);
  return names;
}

Result<std::shared_ptr<const TunedChoice>> Chooser::compile(const TuningTable &table) const {
  Result<TunedChoice> tuned = TunedChoice::compile(table, manifests);
  if (!tuned)
    return tuned.error();
  return std::make_shared<const TunedChoice>(std::move(*tuned));
}

} // namespace tile::runtime
