// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests about names: where they come from, where they stand, and what else they could be called.
#pragma once

#include "LanguageServer/Document.h"

#include "llvm/Support/Error.h"

#include <functional>

namespace tile::lsp {

/// Functions with their parameters.
llvm::json::Array symbols(const Document &document);

struct OtherFiles {
  std::vector<std::string> importPaths; // folders of -I
  /// The text of a file: as it is open, else as it is on the disk; nothing if it cannot be read.
  std::function<std::optional<std::string>(const std::string &path)> read;
};

/// A `Location`: where the name at the offset gets its value first, also in other files; null if nowhere.
llvm::json::Value define(const Document &document, llvm::StringRef uri, uint32_t offset, const OtherFiles &others);

/// The ranges in the file of all that means the same as the name at the offset.
llvm::json::Array references(const Document &document, uint32_t offset);

/// The range of the name; an error that says why it cannot be renamed.
llvm::Expected<llvm::json::Value> prepareRename(const Document &document, uint32_t offset);
/// The edits; an error if the name cannot be renamed, or not to that.
llvm::Expected<llvm::json::Array> rename(const Document &document, uint32_t offset, llvm::StringRef newName);

} // namespace tile::lsp
