// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers for the functions of the C API, which report errors as a status and never throw.
#pragma once

#include "Runtime/Artifact.h"
#include "Runtime/ErrorState.h"

#include <new>

namespace tile::runtime {

/// Runs `body`, which returns a status, and converts exceptions to a status.
template <typename Body> tile_status guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return reportError(TILE_ERROR_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception &exception) {
    return reportError(TILE_ERROR_UNSUPPORTED, "unexpected failure: {}", exception.what());
  }
}

inline tile_status nullArgument(const char *function, const char *name) {
  return reportError(TILE_ERROR_INVALID_ARGUMENT, "{}: '{}' is a null pointer", function, name);
}

/// Makes a kernel of the artifact and registers it with the runtime, which may be null.
tile_status finishLoading(tile_runtime *runtime, Result<Artifact> artifact, tile_kernel **kernel);

} // namespace tile::runtime
