// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of generated C headers: names, types, comments, and the functions and constants of one kernel.
#pragma once

#include "Runtime/Manifest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace tile::codegen {

/// Returns a C and C++ identifier, similar to `name`, that does not collide with a keyword or with a name in the
/// generated functions.
std::string identifier(llvm::StringRef name);

/// Escapes characters that would end a C comment; directives and file names may contain such characters.
std::string commentText(llvm::StringRef text);

/// Returns distinct C identifiers for all parameters.
std::vector<std::string> parameterNames(const runtime::Manifest &manifest);

/// Returns the type of a parameter, with a trailing space if one is needed: "const void *", "int64_t ".
llvm::StringRef cType(const runtime::Parameter &parameter);

/// Returns a list of targets: "sm_80, sm_90a".
std::string describeTargets(llvm::ArrayRef<runtime::Manifest> variants);

/// Returns a comment that lists the variants of the artifact; empty for a single kernel.
std::string describeVariants(llvm::ArrayRef<runtime::Manifest> variants);

/// Writes the bytes as the elements of an initializer.
void emitBytes(llvm::raw_ostream &os, llvm::StringRef bytes);

/// Emits a kernel's constants, KERNEL_launch, and KERNEL_BUFFER_bytes for each declared buffer. `variants` are the
/// manifests of its variants; the first one is the general variant.
void emitKernel(llvm::raw_ostream &os, llvm::ArrayRef<runtime::Manifest> variants, llvm::StringRef kernel);

} // namespace tile::codegen
