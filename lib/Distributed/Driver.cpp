// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up the driver's functions. The library stays open for the life of the process, as in libtilert.
#include "Distributed/Driver.h"

#include <dlfcn.h>

namespace tile::dist {

Status Driver::check(CUresult result, std::string_view call) const {
  if (result == cuda::success)
    return Success{};
  const char *name = nullptr, *text = nullptr;
  if (getErrorName(result, &name) != cuda::success || !name)
    name = "unknown error";
  if (getErrorString(result, &text) != cuda::success || !text)
    text = "no description";
  constexpr CUresult outOfMemory = 2;
  return makeError(result == outOfMemory ? TILE_ERROR_OUT_OF_MEMORY : TILE_ERROR_DRIVER, "{}: {} ({}, error {})", call,
                   name, text, result);
}

bool Driver::hasPeers(bool processes) const {
  const bool inProcess = deviceCanAccessPeer && contextEnablePeer && streamWriteValue && streamWaitValue;
  return inProcess && (!processes || (ipcGetHandle && ipcOpenHandle && ipcCloseHandle));
}

Result<std::unique_ptr<Driver>> loadDriver(tile_symbol_lookup lookup, void *user) {
  if (!lookup) {
    user = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!user)
      return makeError(TILE_ERROR_NO_DRIVER, "libcuda.so.1 not found: no NVIDIA driver on this machine?");
    lookup = [](void *library, const char *symbol) { return dlsym(library, symbol); };
  }
  auto driver = std::make_unique<Driver>();
  void *found = nullptr;
#define REQUIRED(member, symbol, ...)                                                                                  \
  if (!(found = lookup(user, symbol)))                                                                                 \
    return makeError(TILE_ERROR_NO_DRIVER, "the CUDA driver has no {}", symbol);                                       \
  driver->member = reinterpret_cast<decltype(driver->member)>(found);
#define PEER(member, symbol, ...) driver->member = reinterpret_cast<decltype(driver->member)>(lookup(user, symbol));
#include "Distributed/Driver.def"
  if (Status status = driver->check(driver->init(0), "cuInit"); !status)
    return Error{TILE_ERROR_NO_DRIVER, status.error().message};
  return driver;
}

} // namespace tile::dist
