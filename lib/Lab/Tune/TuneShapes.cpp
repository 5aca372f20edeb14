// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads, samples and distributes calls.
#include "Lab/Tune/TuneShapes.h"

#include "Runner/Inputs/Random.h"
#include "Runtime/Artifact.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/ranges.h>
#include <set>
#include <sstream>

namespace tile::runner {

using runtime::makeError;

namespace {

constexpr int64_t multiple = 16; // with such sizes, rows are multiples of 16 bytes even for the smallest elements

Result<std::vector<CallArguments>> readShapes(const std::string &path) {
  Result<std::string> text = runtime::readFile(path, 1 << 24);
  if (!text)
    return text.error();
  std::vector<CallArguments> shapes;
  std::istringstream lines(*text);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    CallArguments shape;
    for (std::string word; words >> word;) {
      if (Result<NamedText> split = splitAssignment(word); !split)
        return runtime::withContext(fmt::format("'{}' line {}", path, number), split.error());
      shape.push_back(word);
    }
    if (!shape.empty())
      shapes.push_back(std::move(shape));
  }
  if (shapes.empty())
    return makeError(TILE_ERROR_FILE, "'{}' has no calls", path);
  return shapes;
}

/// Samples a size uniformly on a logarithmic scale.
int64_t sampledExtent(const SizeRange &range, uint64_t bits, bool isMultiple) {
  const double uniform = static_cast<double>(bits >> 11) * 0x1p-53; // [0, 1)
  const double low = std::log(static_cast<double>(range.low)), high = std::log(static_cast<double>(range.high) + 1);
  int64_t size = std::clamp(static_cast<int64_t>(std::exp(low + uniform * (high - low))), range.low, range.high);
  if (!isMultiple)
    return size;
  size = (size + multiple / 2) / multiple * multiple;
  if (size < range.low)
    size += multiple;
  if (size > range.high)
    size -= multiple;
  return size >= range.low && size > 0 ? size : std::clamp(size, range.low, range.high);
}

} // namespace

Result<std::vector<CallArguments>> listShapes(const ShapeRequest &request, const Manifest &general) {
  CallArguments fixed;
  std::vector<std::pair<std::string, SizeRange>> ranges;
  for (const std::string &argument : request.arguments) {
    Result<NamedText> split = splitAssignment(argument);
    if (!split)
      return split.error();
    const Parameter *parameter = general.findParameter(split->name);
    const std::optional<SizeRange> range = parseRange(split->value);
    if (!range || !parameter || !parameter->isInteger()) {
      fixed.push_back(argument); // binding the arguments reports the error
      continue;
    }
    if (range->low < 1 || range->low > range->high || range->high > runtime::integerRange(parameter->type).highest)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={}..{} is not a range of sizes from 1 of type {}", split->name,
                       range->low, range->high, parameter->typeName());
    ranges.emplace_back(split->name, *range);
  }
  std::vector<CallArguments> shapes;
  if (!request.file.empty()) {
    if (!ranges.empty())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}={}..{} is a range, but --shapes says which calls to measure",
                       ranges[0].first, ranges[0].second.low, ranges[0].second.high);
    Result<std::vector<CallArguments>> read = readShapes(request.file);
    if (!read)
      return read.error();
    shapes = std::move(*read);
    for (CallArguments &shape : shapes)
      shape.insert(shape.end(), fixed.begin(), fixed.end());
  } else {
    const size_t count = ranges.empty() ? 1 : static_cast<size_t>(request.count);
    for (size_t i = 0; i < count; ++i) {
      shapes.push_back(fixed);
      for (const auto &[name, range] : ranges)
        shapes.back().push_back(
            fmt::format("{}={}", name,
                        sampledExtent(range, randomBits(seedFor(request.seed, name), i), /*isMultiple=*/i % 2 == 1)));
    }
  }
  std::set<CallArguments> seen;
  std::erase_if(shapes, [&](const CallArguments &shape) { return !seen.insert(shape).second; });
  return shapes;
}

Result<Shard> parseShard(std::string_view text) {
  Shard shard;
  const size_t slash = text.find('/');
  const char *end = text.data() + text.size();
  if (slash != std::string_view::npos) {
    const char *middle = text.data() + slash;
    const auto index = std::from_chars(text.data(), middle, shard.index);
    const auto count = std::from_chars(middle + 1, end, shard.count);
    if (index.ec == std::errc() && index.ptr == middle && count.ec == std::errc() && count.ptr == end &&
        shard.index >= 1 && shard.index <= shard.count) {
      --shard.index;
      return shard;
    }
  }
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "--shard={}: expected I/N with I from 1 to N", text);
}

Result<std::vector<int>> parseDevices(std::string_view text) {
  constexpr int maxDevices = 64;
  std::vector<int> devices;
  std::istringstream words{std::string(text)};
  for (std::string word; std::getline(words, word, ',');) {
    int number = -1;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || last != word.data() + word.size() || number < 0 || number >= maxDevices ||
        std::find(devices.begin(), devices.end(), number) != devices.end())
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "--devices={}: expected distinct indices of GPUs, as in 0,1", text);
    devices.push_back(number);
  }
  if (devices.empty())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--devices: expected indices of GPUs, as in 0,1");
  return devices;
}

} // namespace tile::runner
