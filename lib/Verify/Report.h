// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats reports as text, with one line for each finding, and as JSON.
#pragma once

#include "Verify/Verify.h"

#include "llvm/Support/JSON.h"

namespace tile::verify {

/// Returns `softmax.tile:24:17: load of x: proven`.
std::string toLine(const Finding &finding);
/// Returns `6 accesses: 5 proven, 0 conditional, 1 unknown, 0 refuted; …`.
std::string summarize(const Report &report);
llvm::json::Object toJson(const Report &report);

} // namespace tile::verify
