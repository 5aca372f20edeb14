// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the file of an imported module as Python does, but without using Python's search path.
//
//   from .ops import f         next to the importing file
//   from package.ops import f  in its folder or a parent folder, then in the folders of -I
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile::frontend {

/// Returns the search folders of a module, in order. `level` is the number of leading dots. `importer` need not be a
/// file (it may be "<stdin>").
std::vector<std::string> moduleFolders(const std::string &importer, unsigned level,
                                       const std::vector<std::string> &importPaths);

/// Maps "a.b" to FOLDER/a/b.py, FOLDER/a/b/__init__.py or FOLDER/a/b.tile in the first folder that has such a file;
/// empty if no folder has one.
std::string findModuleFile(const std::vector<std::string> &folders, std::string_view dotted);

} // namespace tile::frontend
