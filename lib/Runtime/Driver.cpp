// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up the driver's functions.
#include "Runtime/Driver.h"

#include "Runtime/DriverLibrary.h"

namespace tile::runtime {
namespace {

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
  return describeFailure(*this, result, call);
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
  Result<DriverLookup> opened = openDriver(lookup, user);
  if (!opened)
    return opened.error();
  auto driver = std::make_unique<Driver>();
  if (Status status = fillTable(*driver, opened->lookup, opened->user); !status)
    return status.error();
  const CUresult result = driver->init(0);
  if (result == cuda::errorNoDevice)
    return Error{TILE_ERROR_NO_DEVICE, "the CUDA driver found no device"};
  if (result != cuda::success)
    return Error{TILE_ERROR_NO_DRIVER, driver->error(result, "cuInit").message};
  return driver;
}

} // namespace tile::runtime
