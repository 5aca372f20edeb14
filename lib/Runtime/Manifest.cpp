// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up parts of the manifest and validates it; every reader relies on this validation.
#include "Runtime/Manifest.h"

#include "Directives/ExpressionTree.h"
#include "Runtime/Target.h"
#include "Target/KernelParameters.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace tile::runtime {
namespace {

Error invalid(std::string message) {
  return Error{TILE_ERROR_MANIFEST, "manifest: " + std::move(message)};
}

// Maximum plausible alignment or divisibility; keeps later arithmetic far from overflow.
constexpr int64_t largestAssumption = int64_t(1) << 20;

// Names appear in tables, file names and on command lines.
constexpr size_t longestVariantName = 128;
bool isVariantCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || std::string_view(".+_-").find(c) != std::string_view::npos;
}

Status checkExpressions(const std::vector<std::string> &expressions, const ExpressionNames &names,
                        const std::string &place) {
  for (const std::string &text : expressions)
    if (Result<Expression> compiled = Expression::compile(text, names); !compiled)
      return invalid(place + ": " + compiled.error().message);
  return Success{};
}

Status checkBuffer(const Parameter &parameter, const ExpressionNames &names) {
  const BufferSpec &buffer = *parameter.buffer;
  if (!parameter.isPointer)
    return invalid(fmt::format("parameter '{}' has a buffer but its type is {}", parameter.name, parameter.typeName()));
  if (buffer.shape.size() > 8)
    return invalid(
        fmt::format("buffer '{}' has {} dimensions; at most 8 are supported", parameter.name, buffer.shape.size()));
  if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size())
    return invalid(fmt::format("buffer '{}' has {} dimensions but {} strides", parameter.name, buffer.shape.size(),
                               buffer.strides.size()));
  if (Status status = checkExpressions(buffer.shape, names, fmt::format("shape of buffer '{}'", parameter.name));
      !status)
    return status;
  return checkExpressions(buffer.strides, names, fmt::format("strides of buffer '{}'", parameter.name));
}

Status checkParameter(const Parameter &parameter, const ExpressionNames &names) {
  if (!directives::isIdentifier(parameter.name))
    return invalid(fmt::format("parameter name '{}' is not an identifier", parameter.name));
  const bool powerOfTwo = parameter.alignment > 0 && (parameter.alignment & (parameter.alignment - 1)) == 0;
  if (!powerOfTwo || parameter.alignment > largestAssumption)
    return invalid(fmt::format("alignment {} of parameter '{}' is not a power of two in 1 to {}", parameter.alignment,
                               parameter.name, largestAssumption));
  if (parameter.divisibility < 1 || parameter.divisibility > largestAssumption)
    return invalid(fmt::format("divisibility {} of parameter '{}' is not in 1 to {}", parameter.divisibility,
                               parameter.name, largestAssumption));
  const bool isF8 = parameter.type == DataType::F8E4M3 || parameter.type == DataType::F8E5M2;
  if (!parameter.isPointer && isF8)
    return invalid(
        fmt::format("parameter '{}' has type {}, which only pointers may have", parameter.name, parameter.typeName()));
  if (parameter.defaultValue && parameter.isPointer && !parameter.buffer)
    return invalid(
        fmt::format("pointer parameter '{}' has a default but no buffer that it could fill", parameter.name));
  if (parameter.defaultValue && parameter.isInteger())
    if (Status status = checkExpressions({*parameter.defaultValue}, names,
                                         fmt::format("default of parameter '{}'", parameter.name));
        !status)
      return status;
  return parameter.buffer ? checkBuffer(parameter, names) : Success{};
}

Status checkTensorMap(const TensorMapSpec &map, const Manifest &manifest, const ExpressionNames &names) {
  const Parameter *base = manifest.findParameter(map.base);
  if (!base || !base->isPointer)
    return invalid(fmt::format("a tensor map names '{}', which is not a pointer parameter", map.base));
  const std::string place = fmt::format("tensor map of '{}'", map.base);
  if (map.shape.empty() || map.shape.size() > highestTensorRank)
    return invalid(fmt::format("{} has {} dimensions; expected 1 to {}", place, map.shape.size(), highestTensorRank));
  if (map.strides.size() + 1 != map.shape.size() || map.box.size() != map.shape.size())
    return invalid(fmt::format("{} has {} dimensions, {} strides and a box of {}; expected {} strides and a box of {}",
                               place, map.shape.size(), map.strides.size(), map.box.size(), map.shape.size() - 1,
                               map.shape.size()));
  for (int64_t extent : map.box)
    if (extent < 1 || extent > 256)
      return invalid(fmt::format("{}: box dimension is {}; expected 1 to 256", place, extent));
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
    return invalid(fmt::format("{}: swizzle is {}; expected 0, 32, 64 or 128", place, map.swizzle));
  if (map.l2Promotion != 128 && map.l2Promotion != 256)
    return invalid(fmt::format("{}: l2_promotion is {}; expected 128 or 256", place, map.l2Promotion));
  const int64_t rowBytes = map.box.back() * dataTypeSize(map.element);
  if (rowBytes % 16 != 0)
    return invalid(fmt::format("{}: a row of the box has {} bytes; expected a multiple of 16", place, rowBytes));
  if (map.swizzle != 0 && rowBytes > map.swizzle)
    return invalid(fmt::format("{}: a row of the box has {} bytes; with swizzle {} at most {} are allowed", place,
                               rowBytes, map.swizzle, map.swizzle));
  if (Status status = checkExpressions(map.shape, names, "shape of the " + place); !status)
    return status;
  return checkExpressions(map.strides, names, "strides of the " + place);
}

Status checkLaunch(const LaunchInfo &launch, const ExpressionNames &names) {
  const auto inRange = [](int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; };
  if (!inRange(launch.threadsPerCta, 1, 1024))
    return invalid(fmt::format("threads_per_cta is {}; expected 1 to 1024", launch.threadsPerCta));
  for (int64_t size : launch.cluster)
    if (!inRange(size, 1, 16))
      return invalid(fmt::format("cluster dimension is {}; expected 1 to 16", size));
  const int64_t clusterSize = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  if (clusterSize > 16)
    return invalid(fmt::format("the cluster has {} thread blocks; at most 16 are allowed", clusterSize));
  const int64_t (&group)[3] = launch.programsPerCluster;
  const bool isGroup = inRange(group[0], 1, 16) && inRange(group[1], 1, 16) && inRange(group[2], 1, 16);
  if ((group[0] != 0 || group[1] != 0 || group[2] != 0) &&
      !(isGroup && clusterSize % (group[0] * group[1] * group[2]) == 0))
    return invalid(fmt::format("{}x{}x{} programs per cluster cannot be shared by {} thread blocks", group[0], group[1],
                               group[2], clusterSize));
  if (!launch.persistent && group[0] * group[1] * group[2] > 1)
    return invalid(
        fmt::format("{}x{}x{} programs per cluster, but only clusters of a persistent kernel can have several",
                    group[0], group[1], group[2]));
  if (!launch.persistent && group[0] != 0 && clusterSize != launch.cluster[0])
    return invalid(fmt::format("a program is shared by a cluster of {}x{}x{}; expected one of {}x1x1",
                               launch.cluster[0], launch.cluster[1], launch.cluster[2], clusterSize));
  // 1 MiB: far above any device; the exact limit is checked against the device at load.
  for (int64_t bytes : {launch.sharedStatic, launch.sharedDynamic})
    if (!inRange(bytes, 0, 1 << 20))
      return invalid(fmt::format("shared memory size is {} bytes; expected 0 to {}", bytes, 1 << 20));
  if (!inRange(launch.registers, 0, 1024) || launch.numWarps < 0 || launch.spillBytes < 0)
    return invalid("num_warps, registers and spill_bytes must not be negative");
  if (!inRange(launch.ctasPerSm, 1, 32)) // 32: maximum blocks per multiprocessor on any device
    return invalid(fmt::format("ctas_per_sm is {}; expected 1 to 32", launch.ctasPerSm));
  if (launch.persistent && clusterSize != launch.cluster[0])
    return invalid(fmt::format("a persistent kernel has the cluster {}x{}x{}; expected one of {}x1x1",
                               launch.cluster[0], launch.cluster[1], launch.cluster[2], clusterSize));
  // 64 MiB: far more than needed; this size times any number of blocks is still far from overflow.
  constexpr int64_t maxScratch = int64_t(64) << 20;
  if (!inRange(launch.scratchPerCta, 0, maxScratch))
    return invalid(fmt::format("scratch_per_cta is {} bytes; expected 0 to {}", launch.scratchPerCta, maxScratch));
  if (launch.sharesTails && launch.scratchPerCta == 0)
    return invalid("shares_tails is true, but the kernel has no scratch memory");
  if (launch.scratchPerCta > 0 && !launch.persistent)
    return invalid(fmt::format("scratch_per_cta is {} bytes, but only a persistent kernel can have scratch memory",
                               launch.scratchPerCta));
  if (launch.grid.size() > 3)
    return invalid(fmt::format("the grid has {} dimensions; at most 3 are allowed", launch.grid.size()));
  return checkExpressions(launch.grid, names, "grid");
}

} // namespace

std::string_view bufferRoleName(BufferRole role) {
  switch (role) {
  case BufferRole::Random:
    return "random";
  case BufferRole::Output:
    return "output";
  case BufferRole::Inout:
    return "inout";
  case BufferRole::Zeros:
    return "zeros";
  }
  return "unknown";
}

std::string Parameter::typeName() const {
  return isPointer ? fmt::format("ptr<{}>", dataTypeName(type)) : std::string(dataTypeName(type));
}

const Parameter *Manifest::findParameter(std::string_view name) const {
  for (const Parameter &parameter : parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

ExpressionNames expressionNames(const Manifest &manifest) {
  ExpressionNames names;
  // A constant named num_sms hides the number of multiprocessors, which keeps its slot.
  bool isTaken = std::any_of(manifest.constants.begin(), manifest.constants.end(),
                             [](const auto &constant) { return constant.first == "num_sms"; });
  for (const Parameter &parameter : manifest.parameters) {
    names.variables.push_back({parameter.name, parameter.isInteger()});
    isTaken |= parameter.name == "num_sms";
  }
  names.variables.push_back({isTaken ? "" : "num_sms", true});
  for (const auto &[name, value] : manifest.constants) {
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      names.constants.emplace_back(name, *integer);
    else if (const bool *boolean = std::get_if<bool>(&value))
      names.constants.emplace_back(name, *boolean);
  }
  // A launch runs on one GPU. For several GPUs, lib/Runner adds constants named this_rank and num_ranks.
  for (const auto &[name, value] : {std::pair<std::string_view, int64_t>{"this_rank", 0}, {"num_ranks", 1}})
    if (!manifest.findParameter(name) &&
        std::none_of(names.constants.begin(), names.constants.end(),
                     [name = name](const auto &constant) { return constant.first == name; }))
      names.constants.emplace_back(name, value);
  return names;
}

ExpressionNames tensorMapNames(const Manifest &manifest) {
  ExpressionNames names = expressionNames(manifest);
  names.variables.pop_back(); // num_sms is the last variable, so the slots of parameters do not change
  return names;
}

Status validate(const Manifest &manifest) {
  if (manifest.entry.empty())
    return invalid("'entry' is empty");
  if (!manifest.target.empty())
    if (Result<Target> target = parseTarget(manifest.target); !target)
      return invalid(target.error().message);
  if (!std::all_of(manifest.variant.begin(), manifest.variant.end(), isVariantCharacter) ||
      manifest.variant.size() > longestVariantName)
    return invalid(fmt::format("the variant's name '{}' must have 1 to {} letters, digits and '.+_-'",
                               manifest.variant.substr(0, longestVariantName), longestVariantName));
  if (manifest.parameters.size() > TILE_MAX_PARAMETERS)
    return invalid(fmt::format("the kernel has {} parameters; at most {} are supported", manifest.parameters.size(),
                               TILE_MAX_PARAMETERS));
  const ExpressionNames names = expressionNames(manifest);
  std::set<std::string> seen;
  for (const Parameter &parameter : manifest.parameters) {
    if (Status status = checkParameter(parameter, names); !status)
      return status;
    if (!seen.insert(parameter.name).second)
      return invalid(fmt::format("the name '{}' is used twice", parameter.name));
  }
  for (const auto &[name, value] : manifest.constants)
    if (!seen.insert(name).second)
      return invalid(fmt::format("the name '{}' is used twice", name));
  static_assert(maxTensorMaps == target::maxTensorMaps,
                "the compiler creates no more tensor maps than the launcher accepts");
  if (manifest.tensorMaps.size() > maxTensorMaps)
    return invalid(fmt::format("the kernel has {} tensor maps; at most {} are supported", manifest.tensorMaps.size(),
                               maxTensorMaps));
  const ExpressionNames mapNames = tensorMapNames(manifest);
  for (const TensorMapSpec &map : manifest.tensorMaps)
    if (Status status = checkTensorMap(map, manifest, mapNames); !status)
      return status;
  if (Status status = checkLaunch(manifest.launch, names); !status)
    return status;
  if (manifest.requirements.size() > maxRequirements)
    return invalid(fmt::format("the kernel has {} requirements; at most {} are supported", manifest.requirements.size(),
                               maxRequirements));
  if (Status status = checkExpressions(manifest.requirements, names, "requires"); !status)
    return status;
  if (manifest.cost)
    if (Status status = validateCost(*manifest.cost, names); !status)
      return status;
  if (manifest.programs)
    if (Status status = validatePrograms(*manifest.programs, names); !status)
      return status;
  for (const Expectation &expectation : manifest.expect) {
    const Parameter *parameter = manifest.findParameter(expectation.buffer);
    if (!parameter || !parameter->buffer)
      return invalid(fmt::format("'expect' names '{}', which is not a buffer parameter", expectation.buffer));
    if (!(expectation.tolerance >= 0) || expectation.tolerance > 1e300)
      return invalid(fmt::format("the tolerance of '{}' is {}; expected a number of at least 0", expectation.buffer,
                                 expectation.tolerance));
  }
  return Success{};
}

} // namespace tile::runtime
