// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determines the names of source files in artifacts. The names do not depend on the working folder, so the same sources
// and options give identical artifacts.
//
//   tilec kernels/gemm.tile             kernels/gemm.tile     relative paths are kept
//   tilec /home/me/kernels/gemm.tile    gemm.tile             the folder of the input is omitted
//   ... from .common import f           common.tile           modules: relative to that folder,
//   ... -I /opt/lib, import shapes      shapes.py             or to the -I folder that contains them
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <utility>
#include <vector>

namespace tile::codegen {

class SourcePaths {
public:
  /// `replacements` are pairs of a prefix of absolute paths and its replacement; the last match wins.
  SourcePaths(llvm::StringRef input, llvm::ArrayRef<std::string> importFolders,
              llvm::ArrayRef<std::pair<std::string, std::string>> replacements);

  /// Returns the name for a file that was read from `path`.
  std::string nameOf(llvm::StringRef path) const;

private:
  struct Folder {
    std::string path; ///< absolute
    std::string name; ///< its replacement, "" or with a trailing '/'
  };
  std::vector<Folder> folders;
  std::vector<std::pair<std::string, std::string>> replacements;
};

/// Renames the files in the locations of all operations. Neither LLVM nor ptxas decodes escape sequences in PTX
/// strings, so characters that would have to be escaped become '_'.
void renameSources(mlir::ModuleOp module, const SourcePaths &paths);

} // namespace tile::codegen
