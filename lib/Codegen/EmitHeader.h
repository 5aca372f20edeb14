// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits a C header that contains the artifact as a byte array, typed functions that load and launch it through
// libtilert, its constants, and functions that compute buffer sizes:
//
//   tile_status matmul_load(tile_runtime *runtime, tile_kernel **kernel);
//   tile_status matmul_launch(tile_kernel *kernel, void *stream, const void *a, ..., int64_t M, ...);
//   tile_status matmul_c_bytes(const tile_kernel *kernel, int64_t M, int64_t N, ..., size_t *bytes);
//
// The header compiles as C11 and C++17 without warnings.
#pragma once

#include "Runtime/Manifest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

/// Returns the text of the header. `variants` are the manifests of all variants of the artifact; the first one is the
/// general variant. `name` is the prefix of all declarations; if it is empty, the kernel's name is used. A program may
/// include the headers of several kernels; two different artifacts with the same name cause a compile-time error.
std::string emitHeader(llvm::ArrayRef<runtime::Manifest> variants, llvm::StringRef artifact, llvm::StringRef name = {});

} // namespace tile::codegen
