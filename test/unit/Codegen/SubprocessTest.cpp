// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that print, fail, and cannot be started.
#include "Codegen/Subprocess.h"

#include "Codegen/MemoryFile.h"

#include <gtest/gtest.h>

#include <thread>

using namespace tile::codegen;

TEST(BoundedText, keepsAShortText) {
  BoundedText text(10);
  text.append("first\n");
  text.append("second\nthird");
  EXPECT_EQ(text.take(), "first\nsecond\nthird");
}

TEST(BoundedText, keepsBothEndsOfALongTextByLines) {
  BoundedText text(10);
  for (int i = 100; i < 200; ++i)
    text.append(std::to_string(i) + "\n");
  EXPECT_EQ(text.take(), "100\n101\n(384 bytes omitted)\n198\n199\n");
}

TEST(RunProgram, returnsCodeAndOutput) {
  llvm::Expected<Ended> ended = runProgram({"/bin/sh", "-c", "echo out; echo error >&2; exit 3"}, {}, 10);
  ASSERT_TRUE(bool(ended));
  EXPECT_EQ(ended->code, 3);
  EXPECT_EQ(ended->output, "out\nerror\n");
}

TEST(RunProgram, readsAndWritesFilesInMemory) {
  auto input = MemoryFile::create("content"), output = MemoryFile::create();
  ASSERT_TRUE(input && output);
  const std::string copy = "cat " + (*input)->path() + " > " + (*output)->path();
  for (bool inherits : {false, true}) {
    llvm::SmallVector<int> inherited;
    if (inherits)
      inherited = {(*input)->descriptor, (*output)->descriptor};
    llvm::Expected<Ended> ended = runProgram({"/bin/sh", "-c", copy}, {"PATH=/bin:/usr/bin"}, 10, inherited);
    ASSERT_TRUE(bool(ended));
    EXPECT_EQ(ended->code == 0, inherits) << ended->output;
    EXPECT_EQ(llvm::cantFail((*output)->read()), inherits ? "content" : "");
  }
}

TEST(RunProgram, doesNotWaitForGrandchildren) {
  llvm::Expected<Ended> ended = runProgram({"/bin/sh", "-c", "sleep 30 & kill -9 $$"}, {"PATH=/bin:/usr/bin"}, 20);
  ASSERT_TRUE(bool(ended));
  EXPECT_EQ(ended->code, 128 + 9);
}

TEST(RunProgram, endsWhatTakesTooLong) {
  llvm::Expected<Ended> ended = runProgram({"/bin/sh", "-c", "exec sleep 30"}, {"PATH=/bin:/usr/bin"}, 1);
  ASSERT_FALSE(bool(ended));
  EXPECT_EQ(toString(ended.takeError()), "'/bin/sh' did not finish in 1 seconds; use smaller blocks or more warps");
}

TEST(RunProgram, endsWhatIsCancelled) {
  std::atomic<bool> isCancelled = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    isCancelled = true;
  });
  llvm::Expected<Ended> ended =
      runProgram({"/bin/sh", "-c", "exec sleep 30"}, {"PATH=/bin:/usr/bin"}, 20, {}, &isCancelled);
  other.join();
  ASSERT_FALSE(bool(ended));
  EXPECT_EQ(toString(ended.takeError()), "'/bin/sh' was cancelled");
}

TEST(RunProgram, saysWhatCannotBeStarted) {
  llvm::Expected<Ended> ended = runProgram({"/absent/program"}, {}, 10);
  ASSERT_FALSE(bool(ended));
  llvm::Error error = ended.takeError();
  EXPECT_TRUE(error.isA<EnvironmentError>());
  EXPECT_EQ(toString(std::move(error)), "cannot start '/absent/program': it is not an executable for this machine");
}
