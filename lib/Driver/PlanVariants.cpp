// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans variants from classes of assumptions, configurations and sizes, and explains them for --explain-config.
#include "Driver/VariantPlan.h"

#include "Analysis/Programs/ProgramCounts.h"
#include "Codegen/EmitManifest.h"
#include "Driver/KernelFacts.h"
#include "Driver/PlanGemm.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace tile::driver {
namespace {

/// Maximum number of variants in an artifact, over all classes and configurations. The few variants without which some
/// calls would not be served do not count. Two cores compile this many in four seconds.
constexpr size_t maxVariants = 24;

/// One set of constants to compile the kernel with, in addition to assumptions: from @triton.autotune, or from -D
/// NAME=a,b.
struct Configuration {
  std::string name = {}; ///< "BLOCK.64-num_warps.8"; empty: the only configuration
  std::map<std::string, std::string> definitions = {};
  std::optional<int> numWarps = {}, numStages = {};
  std::vector<std::string> requirements = {}; ///< conditions of "#: config" on the calls that the configuration serves
  bool isFallback = false;                    ///< serves only calls that no other configuration serves
};

/// Returns all combinations of the values of -D. The combination of the first values comes first.
std::vector<Configuration> combineAlternatives(const CompilerOptions &options) {
  std::vector<Configuration> configurations{{}};
  for (const auto &[parameter, values] : options.alternatives) {
    std::vector<std::string> all;
    if (auto first = options.definitions.find(parameter); first != options.definitions.end())
      all.push_back(first->second);
    llvm::append_range(all, values);
    std::vector<Configuration> extended;
    for (const Configuration &configuration : configurations)
      for (const std::string &value : all) {
        Configuration next = configuration;
        next.definitions[parameter] = value;
        extended.push_back(std::move(next));
      }
    configurations = std::move(extended);
  }
  return configurations;
}

/// Appends the configurations of an autotuner; the first one serves all calls. Skips configurations that are valid only
/// for some arguments, because only the host program can tell for which.
void appendTuned(const frontend::KernelConfigurations &tuned, const Configuration &base,
                 std::vector<Configuration> &configurations) {
  bool isFirst = true;
  for (const frontend::KernelConfiguration &one : tuned.configurations) {
    if (one.isConditional && !isFirst)
      continue;
    isFirst = false;
    Configuration next = base;
    next.definitions.insert(one.definitions.begin(), one.definitions.end());
    next.numWarps = one.numWarps;
    next.numStages = one.numStages;
    configurations.push_back(std::move(next));
  }
  if (isFirst)
    configurations.push_back(base);
}

/// Returns the constants of a configuration: ("BLOCK", "64"), ("num_warps", "8").
std::vector<std::pair<std::string, std::string>> partsOf(const Configuration &configuration) {
  std::vector<std::pair<std::string, std::string>> parts(configuration.definitions.begin(),
                                                         configuration.definitions.end());
  if (configuration.numWarps)
    parts.emplace_back("num_warps", std::to_string(*configuration.numWarps));
  if (configuration.numStages)
    parts.emplace_back("num_stages", std::to_string(*configuration.numStages));
  return parts;
}

/// Names configurations by the constants in which they differ, using the characters that manifests allow. Names that
/// are too long are shortened by whole parts.
void nameConfigurations(std::vector<Configuration> &configurations) {
  constexpr size_t longest = 80; // leaves space for the class of assumptions and the tile
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const Configuration &configuration : configurations)
    for (const auto &part : partsOf(configuration))
      ++counts[part];
  for (Configuration &configuration : configurations) {
    std::string name;
    for (const auto &part : partsOf(configuration)) {
      if (counts[part] == configurations.size())
        continue;
      std::string next = name + (name.empty() ? "" : "-") + part.first + "." + part.second;
      if (next.size() > longest)
        break;
      name = std::move(next);
    }
    for (char &c : name)
      if (!llvm::isAlnum(c) && !llvm::StringRef(".+_-").contains(c))
        c = '.';
    configuration.name = std::move(name);
  }
}

/// Adds the conditions that are declared for the constants of the configuration.
void addConditions(const std::vector<frontend::ConfigurationCondition> &conditions, Configuration &configuration) {
  const auto parts = partsOf(configuration);
  for (const frontend::ConfigurationCondition &one : conditions)
    if (llvm::all_of(one.definitions, [&](const auto &value) {
          return llvm::is_contained(parts, std::pair<std::string, std::string>(value));
        }))
      configuration.requirements.push_back(one.condition);
}

/// Moves the first configuration without conditions to the front, because the general variant takes every call. If all
/// configurations have conditions, adds a copy of the first one without them, for calls that satisfy no condition.
void putGeneralFirst(std::vector<Configuration> &configurations) {
  auto isGeneral = [](const Configuration &configuration) { return configuration.requirements.empty(); };
  auto general = llvm::find_if(configurations, isGeneral);
  if (general != configurations.end())
    return void(std::rotate(configurations.begin(), general, std::next(general)));
  Configuration fallback = configurations.front();
  fallback.requirements.clear();
  fallback.isFallback = configurations.size() > 1;
  if (fallback.isFallback)
    fallback.name += fallback.name.empty() ? "fallback" : "-fallback";
  if (fallback.isFallback)
    configurations.insert(configurations.begin(), std::move(fallback));
  else
    configurations.front() = std::move(fallback);
}

/// Describes the calls for which the code of this configuration may be used: the conditions of "#: require" and
/// tl.assume, and the divisors of parameters, all of which may depend on the constants.
std::string describeCalls(KernelOp kernel) {
  llvm::Expected<runtime::Manifest> manifest = codegen::describeKernel(kernel, codegen::SourceInfo());
  if (!manifest) {
    llvm::consumeError(manifest.takeError());
    return "";
  }
  std::string text;
  for (const std::string &condition : manifest->requirements) {
    text += condition + ";";
    for (const auto &[name, value] : manifest->constants)
      if (const auto *integer = std::get_if<int64_t>(&value); integer && llvm::StringRef(condition).contains(name))
        text += formatv("{0}={1};", name, *integer);
  }
  for (const runtime::Parameter &parameter : manifest->parameters)
    text += formatv("{0}:{1}:{2};", parameter.name, parameter.alignment, parameter.divisibility);
  return text;
}

/// Counts the work of one program, for the cost model of kernels that are not GEMMs.
std::optional<runtime::ProgramsCost> describePrograms(KernelOp kernel) {
  std::optional<ProgramCounts> counts = countProgram(kernel);
  if (!counts)
    return std::nullopt;
  return runtime::ProgramsCost{.steps = counts->steps,
                               .exchanges = counts->exchanges,
                               .bytes = counts->bytes,
                               .rereadBytes = counts->rereadBytes,
                               .tensorFlops = counts->tensorFlops,
                               .operations = counts->operations,
                               .special = counts->special,
                               .uniqueBytes = counts->uniqueBytes,
                               .operandBits = counts->operandBits,
                               .warps = counts->warps};
}

class Planner {
public:
  Planner(const CompilerOptions &options, const target::GpuTarget &gpu, VariantMode mode)
      : options(options), gpu(gpu), mode(mode), inspector(gpu) {}

  VariantPlans run() {
    std::vector<Configuration> configurations = listConfigurations();
    if (mode == VariantMode::Invariant) { // other configurations may reduce in another order
      configurations.resize(1);
      configurations.front().isFallback = false;
    }
    // Which accesses can be widened hardly depends on the configuration.
    std::vector<PromiseClass> classes = findPromiseClasses(inspector, withConfiguration(configurations.front()), gpu);
    size_t first = configurations.front().isFallback ? 1 : 0;
    for (auto [index, configuration] : llvm::enumerate(configurations))
      for (auto [place, promises] : llvm::enumerate(classes))
        // Configurations other than the first use only two classes. One is the class with the most assumptions, where
        // speed matters most; it comes right after the general class. The other is the general class, so that the
        // configuration is available to every call.
        if (index == first || place <= 1)
          planClass(configuration, promises, {roundOf(index, first, place, classes.size()), place, index});
    if (plans.empty())
      return {.plans = {{.name = "general", .why = "the only one"}}};
    order();
    timePrograms();
    VariantPlans result{.kernel = kernelName, .configurations = std::move(known), .untimed = countUntimed()};
    for (Ranked &ranked : plans)
      result.plans.push_back(std::move(ranked.plan));
    result.plans.front().name = "general";
    makeNamesUnique(result.plans);
    result.explanation = explain(result.plans);
    return result;
  }

private:
  /// Position among the variants; if there are too many, the last ones are dropped. The order is: the first kernel of
  /// each class with the first configuration; then the kernels of the other configurations with the most assumptions;
  /// then the general kernels of the other configurations.
  struct Rank {
    size_t round, promises, configuration;

    auto operator<=>(const Rank &) const = default;
  };
  struct Ranked {
    Rank rank;
    VariantPlan plan;
  };

  static size_t roundOf(size_t configuration, size_t first, size_t promises, size_t numClasses) {
    if (configuration == first || (configuration < first && promises == 0))
      return 0;
    if (configuration < first) // assumptions only make a fallback faster
      return 3;
    return promises == 1 || numClasses == 1 ? 1 : 2;
  }

  std::vector<Configuration> listConfigurations() {
    std::vector<Configuration> configurations;
    bool isComplete = true;
    for (const Configuration &alternative : combineAlternatives(options)) {
      if (mode == VariantMode::Alignment) {
        configurations.push_back(alternative);
        continue;
      }
      frontend::KernelConfigurations tuned = listed(alternative);
      appendTuned(tuned, alternative, configurations);
      // The list is incomplete if some configurations are pruned for some arguments, because directives may refer to
      // the pruned configurations.
      isComplete &=
          tuned.isComplete && llvm::none_of(tuned.configurations, [](const auto &one) { return one.isConditional; });
    }
    if (isComplete && configurations.size() > 1)
      for (const Configuration &configuration : configurations) {
        const auto parts = partsOf(configuration);
        known.emplace_back(parts.begin(), parts.end());
      }
    nameConfigurations(configurations);
    const std::vector<frontend::ConfigurationCondition> conditions = listed({}).conditions;
    for (Configuration &configuration : configurations)
      addConditions(conditions, configuration);
    putGeneralFirst(configurations);
    return configurations;
  }

  frontend::KernelConfigurations listed(const Configuration &configuration) const {
    return inspector.listConfigurations(withConfiguration(configuration));
  }

  CompilerOptions withConfiguration(const Configuration &configuration) const {
    CompilerOptions changed = options;
    for (const auto &[name, value] : configuration.definitions)
      changed.definitions[name] = value;
    if (configuration.numWarps)
      changed.numWarps = configuration.numWarps;
    if (configuration.numStages)
      changed.numStages = configuration.numStages;
    return changed;
  }

  void planClass(const Configuration &configuration, const PromiseClass &promises, Rank rank) {
    CompilerOptions promised = withPromises(withConfiguration(configuration), promises);
    VariantPlan plan{.name = promises.name + (configuration.name.empty() ? "" : "-" + configuration.name),
                     .assumptions = promises.assumptions,
                     .definitions = promises.definitions,
                     .numWarps = configuration.numWarps,
                     .numStages = configuration.numStages,
                     .limits = promises.limits,
                     .requirements = configuration.requirements,
                     .configuration = rank.configuration,
                     .isFallback = configuration.isFallback,
                     .why = promises.why};
    plan.definitions.insert(configuration.definitions.begin(), configuration.definitions.end());
    InspectedKernel inspected = inspector.inspect(promised, commonTile());
    if (!inspected)
      return;
    kernelName = inspected.kernel().getName().str();
    plan.warps = inspected.kernel().getNumWarps();
    plan.stages = inspected.kernel().getNumStages();
    plan.isNeeded = rank.promises == 0 && servesMore(configuration, inspected.kernel());
    if (plan.isNeeded)
      rank.round = 0;
    // All classes do the same work. The class with the most assumptions shows best which accesses are contiguous.
    if (rank.promises <= 1)
      programs[rank.configuration] = describePrograms(inspected.kernel());
    if (!inspected.isOpen || !inspected.gemm) {
      if (std::optional<frontend::OpenGemm> gemm = inspector.findGemm(promised, inspected))
        plan.cost = costOf(promised, gpu, *gemm, promises,
                           {.multipliesExactly = findFacts(inspected.kernel(), 1, 1).multipliesExactly});
      // It is not known here whether cta-share-steps will apply.
      if (plan.cost && !inspected.gemm)
        plan.cost->problem.splitTail = false;
      // Which programs split their last steps depends on the size of the grid.
      if (mode == VariantMode::Invariant)
        plan.limits.sharedTail = false;
      if (mode == VariantMode::Invariant && plan.cost)
        plan.cost->problem.splitTail = false;
      text += formatv("{0}: {1}{2}\n", plan.name, plan.why, inParentheses(promises.describe()));
      plans.push_back({rank, std::move(plan)});
      return;
    }
    OpenGemmPlan gemm = planOpenGemm(inspector, promised, gpu, *inspected.gemm, promises, mode);
    for (auto [round, kernel] : llvm::enumerate(gemm.kernels)) {
      VariantPlan next = plan;
      next.name += "-" + nameOf(gemm.set.kernels[round]);
      next.tiles = kernel.tiles;
      next.limits = plan.limits & kernel.limits;
      next.cost = kernel.cost;
      next.isNeeded = plan.isNeeded && round == 0;
      plans.push_back({{rank.round + round, rank.promises, rank.configuration}, std::move(next)});
    }
    text += explainClass(plan, promises, gemm);
  }

  /// Returns true if some calls are served by this configuration but by none before it. Such a configuration must be in
  /// the artifact in its general form, without assumptions, since no other variant serves these calls.
  bool servesMore(const Configuration &configuration, KernelOp kernel) {
    std::string calls = describeCalls(kernel), conditions = llvm::join(configuration.requirements, ";");
    bool isServed = !configuration.isFallback && llvm::is_contained(served, std::pair(calls, std::string()));
    bool isNew = served.emplace(calls, configuration.isFallback ? "fallback" : conditions).second;
    return isNew && !isServed;
  }

  /// Adds the cost model of programs to all plans, unless some plan has a GEMM cost: times of the two models are not
  /// comparable.
  void timePrograms() {
    if (llvm::any_of(plans, [](const Ranked &ranked) { return ranked.plan.cost.has_value(); }))
      return;
    for (Ranked &ranked : plans)
      ranked.plan.programs = programs[ranked.rank.configuration];
  }

  void order() {
    std::stable_sort(plans.begin(), plans.end(), [](const Ranked &a, const Ranked &b) { return a.rank < b.rank; });
    if (mode == VariantMode::All)
      return;
    size_t number = 0;
    llvm::erase_if(plans, [&](const Ranked &ranked) { return ++number > maxVariants && !ranked.plan.isNeeded; });
  }

  static void makeNamesUnique(std::vector<VariantPlan> &plans) {
    std::map<std::string, int> used;
    for (VariantPlan &plan : plans)
      if (int number = ++used[plan.name]; number > 1)
        plan.name += formatv("-{0}", number);
  }

  /// Returns the largest number of plans with the same assumptions that cannot be ranked, because they have neither an
  /// estimate nor conditions; 0 if no two such plans have the same assumptions.
  size_t countUntimed() const {
    std::map<size_t, size_t> counts; // by class of assumptions
    size_t most = 0;
    for (const Ranked &ranked : plans)
      if (!ranked.plan.cost && !ranked.plan.programs && ranked.plan.requirements.empty())
        most = std::max(most, ++counts[ranked.rank.promises]);
    return most < 2 ? 0 : most;
  }

  static std::string inParentheses(const std::string &promise) { return promise.empty() ? "" : " (" + promise + ")"; }

  static std::string sizeRange(int64_t least, int64_t most) {
    return least == most ? std::to_string(least) : formatv("{0}..{1}", least, most).str();
  }

  std::string explainClass(const VariantPlan &plan, const PromiseClass &promises, const OpenGemmPlan &gemm) const {
    const target::KernelSet &set = gemm.set;
    std::string lines =
        formatv("{0}: {1}{2}; {3} sizes, {4:F1} % slower than the best of all kernels on average, {5:F1} % at most\n",
                plan.name, promises.why, inParentheses(promises.describe()), set.choices.size(), set.meanLoss() * 100,
                set.worstLoss() * 100);
    lines += "  variant                  GROUP_M warps stages instruction sizes            M            N            K "
             "     time us  lost %\n";
    for (auto [index, kernel] : llvm::enumerate(set.kernels)) {
      target::GemmSize least{INT64_MAX, INT64_MAX, INT64_MAX}, most{0, 0, 0};
      double shortest = INFINITY, longest = 0, worst = 0;
      size_t number = 0;
      for (const target::SizeChoice &choice : set.choices) {
        if (choice.kernel != index)
          continue;
        ++number;
        for (int64_t target::GemmSize::*size : {&target::GemmSize::m, &target::GemmSize::n, &target::GemmSize::k}) {
          least.*size = std::min(least.*size, choice.size.*size);
          most.*size = std::max(most.*size, choice.size.*size);
        }
        shortest = std::min(shortest, choice.microseconds);
        longest = std::max(longest, choice.microseconds);
        worst = std::max(worst, choice.loss());
      }
      const target::GemmConfig &config = kernel.config;
      lines +=
          formatv("  {0,-24} {1,7} {2,5} {3,6} {4,-11} {5,5}", nameOf(kernel), config.groupM, config.numWarps,
                  config.numStages, target::instructionName(gpu, gemm.kernels[index].cost.problem, config), number);
      if (number > 0)
        lines +=
            formatv(" {0,12} {1,12} {2,12} {3,12} {4,7:F1}", sizeRange(least.m, most.m), sizeRange(least.n, most.n),
                    sizeRange(least.k, most.k), formatv("{0:F1}..{1:F1}", shortest, longest).str(), worst * 100);
      lines += "\n";
    }
    return lines;
  }

  std::string explain(const std::vector<VariantPlan> &chosen) const {
    std::string list;
    for (const VariantPlan &plan : chosen)
      list += (list.empty() ? "" : ", ") + plan.name;
    return text + formatv("{0} variant{1}: {2}\n", chosen.size(), chosen.size() == 1 ? "" : "s", list).str();
  }

  const CompilerOptions &options;
  const target::GpuTarget &gpu;
  VariantMode mode;
  KernelInspector inspector;
  std::vector<Ranked> plans;
  std::map<size_t, std::optional<runtime::ProgramsCost>> programs; ///< by configuration
  /// The distinct sets of calls that general kernels serve, each described by what the code requires and by the
  /// conditions of "#: config".
  std::set<std::pair<std::string, std::string>> served;
  std::vector<std::map<std::string, std::string>> known; ///< constants of all configurations; empty: unknown
  std::string text, kernelName;
};

} // namespace

VariantPlans planVariants(const CompilerOptions &options, const target::GpuTarget &gpu, VariantMode mode) {
  VariantPlan only{.name = "general", .why = "the only one"};
  if (mode == VariantMode::Invariant) // for MLIR input, which is not planned
    only.limits.sharedSteps = only.limits.sharedTail = false;
  if (mode == VariantMode::None || options.language == InputLanguage::Mlir)
    return {.plans = {only}};
  return Planner(options, gpu, mode).run();
}

std::string explainBadAlternative(const CompilerOptions &options, const target::GpuTarget &gpu) {
  KernelInspector inspector(gpu);
  for (const auto &[name, values] : options.alternatives) {
    CompilerOptions changed = options;
    changed.definitions.erase(name);
    // The inspection fails if the name is a compile-time parameter without a default, or does not exist.
    if (InspectedKernel inspected = inspector.inspect(changed, commonTile())) {
      KernelOp kernel = inspected.kernel();
      for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
        if (kernel.getArgName(index) == name)
          return formatv("-D gives '{0}' several values, but it is a launch parameter; only tl.constexpr parameters "
                         "that affect nothing but speed can have alternatives",
                         name);
    }
    if (!inspector.inspect(options, commonTile()))
      return ""; // the compilation reports the reason
    for (const std::string &value : values) {
      changed.definitions[name] = value;
      if (!inspector.inspect(changed, commonTile()))
        return formatv("-D {0}={1}: the kernel does not compile with this value; compile it alone to see the error",
                       name, value);
    }
  }
  return "";
}

CompilerOptions withPlan(const CompilerOptions &options, const VariantPlan &plan) {
  CompilerOptions changed = options;
  for (const auto &[name, divisor] : plan.assumptions)
    changed.assumptions[name] = divisor;
  for (const auto &[name, value] : plan.definitions)
    changed.definitions[name] = value;
  if (plan.tiles)
    changed.tiles = plan.tiles;
  if (plan.numWarps)
    changed.numWarps = plan.numWarps;
  if (plan.numStages)
    changed.numStages = plan.numStages;
  if (plan.residentCtas)
    changed.residentCtas = plan.residentCtas;
  llvm::append_range(changed.pipeline.disabled, plan.disabled);
  changed.pipeline.limits = options.pipeline.limits & plan.limits;
  // The plans themselves explain the choices and the benefit of assumptions.
  if (plan.tiles || plan.name != "general")
    changed.advise = changed.explainConfig = false;
  return changed;
}

} // namespace tile::driver
