// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The language server: reads messages until the client says `exit`.
#pragma once

#include "Driver/CompilerOptions.h"

#include "llvm/Support/LSP/Transport.h"

namespace tile::lsp {

/// `options` hold for all files: target, standard, folders of imports, warnings. Returns the process's exit code: 0 if
/// the client shut the server down first.
int serve(std::unique_ptr<llvm::lsp::JSONTransportInput> input, llvm::raw_ostream &output,
          driver::CompilerOptions options);

} // namespace tile::lsp
