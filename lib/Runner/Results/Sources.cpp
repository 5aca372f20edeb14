// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Results/Sources.h"

#include "Runner/Results/Sha256.h"
#include "Runtime/Artifact.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace tile::runner {

namespace fs = std::filesystem;

bool Sources::hasHash(const std::string &contents) const {
  return !hash.empty() && hash == "sha256:" + sha256(contents);
}

/// Returns true if the name refers to a source inside the folder, without ".." and without symbolic links to other
/// files.
bool Sources::isShown(const std::string &folder, bool isGiven, const std::string &name) const {
  const fs::path relative = name;
  if (relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end())
    return false;
  std::error_code failed;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, failed);
  if (failed)
    return false;
  const fs::path file = fs::canonical(root / relative, failed);
  const std::string extension = file.extension().string();
  const bool isSource = extension == ".tile" || (isGiven && extension == ".py");
  return !failed && isSource && std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
}

const std::string &Sources::text(const std::string &name) {
  constexpr uint64_t largestSource = 1 << 24;
  auto [found, isNew] = texts.try_emplace(name);
  if (!isNew || name.empty())
    return found->second;
  struct Candidate {
    fs::path path;
    bool isShown;
  };
  std::vector<Candidate> candidates{{name, false}};
  for (const std::string &folder : folders.given)
    candidates.push_back({fs::path(folder) / name, isShown(folder, true, name)});
  for (const std::string &folder : folders.artifactFolders)
    candidates.push_back({fs::path(folder) / name, isShown(folder, false, name)});
  for (const Candidate &candidate : candidates) {
    if (std::error_code failed; !fs::is_regular_file(candidate.path, failed))
      continue;
    runtime::Result<std::string> contents = runtime::readFile(candidate.path.string(), largestSource);
    if (contents && (folders.areTrusted || candidate.isShown || hasHash(*contents))) {
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
