// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hover, completion and signature help, using the texts of the reference (BuiltinDocs.h).
#pragma once

#include "LanguageServer/Document.h"

namespace tile::lsp {

llvm::json::Value hover(const Document &document, uint32_t offset);
llvm::json::Array complete(const Document &document, uint32_t offset);
llvm::json::Value signatureHelp(const Document &document, uint32_t offset);

} // namespace tile::lsp
