// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/SourcePaths.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Location.h"

#include <filesystem>

using llvm::StringRef;
namespace fs = std::filesystem;

namespace tile::codegen {
namespace {

/// Returns true if `path` is `folder` or lies in it.
bool startsWithFolder(StringRef path, StringRef folder) {
  if (folder.empty() || !path.starts_with(folder))
    return false;
  return folder.ends_with("/") || path.size() == folder.size() || path[folder.size()] == '/';
}

StringRef withoutFolder(StringRef path, StringRef folder) {
  return path.drop_front(folder.size()).ltrim('/');
}

std::string absolutePath(const fs::path &path) {
  std::error_code failed;
  fs::path absolute = fs::absolute(path, failed).lexically_normal();
  return failed ? path.string() : absolute.string();
}

std::string withSlash(std::string folder) {
  if (folder == "." || folder.empty())
    return "";
  return StringRef(folder).ends_with("/") ? folder : folder + "/";
}

} // namespace

SourcePaths::SourcePaths(StringRef input, llvm::ArrayRef<std::string> importFolders,
                         llvm::ArrayRef<std::pair<std::string, std::string>> replacements)
    : replacements(replacements.begin(), replacements.end()) {
  auto add = [&](const fs::path &folder) {
    std::string name = folder.is_absolute() ? "" : withSlash(folder.lexically_normal().string());
    folders.push_back({withSlash(absolutePath(folder)), name});
    // Paths of modules have their symbolic links resolved.
    std::error_code failed;
    if (fs::path real = fs::weakly_canonical(folder, failed);
        !failed && withSlash(real.string()) != folders.back().path)
      folders.push_back({withSlash(real.string()), name});
  };
  fs::path parent = fs::path(input.str()).parent_path();
  add(parent.empty() ? fs::path(".") : parent);
  for (const std::string &folder : importFolders)
    add(folder);
}

std::string SourcePaths::nameOf(StringRef path) const {
  if (path.starts_with("<")) // not a file: <stdin>, or a built-in module
    return path.str();
  std::string absolute = absolutePath(path.str());
  for (const auto &[begin, name] : llvm::reverse(replacements))
    if (startsWithFolder(absolute, begin))
      return name.empty() ? withoutFolder(absolute, begin).str() : name + absolute.substr(begin.size());
  for (const Folder &folder : folders)
    if (startsWithFolder(absolute, folder.path))
      return folder.name + withoutFolder(absolute, folder.path).str();
  // The file lies outside the input's folder. Its relative path is used, because a project is moved as a whole.
  const Folder &first = folders.front();
  fs::path relative = fs::path(absolute).lexically_relative(first.path);
  return (fs::path(first.name) / relative).lexically_normal().string();
}

void renameSources(mlir::ModuleOp module, const SourcePaths &paths) {
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([&](mlir::FileLineColLoc place) -> mlir::Attribute {
    std::string name = paths.nameOf(place.getFilename());
    for (char &c : name)
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' || c == '\x7f')
        c = '_';
    return mlir::FileLineColLoc::get(place.getContext(), name, place.getLine(), place.getColumn());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true, /*replaceTypes=*/false);
}

} // namespace tile::codegen
