// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA driver functions that ranks use, found by dlopen(libcuda.so.1) or the application's lookup, as in libtilert.
#pragma once

#include "Runtime/Driver.h"
#include "Runtime/Result.h"

#include <memory>

namespace tile::dist {

using runtime::CUcontext;
using runtime::CUdevice;
using runtime::CUdeviceptr;
using runtime::CUevent;
using runtime::CUresult;
using runtime::CUstream;
using runtime::Error;
using runtime::makeError;
using runtime::Result;
using runtime::Status;
using runtime::Success;

/// CUipcMemHandle.
struct IpcHandle {
  char bytes[64];
};

// Constants of cuda.h (CUDA driver API reference).
namespace cuda {
using namespace runtime::cuda;
constexpr CUresult errorPeerAccessEnabled = 704;
constexpr unsigned eventDisableTiming = 2;
constexpr unsigned waitReached = 0; // CU_STREAM_WAIT_VALUE_GEQ
constexpr unsigned ipcLazyPeerAccess = 1;
} // namespace cuda

struct Driver {
#define REQUIRED(member, symbol, ...) CUresult (*member)(__VA_ARGS__) = nullptr;
#define PEER(member, symbol, ...) CUresult (*member)(__VA_ARGS__) = nullptr;
#include "Distributed/Driver.def"

  /// Returns success, or an error with the driver's name and description of `result`.
  Status check(CUresult result, std::string_view call) const;
  /// Returns true if the driver can share memory between peers in the same process and, with `processes`, between
  /// processes.
  bool hasPeers(bool processes) const;
};

/// Fills the table and initializes the driver.
Result<std::unique_ptr<Driver>> loadDriver(tile_symbol_lookup lookup, void *user);

} // namespace tile::dist
