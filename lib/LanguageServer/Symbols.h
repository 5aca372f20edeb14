// Functions, parameters and where names come from.
#pragma once

#include "LanguageServer/Document.h"

namespace tile::lsp {

/// Functions with their parameters.
llvm::json::Array symbols(const Document &document);
/// The range of the definition, in the file, of the name at the offset; null if there is none.
llvm::json::Value define(const Document &document, uint32_t offset);

} // namespace tile::lsp
