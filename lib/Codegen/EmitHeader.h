// A C header with the artifact as bytes and typed functions that load and launch it through libtilert:
//
//   tile_status matmul_load(tile_runtime *runtime, tile_kernel **kernel);
//   tile_status matmul_launch(tile_kernel *kernel, void *stream, const void *a, ..., int32_t M, ...);
//
// It is C11 and C++17, without warnings.
#pragma once

#include "Runtime/Manifest.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

std::string emitHeader(const runtime::Manifest &manifest, llvm::StringRef artifact);

} // namespace tile::codegen
