// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compilation that gives up does not end the program that it is in.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace tile {

/// Runs `work` on a large stack. If LLVM or the C library would end the process from within (a fatal error, a failed
/// assertion, abort, exit, an exception that nobody catches), `work` ends instead, without freeing what it has, and
/// this returns why.
std::optional<std::string> runGuarded(llvm::function_ref<void()> work);

} // namespace tile
