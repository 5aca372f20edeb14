// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the files of the CUDA toolkit that the compiler uses.
#include "Codegen/CudaToolkit.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace tile::codegen {

static std::optional<std::string> findTool(const ToolkitSearch &search, llvm::StringRef name) {
  std::vector<std::string> folders(search.paths);
  for (const std::string &root : search.roots)
    folders.push_back(root + "/bin");
  for (const std::string &folder : folders)
    if (std::string file = (folder + "/" + name).str(); llvm::sys::fs::can_execute(file))
      return file;
  return std::nullopt;
}

std::optional<std::string> findPtxas(const ToolkitSearch &search) {
  if (search.ptxas.empty())
    return findTool(search, "ptxas");
  if (llvm::sys::fs::can_execute(search.ptxas))
    return search.ptxas;
  return std::nullopt;
}

std::optional<std::string> findNvdisasm(const ToolkitSearch &search) {
  return findTool(search, "nvdisasm");
}

std::optional<std::string> findLibdevice(const ToolkitSearch &search) {
  std::vector<std::string> roots(search.roots);
  if (std::optional<std::string> ptxas = findPtxas(search)) {
    // The root is two levels above bin/ptxas, after symbolic links are resolved: /usr/local/bin/ptxas is often a link.
    llvm::SmallString<128> real;
    if (!llvm::sys::fs::real_path(*ptxas, real))
      roots.push_back(llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)).str());
  }
  for (const std::string &root : roots)
    if (std::string file = root + "/nvvm/libdevice/libdevice.10.bc"; llvm::sys::fs::exists(file))
      return file;
  return std::nullopt;
}

} // namespace tile::codegen
