// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binds a call, lets the runtime choose a variant for the call (Runtime/Choice.h), and loads that variant on a device.
#include "Runner/Device/Variants.h"

#include "Target/Card/CardTarget.h"

namespace tile::runner {

using runtime::Artifact;
using runtime::Call;
using runtime::Chooser;
using runtime::makeError;

Result<CallValues> CallValues::bind(const RunOptions &options, const Manifest &general, int multiprocessors) {
  Result<Bindings> bindings = Bindings::bind(general, options.arguments, multiprocessors);
  if (!bindings)
    return bindings.error();
  Result<BufferOffsets> offsets = parseOffsets(options.offsets, general);
  if (!offsets)
    return offsets.error();
  CallValues result(std::move(*bindings));
  for (size_t i = 0; i < general.parameters.size(); ++i) {
    const Parameter &parameter = general.parameters[i];
    const uint64_t allocation = (i + 1) << 40; // distinct and aligned
    const auto offset = offsets->find(parameter.name);
    const auto elements = static_cast<uint64_t>(offset == offsets->end() ? 0 : offset->second);
    result.values.push_back(parameter.isPointer ? allocation + elements * runtime::dataTypeSize(parameter.type)
                                                : result.bound.argumentBits(general, i));
  }
  for (uint64_t &value : result.values)
    result.pointers.push_back(&value);
  result.grid = options.grid;
  if (!result.grid.empty())
    result.grid.resize(3, 1);
  return result;
}

namespace {

/// Returns the tuning table of --tuning or, without that option, the one in the artifact.
std::shared_ptr<const runtime::TunedChoice> findTuning(const RunOptions &options, const Artifact &artifact,
                                                       const Chooser &chooser, const CudaDeviceInfo &info) {
  std::shared_ptr<const runtime::TunedChoice> found;
  const auto use = [&](const Result<runtime::TuningTable> &table, const std::string &where, bool mustFit) {
    if (table && !mustFit && table->device != info.name)
      return; // an artifact may have tables for several GPUs
    Status fits =
        table ? runtime::checkTuning(*table, *artifact.pack, info.name, info.driverVersion) : Status(table.error());
    if (fits) {
      Result<std::shared_ptr<const runtime::TunedChoice>> compiled = chooser.compile(*table);
      if (compiled) {
        found = std::move(*compiled);
        return;
      }
      fits = compiled.error();
    }
    reportWarning(options, fmt::format("{} is not used: {}", where, fits.error().message));
  };
  if (!artifact.pack) {
    if (!options.tuning.empty())
      reportWarning(options, fmt::format("'{}' is not used: the artifact has one variant", options.tuning));
    return nullptr;
  }
  for (const Result<std::string> &text : artifact.pack->tuning())
    use(text ? runtime::parseTuning(*text) : Result<runtime::TuningTable>(text.error()), "the artifact's tuning table",
        false);
  if (!options.tuning.empty())
    use(runtime::readTuningFile(options.tuning), "'" + options.tuning + "'", true);
  return found;
}

} // namespace

Result<Variants> Variants::open(const RunOptions &options, const Artifact &artifact, const DeviceLoader &loader) {
  Variants variants(artifact, loader);
  std::vector<const Manifest *> manifests;
  std::vector<bool> withPtx;
  for (size_t i = 0; i < runtime::variantCount(artifact); ++i) {
    manifests.push_back(&runtime::variantManifest(artifact, i));
    withPtx.push_back(runtime::hasPtx(artifact, i));
  }
  Result<Chooser> chooser = Chooser::make(std::move(manifests), std::move(withPtx));
  if (!chooser)
    return chooser.error();
  variants.choices = std::make_unique<Chooser>(std::move(*chooser));
  if (const CudaDeviceInfo *info = loader.gpu()) {
    variants.device = variants.choices->onDevice({info->major, info->minor, info->multiprocessors, info->sharedBytes},
                                                 findTuning(options, artifact, *variants.choices, *info));
    return variants;
  }
  if (!options.tuning.empty()) {
    if (Result<runtime::TuningTable> table = runtime::readTuningFile(options.tuning); !table)
      return runtime::withContext("--tuning", table.error());
    reportWarning(options, fmt::format("'{}' is not used: the simulator has no times", options.tuning));
  }
  variants.target = options.target.empty() ? artifact.manifest.target : options.target;
  // The simulator has only a few multiprocessors. The variant is nevertheless chosen for the number of multiprocessors
  // of a real GPU, so the simulator tests the variant that a launch uses.
  const target::GpuTarget *gpu = target::findTarget(variants.target, artifact.manifest.card);
  const bool isWhole = options.multiprocessors == 0 && gpu;
  variants.device =
      variants.choices->onTarget(variants.target, isWhole ? static_cast<int>(gpu->numSms) : loader.multiprocessors());
  return variants;
}

Result<Device *> Variants::load(size_t index) {
  auto found = loaded.find(index);
  if (found == loaded.end()) {
    Result<Artifact> selected = runtime::selectVariant(*source, index);
    if (!selected)
      return selected.error();
    Result<std::unique_ptr<Device>> made = loader->load(*selected);
    if (!made)
      return made.error();
    found = loaded.emplace(index, std::move(*made)).first;
  }
  return found->second.get();
}

/// Returns the variant with this name whose target is the most specific one that runs here.
Result<size_t> Variants::findNamed(const std::string &name) const {
  std::optional<size_t> best;
  for (size_t i = 0; i < choices->size(); ++i)
    if (choices->manifest(i).variant == name && device.rank[i] != 0 && (!best || device.rank[i] > device.rank[*best]))
      best = i;
  return best ? Result<size_t>(*best) : runtime::findVariant(*source, name, target);
}

Result<size_t> Variants::choose(const RunOptions &options, const Call &call) const {
  if (!options.variant.empty()) {
    Result<size_t> index = findNamed(options.variant);
    if (!index)
      return runtime::withContext("--variant", index.error());
    if (Status status = choices->explain(*index, call, device); !status)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "--variant={} does not serve this call: {}", options.variant,
                       status.error().message);
    return index;
  }
  const runtime::Choice choice = choices->choose(call, device);
  constexpr size_t longest = 4000; // in characters
  if (choice.index < 0)
    return choices->explainAll(call, device, longest);
  return static_cast<size_t>(choice.index);
}

Result<size_t> Variants::choose(const RunOptions &options) const {
  Result<CallValues> values = CallValues::bind(options, source->manifest, multiprocessors());
  return values ? choose(options, values->call()) : values.error();
}

Result<Variants::Taken> Variants::take(const RunOptions &options) {
  Taken taken;
  taken.options = options;
  if (!loader->gpu() && choices->size() == 1 && device.rank[0] == 0)
    return Error{TILE_ERROR_ARCHITECTURE, device.obstacles[0]};
  // An artifact with one kernel leaves no choice. Errors in the call are then reported by the run.
  if (choices->size() > 1 || !options.variant.empty()) {
    Result<CallValues> values = CallValues::bind(options, source->manifest, multiprocessors());
    if (!values)
      return values.error();
    Result<size_t> index = choose(options, values->call());
    if (!index)
      return index.error();
    taken.index = *index;
    taken.options.arguments =
        argumentsFor(choices->manifest(*index), source->manifest, values->bindings(), options.arguments);
  }
  taken.manifest = &choices->manifest(taken.index);
  Result<Device *> loadedDevice = load(taken.index);
  if (!loadedDevice)
    return loadedDevice.error();
  taken.device = *loadedDevice;
  return taken;
}

std::vector<std::string> argumentsFor(const Manifest &variant, const Manifest &general, const Bindings &bindings,
                                      const std::vector<std::string> &assignments) {
  std::vector<std::string> arguments;
  for (const std::string &assignment : assignments) {
    const std::string name = assignment.substr(0, assignment.find('='));
    const Parameter *parameter = general.findParameter(name);
    const bool isFixed = parameter && parameter->isInteger() && !variant.findParameter(name);
    arguments.push_back(
        isFixed ? fmt::format("{}={}", name,
                              bindings.scalar(static_cast<size_t>(parameter - general.parameters.data())).integer)
                : assignment);
  }
  return arguments;
}

} // namespace tile::runner
