// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Searches the file system, without reading files.
#include "Frontend/Syntax/ModuleFiles.h"

#include <filesystem>

namespace tile::frontend {

std::vector<std::string> moduleFolders(const std::string &importer, unsigned level,
                                       const std::vector<std::string> &importPaths) {
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::absolute(importer, failed).parent_path();
  if (importer.starts_with('<') || failed)
    return level > 0 ? std::vector<std::string>() : importPaths;
  if (level > 0) {
    for (unsigned up = 1; up < level; ++up)
      folder = folder.parent_path();
    return {folder.string()};
  }
  std::vector<std::string> folders{folder.string()};
  for (; folder != folder.root_path(); folders.push_back(folder.string()))
    folder = folder.parent_path();
  folders.insert(folders.end(), importPaths.begin(), importPaths.end());
  return folders;
}

/// Returns the file of a dotted module below 'folder'; empty if there is none.
static std::string moduleFile(const std::filesystem::path &folder, std::string_view dotted) {
  std::filesystem::path stem = folder;
  while (!dotted.empty()) {
    std::string_view part = dotted.substr(0, dotted.find('.'));
    if (!part.empty())
      stem /= part;
    dotted.remove_prefix(std::min(part.size() + 1, dotted.size()));
  }
  std::error_code failed;
  for (const std::filesystem::path &candidate : {std::filesystem::path(stem.string() + ".py"), stem / "__init__.py",
                                                 std::filesystem::path(stem.string() + ".tile")})
    if (std::filesystem::is_regular_file(candidate, failed))
      return std::filesystem::weakly_canonical(candidate, failed).string();
  return {};
}

std::string findModuleFile(const std::vector<std::string> &folders, std::string_view dotted) {
  for (const std::string &folder : folders)
    if (std::string file = moduleFile(folder, dotted); !file.empty())
      return file;
  return {};
}

} // namespace tile::frontend
