// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inlines calls to functions that the module defines, so the machine needs no call stack.
//
//   { .param .b32 in, out; st.param.b32 [in], %r1; call.uni (out), f, (in); ld.param.b32 %r2, [out]; }
//   ⇒ st.param [in], …; the body of f, with `in` and `out` as its parameters, with registers of its own, and with a
//     branch to its end for `ret`; ld.param …, [out]
#pragma once

#include "Runtime/Result.h"
#include "Simulator/Ptx/Module.h"

namespace tile::sim {

/// Inlines the calls in all entry functions. Indirect calls, calls to functions that are only declared, and calls whose
/// arguments are not `.param` variables are left unchanged. Returns an error for recursion and if the limit for the
/// number of instructions is exceeded.
runtime::Status inlineCalls(Module &module);

} // namespace tile::sim
