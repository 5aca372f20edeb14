// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits the header of a pack of several kernels. For each kernel it declares the functions that the kernel's own header
// has (EmitHeader.h). Exactly one source file must define NAME_IMPLEMENTATION before it includes the header; the pack's
// bytes are defined there. In C++, kernels that are compiled from one source for several element types are overloads:
//
//   tile_status engine_load(tile_runtime *runtime, engine_kernels *kernels);   // all kernels
//   tile_status matmul_bf16_launch(tile_kernel *kernel, void *stream, const void *a, ...);
//   namespace engine { tile_status matmul(const engine_kernels &, void *stream, const tile_bf16 *a, ...); }
#pragma once

#include "Runtime/Manifest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

struct HeaderKernel {
  std::string name;                        ///< name in the pack
  std::vector<runtime::Manifest> variants; ///< the first one is the general variant
};

/// Returns the text of the header. `name` is the prefix of all declarations for the pack, a C identifier that differs
/// from the names of the kernels; `pack` contains the bytes of the pack.
std::string emitPackHeader(llvm::ArrayRef<HeaderKernel> kernels, llvm::StringRef pack, llvm::StringRef name);

} // namespace tile::codegen
