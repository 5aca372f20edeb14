// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the calls of a soak test, samples their sizes, and runs them.
#include "Lab/Soak/Soak.h"

#include "Runner/Inputs/Arguments.h"
#include "Runner/Inputs/BufferSource.h"
#include "Runner/Inputs/FillText.h"
#include "Runner/Inputs/Random.h"

#include <algorithm>
#include <bit>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <regex>
#include <set>

namespace tile::runner {

using runtime::Expression;
using runtime::makeError;

namespace {

constexpr int64_t tileMultiple = 64; // kernels' tile sizes are multiples or divisors of this

int64_t roundUp(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor * divisor;
}

/// How a manifest uses parameters.
struct Uses {
  std::set<std::string> inSizes;         ///< shapes and grid
  std::set<std::string> inStrides;       ///< strides of buffers
  std::set<std::string> inHigherStrides; ///< strides of buffers with more than two dimensions
  std::map<std::string, int64_t> ofMaps; ///< divisors of strides that tensor maps require, in elements
};

Uses findUses(const Manifest &manifest) {
  const runtime::ExpressionNames names = expressionNames(manifest);
  const auto collect = [&](const std::vector<std::string> &texts, std::set<std::string> &into) {
    for (const std::string &text : texts)
      if (Result<Expression> expression = Expression::compile(text, names))
        for (unsigned slot : expression->usedSlots())
          into.insert(names.variables[slot].name);
  };
  Uses uses;
  collect(manifest.launch.grid, uses.inSizes);
  for (const Parameter &parameter : manifest.parameters)
    if (parameter.buffer) {
      collect(parameter.buffer->shape, uses.inSizes);
      collect(parameter.buffer->strides, uses.inStrides);
      if (parameter.buffer->shape.size() > 2)
        collect(parameter.buffer->strides, uses.inHigherStrides);
    }
  for (const runtime::TensorMapSpec &map : manifest.tensorMaps)
    for (const std::string &stride : map.strides)
      uses.ofMaps[stride] =
          std::max<int64_t>(uses.ofMaps[stride], 16 / std::gcd<int64_t>(16, runtime::dataTypeSize(map.element)));
  return uses;
}

/// Returns, by name, the divisors that requirements of the form "NAME % D == 0" state for parameters. They are needed
/// because a random size is rarely a multiple of several divisors.
std::map<std::string, int64_t> requiredDivisors(const Manifest &manifest) {
  static const std::regex conjunct(R"((^|[( ])([A-Za-z_]\w*) % (\d{1,9}) == 0(?=$|\)| and ))");
  static const std::regex guarded(R"(([A-Za-z_]\w*) == (\d{1,9}) or (.*))");
  std::map<std::string, int64_t> divisors;
  for (std::string text : manifest.requirements) {
    // "CONSTANT == 0 or X" is X if the constant is not 0.
    if (std::smatch parts; std::regex_match(text, parts, guarded))
      for (const auto &[name, value] : manifest.constants)
        if (const int64_t *integer = std::get_if<int64_t>(&value);
            integer && name == parts[1].str() && *integer != std::stoll(parts[2].str())) {
          text = parts[3].str();
          break;
        }
    if (text.find(" or ") != std::string::npos || text.find("not ") != std::string::npos ||
        text.find(" if ") != std::string::npos)
      continue;
    for (std::sregex_iterator match(text.begin(), text.end(), conjunct), end; match != end; ++match) {
      int64_t &divisor = divisors.try_emplace((*match)[2].str(), 1).first->second;
      const int64_t stated = std::max<int64_t>(1, std::stoll((*match)[3].str()));
      if (divisor <= INT32_MAX / stated)
        divisor = std::lcm(divisor, stated);
    }
  }
  return divisors;
}

/// Returns the requirement that the arguments violate, or "" if they violate none.
Result<std::string> violatedRequirement(const Manifest &manifest, const std::vector<std::string> &arguments,
                                        int numSms) {
  if (manifest.requirements.empty())
    return std::string();
  Result<Bindings> bindings = Bindings::bind(manifest, arguments, numSms);
  if (!bindings)
    return bindings.error();
  for (const std::string &requirement : manifest.requirements)
    if (Result<std::vector<int64_t>> value = bindings->evaluate(std::vector{requirement}, manifest);
        !value || value->front() == 0) // undefined, for example because of a division by zero
      return requirement;
  return std::string();
}

/// Returns the parameters that occur in shapes of buffers whose default contents are a list, such as [0, N // 2, N].
/// These parameters must keep their default values, because any other value would require a longer or shorter list.
/// `given` contains the parameters that have arguments.
std::set<std::string> sizesOfLists(const Manifest &manifest, const std::set<std::string> &given) {
  const runtime::ExpressionNames names = expressionNames(manifest);
  std::set<std::string> sizes;
  for (const Parameter &parameter : manifest.parameters) {
    if (!parameter.buffer || !parameter.defaultValue || given.contains(parameter.name))
      continue;
    if (Result<FillText> fill = parseFill(*parameter.defaultValue); !fill || fill->function != "list")
      continue;
    for (const std::string &extent : parameter.buffer->shape)
      if (Result<Expression> expression = Expression::compile(extent, names))
        for (unsigned slot : expression->usedSlots())
          sizes.insert(names.variables[slot].name);
  }
  return sizes;
}

/// Returns true if the default depends on other parameters.
bool isDerived(const Parameter &parameter, const Manifest &manifest) {
  if (!parameter.defaultValue)
    return false;
  Result<Expression> expression = Expression::compile(*parameter.defaultValue, expressionNames(manifest));
  return expression && !expression->usedSlots().empty();
}

/// A range that is not given is limited to the values of the type.
Result<SoakPlan::Size> planSize(const Parameter &parameter, SizeRange range, int64_t divisor, bool isGiven) {
  const runtime::IntegerRange type = runtime::integerRange(parameter.type);
  if (isGiven && range.high > type.highest)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={}..{}: {} does not fit {} ({} to {})", parameter.name, range.low,
                     range.high, range.high, parameter.typeName(), type.lowest, type.highest);
  SoakPlan::Size size{parameter.name, range.low, static_cast<int64_t>(std::min<WideInteger>(range.high, type.highest)),
                      divisor};
  if (range.low < 0 || range.low > size.high || range.low > (int64_t(1) << 40))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={}..{} is not a range of sizes of type {}", parameter.name,
                     range.low, range.high, parameter.typeName());
  size.low = roundUp(range.low, divisor);
  size.high = size.high / divisor * divisor;
  if (size.low > size.high)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={}..{} has no multiple of {}, which the kernel requires",
                     parameter.name, range.low, range.high, divisor);
  return size;
}

/// Returns a random value. `which` distinguishes several samples for the same name and launch.
uint64_t draw(uint64_t seed, const std::string &name, uint64_t launch, unsigned which) {
  return randomBits(seedFor(seed, name), launch * 8 + which);
}

int64_t drawSize(const SoakPlan::Size &size, uint64_t seed, uint64_t launch) {
  const auto bits = [&](unsigned which) { return draw(seed, size.name, launch, which); };
  const auto magnitudes = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(size.high - size.low))) + 1;
  const uint64_t magnitude = std::max(bits(0) % magnitudes, bits(1) % magnitudes);
  int64_t value = size.low + static_cast<int64_t>(bits(2) & ((uint64_t(1) << magnitude) - 1));
  if (bits(3) % 2)
    value = roundUp(value, tileMultiple) + static_cast<int64_t>(bits(4) % 3) - 1;
  value = std::clamp(value, size.low, size.high);
  return value / size.divisor * size.divisor; // at least `low`, which is a multiple of the divisor
}

} // namespace

Result<SoakPlan> planSoak(const std::vector<std::string> &arguments, const Manifest &manifest, SizeRange ungiven) {
  SoakPlan plan;
  std::map<std::string, SizeRange> ranges;
  std::set<std::string> given;
  for (const std::string &argument : arguments) {
    Result<NamedText> split = splitAssignment(argument);
    if (!split)
      return split.error();
    const Parameter *parameter = manifest.findParameter(split->name);
    const std::optional<SizeRange> range = parseRange(split->value);
    const bool isInteger = parameter && parameter->isInteger();
    if (isInteger && !range && split->value.find("..") != std::string::npos)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}' is not a range; expected {}=LOW..HIGH, integers of 64 bits",
                       argument, split->name);
    if (range && isInteger)
      ranges[split->name] = *range;
    else
      plan.fixed.push_back(argument); // binding the arguments reports the error
    given.insert(split->name);
  }
  const Uses uses = findUses(manifest);
  const std::map<std::string, int64_t> required = requiredDivisors(manifest);
  const std::set<std::string> listed = sizesOfLists(manifest, given);
  for (const Parameter &parameter : manifest.parameters) {
    const std::string &name = parameter.name;
    const bool hasRange = ranges.contains(name);
    if (!parameter.isInteger() || (given.contains(name) && !hasRange))
      continue;
    const auto demand = uses.ofMaps.find(name);
    const auto stated = required.find(name);
    const int64_t divisor = std::lcm(std::lcm(parameter.divisibility, demand == uses.ofMaps.end() ? 1 : demand->second),
                                     stated == required.end() ? 1 : stated->second);
    if (!hasRange && uses.inStrides.contains(name) && !uses.inSizes.contains(name)) {
      if (parameter.defaultValue)
        plan.strides.push_back({name, divisor, !uses.inHigherStrides.contains(name)});
      continue;
    }
    if (!hasRange && (isDerived(parameter, manifest) || (parameter.defaultValue && listed.contains(name))))
      continue;
    Result<SoakPlan::Size> size = planSize(parameter,
                                           hasRange                                  ? ranges[name]
                                           : parameter.type == runtime::DataType::I1 ? SizeRange{0, 1}
                                                                                     : ungiven,
                                           divisor, hasRange);
    if (!size)
      return size.error();
    plan.sizes.push_back(*size);
  }
  return plan;
}

Result<SoakPlan> planVariant(const std::vector<std::string> &arguments, const Manifest &variant,
                             const Manifest &general, SizeRange ungiven) {
  std::vector<std::string> own, fixed;
  for (const auto &[name, value] : variant.constants)
    if (const Parameter *parameter = general.findParameter(name); parameter && !variant.findParameter(name))
      if (const int64_t *integer = std::get_if<int64_t>(&value))
        fixed.push_back(fmt::format("{}={}", name, *integer));
  for (const std::string &argument : arguments) {
    Result<NamedText> split = splitAssignment(argument);
    if (!split)
      return split.error();
    const bool isConstant = general.findParameter(split->name) && !variant.findParameter(split->name);
    if (!isConstant) {
      own.push_back(argument);
    } else if (!parseRange(split->value)) {
      std::erase_if(fixed, [&](const std::string &text) { return text.starts_with(split->name + "="); });
      fixed.push_back(argument);
    }
  }
  Result<SoakPlan> plan = planSoak(own, variant, ungiven);
  if (plan)
    plan->fixed.insert(plan->fixed.end(), fixed.begin(), fixed.end());
  return plan;
}

Status addStrides(const SoakPlan &plan, const Manifest &manifest, int numSms,
                  const std::function<int64_t(const SoakPlan::Stride &)> &paddingOf,
                  std::vector<std::string> &arguments) {
  for (const SoakPlan::Stride &stride : plan.strides) { // one after another, since a default may use another stride
    Result<Bindings> bindings = Bindings::bind(manifest, arguments, numSms);
    if (!bindings)
      return bindings.error();
    const size_t index = static_cast<size_t>(manifest.findParameter(stride.name) - manifest.parameters.data());
    const int64_t tight = bindings->scalar(index).integer;
    int64_t value = roundUp(tight, stride.divisor);
    if (stride.isPadded && tight > 1) // a stride of 1 stays 1
      value += stride.divisor * paddingOf(stride);
    arguments.push_back(fmt::format("{}={}", stride.name, value));
  }
  return runtime::Success{};
}

static Result<std::vector<std::string>> drawAttempt(const SoakPlan &plan, const Manifest &manifest, uint64_t seed,
                                                    uint64_t launch, int numSms) {
  std::vector<std::string> arguments = plan.fixed;
  for (const SoakPlan::Size &size : plan.sizes)
    arguments.push_back(fmt::format("{}={}", size.name, drawSize(size, seed, launch)));
  const auto paddingOf = [&](const SoakPlan::Stride &stride) {
    const bool isPadded = draw(seed, stride.name, launch, 0) % 2;
    return isPadded ? static_cast<int64_t>(draw(seed, stride.name, launch, 1) % 17) : 0;
  };
  if (Status status = addStrides(plan, manifest, numSms, paddingOf, arguments); !status)
    return status.error();
  return arguments;
}

Result<std::vector<std::string>> drawArguments(const SoakPlan &plan, const Manifest &manifest, uint64_t seed,
                                               uint64_t launch, int numSms) {
  constexpr uint64_t maxAttempts = 1000; // enough even for a requirement that only one size in a thousand satisfies
  std::string violated;
  for (uint64_t attempt = 0; attempt < maxAttempts; ++attempt) {
    Result<std::vector<std::string>> arguments =
        drawAttempt(plan, manifest, attempt == 0 ? seed : randomBits(seed, attempt), launch, numSms);
    if (!arguments)
      return arguments.error();
    Result<std::string> requirement = violatedRequirement(manifest, *arguments, numSms);
    if (!requirement)
      return requirement.error();
    if (requirement->empty())
      return arguments;
    violated = *requirement;
    if (plan.sizes.empty() && plan.strides.empty())
      break; // without random sizes all attempts would be equal
  }
  return makeError(TILE_ERROR_INVALID_ARGUMENT,
                   "kernel '{}' requires {}, which holds for none of the sampled sizes; give narrower ranges, like "
                   "NAME=LOW..HIGH, or fixed sizes",
                   manifest.kernel, violated);
}

namespace {

std::string describe(const SoakPlan &plan) {
  std::vector<std::string> parts = plan.fixed;
  for (const SoakPlan::Size &size : plan.sizes)
    parts.push_back(fmt::format("{}={}..{}{}", size.name, size.low, size.high,
                                size.divisor > 1 ? fmt::format(" (multiples of {})", size.divisor) : ""));
  for (const SoakPlan::Stride &stride : plan.strides)
    parts.push_back(fmt::format("{} {}", stride.name,
                                stride.divisor > 1 ? fmt::format("(multiples of {})", stride.divisor) : "(any)"));
  return fmt::format("{}", fmt::join(parts, " "));
}

/// Samples sizes and, for an artifact with several variants, the variant.
class Drawing {
public:
  Drawing(const RunOptions &options, const SoakPlan &plan, const Variants &variants)
      : options(options), general(variants.artifact().manifest), plan(plan), variants(variants) {
    if (variants.chooser().size() > 1 && options.variant.empty())
      planVariants();
  }

  /// Samples arbitrary sizes and addresses, or those that a variant assumes. If arguments are fixed, the variant may
  /// still not accept the call.
  Result<RunOptions> draw(uint64_t launch) const {
    RunOptions drawn = options;
    if (!variantPlans.empty() && launch % 2 == 1) {
      const auto &[name, own] =
          variantPlans[tile::runner::draw(options.seed, "variant", launch, 0) % variantPlans.size()];
      drawn.variant = name;
      if (Result<std::vector<std::string>> arguments = argumentsOf(own, launch)) {
        drawn.arguments = std::move(*arguments);
        if (canBeMade(drawn.arguments) && variants.choose(drawn))
          return drawn;
      }
      drawn.variant = options.variant;
    }
    Result<std::vector<std::string>> arguments = argumentsOf(plan, launch);
    if (!arguments)
      return arguments.error();
    drawn.arguments = std::move(*arguments);
    drawOffsets(launch, drawn.offsets);
    return drawn;
  }

private:
  void planVariants() {
    for (size_t i = 0; i < variants.chooser().size(); ++i) {
      if (variants.onDevice().rank[i] == 0)
        continue; // the variant does not run on this device
      const Manifest &manifest = variants.chooser().manifest(i);
      Result<SoakPlan> own = planVariant(options.arguments, manifest, general);
      if (own) // otherwise the ranges contain no call that the variant accepts
        variantPlans.emplace_back(manifest.variant, std::move(*own));
    }
  }

  Result<std::vector<std::string>> argumentsOf(const SoakPlan &from, uint64_t launch) const {
    return drawArguments(from, general, options.seed, launch, variants.multiprocessors());
  }

  /// Returns true if the buffers can be created. Creating them fails if strides fixed by a variant are incompatible
  /// with defaults of other parameters.
  bool canBeMade(const std::vector<std::string> &arguments) const {
    Result<Bindings> bindings = Bindings::bind(general, arguments, variants.multiprocessors());
    return bindings && checkDeclaredBuffers(general, *bindings);
  }

  /// Samples an offset for every fourth buffer that the kernel does not assume to be aligned.
  void drawOffsets(uint64_t launch, std::vector<std::string> &offsets) const {
    const auto bits = [&](const Parameter &parameter, unsigned which) {
      return tile::runner::draw(options.seed, parameter.name, launch, which);
    };
    for (const Parameter &parameter : general.parameters)
      if (!variantPlans.empty() && parameter.isPointer &&
          parameter.alignment <= static_cast<int64_t>(runtime::dataTypeSize(parameter.type)) &&
          bits(parameter, 6) % 4 == 0)
        offsets.push_back(fmt::format("{}={}", parameter.name, 1 + bits(parameter, 7) % 16));
  }

  const RunOptions &options;
  const Manifest &general;
  const SoakPlan &plan;
  const Variants &variants;
  std::vector<std::pair<std::string, SoakPlan>> variantPlans; ///< by name; empty for a single variant
};

} // namespace

int runSoak(const SoakOptions &options, const runtime::Artifact &artifact) {
  Result<SoakPlan> plan = planSoak(options.run.arguments, artifact.manifest);
  if (!plan)
    return reportFailure(options.run, plan.error());
  RunOptions first = options.run; // check the arguments before a device is opened
  Result<std::vector<std::string>> arguments = drawArguments(*plan, artifact.manifest, options.run.seed, 0, 1);
  if (!arguments)
    return reportFailure(options.run, arguments.error());
  first.arguments = std::move(*arguments);
  if (Status status = validateRequest(first, artifact.manifest); !status)
    return reportFailure(options.run, status.error());
  Result<DeviceLoader> loader = DeviceLoader::open(options.run);
  if (!loader)
    return reportFailure(options.run, loader.error());
  LoadedArtifacts artifacts(options.run, *loader);
  Result<Variants *> variants = artifacts.open(options.run.artifact);
  if (!variants)
    return reportFailure(options.run, variants.error());
  const Drawing drawing(options.run, *plan, **variants);
  SoakSource source;
  source.what = describe(*plan);
  source.draw = [&](uint64_t number) { return drawing.draw(number); };
  return runSoakLoop(options, source, artifacts);
}

} // namespace tile::runner
