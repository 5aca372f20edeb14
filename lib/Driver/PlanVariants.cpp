// Classes of promises x configurations x sizes -> plans, and what --explain-config says of them.
#include "Driver/VariantPlan.h"

#include "Driver/PlanProduct.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace tile::driver {
namespace {

/// Most variants of an artifact, of all classes and configurations: what two cores compile in four seconds.
constexpr size_t mostVariants = 24;

/// One choice of what the kernel is compiled with, beside promises: of @triton.autotune, or of -D NAME=a,b.
struct Configuration {
  std::string name; ///< "BLOCK.64.num_warps.8"; empty: the only one
  std::map<std::string, std::string> definitions = {};
  std::optional<int> numWarps = {}, numStages = {};
};

/// All combinations of the alternatives, the first values first.
std::vector<Configuration> listConfigurations(const CompilerOptions &options) {
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
        next.name += (next.name.empty() ? "" : ",") + parameter + "=" + value;
        extended.push_back(std::move(next));
      }
    configurations = std::move(extended);
  }
  // As manifests allow it in a variant's name.
  constexpr size_t longest = 64;
  for (Configuration &configuration : configurations) {
    configuration.name.resize(std::min(configuration.name.size(), longest));
    for (char &c : configuration.name)
      if (!llvm::isAlnum(c) && !llvm::StringRef("+_-").contains(c))
        c = '.';
  }
  return configurations;
}

class Planner {
public:
  Planner(const CompilerOptions &options, const target::GpuTarget &gpu, VariantMode mode)
      : options(options), gpu(gpu), mode(mode), inspector(gpu) {}

  VariantPlans run() {
    configurations = listConfigurations(options);
    for (const Configuration &configuration : configurations) {
      std::vector<PromiseClass> found = findPromiseClasses(inspector, optionsOf(configuration), gpu);
      for (const PromiseClass &promises : found) {
        // One kernel for all calls is enough where others are faster.
        bool isNeeded = promises.name != "general" || plans.empty() || found.size() == 1;
        if (isNeeded)
          planClass(configuration, promises);
      }
    }
    if (plans.empty())
      return {{{.name = "general", .why = "the only one"}}, ""};
    order();
    VariantPlans result;
    for (Ranked &ranked : plans)
      result.plans.push_back(std::move(ranked.plan));
    result.plans.front().name = "general";
    makeNamesUnique(result.plans);
    result.explanation = explain(result.plans);
    return result;
  }

private:
  /// A plan, and its place among the others.
  struct Ranked {
    size_t round; ///< of its class and configuration the first, second, ...
    size_t order; ///< of the class
    VariantPlan plan;
  };

  CompilerOptions optionsOf(const Configuration &configuration) const {
    CompilerOptions changed = options;
    for (const auto &[name, value] : configuration.definitions)
      changed.definitions[name] = value;
    if (configuration.numWarps)
      changed.numWarps = configuration.numWarps;
    if (configuration.numStages)
      changed.numStages = configuration.numStages;
    return changed;
  }

  void planClass(const Configuration &configuration, const PromiseClass &promises) {
    CompilerOptions promised = driver::optionsOf(optionsOf(configuration), promises);
    VariantPlan plan{.name = promises.name + (configuration.name.empty() ? "" : "-" + configuration.name),
                     .assumptions = promises.assumptions,
                     .definitions = promises.definitions,
                     .numWarps = configuration.numWarps,
                     .numStages = configuration.numStages,
                     .disabledPasses = promises.disabledPasses,
                     .why = promises.why};
    plan.definitions.insert(configuration.definitions.begin(), configuration.definitions.end());
    InspectedKernel inspected = inspector.inspect(promised, commonTile());
    if (!inspected)
      return;
    size_t place = classes++;
    if (!inspected.isOpen || !inspected.product) {
      if (inspected.product)
        plan.cost = costOf(promised, gpu, *inspected.product, promises);
      text += formatv("{0}: {1}{2}\n", plan.name, plan.why, inParentheses(promises.describe()));
      plans.push_back({0, place, std::move(plan)});
      return;
    }
    ProductPlan product = planProduct(inspector, promised, gpu, *inspected.product, promises, mode);
    for (auto [round, kernel] : llvm::enumerate(product.kernels)) {
      VariantPlan next = plan;
      next.name += "-" + nameOf(product.set.kernels[round]);
      next.tiles = kernel.tiles;
      llvm::append_range(next.disabledPasses, kernel.disabledPasses);
      next.cost = kernel.cost;
      plans.push_back({round, place, std::move(next)});
    }
    text += explainClass(plan, promises, product);
  }

  /// The general one first; then the first kernels of all classes, then the second ones.
  void order() {
    std::stable_sort(plans.begin(), plans.end(), [](const Ranked &a, const Ranked &b) {
      return std::pair(a.round, a.order) < std::pair(b.round, b.order);
    });
    if (mode != VariantMode::All && plans.size() > mostVariants)
      plans.resize(mostVariants);
  }

  static void makeNamesUnique(std::vector<VariantPlan> &plans) {
    std::map<std::string, int> used;
    for (VariantPlan &plan : plans)
      if (int number = ++used[plan.name]; number > 1)
        plan.name += formatv("-{0}", number);
  }

  static std::string inParentheses(const std::string &promise) { return promise.empty() ? "" : " (" + promise + ")"; }

  static std::string sizeRange(int64_t least, int64_t most) {
    return least == most ? std::to_string(least) : formatv("{0}..{1}", least, most).str();
  }

  std::string explainClass(const VariantPlan &plan, const PromiseClass &promises, const ProductPlan &product) const {
    const target::KernelSet &set = product.set;
    std::string lines = formatv("{0}: {1}{2}; {3} sizes, {4:F1} % longer than by the best of all kernels on average, "
                                "{5:F1} % at most\n",
                                plan.name, promises.why, inParentheses(promises.describe()), set.choices.size(),
                                set.meanLoss() * 100, set.worstLoss() * 100);
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
      lines += formatv("  {0,-24} {1,7} {2,5} {3,6} {4,-11} {5,5}", nameOf(kernel), config.groupM, config.numWarps,
                       config.numStages, config.wgmma ? "wgmma" : "mma.sync", number);
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
  std::vector<Configuration> configurations;
  std::vector<Ranked> plans;
  size_t classes = 0;
  std::string text;
};

} // namespace

VariantPlans planVariants(const CompilerOptions &options, const target::GpuTarget &gpu, VariantMode mode) {
  if (mode == VariantMode::None || options.language == InputLanguage::Mlir)
    return {{{.name = "general", .why = "the only one"}}, ""};
  return Planner(options, gpu, mode).run();
}

CompilerOptions optionsOf(const CompilerOptions &options, const VariantPlan &plan) {
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
  llvm::append_range(changed.pipeline.disabled, plan.disabledPasses);
  // Plans say what promises would gain, and what was chosen why.
  if (plan.tiles || plan.name != "general")
    changed.advise = changed.explainConfig = false;
  return changed;
}

} // namespace tile::driver
