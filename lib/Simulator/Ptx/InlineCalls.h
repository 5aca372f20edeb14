// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inlines calls of functions that the module defines, so that the machine needs no call stack.
//
//   { .param .b32 in, out; st.param.b32 [in], %r1; call.uni (out), f, (in); ld.param.b32 %r2, [out]; }
//   ⇒ st.param [in], …; the body of f with `in` and `out` for its parameters, own registers, `ret` as a branch
//     after it; ld.param …, [out]
#pragma once

#include "Runtime/Result.h"
#include "Simulator/Ptx/Module.h"

namespace tile::sim {

/// Inlines in all entries. Indirect calls, calls of functions that are only declared, and calls whose arguments are not
/// `.param` variables stay. Returns an error for recursion, and for more instructions than any kernel has.
runtime::Status inlineCalls(Module &module);

} // namespace tile::sim
