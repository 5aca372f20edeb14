// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements Isolation.h with fork, pipes and limits.
#include "fuzz/Isolation.h"

#include "llvm/Support/Signals.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tile::fuzz {

// Some tests of passes take 0.2 s, and sanitizers multiply that by several times.
static constexpr int secondsPerMutant = 10;
static constexpr size_t maxErrors = 20000; // bytes of a process's output that are kept
static constexpr rlim_t maxMemory = rlim_t(4) << 30, stackBytes = rlim_t(96) << 20;

void *newSharedBytes(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    abort();
  return memory;
}

int waitForProcess(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void raiseStackLimit() {
  rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? stackBytes : std::min(stackBytes, limit.rlim_max);
  setrlimit(RLIMIT_STACK, &limit);
}

void startClock() {
  itimerval clock{};
  clock.it_value.tv_sec = secondsPerMutant;
  setitimer(ITIMER_PROF, &clock, nullptr);
}

/// Reads the pipe until it is closed, and keeps the beginning, where sanitizers and assertions describe the error.
static std::string readAll(int pipe) {
  std::string text;
  char buffer[4096];
  while (true) {
    ssize_t count = read(pipe, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return text;
    if (text.size() < maxErrors)
      text.append(buffer, size_t(count));
  }
}

Outcome runIsolated(const std::function<void(Progress &)> &work) {
  // One for each worker; a worker has one child process at a time.
  static Progress *progress = nullptr;
  static pid_t owner = 0;
  if (owner != getpid()) {
    progress = newShared<Progress>();
    owner = getpid();
  }
  *progress = Progress();
  int ends[2];
  if (pipe(ends) != 0)
    abort();
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    rlimit none{0, 0}, memory{maxMemory, maxMemory};
    setrlimit(RLIMIT_CORE, &none);
#if !__has_feature(address_sanitizer)
    setrlimit(RLIMIT_AS, &memory);
    llvm::sys::PrintStackTraceOnErrorSignal("tile-fuzz-ir");
#else
    (void)memory;
#endif
    work(*progress);
    _exit(0);
  }
  close(ends[1]);
  Outcome outcome;
  outcome.errors = readAll(ends[0]);
  close(ends[0]);
  int status = waitForProcess(child);
  outcome.mutant = progress->mutant;
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return outcome;
}

/// Returns " at Pipeline.cpp:130:17": the position in this project's code that called the function in the summary.
static std::string firstOwnFrame(std::string_view text) {
  size_t end = text.find(".cpp:");
  for (; end != std::string_view::npos; end = text.find(".cpp:", end + 1)) {
    size_t line = text.rfind('\n', end) + 1, name = text.rfind('/', end) + 1;
    std::string_view frame = text.substr(line, text.find('\n', end) - line);
    if (frame.find("/usr/") == std::string_view::npos && frame.find("/fuzz/") == std::string_view::npos && name > line)
      return " at " + std::string(text.substr(name, text.find_first_of(" \n", end) - name));
  }
  return "";
}

std::string Outcome::signature() const {
  std::string_view text = errors;
  auto lineWith = [&](std::string_view mark) -> std::string {
    size_t place = text.find(mark);
    return place == std::string_view::npos ? "" : std::string(text.substr(place, text.find('\n', place) - place));
  };
  if (signal == SIGPROF)
    return "takes too long";
  for (std::string_view mark : {"Assertion `", "runtime error: ", "finding: ", "LLVM ERROR: ", "hard rss limit"})
    if (std::string line = lineWith(mark); !line.empty())
      return line;
  // Otherwise, return the first stack frame in this project, as LLVM prints it.
  if (std::string line = lineWith("tile::"); !line.empty() && signal)
    return line.substr(0, line.find_first_of("(/"));
  if (std::string line = lineWith("SUMMARY: "); !line.empty()) {
    // Remove the code address, which differs between builds.
    size_t place = line.find("(/");
    return line.substr(0, place) + firstOwnFrame(text);
  }
  return signal ? std::string("signal ") + strsignal(signal) : "exit code " + std::to_string(code);
}

} // namespace tile::fuzz
