// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up functions by name, for the CUDA runtime library and for programs that do not link the driver.
#include "SimDriver/State.h"

#include <cstring>
#include <dlfcn.h>

using namespace tile::runtime;
using namespace tile::sim;

namespace {

/// Returns a function that this library exports, or null.
void *findExport(const std::string &symbol) {
  static void *const self = [] {
    Dl_info info = {};
    return dladdr(reinterpret_cast<void *>(&findExport), &info)
               ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)
               : nullptr;
  }();
  return self ? dlsym(self, symbol.c_str()) : nullptr;
}

/// Returns the version of a function for a CUDA version, or null. Names are those of cuda.h without a version suffix.
/// This library exports several versions of a few functions, and one version of all others.
void *findVersion(const std::string &symbol, int version) {
  constexpr int withContextParameters = 12050; // CUDA 12.5: cuCtxCreate_v4
  if (symbol == "cuCtxCreate")
    return findExport(version >= withContextParameters ? "cuCtxCreate_v4" : "cuCtxCreate_v2");
  if (void *found = findExport(symbol + "_v2"))
    return found;
  return findExport(symbol);
}

} // namespace

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, unsigned long long, int *status) {
  constexpr int found = 0, symbolNotFound = 1;
  if (!symbol || !function)
    return invalidValue;
  return guarded([=] {
    *function = findVersion(symbol, version);
    if (status)
      *status = *function ? found : symbolNotFound;
    return *function || status ? success : notFound;
  });
}
EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
/// Fails: programs ask for tables of undocumented functions, which the simulator does not have.
EXPORT CUresult cuGetExportTable(const void **table, const void *) {
  if (!table)
    return invalidValue;
  *table = nullptr;
  return notFound;
}
