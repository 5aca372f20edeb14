// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Creates the front end's inputs from the options, for the compilation and for the inspection that precedes it.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Target/GpuTarget.h"

#include "llvm/Support/Error.h"

namespace tile::driver {

/// Reads the text of a kernel. Also fails if the file is an artifact of tilec.
llvm::Expected<std::string> readSource(llvm::StringRef path);

frontend::SourceFile inputOf(const CompilerOptions &options);

/// Reads kernel.sig next to kernel.py, or the file that --signature=@FILE names. Returns nullopt if there is no such
/// file, and an error if the file cannot be read.
llvm::Expected<std::optional<frontend::SourceFile>> readSidecar(const CompilerOptions &options);

/// Builds the request, without callbacks.
frontend::CompileRequest requestOf(const CompilerOptions &options, const target::GpuTarget &gpu);

/// Parses the syntax tree and applies the sidecar.
frontend::Module parseInput(const CompilerOptions &options, const std::optional<frontend::SourceFile> &sidecar,
                            frontend::DiagnosticEngine &engine);

} // namespace tile::driver
