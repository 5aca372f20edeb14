// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names that artifacts have for source files: the same in any folder, so that the same sources and options give the
// same bytes.
//
//   tilec kernels/gemm.tile             kernels/gemm.tile     a relative path stays
//   tilec /home/me/kernels/gemm.tile    gemm.tile             else the folder of the input is left out
//   ... from .common import f           common.tile           modules: as seen from there,
//   ... -I /opt/lib, import shapes      shapes.py             or from the folder of -I that they were found in
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <utility>
#include <vector>

namespace tile::codegen {

class SourcePaths {
public:
  /// `replacements`: beginnings of absolute paths and what stands for them; the last that fits counts.
  SourcePaths(llvm::StringRef input, llvm::ArrayRef<std::string> importFolders,
              llvm::ArrayRef<std::pair<std::string, std::string>> replacements);

  /// The name for a file that has been read by this path.
  std::string nameOf(llvm::StringRef path) const;

private:
  struct Folder {
    std::string path; ///< absolute
    std::string name; ///< what stands for it, "" or with a '/' at its end
  };
  std::vector<Folder> folders;
  std::vector<std::pair<std::string, std::string>> replacements;
};

/// Renames the files in the locations of all operations. Neither LLVM nor ptxas reads what a string in PTX escapes:
/// such characters become '_'.
void renameSources(mlir::ModuleOp module, const SourcePaths &paths);

} // namespace tile::codegen
