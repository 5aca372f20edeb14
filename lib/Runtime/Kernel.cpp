// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads a kernel's module into the current context. Checks the limits that do not depend on arguments (architecture,
// shared memory, threads per block) once, when the module is loaded.
#include "Runtime/Kernel.h"

#include "Runtime/ErrorState.h"
#include "Runtime/RelaxedCapture.h"
#include "Runtime/Target.h"
#include "Runtime/Variants.h"

#include <optional>

tile_kernel::tile_kernel() = default;
tile_kernel::~tile_kernel() = default;

namespace tile::runtime {
namespace {

// CUDA programming guide, "Compute capabilities": more dynamic shared memory needs an opt-in per function.
constexpr int sharedWithoutOptin = 48 * 1024;
constexpr int64_t portableClusterSize = 8;

struct LoadAttempt {
  CUmodule module = nullptr;
  CUresult result = cuda::success;
  char log[512] = ""; ///< log of the driver's PTX compiler
};

LoadAttempt tryLoading(const Driver &driver, const char *image) {
  LoadAttempt attempt;
  int options[] = {cuda::jitErrorLog, cuda::jitErrorLogBytes};
  void *values[] = {attempt.log, reinterpret_cast<void *>(sizeof(attempt.log))};
  attempt.result = driver.moduleLoadDataEx(&attempt.module, image, 2, options, values);
  attempt.log[sizeof(attempt.log) - 1] = '\0';
  return attempt;
}

Error errorOf(const Driver &driver, const LoadAttempt &attempt) {
  Error error = driver.error(attempt.result, "cuModuleLoadDataEx");
  if (attempt.log[0])
    error.message += fmt::format("; {}", attempt.log);
  return error;
}

/// Returns the number of parameters of the code, or nullopt if the driver cannot report it. Drivers before 13.2 report
/// only individual parameters, which are queried until a query fails; compute-sanitizer reports this failure as an API
/// error. Drivers before 550 have no query.
std::optional<size_t> countParameters(const Driver &driver, CUfunction function) {
  if (!driver.functionGetParameter)
    return std::nullopt;
  size_t count = 0;
  if (driver.functionCountParameters && driver.functionCountParameters(function, &count) == cuda::success)
    return count;
  for (count = 0;; ++count) {
    size_t offset = 0, size = 0;
    const CUresult result = driver.functionGetParameter(function, count, &offset, &size);
    if (result == cuda::errorInvalidValue)
      return count;
    if (result != cuda::success)
      return std::nullopt;
  }
}

/// Checks that the code has the parameters of the manifest. The driver reads as many arguments as the code has
/// parameters, so with a manifest that does not match, it would read past the end of the argument array.
Status checkParameters(const Driver &driver, const tile_kernel &kernel, CUfunction function) {
  std::vector<size_t> expected;
  for (const ParameterCheck &check : kernel.checks)
    expected.push_back(check.isPointer ? sizeof(CUdeviceptr) : dataTypeSize(check.type));
  expected.insert(expected.end(), kernel.tensorMaps.size(), sizeof(TensorMap));
  expected.insert(expected.end(), kernel.artifact.manifest.launch.persistent ? 3 : 0, sizeof(int32_t));
  expected.insert(expected.end(), kernel.scratch ? 1 : 0, sizeof(CUdeviceptr));
  const std::optional<size_t> count = countParameters(driver, function);
  if (!count)
    return Success{};
  if (*count != expected.size())
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT,
                     "the artifact's code takes {} arguments, but its manifest describes {}; compile or copy it again",
                     *count, expected.size());
  for (size_t i = 0; i < *count; ++i) {
    size_t offset = 0, size = 0;
    if (driver.functionGetParameter(function, i, &offset, &size) == cuda::success && size != expected[i])
      return makeError(
          TILE_ERROR_NOT_AN_ARTIFACT,
          "argument {} has {} bytes in the artifact's code and {} in its manifest; compile or copy it again", i, size,
          expected[i]);
  }
  return Success{};
}

Status configureFunction(const Driver &driver, const LaunchInfo &launch, CUfunction function,
                         const DeviceLimits &limits) {
  int staticShared = 0;
  int maxThreads = 0;
  if (Status status = driver.check(driver.functionGetAttribute(&staticShared, cuda::functionSharedBytes, function),
                                   "cuFuncGetAttribute");
      !status)
    return status;
  if (Status status = driver.check(driver.functionGetAttribute(&maxThreads, cuda::functionMaxThreads, function),
                                   "cuFuncGetAttribute");
      !status)
    return status;
  const int64_t total = launch.sharedDynamic + staticShared;
  if (total > limits.sharedBytes)
    return makeError(
        TILE_ERROR_RESOURCES,
        "the kernel needs {} bytes of shared memory per block ({} static + {} dynamic) but the device has {}", total,
        staticShared, launch.sharedDynamic, limits.sharedBytes);
  if (launch.threadsPerCta > maxThreads)
    return makeError(TILE_ERROR_RESOURCES,
                     "the kernel is launched with {} threads per block but its registers allow only {} on this device",
                     launch.threadsPerCta, maxThreads);
  if (total > sharedWithoutOptin)
    if (Status status = driver.check(driver.functionSetAttribute(function, cuda::functionMaxDynamicShared,
                                                                 static_cast<int>(launch.sharedDynamic)),
                                     "cuFuncSetAttribute(max dynamic shared memory)");
        !status)
      return status;
  // Blocks of a persistent kernel may wait for each other, so all of the expected blocks must be resident at the same
  // time.
  if (launch.persistent && launch.ctasPerSm > 1)
    if (Status status = driver.check(driver.functionSetAttribute(function, cuda::functionSharedCarveout, 100),
                                     "cuFuncSetAttribute(shared memory carveout)");
        !status)
      return status;
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > portableClusterSize)
    return driver.check(driver.functionSetAttribute(function, cuda::functionNonPortableCluster, 1),
                        "cuFuncSetAttribute(non-portable cluster size)");
  return Success{};
}

bool kernelHasPtx(const tile_kernel &kernel) {
  return kernel.owner ? hasPtx(kernel.owner->artifact, kernel.index) : hasPtx(kernel.artifact, 0);
}

/// Loads the module. The image of a variant is decompressed on demand. A driver older than the toolkit that made a
/// cubin rejects the cubin, and the simulator rejects every cubin. In both cases the PTX from which the cubin was
/// assembled is compiled instead, if the artifact contains it.
Result<CUmodule> loadModule(const Driver &driver, const tile_kernel &kernel) {
  const Artifact &whole = kernel.owner ? kernel.owner->artifact : kernel.artifact;
  const bool isPacked = kernel.owner && whole.pack->hasImage(kernel.index);
  const Result<std::string> packed = isPacked ? whole.pack->image(kernel.index) : Result<std::string>(std::string());
  if (!packed)
    return packed.error();
  const LoadAttempt attempt = tryLoading(driver, isPacked ? packed->c_str() : whole.image.c_str());
  if (attempt.result == cuda::success)
    return attempt.module;
  const bool isRefused = attempt.result == cuda::errorInvalidImage || attempt.result == cuda::errorNoBinaryForGpu;
  if (!isRefused || kernel.artifact.manifest.format == "ptx")
    return errorOf(driver, attempt);
  const Result<std::string> ptx = kernel.owner ? whole.pack->ptx(kernel.index) : findPtx(whole);
  if (!ptx)
    return errorOf(driver, attempt);
  const LoadAttempt second = tryLoading(driver, ptx->c_str());
  if (second.result == cuda::success)
    return second.module;
  Error error = errorOf(driver, attempt);
  error.message += fmt::format("; the PTX was rejected, too: {}", errorOf(driver, second).message);
  return error;
}

/// Loads the kernel into `context`, which is current. On failure, nothing remains loaded.
Result<LoadedModule> loadInto(const Driver &driver, const tile_kernel &kernel, CUcontext context) {
  // The first launch of a variant may be in a captured stream.
  const RelaxedCapture relaxed(driver);
  const Artifact &artifact = kernel.artifact;
  Result<DeviceLimits> limits = queryLimits(driver);
  if (!limits)
    return limits.error();
  if (!artifact.manifest.target.empty())
    if (Status status = checkTarget(artifact.manifest.target, kernelHasPtx(kernel), limits->major, limits->minor);
        !status)
      return status.error();
  Result<CUmodule> module = loadModule(driver, kernel);
  if (!module)
    return module.error();
  LoadedModule loaded{context, *module, nullptr, limits->multiprocessors};
  const std::string &entry = artifact.manifest.entry;
  Status status = driver.check(driver.moduleGetFunction(&loaded.function, *module, entry.c_str()),
                               fmt::format("cuModuleGetFunction('{}')", entry));
  if (status)
    status = checkParameters(driver, kernel, loaded.function);
  if (status)
    status = configureFunction(driver, artifact.manifest.launch, loaded.function, *limits);
  if (status)
    return loaded;
  (void)driver.moduleUnload(*module); // if unloading fails too, report the first error
  return status.error();
}

/// Returns "kernel 'matmul'", with the name of the variant if there are several.
std::string labelOf(const tile_kernel &kernel) {
  const Manifest &manifest = kernel.artifact.manifest;
  return fmt::format("kernel '{}'{}", manifest.kernel,
                     kernel.owner ? fmt::format(", variant {}", variantLabel(manifest)) : "");
}

/// Makes a kernel, but not its `variants`.
Result<std::unique_ptr<tile_kernel>> makeOne(tile_runtime *runtime, Artifact artifact) {
  auto kernel = std::make_unique<tile_kernel>();
  kernel->runtime = runtime;
  const ExpressionNames names = expressionNames(artifact.manifest);
  for (const auto &[texts, expressions] : {std::pair(&artifact.manifest.launch.grid, &kernel->grid),
                                           std::pair(&artifact.manifest.requirements, &kernel->requirements)})
    for (const std::string &text : *texts) {
      Result<Expression> expression = Expression::compile(text, names);
      if (!expression)
        return expression.error();
      expressions->push_back(std::move(*expression));
    }
  for (const Parameter &parameter : artifact.manifest.parameters) {
    kernel->typeNames.push_back(parameter.typeName());
    kernel->checks.push_back(
        {parameter.type, parameter.isPointer,
         static_cast<uint64_t>(parameter.isPointer ? parameter.requiredAlignment() : parameter.divisibility)});
  }
  for (const TensorMapSpec &spec : artifact.manifest.tensorMaps) {
    Result<TensorMapPlan> plan = planTensorMap(spec, artifact.manifest);
    if (!plan)
      return plan.error();
    kernel->tensorMaps.push_back(std::move(*plan));
  }
  if (artifact.manifest.launch.scratchPerCta > 0)
    kernel->scratch = std::make_unique<ScratchBuffers>();
  kernel->artifact = std::move(artifact);
  return kernel;
}

} // namespace

Result<DeviceLimits> queryLimits(const Driver &driver) {
  DeviceLimits limits;
  if (Status status = driver.check(driver.contextGetDevice(&limits.device), "cuCtxGetDevice"); !status)
    return status.error();
  const std::pair<int, int *> queries[] = {{cuda::attributeComputeMajor, &limits.major},
                                           {cuda::attributeComputeMinor, &limits.minor},
                                           {cuda::attributeMaxSharedOptin, &limits.sharedBytes},
                                           {cuda::attributeMultiprocessorCount, &limits.multiprocessors}};
  for (const auto &[attribute, value] : queries)
    if (Status status =
            driver.check(driver.deviceGetAttribute(value, attribute, limits.device), "cuDeviceGetAttribute");
        !status)
      return status.error();
  return limits;
}

Result<std::unique_ptr<tile_kernel>> makeKernel(tile_runtime *runtime, Artifact artifact) {
  Result<std::unique_ptr<tile_kernel>> made = makeOne(runtime, std::move(artifact));
  if (!made)
    return made;
  tile_kernel &kernel = **made;
  if (kernel.artifact.pack) {
    Result<std::unique_ptr<Variants>> variants = makeVariants(kernel);
    if (!variants)
      return variants.error();
    kernel.variants = std::move(*variants);
    if (kernel.artifact.pack->hasImage(0))
      kernel.artifact.image = {}; // variant 0 is loaded like the others
  } else if (runtime && !kernel.tensorMaps.empty() && !runtime->driver->tensorMapEncodeTiled) {
    return makeError(
        TILE_ERROR_NO_DRIVER,
        "kernel '{}' takes tensor maps but the CUDA driver has no cuTensorMapEncodeTiled; driver 525 (CUDA "
        "12.0) or later is needed",
        kernel.artifact.manifest.kernel);
  }
  return made;
}

Result<std::unique_ptr<tile_kernel>> makeVariant(tile_kernel &owner, size_t index) {
  const Artifact &whole = owner.artifact;
  const std::string &text = whole.pack ? whole.pack->manifestText(index) : whole.manifestText;
  const Manifest &manifest = whole.pack ? whole.pack->manifest(index) : whole.manifest;
  Result<std::unique_ptr<tile_kernel>> made =
      makeOne(owner.runtime, {whole.format, /*image=*/{}, text, manifest, /*ptx=*/{}, nullptr});
  if (made) {
    (*made)->owner = &owner;
    (*made)->index = index;
  }
  return made;
}

Result<tile_kernel *> variantHandle(tile_kernel &kernel, size_t index) {
  if (kernel.variants)
    return kernel.variants->kernels[index].get();
  if (kernel.owner)
    return &kernel;
  const std::lock_guard<std::mutex> lock(kernel.loading);
  if (!kernel.sole) {
    Result<std::unique_ptr<tile_kernel>> made = makeVariant(kernel, index);
    if (!made)
      return made.error();
    kernel.sole = std::move(*made);
  }
  return kernel.sole.get();
}

CUcontext currentContext(const tile_kernel &kernel, tile_status &status) {
  if (!kernel.runtime) {
    status = reportError(TILE_ERROR_NO_DRIVER, "the kernel was loaded without a runtime and can only be described");
    return nullptr;
  }
  const Driver &driver = *kernel.runtime->driver;
  CUcontext context = nullptr;
  if (const CUresult result = driver.contextGetCurrent(&context); result != cuda::success) {
    status = reportError(driver.error(result, "cuCtxGetCurrent"));
    return nullptr;
  }
  if (!context) {
    status =
        reportError(TILE_ERROR_NO_DEVICE, "no CUDA context is current on this thread; call tile_device_activate first");
    return nullptr;
  }
  status = TILE_OK;
  return context;
}

const LoadedModule *findModule(tile_kernel &kernel, tile_status &status) {
  const CUcontext context = currentContext(kernel, status);
  return context ? findModule(kernel, context, status) : nullptr;
}

const LoadedModule *findModule(tile_kernel &asked, CUcontext context, tile_status &status) {
  tile_kernel &kernel = asked.loader();
  status = TILE_OK;
  unsigned known = kernel.moduleCount.load(std::memory_order_acquire);
  for (unsigned i = 0; i < known; ++i)
    if (kernel.modules[i].context == context)
      return &kernel.modules[i];

  const std::lock_guard<std::mutex> lock(kernel.loading);
  known = kernel.moduleCount.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < known; ++i)
    if (kernel.modules[i].context == context) // another thread has loaded it in the meantime
      return &kernel.modules[i];
  if (known == tile_kernel::maxModules) {
    status = reportError(TILE_ERROR_RESOURCES, "the kernel is already loaded in {} contexts, the maximum", known);
    return nullptr;
  }
  Result<LoadedModule> loaded = loadInto(*kernel.runtime->driver, kernel, context);
  if (!loaded) {
    status = reportError(loaded.error().code, "{}: {}", labelOf(kernel), loaded.error().message);
    return nullptr;
  }
  kernel.modules[known] = *loaded;
  kernel.moduleCount.store(known + 1, std::memory_order_release);
  return &kernel.modules[known];
}

void unloadModules(tile_kernel &kernel) {
  if (kernel.variants)
    for (const std::unique_ptr<tile_kernel> &variant : kernel.variants->kernels)
      unloadModules(*variant);
  const unsigned count = kernel.moduleCount.load(std::memory_order_acquire);
  if (count == 0)
    return;
  const Driver &driver = *kernel.runtime->driver;
  CUcontext previous = nullptr;
  const bool restore = driver.contextGetCurrent(&previous) == cuda::success;
  // A destroyed context has already released its modules; its error cannot be reported.
  for (unsigned i = 0; i < count; ++i)
    if (driver.contextSetCurrent(kernel.modules[i].context) == cuda::success) {
      freeScratch(kernel, kernel.modules[i].context);
      (void)driver.moduleUnload(kernel.modules[i].module);
    }
  if (restore)
    (void)driver.contextSetCurrent(previous);
}

} // namespace tile::runtime
