// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A C header with the artifact as bytes and typed functions that load and launch it through libtilert:
//
//   tile_status matmul_load(tile_runtime *runtime, tile_kernel **kernel);
//   tile_status matmul_launch(tile_kernel *kernel, void *stream, const void *a, ..., int32_t M, ...);
//
// It is C11 and C++17, without warnings.
#pragma once

#include "Runtime/Manifest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

/// `variants` are the manifests of all variants of the artifact; the first is the general one. `name` stands in front
/// of what is declared; empty: the kernel's. A program may include headers of several kernels, of which one of another
/// artifact with a name that was there before is an error of its compiler.
std::string emitHeader(llvm::ArrayRef<runtime::Manifest> variants, llvm::StringRef artifact, llvm::StringRef name = {});

} // namespace tile::codegen
