// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens the driver and describes its errors. Shared by libtilert and libtiledist, each of which has a table of the
// driver functions that it uses.
#pragma once

#include "Runtime/Driver.h"

#include <dlfcn.h>

namespace tile::runtime {

/// Returns an error with the driver's name and description of `result`. `Table` has getErrorName and getErrorString.
template <typename Table> Error describeFailure(const Table &table, CUresult result, std::string_view call) {
  const char *name = nullptr;
  const char *text = nullptr;
  if (table.getErrorName(result, &name) != cuda::success || !name)
    name = "unknown error";
  if (table.getErrorString(result, &text) != cuda::success || !text)
    text = "no description";
  constexpr CUresult outOfMemory = 2;
  return makeError(result == outOfMemory ? TILE_ERROR_OUT_OF_MEMORY : TILE_ERROR_DRIVER, "{}: {} ({}, error {})", call,
                   name, text, result);
}

/// Finds driver functions through the application's lookup function or, if there is none, in libcuda.so.1. The library
/// stays open for the life of the process, because unloading a driver that has threads is not safe.
struct DriverLookup {
  tile_symbol_lookup lookup;
  void *user;
};
inline Result<DriverLookup> openDriver(tile_symbol_lookup lookup, void *user) {
  if (lookup)
    return DriverLookup{lookup, user};
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return makeError(TILE_ERROR_NO_DRIVER, "libcuda.so.1 not found: no NVIDIA driver on this machine? ({})",
                     reason ? reason : "no reason given");
  }
  return DriverLookup{[](void *opened, const char *symbol) { return dlsym(opened, symbol); }, library};
}

} // namespace tile::runtime
