// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a program with fork and exec, and reads a pipe in a loop until the child has ended.
//
// llvm::sys::ExecuteAndWait is unsuitable: it redirects output to files without a size limit, its time limit uses this
// process's only alarm, and the child would outlive this process and run in its folder.
#include "Codegen/Subprocess.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {

char EnvironmentError::ID = 0;

void BoundedText::append(StringRef part) {
  size_t room = std::min(part.size(), most - head.size());
  head += part.take_front(room);
  tail += part.drop_front(room);
  // Trims the tail only when it is twice as long as needed, so that each byte is moved once on average.
  if (tail.size() > 2 * most) {
    dropped += tail.size() - most;
    tail.erase(0, tail.size() - most);
  }
}

std::string BoundedText::take() const {
  size_t missing = dropped + (tail.size() > most ? tail.size() - most : 0);
  if (missing == 0)
    return head + tail;
  StringRef begin = head, end = StringRef(tail).take_back(most);
  size_t lastLine = begin.rfind('\n'), nextLine = end.find('\n');
  if (lastLine != StringRef::npos)
    begin = begin.take_front(lastLine + 1);
  if (nextLine != StringRef::npos)
    end = end.drop_front(nextLine + 1);
  missing += head.size() - begin.size() + std::min(tail.size(), most) - end.size();
  return formatv("{0}{1}({2} bytes omitted)\n{3}", begin, lastLine == StringRef::npos ? "\n" : "", missing, end);
}

namespace {

constexpr int cannotStart = 127; // as in a shell
/// The working folder of the child. It must not contain source files: ptxas would find a source file by name, and write
/// its time and size into the debug data.
constexpr const char *emptyFolder = "/proc";

/// Converts the strings to the form that execve takes.
std::vector<char *> pointersTo(llvm::ArrayRef<std::string> texts) {
  std::vector<char *> pointers;
  for (const std::string &text : texts)
    pointers.push_back(const_cast<char *>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs in the child, where only async-signal-safe calls are allowed between fork and exec.
[[noreturn]] void becomeProgram(char **arguments, char **environment, pid_t parent, int output,
                                llvm::ArrayRef<int> inherited) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int input = open("/dev/null", O_RDONLY);
  if (chdir(emptyFolder) != 0) // if this fails, the child runs in the folder of this process
    errno = 0;
  for (int descriptor : inherited)
    fcntl(descriptor, F_SETFD, 0);
  if (getppid() == parent && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
      dup2(output, STDERR_FILENO) >= 0)
    execve(arguments[0], arguments, environment);
  _exit(cannotStart);
}

/// Reads the output that is available.
void drain(int pipe, BoundedText &output) {
  char part[1 << 16];
  for (ssize_t count; (count = read(pipe, part, sizeof part)) > 0 || (count < 0 && errno == EINTR);)
    if (count > 0)
      output.append(StringRef(part, size_t(count)));
}

/// Reads until the child has ended, even if a grandchild keeps the pipe open for longer. Returns false on timeout or
/// cancellation.
bool readUntilEnd(pid_t child, int pipe, int maxSeconds, const std::atomic<bool> *cancelled, BoundedText &output) {
  constexpr long long millisecondsToNotice = 20;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(maxSeconds);
  pollfd watched[] = {{static_cast<int>(syscall(SYS_pidfd_open, child, 0)), POLLIN, 0}, {pipe, POLLIN, 0}};
  bool isLate = false;
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    bool isWanted = !cancelled || !*cancelled;
    long long pause = cancelled ? std::min<long long>(left, millisecondsToNotice) : left;
    int ready = left > 0 && isWanted ? poll(watched, 2, int(pause)) : 0;
    if ((ready < 0 && errno == EINTR) || (ready == 0 && pause < left && isWanted))
      continue;
    isLate = ready == 0;
    if (ready <= 0)
      break;
    drain(pipe, output);
    if (watched[1].revents & POLLHUP)
      watched[1].fd = -1; // errors are ignored from now on
    if (watched[0].revents || (watched[0].fd < 0 && watched[1].fd < 0))
      break;
  }
  if (watched[0].fd >= 0)
    close(watched[0].fd);
  return !isLate;
}

} // namespace

llvm::Expected<Ended> runProgram(llvm::ArrayRef<std::string> command, llvm::ArrayRef<std::string> environment,
                                 int maxSeconds, llvm::ArrayRef<int> inherited, const std::atomic<bool> *cancelled) {
  constexpr size_t maxOfEitherEnd = 64 << 10; // errors and reports for kernels are single lines
  auto cannot = [&](const char *reason) {
    return llvm::make_error<EnvironmentError>(formatv("cannot start '{0}': {1}", command[0], reason).str());
  };
  std::vector<char *> arguments = pointersTo(command), variables = pointersTo(environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0)
    return cannot(std::strerror(errno));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pid_t self = getpid(), child = fork();
  if (child == 0)
    becomeProgram(arguments.data(), variables.data(), self, ends[1], inherited);
  int reason = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return cannot(std::strerror(reason));
  }
  BoundedText output(maxOfEitherEnd);
  bool isInTime = readUntilEnd(child, ends[0], maxSeconds, cancelled, output);
  if (!isInTime)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  drain(ends[0], output);
  close(ends[0]);
  if (!isInTime && cancelled && *cancelled)
    return llvm::createStringError(formatv("'{0}' was cancelled", command[0]));
  if (!isInTime)
    return llvm::createStringError(
        formatv("'{0}' did not finish in {1} seconds; use smaller blocks or more warps", command[0], maxSeconds));
  Ended ended{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output.take()};
  if (ended.code == cannotStart && ended.output.empty())
    return cannot("it is not an executable for this machine");
  return ended;
}

} // namespace tile::codegen
