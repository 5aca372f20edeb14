// The launch path: grid, assumptions, attributes, cuLaunchKernelEx. No lock and no allocation; what goes wrong is
// formatted into the thread's fixed error buffer.
#include "Runtime/ErrorState.h"
#include "Runtime/FloatFormat.h"
#include "Runtime/Kernel.h"

#include <array>
#include <cmath>
#include <cstring>

namespace tile::runtime {
namespace {

constexpr int64_t largestGrid[3] = {2147483647, 65535, 65535}; // CUDA programming guide, "Technical specifications"

template <typename T> T readAs(const void *argument) {
  T value;
  std::memcpy(&value, argument, sizeof(T));
  return value;
}

/// The value of an integer argument; u64 beyond the signed range comes out negative, see evaluateGrid.
int64_t readInteger(DataType type, const void *argument) {
  switch (type) {
  case DataType::I8:
    return readAs<int8_t>(argument);
  case DataType::I16:
    return readAs<int16_t>(argument);
  case DataType::I32:
    return readAs<int32_t>(argument);
  case DataType::I1:
  case DataType::U8:
    return readAs<uint8_t>(argument);
  case DataType::U16:
    return readAs<uint16_t>(argument);
  case DataType::U32:
    return readAs<uint32_t>(argument);
  default:
    return readAs<int64_t>(argument);
  }
}

tile_status checkAssumptions(const tile_kernel &kernel, void *const *arguments) {
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
        return reportError(TILE_ERROR_ASSUMPTION,
                           "parameter {} '{}' is {:#x}, which is not a multiple of {} bytes; the kernel was compiled "
                           "for that alignment",
                           i, name, address, check.divisor);
      continue;
    }
    const bool isUnsigned = !isSignedType(check.type);
    const int64_t value = readInteger(check.type, arguments[i]);
    const bool divisible = isUnsigned ? static_cast<uint64_t>(value) % check.divisor == 0
                                      : value % static_cast<int64_t>(check.divisor) == 0;
    if (!divisible)
      return reportError(TILE_ERROR_ASSUMPTION,
                         "parameter {} '{}' is {}, which is not a multiple of {}; the kernel was compiled for that", i,
                         name, value, check.divisor);
  }
  return TILE_OK;
}

tile_status checkGrid(const tile_kernel &kernel, const int64_t grid[3]) {
  const LaunchInfo &info = kernel.artifact.manifest.launch;
  for (int i = 0; i < 3; ++i) {
    if (grid[i] < 0 || grid[i] > largestGrid[i])
      return reportError(TILE_ERROR_GRID, "grid dimension {} is {}; possible are 0 to {}", i, grid[i], largestGrid[i]);
    if (grid[i] % info.cluster[i] != 0)
      return reportError(TILE_ERROR_GRID, "grid dimension {} is {}, which is not a multiple of the cluster's {}", i,
                         grid[i], info.cluster[i]);
  }
  return TILE_OK;
}

unsigned fillAttributes(const LaunchInfo &info, LaunchAttribute *attributes) {
  unsigned count = 0;
  if (info.cluster[0] * info.cluster[1] * info.cluster[2] > 1) {
    attributes[count].id = cuda::launchCluster;
    attributes[count++].value.cluster = {static_cast<unsigned>(info.cluster[0]), static_cast<unsigned>(info.cluster[1]),
                                         static_cast<unsigned>(info.cluster[2])};
  }
  if (info.pdl) {
    attributes[count].id = cuda::launchProgrammaticSerialization;
    attributes[count++].value.flag = 1;
  }
  if (info.cooperative) {
    attributes[count].id = cuda::launchCooperative;
    attributes[count++].value.flag = 1;
  }
  return count;
}

tile_status checkArgumentArray(const tile_kernel &kernel, void *const *arguments, size_t count) {
  if (count != kernel.checks.size())
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}' takes {} arguments, {} were given",
                       kernel.artifact.manifest.kernel, kernel.checks.size(), count);
  for (size_t i = 0; i < count; ++i)
    if (!arguments || !arguments[i])
      return reportError(TILE_ERROR_INVALID_ARGUMENT,
                         "argument {} ('{}') is a null pointer; expected a pointer to the "
                         "value",
                         i, kernel.artifact.manifest.parameters[i].name);
  return TILE_OK;
}

} // namespace

tile_status evaluateGrid(const tile_kernel &kernel, void *const *arguments, int multiprocessors, int64_t grid[3]) {
  if (kernel.grid.empty())
    return reportError(TILE_ERROR_GRID, "kernel '{}' has no grid in its manifest; the caller must give one",
                       kernel.artifact.manifest.kernel);
  std::array<int64_t, TILE_MAX_PARAMETERS + 1> slots;
  const size_t count = kernel.checks.size();
  for (size_t i = 0; i < count; ++i) {
    const ParameterCheck &check = kernel.checks[i];
    if (!check.isPointer && !isFloatType(check.type))
      slots[i] = readInteger(check.type, arguments[i]);
  }
  slots[count] = multiprocessors;
  for (int dim = 0; dim < 3; ++dim)
    grid[dim] = 1;
  for (size_t dim = 0; dim < kernel.grid.size(); ++dim) {
    for (unsigned slot : kernel.grid[dim].usedSlots())
      if (slot < count && kernel.checks[slot].type == DataType::U64 && slots[slot] < 0)
        return reportError(TILE_ERROR_GRID, "parameter '{}' is too large for the grid expression '{}'",
                           kernel.artifact.manifest.parameters[slot].name, kernel.grid[dim].text());
    const Evaluation evaluation = kernel.grid[dim].evaluate({slots.data(), count + 1});
    if (evaluation.error != EvaluationError::None)
      return reportError(TILE_ERROR_GRID, "grid expression '{}': {}", kernel.grid[dim].text(),
                         evaluationErrorText(evaluation.error));
    grid[dim] = evaluation.value;
  }
  return TILE_OK;
}

tile_status launch(tile_kernel &kernel, const tile_launch_options *options, void *const *arguments, size_t count) {
  if (const tile_status status = checkArgumentArray(kernel, arguments, count); status != TILE_OK)
    return status;
  tile_status status = TILE_OK;
  const LoadedModule *module = findModule(kernel, status);
  if (!module)
    return status;
  int64_t grid[3] = {1, 1, 1};
  if (options && options->grid)
    std::copy(options->grid, options->grid + 3, grid);
  else
    status = evaluateGrid(kernel, arguments, module->multiprocessors, grid);
  if (status != TILE_OK || (status = checkGrid(kernel, grid)) != TILE_OK ||
      (status = checkAssumptions(kernel, arguments)) != TILE_OK)
    return status;
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return TILE_OK; // nothing to compute; the driver would refuse the launch

  const LaunchInfo &info = kernel.artifact.manifest.launch;
  LaunchAttribute attributes[3] = {};
  LaunchConfig config = {};
  config.gridX = static_cast<unsigned>(grid[0]);
  config.gridY = static_cast<unsigned>(grid[1]);
  config.gridZ = static_cast<unsigned>(grid[2]);
  config.blockX = static_cast<unsigned>(info.threadsPerCta);
  config.blockY = config.blockZ = 1;
  config.sharedBytes = static_cast<unsigned>(info.sharedDynamic);
  config.stream = options ? static_cast<CUstream>(options->stream) : nullptr;
  config.attributeCount = fillAttributes(info, attributes);
  config.attributes = attributes;
  const Driver &driver = *kernel.runtime->driver;
  const CUresult result = driver.launchKernelEx(&config, module->function, const_cast<void **>(arguments), nullptr);
  if (result == cuda::success)
    return TILE_OK;
  const Error error = driver.error(result, "cuLaunchKernelEx");
  return reportError(error.code, "kernel '{}', grid {}x{}x{}, {} threads, {} bytes of dynamic shared memory: {}",
                     kernel.artifact.manifest.kernel, grid[0], grid[1], grid[2], info.threadsPerCta, info.sharedDynamic,
                     error.message);
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
    const IntegerRange range = integerRange(check.type);
    if (value.as.integer < range.lowest || value.as.integer > range.highest)
      return reportError(TILE_ERROR_INVALID_ARGUMENT, "parameter {} '{}': {} does not fit {} ({} to {})", index, name,
                         value.as.integer, kernel.typeNames[index], range.lowest, range.highest);
    bits = static_cast<uint64_t>(value.as.integer);
  }
  std::memcpy(storage, &bits, sizeof(bits)); // little endian: the low bytes are the argument
  return TILE_OK;
}

} // namespace tile::runtime
