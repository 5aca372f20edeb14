// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The linker redirects calls to abort and similar functions in libtilec, including calls from the linked LLVM and C++
// library, to the functions below (--wrap). In a thread that compiles, they jump to the start of the compilation. Other
// threads and the rest of the program are not affected. _exit is not redirected, because the child process that becomes
// ptxas calls it.
#include "Guard.h"

#include "Driver/LargeStack.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

#include <csetjmp>
#include <cstdlib>
#include <exception>
#include <mutex>

namespace {

struct Exit {
  std::jmp_buf place;
  std::string reason;
};
thread_local Exit *current = nullptr;

/// Ends the compilation in this thread. Returns if there is no compilation.
void leave(const char *reason) {
  Exit *exit = std::exchange(current, nullptr);
  if (!exit)
    return;
  if (exit->reason.empty())
    exit->reason = reason;
  std::longjmp(exit->place, 1);
}

void leaveWithError(void *, const char *reason, bool) {
  leave(reason);
}

} // namespace

extern "C" {
[[noreturn]] void __real_abort();
[[noreturn]] void __real_exit(int code);
[[noreturn]] void __real___assert_fail(const char *text, const char *file, unsigned line, const char *function);

[[noreturn]] void __wrap_abort() {
  leave("the compiler gave up");
  __real_abort();
}
[[noreturn]] void __wrap_exit(int code) {
  leave("the compiler gave up");
  __real_exit(code);
}
[[noreturn]] void __wrap___assert_fail(const char *text, const char *file, unsigned line, const char *function) {
  if (current)
    leave(llvm::formatv("{0}:{1}: assertion failed: {2}", file, line, text).str().c_str());
  __real___assert_fail(text, file, line, function);
}
}

std::optional<std::string> tile::runGuarded(llvm::function_ref<void()> work) {
  static std::once_flag isInstalled; // in libtilec's private copies of LLVM and the C++ library
  std::call_once(isInstalled, [] {
    llvm::install_fatal_error_handler(leaveWithError);
    std::set_terminate([] { std::abort(); }); // the default handler prints
  });
  std::optional<std::string> failure;
  driver::runOnLargeStack([&] {
    Exit exit;
    if (setjmp(exit.place) == 0) {
      current = &exit;
      work();
      current = nullptr;
    } else {
      failure = exit.reason;
    }
  });
  return failure;
}
