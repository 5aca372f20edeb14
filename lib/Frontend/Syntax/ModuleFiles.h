// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file of an imported module: as Python finds it, without its search path.
//
//   from .ops import f         beside the importing file
//   from package.ops import f  in its folder or one above it, then in the folders of -I
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile::frontend {

/// Where a module is searched, in this order. `level`: leading dots. `importer` may be no file ("<stdin>").
std::vector<std::string> moduleFolders(const std::string &importer, unsigned level,
                                       const std::vector<std::string> &importPaths);

/// "a.b" -> FOLDER/a/b.py, FOLDER/a/b/__init__.py or FOLDER/a/b.tile in the first folder that has one; empty if none
/// has.
std::string findModuleFile(const std::vector<std::string> &folders, std::string_view dotted);

} // namespace tile::frontend
