// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The language server: handles messages until the client sends `exit`.
#pragma once

#include "Driver/CompilerOptions.h"

#include "llvm/Support/LSP/Transport.h"

namespace tile::lsp {

/// Runs the server. `options` (target, standard, import folders, warnings) apply to all files. Returns the exit code of
/// the process, which is 0 if the client has shut the server down before it sends `exit`.
int serve(std::unique_ptr<llvm::lsp::JSONTransportInput> input, llvm::raw_ostream &output,
          driver::CompilerOptions options);

} // namespace tile::lsp
