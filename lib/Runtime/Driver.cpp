// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up the driver's functions. The library stays open for the life of the process: unloading a driver that has
// threads is not safe.
#include "Runtime/Driver.h"

#include <dlfcn.h>

namespace tile::runtime {
namespace {

void *lookupInLibrary(void *library, const char *symbol) {
  return dlsym(library, symbol);
}

Result<Success> fillTable(Driver &driver, tile_symbol_lookup lookup, void *user) {
  void *found = nullptr;
#define REQUIRED(member, symbol, ...)                                                                                  \
  if (!(found = lookup(user, symbol)))                                                                                 \
    return makeError(TILE_ERROR_NO_DRIVER, "the CUDA driver has no {}; driver 520 (CUDA 11.8) or later is needed",     \
                     symbol);                                                                                          \
  driver.member = reinterpret_cast<decltype(driver.member)>(found);
#define FEATURE(member, symbol, ...) driver.member = reinterpret_cast<decltype(driver.member)>(lookup(user, symbol));
#define OPTIONAL(member, symbol, ...) driver.member = reinterpret_cast<decltype(driver.member)>(lookup(user, symbol));
#include "Runtime/Driver.def"
  return Success{};
}

} // namespace

Error Driver::error(CUresult result, std::string_view call) const {
  const char *name = nullptr;
  const char *text = nullptr;
  if (getErrorName(result, &name) != cuda::success || !name)
    name = "unknown error";
  if (getErrorString(result, &text) != cuda::success || !text)
    text = "no description";
  constexpr CUresult outOfMemory = 2;
  return makeError(result == outOfMemory ? TILE_ERROR_OUT_OF_MEMORY : TILE_ERROR_DRIVER, "{}: {} ({}, error {})", call,
                   name, text, result);
}

Status Driver::check(CUresult result, std::string_view call) const {
  if (result == cuda::success)
    return Success{};
  return error(result, call);
}

Status Driver::requireAll() const {
#define OPTIONAL(member, symbol, ...)                                                                                  \
  if (!member)                                                                                                         \
    return makeError(TILE_ERROR_NO_DRIVER, "the CUDA driver has no {}", symbol);
#include "Runtime/Driver.def"
  return Success{};
}

Result<std::unique_ptr<Driver>> loadDriver(tile_symbol_lookup lookup, void *user) {
  if (!lookup) {
    user = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!user) {
      const char *reason = dlerror();
      return makeError(TILE_ERROR_NO_DRIVER, "libcuda.so.1 not found: no NVIDIA driver on this machine? ({})",
                       reason ? reason : "no reason given");
    }
    lookup = lookupInLibrary;
  }
  auto driver = std::make_unique<Driver>();
  if (Status status = fillTable(*driver, lookup, user); !status)
    return status.error();
  const CUresult result = driver->init(0);
  if (result == cuda::errorNoDevice)
    return Error{TILE_ERROR_NO_DEVICE, "the CUDA driver found no device"};
  if (result != cuda::success)
    return Error{TILE_ERROR_NO_DRIVER, driver->error(result, "cuInit").message};
  return driver;
}

} // namespace tile::runtime
