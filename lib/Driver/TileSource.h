// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the options give the front end: files and a request. For the compilation, and for whoever looks at a kernel
// before it is compiled.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Target/GpuTarget.h"

#include "llvm/Support/Error.h"

namespace tile::driver {

/// The text of a kernel; fails also for what tilec itself has made.
llvm::Expected<std::string> readSource(llvm::StringRef path);

frontend::SourceFile inputOf(const CompilerOptions &options);

/// kernel.sig beside kernel.py, or what --signature=@FILE names; nothing if there is none. Fails if it cannot be read.
llvm::Expected<std::optional<frontend::SourceFile>> readSidecar(const CompilerOptions &options);

/// Without callbacks.
frontend::CompileRequest requestOf(const CompilerOptions &options, const target::GpuTarget &gpu);

/// The syntax tree, with what the sidecar adds.
frontend::Module parseInput(const CompilerOptions &options, const std::optional<frontend::SourceFile> &sidecar,
                            frontend::DiagnosticEngine &engine);

} // namespace tile::driver
