// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Results/Sources.h"

#include "Runtime/Artifact.h"

#include <filesystem>
#include <sstream>

namespace tile::runner {

const std::string &Sources::text(const std::string &name) {
  constexpr uint64_t largestSource = 1 << 24;
  auto [found, isNew] = texts.try_emplace(name);
  if (!isNew || name.empty())
    return found->second;
  std::vector<std::filesystem::path> places{name};
  for (const std::string &folder : folders)
    places.push_back(std::filesystem::path(folder) / name);
  for (const std::filesystem::path &place : places) {
    if (std::error_code failed; !std::filesystem::is_regular_file(place, failed))
      continue;
    if (runtime::Result<std::string> contents = runtime::readFile(place.string(), largestSource)) {
      found->second = std::move(*contents);
      break;
    }
  }
  return found->second;
}

std::string Sources::line(const std::string &name, uint32_t number) {
  std::istringstream lines(text(name));
  std::string line;
  for (uint32_t i = 0; i < number; ++i)
    if (!std::getline(lines, line))
      return {};
  return line;
}

} // namespace tile::runner
