// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Caches answers of the compiler in a DiskCache.
//
// The key covers everything that is known before the compilation: the compiler itself, the source, the options, ptxas
// and libdevice, and the signature file. Imported modules are known only after the compilation. A cached answer
// therefore contains the checksums of the imported modules, and is valid only while these checksums match.
#pragma once

#include "Driver/DiskCache.h"
#include "Request.h"

#include <chrono>

namespace tile {

/// Returns the key of a request, or "" if the answer must not be cached.
std::string keyOf(const Request &request, const CommandLine &line);

std::optional<Answer> findAnswer(const driver::DiskCache &cache, llvm::StringRef key);

/// Stores an answer. `begin` is the time when the compilation began. Does not store the answer if files have changed
/// since then.
llvm::Error keepAnswer(const driver::DiskCache &cache, llvm::StringRef key, const Request &request,
                       const Answer &answer, std::chrono::system_clock::time_point begin);

} // namespace tile
