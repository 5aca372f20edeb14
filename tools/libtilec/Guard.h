// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prevents a fatal failure in a compilation from ending the host program.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace tile {

/// Runs `work` on a large stack. If LLVM or the C library would end the process (a fatal error, a failed assertion,
/// abort, exit, an uncaught exception), only `work` ends, without freeing its memory, and the reason is returned.
std::optional<std::string> runGuarded(llvm::function_ref<void()> work);

} // namespace tile
