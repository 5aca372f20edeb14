// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that ends well, crashes, is killed, or prints; by fewer and more processes than there is work.
#include "Driver/WorkerProcesses.h"

#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <unistd.h>

using namespace tile::driver;

static std::vector<WorkerProcesses::Result> finish(WorkerProcesses &workers, unsigned processes) {
  llvm::Expected<std::vector<WorkerProcesses::Result>> results = workers.finish(processes);
  EXPECT_TRUE(bool(results));
  return std::move(*results);
}

TEST(WorkerProcesses, resultsComeInOrder) {
  for (unsigned processes : {1, 2, 5, 20}) {
    WorkerProcesses workers(7, [](size_t index) {
      std::this_thread::sleep_for(std::chrono::milliseconds(7 - index));
      return std::to_string(index * index);
    });
    workers.start(processes - 1);
    std::vector<WorkerProcesses::Result> results = finish(workers, processes);
    ASSERT_EQ(results.size(), 7u);
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(results[i].isDone);
      EXPECT_EQ(results[i].bytes, std::to_string(i * i));
    }
  }
}

TEST(WorkerProcesses, nothingToDo) {
  WorkerProcesses workers(0, [](size_t) { return std::string(); });
  EXPECT_TRUE(finish(workers, 4).empty());
}

// More bytes than a pipe holds, with zeros among them.
TEST(WorkerProcesses, resultsAreBytesOfAnyNumber) {
  WorkerProcesses workers(3, [](size_t index) { return std::string(index << 20, '\0') + "end"; });
  workers.start(1);
  std::vector<WorkerProcesses::Result> results = finish(workers, 1);
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].bytes, std::string(i << 20, '\0') + "end");
}

TEST(WorkerProcesses, crashesTakeNothingElseWithThem) {
  WorkerProcesses workers(6, [](size_t index) -> std::string {
    if (index == 1) {
      fprintf(stderr, "cannot go on\nand more\n");
      std::_Exit(4);
    }
    if (index == 3 || index == 4) {
      std::signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
    return "done";
  });
  std::vector<WorkerProcesses::Result> results = finish(workers, 1);
  for (size_t i : {0, 2, 5})
    EXPECT_EQ(results[i].bytes, "done");
  EXPECT_FALSE(results[1].isDone);
  EXPECT_EQ(results[1].failure, "exit code 4: cannot go on");
  EXPECT_FALSE(results[1].isKilled);
  EXPECT_FALSE(results[3].isDone);
  EXPECT_EQ(results[4].failure, "Segmentation fault");
}

TEST(WorkerProcesses, saysWhatWasKilled) {
  WorkerProcesses workers(2, [](size_t index) {
    if (index == 0)
      kill(getpid(), SIGKILL);
    return std::string("done");
  });
  std::vector<WorkerProcesses::Result> results = finish(workers, 2);
  EXPECT_TRUE(results[0].isKilled);
  EXPECT_EQ(results[0].failure, "Killed");
  EXPECT_TRUE(results[1].isDone);
}

TEST(WorkerProcesses, endWithTheirObject) {
  auto begin = std::chrono::steady_clock::now();
  {
    WorkerProcesses workers(2, [](size_t) {
      std::this_thread::sleep_for(std::chrono::seconds(60));
      return std::string();
    });
    workers.start(2);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}
