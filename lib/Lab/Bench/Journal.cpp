// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Bench/Journal.h"

#include "Lab/Results/Results.h"
#include "Runtime/Artifact.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tile::runner {

using runtime::makeError;
using runtime::Result;

Result<Journal> Journal::open(const RunOptions &options) {
  Journal journal;
  journal.file = options.benchJson;
  if (!options.resume)
    return journal;
  if (options.benchJson.empty())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "--resume needs the file of measurements: -o FILE.jsonl");
  std::error_code failed;
  if (!std::filesystem::exists(options.benchJson, failed))
    return journal;
  Result<std::string> text = runtime::readFile(options.benchJson, uint64_t(1) << 30);
  if (!text)
    return text.error();
  const size_t complete = text->rfind('\n') == std::string::npos ? 0 : text->rfind('\n') + 1;
  std::istringstream lines(text->substr(0, complete));
  std::string line;
  for (size_t number = 1; std::getline(lines, line); ++number) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded() || !json.is_object())
      return makeError(TILE_ERROR_FILE, "'{}', line {}: not a measurement; nothing was changed", options.benchJson,
                       number);
    if (const auto key = json.find("key"); key != json.end() && key->is_string())
      journal.keys.insert(key->get<std::string>());
    if (const auto device = json.find("device"); device != json.end() && device->is_string())
      journal.devices.insert(device->get<std::string>());
  }
  if (complete < text->size())
    std::filesystem::resize_file(options.benchJson, complete, failed);
  if (failed)
    return makeError(TILE_ERROR_FILE, "cannot remove the incomplete last line of '{}': {}", options.benchJson,
                     failed.message());
  return journal;
}

runtime::Status Journal::checkDevice(const std::string &device) const {
  for (const std::string &other : devices)
    if (cardOf(other) != cardOf(device))
      return makeError(TILE_ERROR_INVALID_ARGUMENT,
                       "'{}' has measurements of '{}', but this is '{}'; --resume needs the same GPU", file,
                       cardOf(other), cardOf(device));
  return runtime::Success{};
}

} // namespace tile::runner
