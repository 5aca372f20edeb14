// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckKernel.h"

#include "RealKernels.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>

namespace tile::fuzz {

namespace {

using Kind = Verdict::Kind;
using Clock = std::chrono::steady_clock;

/// Returns true if a target, or this machine, cannot run a valid kernel. Mutants of real kernels may need blocks that
/// an instruction does not support, functions of a toolkit that is not installed, or strides without a tensor map.
bool isBeyondTarget(const RunResult &result, bool isMutant) {
  const auto says = [&](const char *text) { return result.message.find(text) != std::string::npos; };
  // Some targets have less shared memory than others.
  if (says("bytes of shared memory but a CTA has"))
    return true;
  // The simulator's limit of PTX registers, which the unrolled code of large blocks reaches.
  if (says("more than 262144 registers"))
    return true;
  if (!isMutant)
    return false;
  return says("not a multiple of 16 bytes") || says("which does not hold for") ||
         (result.state == RunResult::State::Rejected && !says("internal error") && !says("cannot be pipelined"));
}

Verdict compareVariants(const std::string &text, const std::vector<Variant> &variants,
                        const std::function<void(size_t)> &onBegin) {
  onBegin(0);
  const RunResult expected = runKernel(text, variants[0]);
  // Most mutants of real kernels are invalid, which the front end or the interpreter detects.
  if (expected.state != RunResult::State::Done && readMutantOptions(text))
    return {Kind::Skipped, 0, expected.message};
  // Random axes may multiply to more elements than a block may have.
  if (expected.message.find("[too-many-elements]") != std::string::npos)
    return {Kind::Skipped, 0, expected.message};
  if (expected.state != RunResult::State::Done)
    return {expected.state == RunResult::State::Rejected ? Kind::Rejected : Kind::Undefined, 0, expected.message};
  for (size_t i = 1; i < variants.size(); ++i) {
    onBegin(i);
    const RunResult actual = runKernel(text, variants[i]);
    const bool isMutant = readMutantOptions(text).has_value();
    if (isBeyondTarget(actual, isMutant))
      continue;
    // A mutant may violate an assertion of the kernel, which the interpreter did not check.
    if (isMutant && variants[i].debug && actual.message.find("trap was executed") != std::string::npos)
      continue;
    if (actual.state != RunResult::State::Done)
      return {actual.state == RunResult::State::Rejected ? Kind::Rejected : Kind::Failed, i, actual.message};
    if (std::string difference = compareRuns(expected, actual); !difference.empty())
      return {Kind::Different, i, difference};
  }
  return {};
}

/// Writes a message of the child process: 'v' and a variant when one begins; 'k', a kind, a variant and the message at
/// the end.
void writeAll(int file, const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count <= 0)
      return;
    done += static_cast<size_t>(count);
  }
}

/// Ends this process by SIGXCPU after this many more seconds of CPU time.
void limitTimeFromNow(double seconds) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const rlim_t last =
      static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + static_cast<rlim_t>(seconds) + 1;
  const rlimit time{last, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &time);
}

[[noreturn]] void runChild(const std::string &text, const std::vector<Variant> &variants, double seconds, int file) {
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  bool usesGpu = false; // the GPU driver reserves more address space than there is memory
  for (const Variant &variant : variants)
    usesGpu |= variant.device == "cuda";
  constexpr rlim_t maxMemory = rlim_t(6) << 30;
  const rlimit memory{maxMemory, maxMemory}, core{0, 0};
  if (!usesGpu)
    setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  const auto onBegin = [&](size_t variant) {
    limitTimeFromNow(seconds);
    writeAll(file, {'v', static_cast<char>(variant)});
  };
  const Verdict verdict = compareVariants(text, variants, onBegin);
  writeAll(file,
           std::string{'k', static_cast<char>(verdict.kind), static_cast<char>(verdict.variant)} + verdict.message);
  _exit(0); // avoids running a driver's destructors
}

Verdict readVerdict(const std::string &bytes, bool isLate, int status) {
  Verdict verdict;
  size_t at = 0;
  while (at + 1 < bytes.size() && bytes[at] == 'v') {
    verdict.variant = static_cast<size_t>(bytes[at + 1]);
    at += 2;
  }
  if (at + 2 < bytes.size() && bytes[at] == 'k') {
    verdict.kind = static_cast<Kind>(bytes[at + 1]);
    verdict.variant = static_cast<size_t>(bytes[at + 2]);
    verdict.message = bytes.substr(at + 3);
    return verdict;
  }
  isLate |= WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  verdict.kind = isLate ? Kind::Hang : Kind::Crash;
  if (!isLate)
    verdict.message = WIFSIGNALED(status) ? std::string("signal ") + strsignal(WTERMSIG(status))
                                          : "exit code " + std::to_string(WEXITSTATUS(status));
  return verdict;
}

} // namespace

const char *nameOf(Kind kind) {
  switch (kind) {
  case Kind::Same:
    return "same";
  case Kind::Skipped:
    return "skipped";
  case Kind::Undefined:
    return "undefined";
  case Kind::Rejected:
    return "rejected";
  case Kind::Failed:
    return "failed";
  case Kind::Different:
    return "different";
  case Kind::Crash:
    return "crash";
  case Kind::Hang:
    return "hang";
  }
  return "";
}

std::string Verdict::signature() const {
  std::string result = nameOf(kind);
  if (kind == Kind::Different || kind == Kind::Hang)
    return result;
  // For a compile error, the first line after its location; for the simulator, its first report.
  std::string text = message;
  if (kind == Kind::Failed)
    if (const size_t end = text.find(":\n"); end != std::string::npos)
      text = text.substr(end + 2);
  text = text.substr(0, text.find('\n'));
  if (const size_t error = text.find("error: "); error != std::string::npos)
    text = text.substr(error);
  bool isQuoted = false;
  result += ": ";
  for (char c : text) {
    if (c == '\'')
      isQuoted = !isQuoted;
    if (!isQuoted && !(c >= '0' && c <= '9'))
      result += c;
  }
  return result;
}

Verdict checkKernel(const std::string &text, const std::vector<Variant> &variants, double seconds) {
  int files[2];
  if (pipe(files) != 0)
    return {Kind::Crash, 0, "no pipe"};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(files[0]);
    runChild(text, variants, seconds, files[1]);
  }
  close(files[1]);
  std::string bytes;
  bool isLate = false;
  // The limit is on CPU time; elapsed time is limited as well, because a sleeping process must also end.
  constexpr double patience = 4;
  const auto inPatience = [&] {
    return Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(seconds * patience * 1000));
  };
  Clock::time_point end = inPatience();
  for (;;) {
    const int64_t left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{files[0], POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) {
      isLate = true;
      kill(child, SIGKILL);
      break;
    }
    char part[4096];
    const ssize_t count = read(files[0], part, sizeof part);
    if (count <= 0)
      break;
    bytes.append(part, static_cast<size_t>(count));
    end = inPatience(); // each variant has its own limit
  }
  close(files[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return readVerdict(bytes, isLate, status);
}

} // namespace tile::fuzz
