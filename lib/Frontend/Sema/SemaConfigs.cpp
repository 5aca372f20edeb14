// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The configurations of an autotuner. HostReader.h creates a list from the arguments of the decorator. This file prunes
// it, restricts it to values that are not fixed otherwise, and applies it: the compiled kernel gets the first one,
// listConfigurations returns all (Configurations.h).

#include "Frontend/Sema/Calls.h"
#include "Frontend/Sema/Choices.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Sema/Tuner.h"
#include "Frontend/Sema/Tuning.h"
#include "Frontend/Values/Collections.h"

using namespace mlir;

namespace tile::frontend {

namespace {

// Defaults of triton.Config.
constexpr int defaultWarps = 4, defaultStages = 3;

/// Returns the value of a key of text; null if there is none, also in an unknown dictionary.
const SymValue *valueOf(const SymValue &dictionary, const std::string &key) {
  return dictionary.isDictionary() ? findKey(dictionary, SymValue::makeConstant(key)) : nullptr;
}

std::optional<int> countOf(const std::optional<SymValue> &value, int least) {
  std::optional<Int128> number = value && value->isConstant() ? asInteger(value->constant) : std::nullopt;
  constexpr Int128 most = 1 << 20; // far above the limit of any option
  return number && *number >= least && *number <= most ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// Keeps the configurations that satisfy the predicate, if there are any.
template <typename Test> bool keepAgreeing(std::vector<TunedConfiguration> &configurations, Test agrees) {
  std::vector<TunedConfiguration> kept;
  llvm::copy_if(configurations, std::back_inserter(kept), agrees);
  if (!kept.empty())
    configurations = std::move(kept);
  return !configurations.empty() && agrees(configurations.front());
}

} // namespace

std::optional<SymValue> HostReader::memberOf(const SymValue &value, const std::string &name) {
  const Configuration &made = configuration(value);
  auto number = [](int count) { return SymValue::makeConstant(Int128(count)); };
  if (name == "kwargs" || name == "meta")
    return made.values;
  if (name == "num_warps")
    return made.numWarps.value_or(number(defaultWarps));
  if (name == "num_stages")
    return made.numStages.value_or(number(defaultStages));
  if (name == "num_ctas")
    return number(1);
  if (name == "maxnreg" || name == "pre_hook")
    return SymValue::makeConstant(NoneValue{});
  return std::nullopt;
}

std::optional<SymValue> HostReader::callOfConfig(const CallExpr &call) {
  const auto *name = as<NameExpr>(call.callee);
  const auto *member = as<AttributeExpr>(call.callee);
  if ((name ? name->id : member ? member->attribute : "") != "Config")
    return std::nullopt;
  if (name &&
      (sema.session.scope.contains(name->id) || sema.names.hostFunction(name->id))) // the file may redefine the name
    return std::nullopt;
  size_t reported = sema.session.diagnostics.all().size();
  std::vector<BoundArgument> arguments;
  sema.calls.evaluateArguments(call, arguments);
  return makeConfiguration(arguments, call.range, reported);
}

/// Evaluates triton.Config(kwargs, num_warps=4, num_stages=3, ...). The remaining options do not affect results.
SymValue HostReader::makeConfiguration(const std::vector<BoundArgument> &arguments, SourceRange range,
                                       size_t reported) {
  Configuration made;
  made.range = range;
  constexpr size_t size = 32; // an endless loop must not exhaust memory
  sema.session.charge(size, range);
  made.values.kind = SymValue::Kind::Dictionary;
  for (auto [place, argument] : llvm::enumerate(arguments)) {
    StringRef name = argument.name;
    bool isPositional = name.empty();
    if ((isPositional && place == 0) || name == "kwargs" || name == "meta")
      made.values = argument.value;
    else if ((isPositional && place == 1) || name == "num_warps")
      made.numWarps = argument.value;
    else if ((isPositional && place == 2) || name == "num_stages")
      made.numStages = argument.value;
    made.isComplete &= name != "**"; // the names are unknown
  }
  made.isComplete &= made.values.kind == SymValue::Kind::Dictionary && !valueOf(made.values, "**");
  made.isComplete &= (!made.numWarps || countOf(made.numWarps, 1)) && (!made.numStages || countOf(made.numStages, 0));
  for (const Parameter &parameter : kernel.parameters)
    if (const SymValue *value = valueOf(made.values, parameter.name))
      made.isComplete &= !value->isError();
  if (!made.isComplete)
    note(Diag::unknown_configuration, range, reported);
  configurations.push_back(std::move(made));
  SymValue handle;
  handle.kind = SymValue::Kind::Configuration;
  handle.dims = {static_cast<int64_t>(configurations.size() - 1)};
  return handle;
}

/// Returns true if a configuration can set the parameter: only a default gives it a value.
static bool isTunable(const auto &parameter) {
  return !parameter || parameter->isDefault;
}

/// Applies 'early_config_prune', as far as it can be evaluated; it may depend on the arguments of the call.
void Tuner::prune(HostReader &reader, const Expr &rules, const ResolvedParameters &parameters,
                  std::vector<SymValue> &configurations) {
  SymValue table = sema.evaluator.evaluate(rules);
  const SymValue *rule = valueOf(table, "early_config_prune");
  if (!rule && !table.isError())
    return;
  size_t reported = diagnostics.all().size();
  const auto *function = rule && rule->isConstant() ? std::get_if<const FunctionStmt *>(&rule->constant) : nullptr;
  SymValue pruned, named;
  named.kind = SymValue::Kind::Dictionary;
  std::vector<BoundArgument> arguments{{"", SymValue::makeTuple(configurations), rules.range},
                                       {"", SymValue(), rules.range}};
  for (const auto &[name, parameter] : parameters) {
    SymValue value = isTunable(parameter) ? SymValue() : sema.signature.unknownOf(*parameter);
    named.elements.insert(named.elements.end(), {SymValue::makeConstant(name), value});
    bool isTaken = function && llvm::any_of((*function)->parameters, [&](const Parameter &formal) {
                     return formal.isKeywords || formal.name == name;
                   });
    if (isTaken)
      arguments.push_back({name, std::move(value), rules.range});
  }
  arguments[1].value = std::move(named);
  reader.beginPruning();
  if (function)
    pruned = sema.calls.callFunction(**function, arguments, rules.range);
  std::vector<SymValue> kept = reader.configurationsOf(pruned, rules.range);
  if (!kept.empty()) {
    configurations = std::move(kept);
    return;
  }
  // Triton also rejects an empty list.
  if (pruned.isTuple() && pruned.elements.empty())
    unknownHosts.push_back({Diag::unknown_pruning, rules.range, "none would remain"});
  else
    reader.note(Diag::unknown_pruning, rules.range, reported);
  for (const SymValue &configuration : configurations)
    reader.configuration(configuration).isConditional = true;
}

Tuning Tuner::readAutotune(const FunctionStmt &kernel, const CallExpr &decorator,
                           const ResolvedParameters &parameters) {
  Tuning tuning;
  InModule inside(sema, sema.names.current);
  HostReader reader(sema, kernel);
  if (const Expr *keys = argumentOf(decorator, "key", 1))
    for (const SymValue &key : sema.evaluator.evaluate(*keys).elements)
      if (const auto *name = key.isConstant() ? std::get_if<std::string>(&key.constant) : nullptr)
        if (parameters.contains(*name) && !llvm::is_contained(tuning.keys, *name))
          tuning.keys.push_back(*name);
  const Expr *configs = argumentOf(decorator, "configs", 0);
  if (!configs)
    return tuning;
  size_t reported = diagnostics.all().size();
  SymValue made = sema.evaluator.evaluate(*configs);
  std::vector<SymValue> found = reader.configurationsOf(made, configs->range);
  bool isEmpty = made.isTuple() && made.elements.empty();
  if (found.empty() && !isEmpty)
    reader.note(Diag::unknown_list, configs->range, reported);
  const Expr *rules = argumentOf(decorator, "prune_configs_by", 2);
  if (rules && !found.empty() && rules->kind != ExprKind::None)
    prune(reader, *rules, parameters, found);
  for (const SymValue &handle : found) {
    const HostReader::Configuration &configuration = reader.configuration(handle);
    TunedConfiguration &tuned = tuning.configurations.emplace_back();
    for (const auto &[name, parameter] : parameters) {
      const SymValue *value = valueOf(configuration.values, name);
      // A run-time parameter has no constant to compare with.
      if (value && !value->isError() && (isTunable(parameter) || parameter->constant))
        tuned.values[name] = *value;
    }
    tuned.numWarps = countOf(configuration.numWarps, 1);
    tuned.numStages = countOf(configuration.numStages, 0);
    if (tuned.numStages == 0) // equivalent to 1: no prefetching
      tuned.numStages = 1;
    tuned.isComplete = configuration.isComplete;
    tuned.isConditional = configuration.isConditional;
  }
  unknownHosts.insert(unknownHosts.end(), reader.unknowns().begin(), reader.unknowns().end());
  return tuning;
}

/// Applies the first configuration that agrees with the fixed values, including its warps and stages unless all its
/// other values are overridden.
void Tuner::applyAutotune(const FunctionStmt &kernel, const CallExpr &decorator, ResolvedParameters &parameters) {
  Tuning &tuning = tunings.emplace_back(readAutotune(kernel, decorator, parameters));
  std::vector<TunedConfiguration> &all = tuning.configurations;
  keepAgreeing(all, [](const TunedConfiguration &one) { return one.isComplete; });
  bool agrees = keepAgreeing(all, [&](const TunedConfiguration &one) {
    return llvm::all_of(one.values, [&](const auto &value) {
      const std::optional<KernelParameter> &given = parameters.find(value.first)->second;
      return isTunable(given) || given->isOpen || isEqual(*given->constant, value.second);
    });
  });
  if (sema.choices.numWarps && *sema.choices.numWarps != leftOpen)
    keepAgreeing(all, [&](const auto &one) { return one.numWarps.value_or(defaultWarps) == *sema.choices.numWarps; });
  if (sema.choices.numStages && *sema.choices.numStages != leftOpen)
    keepAgreeing(all,
                 [&](const auto &one) { return one.numStages.value_or(defaultStages) == *sema.choices.numStages; });
  if (all.empty())
    return;
  for (TunedConfiguration &one : all)
    std::erase_if(one.values, [&](const auto &value) { return !isTunable(parameters.find(value.first)->second); });
  const TunedConfiguration &first = all.front();
  for (const auto &[name, value] : first.values) {
    KernelParameter &parameter = parameters[name].emplace();
    parameter.constant = value;
  }
  if (!agrees && first.values.empty())
    return;
  sema.choices.tunedWarps = first.numWarps;
  sema.choices.tunedStages = first.numStages;
}

/// Returns the text of a constant for -D; nullopt if parsing it would give another value.
std::optional<std::string> Tuner::definitionOf(const SymValue &value) {
  llvm::function_ref<std::string(const SymValue &)> print;
  auto printValue = [&](const SymValue &part) -> std::string {
    if (part.isTuple()) {
      std::string text = "(";
      for (auto [place, element] : llvm::enumerate(part.elements))
        text += (place == 0 ? "" : ", ") + print(element);
      return text + (part.elements.size() == 1 ? ",)" : ")");
    }
    const auto *number = part.isConstant() ? std::get_if<double>(&part.constant) : nullptr;
    if (number && !std::isfinite(*number))
      return "float('" + repr(*number) + "')";
    return part.isConstant() ? repr(part.constant) : "";
  };
  print = printValue;
  std::string text = printValue(value);
  auto [known, isNew] = readableTexts.try_emplace(text);
  if (isNew)
    known->second = text.empty() ? std::nullopt : sema.signature.evaluateText(text, "<configuration>");
  return known->second && sameValue(*known->second, value) ? std::optional(text) : std::nullopt;
}

/// Combines each configuration of one decorator with each of the other, because Triton's decorators may be stacked.
static std::vector<TunedConfiguration> combine(const std::vector<TunedConfiguration> &outer,
                                               const std::vector<TunedConfiguration> &inner) {
  constexpr size_t most = 4096;
  std::vector<TunedConfiguration> all;
  for (const TunedConfiguration &first : inner)
    for (const TunedConfiguration &second : outer) {
      if (all.size() == most)
        return all;
      TunedConfiguration &both = all.emplace_back(first);
      both.values.insert(second.values.begin(), second.values.end());
      both.numWarps = first.numWarps ? first.numWarps : second.numWarps;
      both.numStages = first.numStages ? first.numStages : second.numStages;
      both.isConditional |= second.isConditional;
    }
  return all;
}

KernelConfigurations Tuner::listTuned() {
  KernelConfigurations result;
  std::vector<TunedConfiguration> all;
  for (const Tuning &tuning : tunings) {
    llvm::copy_if(tuning.keys, std::back_inserter(result.keys),
                  [&](const std::string &key) { return !llvm::is_contained(result.keys, key); });
    if (!tuning.configurations.empty())
      all = all.empty() ? tuning.configurations : combine(tuning.configurations, all);
  }
  std::map<std::string, size_t> indices; // index in the result
  for (const TunedConfiguration &tuned : all) {
    KernelConfiguration listed;
    bool isReadable = tuned.isComplete;
    std::string text;
    for (const auto &[name, value] : tuned.values) {
      std::optional<std::string> definition = definitionOf(value);
      isReadable &= definition.has_value();
      text += name + "=" + (listed.definitions[name] = definition.value_or("")) + ";";
    }
    if (!sema.choices.numWarps)
      listed.numWarps = tuned.numWarps.value_or(defaultWarps);
    if (!sema.choices.numStages)
      listed.numStages = tuned.numStages.value_or(defaultStages);
    listed.isConditional = tuned.isConditional;
    text += std::to_string(listed.numWarps.value_or(0)) + ";" + std::to_string(listed.numStages.value_or(0));
    result.isComplete &= isReadable;
    if (!isReadable)
      continue;
    auto [place, isNew] = indices.try_emplace(text, result.configurations.size());
    if (isNew)
      result.configurations.push_back(std::move(listed));
    else
      result.configurations[place->second].isConditional &= tuned.isConditional;
  }
  return result;
}

} // namespace tile::frontend
