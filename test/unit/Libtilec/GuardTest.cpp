// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that errors which would end the process end only the compilation, in its thread.
#include "Guard.h"

#include "llvm/Support/ErrorHandling.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cassert>
#include <cstdlib>
#include <stdexcept>
#include <thread>

using tile::runGuarded;

namespace {

void throwAtNobody(void (*thrower)()) noexcept {
  thrower();
}

TEST(Guard, GoodWorkIsDone) {
  bool isDone = false;
  EXPECT_EQ(runGuarded([&] { isDone = true; }), std::nullopt);
  EXPECT_TRUE(isDone);
}

TEST(Guard, EndsOfTheProcessAreEndsOfTheWork) {
  EXPECT_EQ(runGuarded([] { std::abort(); }), "the compiler gave up");
  EXPECT_EQ(runGuarded([] { std::exit(3); }), "the compiler gave up");
  EXPECT_EQ(runGuarded([] { throwAtNobody([] { throw std::runtime_error("nobody"); }); }), "the compiler gave up");
  EXPECT_EQ(runGuarded([] { llvm::report_fatal_error("no way back", false); }), "no way back");
  std::optional<std::string> failed = runGuarded([] { assert(1 > 2 && "numbers are wrong"); });
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->find("assertion failed: 1 > 2"), std::string::npos) << *failed;
}

TEST(Guard, OneThreadsEndIsNotAnothers) {
  std::atomic<bool> hasEnded = false;
  std::optional<std::string> first, second;
  std::thread other([&] {
    first = runGuarded([] { std::abort(); });
    hasEnded = true;
  });
  second = runGuarded([&] {
    while (!hasEnded)
      std::this_thread::yield();
  });
  other.join();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
}

} // namespace
