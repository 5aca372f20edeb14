// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks are processes, and one is killed or stopped in each phase: the others end soon, with an error that names it.
#include "FreePort.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct Process {
  pid_t id = 0;
  std::FILE *output = nullptr;
};

Process start(const std::vector<std::string> &words) {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  pointers.push_back(nullptr);
  const pid_t id = fork();
  if (id == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  close(ends[1]);
  return {id, fdopen(ends[0], "r")};
}

std::string readLine(const Process &process) {
  char line[1024] = "";
  if (!std::fgets(line, sizeof(line), process.output))
    return "";
  std::string text(line);
  return text.substr(0, text.find('\n'));
}

/// The last line and the exit status of a rank.
struct End {
  std::string line;
  int status = 0;
};

/// Starts `size` ranks, sends one a signal once it has reached the phase, and returns how the others end. Ranks that
/// take too long get an alarm, and thus the status -1.
std::vector<End> killInPhase(const char *phase, int size, int victim, int signal, int milliseconds) {
  const std::string address = freeAddress();
  std::vector<Process> ranks;
  for (int rank = 0; rank < size; ++rank)
    ranks.push_back(start({TILE_MORTAL_RANK, std::to_string(rank), std::to_string(size), std::to_string(victim),
                           address, phase, std::to_string(milliseconds)}));
  EXPECT_EQ(readLine(ranks[victim]), "reached") << phase;
  usleep(100000); // meanwhile, the others begin to wait
  kill(ranks[victim].id, signal);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<End> ends;
  for (int rank = 0; rank < size; ++rank) {
    if (rank == victim)
      continue;
    int status = 0;
    while (waitpid(ranks[rank].id, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() - begin > 6s)
        kill(ranks[rank].id, SIGKILL);
      usleep(10000);
    }
    End end;
    for (std::string line = readLine(ranks[rank]); !line.empty(); line = readLine(ranks[rank]))
      end.line = line;
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ends.push_back(end);
  }
  kill(ranks[victim].id, SIGKILL);
  waitpid(ranks[victim].id, nullptr, 0);
  for (const Process &process : ranks)
    std::fclose(process.output);
  return ends;
}

constexpr int longLimit = 30000, shortLimit = 400;

void expectKilled(const char *phase, int size, int victim) {
  for (const End &end : killInPhase(phase, size, victim, SIGKILL, longLimit)) {
    EXPECT_EQ(end.status, 1) << phase << ": " << end.line;
    const std::string name = "rank " + std::to_string(victim);
    EXPECT_TRUE(end.line.find(name + " has died") != std::string::npos ||
                end.line.find(name + ": the connection") != std::string::npos)
        << phase << ": " << end.line;
  }
}

void expectStopped(const char *phase, const char *part) {
  for (const End &end : killInPhase(phase, 2, 1, SIGSTOP, shortLimit)) {
    EXPECT_EQ(end.status, 1) << phase << ": " << end.line;
    EXPECT_NE(end.line.find(part), std::string::npos) << phase << ": " << end.line;
  }
}

TEST(DeathTest, whileConnecting) {
  for (int victim : {0, 1})
    expectKilled("connect", 2, victim);
}
TEST(DeathTest, whileNcclConnects) {
  for (int victim : {0, 1})
    expectKilled("init", 2, victim);
}
TEST(DeathTest, duringAnExchange) {
  for (int victim : {0, 1})
    expectKilled("exchange", 2, victim);
}
TEST(DeathTest, duringACollectiveOfNccl) {
  for (int victim : {0, 1})
    expectKilled("collective", 2, victim);
}
TEST(DeathTest, whileAStreamWaitsForAFlag) {
  for (int victim : {0, 1})
    expectKilled("flag", 2, victim);
}
TEST(DeathTest, whileOthersAreInNoCall) {
  for (int victim : {0, 1})
    expectKilled("idle", 2, victim);
}
TEST(DeathTest, rankZeroTellsTheOthers) {
  for (const char *phase : {"init", "exchange", "collective", "flag", "idle"})
    expectKilled(phase, 3, 2);
}
TEST(DeathTest, whileNcclEnds) {
  // The death of a rank while NCCL ends is not a failure of the others.
  for (int victim : {0, 1})
    EXPECT_EQ(killInPhase("destroy", 2, victim, SIGKILL, longLimit)[0].status, 0);
}
TEST(DeathTest, ranksThatStopHaveALimit) {
  expectStopped("connect", "no answer within the time limit");
  expectStopped("init", "ncclCommInitRank: not finished within 400 ms");
  expectStopped("exchange", "no answer within the time limit");
}

} // namespace
