// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Answers of the compiler in a DiskCache.
//
// The key is all that is known before the compilation: the compiler itself, the source, the options, ptxas and
// libdevice, and the signature's file. Modules that the source imports are known only afterwards; an answer that has
// been kept has their checksums, and counts only while they are the same.
#pragma once

#include "Driver/DiskCache.h"
#include "Request.h"

#include <chrono>

namespace tile {

/// Empty: the answer must not be kept.
std::string keyOf(const Request &request, const CommandLine &line);

std::optional<Answer> findAnswer(const driver::DiskCache &cache, llvm::StringRef key);

/// `begin`: when the compilation began; an answer for files that have changed since then is not kept.
llvm::Error keepAnswer(const driver::DiskCache &cache, llvm::StringRef key, const Request &request,
                       const Answer &answer, std::chrono::system_clock::time_point begin);

} // namespace tile
