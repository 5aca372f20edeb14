// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch path: grid, assumptions, tensor maps, scratch, attributes, cuLaunchKernelEx. It locks and allocates only
// at the first launch in a context or, with scratch memory, in a stream. Errors are formatted into the thread's fixed
// buffer.
#include "Runtime/Conditions.h"
#include "Runtime/ErrorState.h"
#include "Runtime/FloatFormat.h"
#include "Runtime/Grid.h"
#include "Runtime/Kernel.h"
#include "Runtime/Variants.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tile::runtime {

namespace {

tile_status checkRequirements(const tile_kernel &kernel, const ArgumentSlots &slots) {
  for (const Expression &requirement : kernel.requirements) {
    const std::optional<int64_t> value = evaluate(kernel, requirement, slots, TILE_ERROR_ASSUMPTION, "requirement");
    if (!value)
      return TILE_ERROR_ASSUMPTION;
    if (*value == 0)
      return reportError(TILE_ERROR_ASSUMPTION, "kernel '{}' requires {}, which does not hold for {}",
                         kernel.artifact.manifest.kernel, requirement.text(),
                         valuesIn(requirement, {slots.values, kernel.artifact.manifest}));
  }
  return TILE_OK;
}

} // namespace

tile_status checkAssumptions(const tile_kernel &kernel, void *const *arguments, const ArgumentSlots &slots) {
  for (size_t i = 0; i < kernel.checks.size(); ++i) {
    const ParameterCheck &check = kernel.checks[i];
    const std::string &name = kernel.artifact.manifest.parameters[i].name;
    if (check.type == DataType::I1 && !check.isPointer && readAs<uint8_t>(arguments[i]) > 1)
      return reportError(TILE_ERROR_INVALID_ARGUMENT, "parameter {} '{}' is an i1 but its byte is {}", i, name,
                         readAs<uint8_t>(arguments[i]));
    if (check.divisor == 1)
      continue;
    if (check.isPointer) {
      const uint64_t address = readAs<uint64_t>(arguments[i]);
      if (address % check.divisor != 0)
        return reportError(TILE_ERROR_ASSUMPTION, "parameter {} '{}' is {:#x}, which is not a multiple of {} bytes{}",
                           i, name, address, check.divisor,
                           check.divisor > dataTypeSize(check.type) ? "; the kernel was compiled for that alignment"
                                                                    : ", the size of its elements");
      continue;
    }
    const bool isUnsigned = !isSignedType(check.type);
    const int64_t value = readInteger(check.type, arguments[i]);
    const bool divisible = isUnsigned ? static_cast<uint64_t>(value) % check.divisor == 0
                                      : value % static_cast<int64_t>(check.divisor) == 0;
    if (!divisible)
      return reportError(
          TILE_ERROR_ASSUMPTION,
          "parameter {} '{}' is {}, which is not a multiple of {}; the kernel was compiled for multiples of it", i,
          name, value, check.divisor);
  }
  return checkRequirements(kernel, slots);
}

namespace {

unsigned fillAttributes(const LaunchInfo &info, bool overlaps, LaunchAttribute *attributes) {
  unsigned count = 0;
  if (info.cluster[0] * info.cluster[1] * info.cluster[2] > 1) {
    attributes[count].id = cuda::launchCluster;
    attributes[count++].value.cluster = {static_cast<unsigned>(info.cluster[0]), static_cast<unsigned>(info.cluster[1]),
                                         static_cast<unsigned>(info.cluster[2])};
  }
  if (overlaps) {
    attributes[count].id = cuda::launchProgrammaticSerialization;
    attributes[count++].value.flag = 1;
  }
  if (info.cooperative) {
    attributes[count].id = cuda::launchCooperative;
    attributes[count++].value.flag = 1;
  }
  return count;
}

/// Returns the scratch memory for a launch with these options.
tile_status chooseScratch(tile_kernel &kernel, const LoadedModule &module, const tile_launch_options *options,
                          CUdeviceptr &scratch) {
  if (!options || !options->scratch)
    return findScratch(kernel, module, options ? static_cast<CUstream>(options->stream) : nullptr, scratch);
  scratch = reinterpret_cast<CUdeviceptr>(options->scratch);
  return checkScratch(kernel, module.multiprocessors, scratch, options->scratch_bytes);
}

} // namespace

tile_status fillHiddenArguments(const tile_kernel &kernel, void *const *arguments, const ArgumentSlots &slots,
                                const int64_t programs[3], HiddenArguments &hidden) {
  size_t count = kernel.checks.size();
  std::copy(arguments, arguments + count, hidden.all);
  for (size_t i = 0; i < kernel.tensorMaps.size(); ++i) {
    if (const tile_status status = encodeTensorMap(kernel, i, arguments, slots, hidden.maps[i]); status != TILE_OK)
      return status;
    hidden.all[count++] = &hidden.maps[i];
  }
  if (kernel.artifact.manifest.launch.persistent)
    for (int i = 0; i < 3; ++i) {
      hidden.programs[i] = static_cast<int32_t>(programs[i]);
      hidden.all[count++] = &hidden.programs[i];
    }
  if (kernel.scratch)
    hidden.all[count++] = &hidden.scratch;
  return TILE_OK;
}

namespace {

tile_status launchBlocks(const tile_kernel &kernel, const LoadedModule &module, const tile_launch_options *options,
                         const int64_t blocks[3], void *const *arguments) {
  const LaunchInfo &info = kernel.artifact.manifest.launch;
  LaunchAttribute attributes[3] = {};
  LaunchConfig config = {};
  config.gridX = static_cast<unsigned>(blocks[0]);
  config.gridY = static_cast<unsigned>(blocks[1]);
  config.gridZ = static_cast<unsigned>(blocks[2]);
  config.blockX = static_cast<unsigned>(info.threadsPerCta);
  config.blockY = config.blockZ = 1;
  config.sharedBytes = static_cast<unsigned>(info.sharedDynamic);
  config.stream = options ? static_cast<CUstream>(options->stream) : nullptr;
  const bool overlaps = info.pdl && options && options->overlap != 0;
  config.attributeCount = fillAttributes(info, overlaps, attributes);
  config.attributes = attributes;
  const Driver &driver = *kernel.runtime->driver;
  const CUresult result = driver.launchKernelEx(&config, module.function, const_cast<void **>(arguments), nullptr);
  if (result == cuda::success)
    return TILE_OK;
  const Error error = driver.error(result, "cuLaunchKernelEx");
  return reportError(error.code, "kernel '{}', grid {}x{}x{}, {} threads, {} bytes of dynamic shared memory: {}",
                     kernel.artifact.manifest.kernel, blocks[0], blocks[1], blocks[2], info.threadsPerCta,
                     info.sharedDynamic, error.message);
}

} // namespace

tile_status checkArgumentArray(const tile_kernel &kernel, void *const *arguments, size_t count) {
  if (count != kernel.checks.size())
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' takes {} arguments, but {} were given",
                       kernel.artifact.manifest.kernel, kernel.checks.size(), count);
  for (size_t i = 0; i < count; ++i)
    if (!arguments || !arguments[i])
      return reportError(TILE_ERROR_INVALID_ARGUMENT,
                         "argument {} ('{}') is a null pointer; expected a pointer to the "
                         "value",
                         i, kernel.artifact.manifest.parameters[i].name);
  return TILE_OK;
}

tile_status evaluateGrid(const tile_kernel &kernel, const ArgumentSlots &slots, int64_t grid[3]) {
  if (kernel.grid.empty())
    return reportError(TILE_ERROR_GRID, "kernel '{}' has no grid in its manifest; the caller must give one",
                       kernel.artifact.manifest.kernel);
  for (int dim = 0; dim < 3; ++dim)
    grid[dim] = 1;
  for (size_t dim = 0; dim < kernel.grid.size(); ++dim) {
    const std::optional<int64_t> size = evaluate(kernel, kernel.grid[dim], slots, TILE_ERROR_GRID, "grid");
    if (!size)
      return TILE_ERROR_GRID;
    grid[dim] = *size;
  }
  return TILE_OK;
}

tile_status chooseBlocks(const tile_kernel &kernel, const int64_t programs[3], int multiprocessors, int64_t blocks[3]) {
  const LaunchInfo &info = kernel.artifact.manifest.launch;
  if (const GridFailure failure = checkGrid(info, programs)) {
    fmt::memory_buffer text;
    describe(failure, info, programs, text);
    return reportError(TILE_ERROR_GRID, "{}", std::string_view(text.data(), text.size()));
  }
  std::copy(programs, programs + 3, blocks);
  blocks[0] *= blocksPerProgram(info);
  if (!info.persistent)
    return TILE_OK;
  // Launch whole clusters. At the edge of the grid some blocks may have no program. If there are fewer programs than
  // resident blocks, launch only as many blocks as the programs need.
  const int64_t cluster = info.cluster[0];
  const int64_t *group = info.programsPerCluster;
  const int64_t count = programs[0] * programs[1] * programs[2];
  int64_t needed = (count + cluster - 1) / cluster * cluster;
  if (count != 0 && group[0] != 0) {
    needed = cluster;
    for (int i = 0; i < 3; ++i)
      needed *= (programs[i] + group[i] - 1) / group[i];
  }
  const int64_t resident = residentBlocks(info, multiprocessors);
  // If blocks share programs, it pays to launch more blocks than there are programs.
  const bool sharesPrograms = info.sharesTails && needed != 0;
  blocks[0] = sharesPrograms ? resident : std::min(needed, resident);
  blocks[1] = blocks[2] = 1;
  return TILE_OK;
}

tile_status launch(tile_kernel &kernel, const tile_launch_options *options, void *const *arguments, size_t count) {
  if (const tile_status status = checkArgumentArray(kernel, arguments, count); status != TILE_OK)
    return status;
  if (kernel.variants)
    return launchVariant(kernel, options, arguments);
  tile_status status = TILE_OK;
  const CUcontext context = currentContext(kernel, status);
  return context ? launchIn(kernel, context, options, arguments) : status;
}

tile_status launchIn(tile_kernel &kernel, CUcontext context, const tile_launch_options *options,
                     void *const *arguments) {
  tile_status status = TILE_OK;
  const LoadedModule *module = findModule(kernel, context, status);
  if (!module)
    return status;
  const ArgumentSlots slots = readSlots(kernel, arguments, module->multiprocessors);
  int64_t programs[3] = {1, 1, 1}, blocks[3];
  if (options && options->grid)
    std::copy(options->grid, options->grid + 3, programs);
  else
    status = evaluateGrid(kernel, slots, programs);
  if (status != TILE_OK || (status = chooseBlocks(kernel, programs, module->multiprocessors, blocks)) != TILE_OK ||
      (status = checkAssumptions(kernel, arguments, slots)) != TILE_OK)
    return status;
  if (blocks[0] == 0 || blocks[1] == 0 || blocks[2] == 0)
    return TILE_OK; // empty grid: the driver would reject the launch

  if (kernel.tensorMaps.empty() && !kernel.artifact.manifest.launch.persistent)
    return launchBlocks(kernel, *module, options, blocks, arguments);
  HiddenArguments hidden;
  if (kernel.scratch && (status = chooseScratch(kernel, *module, options, hidden.scratch)) != TILE_OK)
    return status;
  if ((status = fillHiddenArguments(kernel, arguments, slots, programs, hidden)) != TILE_OK)
    return status;
  return launchBlocks(kernel, *module, options, blocks, hidden.all);
}

tile_status checkInteger(const tile_kernel &kernel, size_t index, int64_t value) {
  const IntegerRange range = integerRange(kernel.checks[index].type);
  if (value >= range.lowest && value <= range.highest)
    return TILE_OK;
  return reportError(TILE_ERROR_INVALID_ARGUMENT, "parameter {} '{}': {} does not fit {} ({} to {})", index,
                     kernel.artifact.manifest.parameters[index].name, value, kernel.typeNames[index], range.lowest,
                     range.highest);
}

tile_status convertValue(const tile_kernel &kernel, size_t index, const tile_value &value, void *storage) {
  const ParameterCheck &check = kernel.checks[index];
  const std::string &name = kernel.artifact.manifest.parameters[index].name;
  const tile_parameter_kind expected = check.isPointer           ? TILE_POINTER
                                       : isFloatType(check.type) ? TILE_FLOAT
                                                                 : TILE_INTEGER;
  static constexpr const char *kindNames[] = {"a pointer", "an integer", "a float"};
  if (value.kind != expected)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "parameter {} '{}' has type {}; the value given is {}", index, name,
                       kernel.typeNames[index],
                       unsigned(value.kind) <= TILE_FLOAT ? kindNames[value.kind] : "of an unknown kind");
  uint64_t bits = value.as.pointer;
  if (expected == TILE_FLOAT) {
    bits = encodeFloat(check.type, value.as.real);
    if (std::isfinite(value.as.real) && !std::isfinite(decodeFloat(check.type, bits)))
      return reportError(TILE_ERROR_INVALID_ARGUMENT, "parameter {} '{}': {} does not fit {}", index, name,
                         value.as.real, kernel.typeNames[index]);
  } else if (expected == TILE_INTEGER && check.type != DataType::U64) {
    if (const tile_status status = checkInteger(kernel, index, value.as.integer); status != TILE_OK)
      return status;
    bits = static_cast<uint64_t>(value.as.integer);
  }
  std::memcpy(storage, &bits, sizeof(bits)); // little endian: the low bytes are the argument
  return TILE_OK;
}

} // namespace tile::runtime
