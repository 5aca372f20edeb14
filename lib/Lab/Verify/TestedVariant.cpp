// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/TestedVariant.h"

#include "Runner/Device/Variants.h"
#include "Runner/Inputs/Arguments.h"

#include <algorithm>

namespace tile::runner {

using runtime::makeError;

Verdict TestedVariant::startVerdict() const {
  Verdict verdict;
  verdict.variant = manifest().variant;
  verdict.target = manifest().target;
  return verdict;
}

RunOptions TestedVariant::optionsFor(const TrialCall &call, const RunOptions &options) const {
  RunOptions run = options;
  run.arguments = adapt(call.arguments);
  run.offsets.insert(run.offsets.end(), call.offsets.begin(), call.offsets.end());
  run.seed = call.seed;
  return run;
}

std::string TestedVariant::commandFor(const TrialCall &call, const RunOptions &options) const {
  std::string command = quoteWord(options.artifact);
  for (const std::string &argument : call.arguments)
    command += " " + quoteWord(argument);
  for (const auto *offsets : {&options.offsets, &call.offsets})
    for (const std::string &offset : *offsets)
      command += " --offset " + quoteWord(offset);
  if (!manifest().variant.empty())
    command += fmt::format(" --variant={} --target={}", manifest().variant, manifest().target);
  if (call.seed)
    command += fmt::format(" --seed={}", call.seed);
  return command;
}

Status checkGivenArguments(const std::vector<std::string> &given, const Manifest &manifest) {
  Result<SoakPlan> plan = planSoak(given, manifest);
  if (!plan)
    return plan.error();
  std::vector<std::string> arguments = plan->fixed;
  for (const SoakPlan::Size &size : plan->sizes) // not 0, by which a default might divide
    arguments.push_back(fmt::format("{}={}", size.name, std::min(std::max(size.low, size.divisor), size.high)));
  for (const Parameter &parameter : manifest.parameters) // those that are missing matter only to runs
    if (!parameter.isPointer && !parameter.isInteger() && !parameter.defaultValue &&
        std::none_of(given.begin(), given.end(),
                     [&](const std::string &argument) { return argument.starts_with(parameter.name + "="); }))
      arguments.push_back(parameter.name + "=1");
  Result<Bindings> bindings = Bindings::bind(manifest, arguments, 1);
  return bindings ? Status(runtime::Success{}) : Status(bindings.error());
}

Result<TestedVariants> TestedVariants::open(const RunOptions &options, const runtime::Artifact &artifact,
                                            int multiprocessors) {
  TestedVariants variants(options, artifact, multiprocessors);
  std::vector<const Manifest *> manifests;
  for (size_t i = 0; i < runtime::variantCount(artifact); ++i)
    manifests.push_back(&runtime::variantManifest(artifact, i));
  for (size_t i = 0; i < manifests.size(); ++i)
    if ((options.variant.empty() || manifests[i]->variant == options.variant) &&
        (options.target.empty() || manifests[i]->target == options.target))
      variants.indices.push_back(i);
  if (variants.indices.empty()) {
    if (Result<size_t> index = runtime::findVariant(artifact, options.variant, options.target); !index)
      return runtime::withContext("--variant", index.error());
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--target={}: the artifact has no such variant", options.target);
  }
  Result<runtime::Chooser> chooser = runtime::Chooser::make(std::move(manifests));
  if (!chooser)
    return chooser.error();
  variants.chooser = std::make_shared<runtime::Chooser>(std::move(*chooser));
  return variants;
}

Result<std::unique_ptr<TestedVariant>> TestedVariants::load(size_t number) const {
  const size_t index = indices[number];
  const Manifest &general = source->manifest;
  Result<TrialPlan> plan = TrialPlan::make(options->arguments, manifest(number), general, multiprocessors);
  if (!plan)
    return plan.error();
  Result<runtime::Artifact> selected = runtime::selectVariant(*source, index);
  if (!selected)
    return selected.error();
  Result<std::string> ptx = runtime::findPtx(*selected);
  if (!ptx)
    return ptx.error();
  std::unique_ptr<TestedVariant> variant(
      new TestedVariant{std::move(*selected), std::move(*plan), findUses(*ptx), {}, {}});
  const auto device =
      std::make_shared<runtime::DeviceVariants>(chooser->onTarget(manifest(number).target, multiprocessors));
  const Manifest *own = &variant->artifact.manifest;
  variant->adapt = [own, &general, sms = multiprocessors](const std::vector<std::string> &arguments) {
    Result<Bindings> bindings = Bindings::bind(general, arguments, sms);
    return bindings ? argumentsFor(*own, general, *bindings, arguments) : arguments;
  };
  variant->admits = [index, device, choices = chooser, &general, call = *options,
                     sms = multiprocessors](const TrialCall &trial) -> Status {
    RunOptions its = call;
    its.arguments = trial.arguments;
    its.offsets.insert(its.offsets.end(), trial.offsets.begin(), trial.offsets.end());
    Result<CallValues> values = CallValues::bind(its, general, sms);
    if (!values)
      return values.error();
    return choices->explain(index, values->call(), *device);
  };
  return variant;
}

} // namespace tile::runner
