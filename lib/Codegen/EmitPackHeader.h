// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits the header of a pack of several kernels. Each kernel has the functions of its own header (EmitHeader.h). The
// pack's bytes are defined in the one source file that defines NAME_IMPLEMENTATION before it includes the header. In
// C++, kernels compiled from one source for several element types are overloads:
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
  std::string name;                        ///< in the pack
  std::vector<runtime::Manifest> variants; ///< the first is the general one
};

/// Returns the text of the header. `name` is the prefix of all declarations for the pack, a C identifier that differs
/// from the names of the kernels; `pack` is the bytes of the pack.
std::string emitPackHeader(llvm::ArrayRef<HeaderKernel> kernels, llvm::StringRef pack, llvm::StringRef name);

} // namespace tile::codegen
