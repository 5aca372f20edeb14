// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests about names: definitions, references and renaming.
#pragma once

#include "LanguageServer/Document.h"

#include "llvm/Support/Error.h"

#include <functional>

namespace tile::lsp {

/// Returns the functions and their parameters.
llvm::json::Array symbols(const Document &document);

struct OtherFiles {
  std::vector<std::string> importPaths; // -I folders
  /// Returns the text of a file, from the open document or else from disk; nullopt if it cannot be read.
  std::function<std::optional<std::string>(const std::string &path)> read;
};

/// Returns a `Location`, the first definition of the name at the offset, which may be in another file; null if there is
/// none.
llvm::json::Value define(const Document &document, llvm::StringRef uri, uint32_t offset, const OtherFiles &others);

/// Returns the ranges of all references to the entity at the offset in this file.
llvm::json::Array references(const Document &document, uint32_t offset);

/// Returns the range of the name, or an error that says why it cannot be renamed.
llvm::Expected<llvm::json::Value> prepareRename(const Document &document, uint32_t offset);
/// Returns the edits, or an error if the name cannot be renamed at all or not to the new name.
llvm::Expected<llvm::json::Array> rename(const Document &document, uint32_t offset, llvm::StringRef newName);

} // namespace tile::lsp
