// The language server: reads messages until the client says `exit`.
#pragma once

#include "llvm/Support/LSP/Transport.h"

namespace tile::lsp {

/// Returns the process's exit code: 0 if the client shut the server down first.
int serve(std::unique_ptr<llvm::lsp::JSONTransportInput> input, llvm::raw_ostream &output);

} // namespace tile::lsp
