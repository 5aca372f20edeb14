// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds contexts and tuning tables, and launches the chosen variant.
#include "Runtime/Variants.h"

#include "Runtime/ErrorState.h"

#include <algorithm>

namespace tile::runtime {
namespace {

/// Returns the first table that is valid for these variants on this device and driver. Sets `note`, which users can
/// read.
std::shared_ptr<const TunedChoice> findTable(const tile_kernel &kernel, const Variants &variants,
                                             const ContextVariants &context, std::string &note) {
  note = "no tuning table";
  for (const TuningTable &table : variants.tables) {
    Status status = checkTuning(table, *kernel.artifact.pack, context.device, context.driver);
    if (status) {
      Result<std::shared_ptr<const TunedChoice>> tuned = variants.chooser.compile(table);
      if (tuned) {
        note = fmt::format("a tuning table for '{}' is used (entries: {})", table.device, table.entries.size());
        return *tuned;
      }
      status = tuned.error();
    }
    note = fmt::format("no tuning table is used: {}", status.error().message);
  }
  return nullptr;
}

/// Makes the state to publish for a context. The caller holds the mutex.
const DeviceVariants *makeDevice(const tile_kernel &kernel, Variants &variants, const ContextVariants &context) {
  std::string note;
  std::shared_ptr<const TunedChoice> table = findTable(kernel, variants, context, note);
  DeviceVariants device = variants.chooser.onDevice(context.facts, std::move(table));
  device.tuningNote = std::move(note);
  return variants.made.emplace_back(std::make_unique<const DeviceVariants>(std::move(device))).get();
}

/// Queries the device of the current context.
Status describeDevice(const Driver &driver, ContextVariants &context) {
  Result<DeviceLimits> limits = queryLimits(driver);
  if (!limits)
    return limits.error();
  context.facts = {limits->major, limits->minor, limits->multiprocessors, limits->sharedBytes,
                   driver.tensorMapEncodeTiled != nullptr};
  char name[256] = "";
  if (Status status = driver.check(driver.deviceGetName(name, sizeof(name), limits->device), "cuDeviceGetName");
      !status)
    return status;
  name[sizeof(name) - 1] = '\0';
  context.device = name;
  if (!driver.driverGetVersion || driver.driverGetVersion(&context.driver) != cuda::success)
    context.driver = 0;
  return Success{};
}

const ContextVariants *findKnown(const Variants &variants, CUcontext context) {
  const unsigned known = variants.contextCount.load(std::memory_order_acquire);
  for (unsigned i = 0; i < known; ++i)
    if (variants.contexts[i].context == context)
      return &variants.contexts[i];
  return nullptr;
}

const ContextVariants *findContext(const tile_kernel &kernel, CUcontext context, tile_status &status) {
  Variants &variants = *kernel.variants;
  if (const ContextVariants *found = findKnown(variants, context))
    return found;
  const std::lock_guard<std::mutex> lock(variants.changing);
  if (const ContextVariants *found = findKnown(variants, context)) // another thread has described it in the meantime
    return found;
  const unsigned known = variants.contextCount.load(std::memory_order_relaxed);
  const std::string &name = kernel.artifact.manifest.kernel;
  if (known == tile_kernel::maxModules) {
    status =
        reportError(TILE_ERROR_RESOURCES, "kernel '{}' is already launched in {} contexts, the maximum", name, known);
    return nullptr;
  }
  ContextVariants &added = variants.contexts[known];
  if (Status described = describeDevice(*kernel.runtime->driver, added); !described) {
    status = reportError(described.error().code, "kernel '{}': {}", name, described.error().message);
    return nullptr;
  }
  added.context = context;
  added.variants.store(makeDevice(kernel, variants, added), std::memory_order_release);
  variants.contextCount.store(known + 1, std::memory_order_release);
  return &added;
}

/// Returns the offset of a variant's scratch memory within the scratch memory of all variants.
uint64_t scratchOffset(const Variants &variants, size_t index, int multiprocessors) {
  uint64_t offset = 0;
  for (size_t i = 0; i < index; ++i)
    if (variants.chooser.manifest(i).target == variants.chooser.manifest(index).target)
      offset += (scratchBytes(*variants.kernels[i], multiprocessors) + scratchAlignment - 1) / scratchAlignment *
                scratchAlignment;
  return offset;
}

Error noVariantServes(const Chooser &chooser, const Call &call, const DeviceVariants &device) {
  return chooser.explainAll(call, device, longestErrorText - 1);
}

} // namespace

Result<std::unique_ptr<Variants>> makeVariants(tile_kernel &kernel) {
  const Pack &pack = *kernel.artifact.pack;
  std::vector<const Manifest *> manifests;
  std::vector<bool> withPtx;
  for (size_t i = 0; i < pack.size(); ++i) {
    manifests.push_back(&pack.manifest(i));
    withPtx.push_back(hasPtx(kernel.artifact, i));
  }
  Result<Chooser> chooser = Chooser::make(std::move(manifests), std::move(withPtx));
  if (!chooser)
    return chooser.error();
  auto variants = std::make_unique<Variants>(std::move(*chooser));
  const Manifest &general = pack.manifest(0);
  for (size_t i = 0; i < pack.size(); ++i) {
    Result<std::unique_ptr<tile_kernel>> variant = makeVariant(kernel, i);
    if (!variant)
      return withContext("variant " + variantLabel(pack.manifest(i)), variant.error());
    variants->kernels.push_back(std::move(*variant));
    std::vector<uint8_t> &taken = variants->parameters.emplace_back();
    for (const Parameter &parameter : pack.manifest(i).parameters)
      taken.push_back(static_cast<uint8_t>(general.findParameter(parameter.name) - general.parameters.data()));
  }
  for (const Result<std::string> &text : pack.tuning()) {
    Result<TuningTable> table = text ? parseTuning(*text) : Result<TuningTable>(text.error());
    if (!table)
      return withContext("the artifact's tuning table", table.error());
    variants->tables.push_back(std::move(*table));
  }
  return variants;
}

const ContextVariants *findContext(const tile_kernel &kernel, tile_status &status) {
  const CUcontext context = currentContext(kernel, status);
  return context ? findContext(kernel, context, status) : nullptr;
}

Result<std::shared_ptr<const DeviceVariants>> assumedDevice(const tile_kernel &kernel, const Chooser &chooser,
                                                            int multiprocessors) {
  const auto forOneCall = [](DeviceVariants device) {
    device.canRemember = false; // used only once
    return std::make_shared<const DeviceVariants>(std::move(device));
  };
  CUcontext context = nullptr;
  const bool hasContext =
      kernel.runtime && kernel.runtime->driver->contextGetCurrent(&context) == cuda::success && context;
  if (!hasContext)
    return forOneCall(chooser.onTarget(chooser.manifest(0).target, multiprocessors));
  ContextVariants described; // used if the kernel has a single variant
  const ContextVariants *known = &described;
  const DeviceVariants *device = nullptr;
  if (kernel.variants) {
    tile_status status = TILE_OK;
    known = findContext(kernel, context, status);
    if (!known)
      return Error{status, lastErrorBuffer()};
    device = known->variants.load(std::memory_order_acquire);
  } else if (Status status = describeDevice(*kernel.runtime->driver, described); !status) {
    return status.error();
  }
  if (device && device->multiprocessors == multiprocessors) // lives as long as the kernel
    return std::shared_ptr<const DeviceVariants>(device, [](const DeviceVariants *) {});
  DeviceFacts facts = known->facts;
  facts.multiprocessors = multiprocessors;
  return forOneCall(chooser.onDevice(facts, device ? device->tuning : nullptr));
}

tile_status useTuning(tile_kernel &kernel, const char *path) {
  const std::string &name = kernel.artifact.manifest.kernel;
  if (!kernel.variants)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' has one variant; there is nothing to choose", name);
  Variants &variants = *kernel.variants;
  Result<TuningTable> table = readTuningFile(path);
  if (!table)
    return reportError(table.error());
  tile_status status = TILE_OK;
  const ContextVariants *current = findContext(kernel, status);
  if (!current)
    return status;
  Status isRight = checkTuning(*table, *kernel.artifact.pack, current->device, current->driver);
  if (isRight)
    if (Result<std::shared_ptr<const TunedChoice>> tuned = variants.chooser.compile(*table); !tuned)
      isRight = tuned.error();
  if (!isRight)
    return reportError(isRight.error().code, "'{}': {}", path, isRight.error().message);
  const std::lock_guard<std::mutex> lock(variants.changing);
  variants.tables.insert(variants.tables.begin(), std::move(*table));
  const unsigned known = variants.contextCount.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < known; ++i)
    if (ContextVariants &context = variants.contexts[i]; context.device == current->device)
      context.variants.store(makeDevice(kernel, variants, context), std::memory_order_release);
  return TILE_OK;
}

tile_status prepareVariants(tile_kernel &kernel, const CUstream *stream) {
  Variants &variants = *kernel.variants;
  tile_status status = TILE_OK;
  const ContextVariants *context = findContext(kernel, status);
  if (!context)
    return status;
  const DeviceVariants &device = *context->variants.load(std::memory_order_acquire);
  bool any = false;
  for (size_t i = 0; i < variants.kernels.size(); ++i) {
    if (device.rank[i] == 0)
      continue;
    any = true;
    tile_kernel &variant = *variants.kernels[i];
    const LoadedModule *module = findModule(variant, context->context, status);
    CUdeviceptr address = 0;
    if (module && stream && variant.scratch)
      status = findScratch(variant, *module, *stream, address);
    if (status != TILE_OK)
      return status;
  }
  return any ? TILE_OK
             : reportError(TILE_ERROR_ARCHITECTURE, "no variant of kernel '{}' runs on this device: {}: {}",
                           kernel.artifact.manifest.kernel, variantLabel(variants.chooser.manifest(0)),
                           device.obstacles[0]);
}

tile_status launchVariant(tile_kernel &kernel, const tile_launch_options *options, void *const *arguments) {
  Variants &variants = *kernel.variants;
  tile_status status = TILE_OK;
  const ContextVariants *context = findContext(kernel, status);
  if (!context)
    return status;
  const DeviceVariants &device = *context->variants.load(std::memory_order_acquire);
  const Call call{arguments, options ? options->grid : nullptr};
  const Choice choice = variants.chooser.choose(call, device);
  if (choice.index < 0)
    return reportError(noVariantServes(variants.chooser, call, device));
  const size_t index = static_cast<size_t>(choice.index);
  tile_kernel &variant = *variants.kernels[index];

  void *taken[TILE_MAX_PARAMETERS];
  const std::vector<uint8_t> &parameters = variants.parameters[index];
  for (size_t i = 0; i < parameters.size(); ++i)
    taken[i] = arguments[parameters[i]];
  tile_launch_options own = options ? *options : tile_launch_options{};
  own.grid = choice.grid;
  if (!own.scratch || !variant.scratch)
    return launchIn(variant, context->context, &own, taken);
  const CUdeviceptr scratch = reinterpret_cast<CUdeviceptr>(options->scratch);
  if ((status = checkScratch(kernel, device.multiprocessors, scratch, options->scratch_bytes)) != TILE_OK)
    return status;
  const uint64_t offset = scratchOffset(variants, index, device.multiprocessors);
  own.scratch = reinterpret_cast<void *>(scratch + offset);
  own.scratch_bytes = options->scratch_bytes - offset;
  return launchIn(variant, context->context, &own, taken);
}

uint64_t scratchOfVariants(const Variants &variants, int multiprocessors) {
  uint64_t most = 0;
  for (size_t i = 0; i < variants.kernels.size(); ++i)
    if (const uint64_t own = scratchBytes(*variants.kernels[i], multiprocessors))
      most = std::max(most, scratchOffset(variants, i, multiprocessors) + own);
  return most;
}

} // namespace tile::runtime
