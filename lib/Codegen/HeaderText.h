// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of generated C headers: names, types, comments, and the functions and constants of one kernel.
#pragma once

#include "Runtime/Manifest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace tile::codegen {

/// Returns a C and C++ identifier that collides with no keyword and no name that generated functions use.
std::string identifier(llvm::StringRef name);

/// Escapes the end of a comment, which a directive or a file name may contain.
std::string commentText(llvm::StringRef text);

/// Returns distinct C identifiers for the parameters.
std::vector<std::string> parameterNames(const runtime::Manifest &manifest);

/// Returns the type of a parameter with a trailing space if it needs one: "const void *", "int64_t ".
llvm::StringRef cType(const runtime::Parameter &parameter);

/// Returns a list of targets: "sm_80, sm_90a".
std::string describeTargets(llvm::ArrayRef<runtime::Manifest> variants);

/// Returns a comment that lists the variants of the artifact; empty for a single kernel.
std::string describeVariants(llvm::ArrayRef<runtime::Manifest> variants);

/// Writes the elements of an initializer.
void emitBytes(llvm::raw_ostream &os, llvm::StringRef bytes);

/// Emits the constants of a kernel, KERNEL_launch, and KERNEL_BUFFER_bytes for each declared buffer. `variants` are the
/// manifests of its variants; the first is the general one.
void emitKernel(llvm::raw_ostream &os, llvm::ArrayRef<runtime::Manifest> variants, llvm::StringRef kernel);

} // namespace tile::codegen
