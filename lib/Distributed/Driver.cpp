// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks up the driver's functions by name.
#include "Distributed/Driver.h"

#include "Runtime/DriverLibrary.h"

namespace tile::dist {

Status Driver::check(CUresult result, std::string_view call) const {
  if (result == cuda::success)
    return Success{};
  return runtime::describeFailure(*this, result, call);
}

bool Driver::hasPeers(bool processes) const {
  const bool inProcess = deviceCanAccessPeer && contextEnablePeer && streamWriteValue && streamWaitValue;
  return inProcess && (!processes || (ipcGetHandle && ipcOpenHandle && ipcCloseHandle));
}

Result<std::unique_ptr<Driver>> loadDriver(tile_symbol_lookup lookup, void *user) {
  Result<runtime::DriverLookup> opened = runtime::openDriver(lookup, user);
  if (!opened)
    return opened.error();
  auto driver = std::make_unique<Driver>();
  void *found = nullptr;
#define REQUIRED(member, symbol, ...)                                                                                  \
  if (!(found = opened->lookup(opened->user, symbol)))                                                                 \
    return makeError(TILE_ERROR_NO_DRIVER, "the CUDA driver has no {}", symbol);                                       \
  driver->member = reinterpret_cast<decltype(driver->member)>(found);
#define PEER(member, symbol, ...)                                                                                      \
  driver->member = reinterpret_cast<decltype(driver->member)>(opened->lookup(opened->user, symbol));
#include "Distributed/Driver.def"
  if (Status status = driver->check(driver->init(0), "cuInit"); !status)
    return Error{TILE_ERROR_NO_DRIVER, status.error().message};
  return driver;
}

} // namespace tile::dist
