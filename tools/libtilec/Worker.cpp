// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests, answers and messages are memory-backed files of any size, so neither process has to wait until the other
// one reads.
#include "Worker.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using llvm::formatv;
using llvm::StringRef;
using tile::driver::Outcome;

namespace tile {
namespace {

class MemoryFile {
public:
  explicit MemoryFile(const char *name) : handle(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (handle >= 0)
      close(handle);
  }
  MemoryFile(const MemoryFile &) = delete;

  bool write(StringRef text) const {
    while (!text.empty()) {
      ssize_t count = ::write(handle, text.data(), text.size());
      if (count < 0 && errno != EINTR)
        return false;
      text = text.drop_front(size_t(std::max<ssize_t>(count, 0)));
    }
    return lseek(handle, 0, SEEK_SET) == 0;
  }
  std::string read(size_t most) const {
    std::string text;
    char part[1 << 16];
    for (ssize_t count; text.size() < most && (count = pread(handle, part, sizeof part, off_t(text.size()))) > 0;)
      text.append(part, size_t(count));
    return text;
  }

  const int handle;
};

constexpr int cannotStart = 127; // exit code of a shell

/// Runs in the child process: calls only functions that are safe between fork and exec.
[[noreturn]] void becomeWorker(const char *program, pid_t parent, const int (&files)[3], uint64_t memoryBytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit noCore = {0, 0}, memory = {memoryBytes, memoryBytes};
  bool isReady = getppid() == parent && setrlimit(RLIMIT_CORE, &noCore) == 0 &&
                 (memoryBytes == 0 || setrlimit(RLIMIT_AS, &memory) == 0);
  for (int i = 0; isReady && i < 3; ++i)
    isReady = dup2(files[i], i) >= 0;
  const char *const words[] = {"tilec", "worker", nullptr};
  if (isReady)
    execv(program, const_cast<char *const *>(words));
  _exit(cannotStart);
}

/// Waits until the process ends. If the compilation is cancelled, kills the process.
int waitFor(pid_t worker, const std::atomic<bool> *cancelled) {
  constexpr int millisecondsToNotice = 20;
  pollfd ended = {static_cast<int>(syscall(SYS_pidfd_open, worker, 0)), POLLIN, 0};
  while (ended.fd >= 0 && poll(&ended, 1, cancelled ? millisecondsToNotice : -1) <= 0)
    if (cancelled && *cancelled) {
      kill(worker, SIGKILL);
      break;
    }
  if (ended.fd >= 0)
    close(ended.fd);
  int status = 0;
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
    continue;
  return status;
}

Answer failure(Outcome outcome, const llvm::Twine &message) {
  return {outcome, "", driver::DiagnosticLog::printError(driver::DiagnosticsFormat::Json, message.str()), {}};
}

} // namespace

std::string findWorker() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&findWorker), &info) || !info.dli_fname)
    return {};
  llvm::SmallString<128> library;
  if (llvm::sys::fs::real_path(info.dli_fname, library))
    return {};
  // lib/libtilec.so, lib/x86_64-linux-gnu/libtilec.so, or in the build tree tools/libtilec/libtilec.so
  StringRef folder = llvm::sys::path::parent_path(library);
  for (int up = 0; up < 2; ++up) {
    folder = llvm::sys::path::parent_path(folder);
    if (std::string program = (folder + "/bin/tilec").str(); llvm::sys::fs::can_execute(program))
      return program;
  }
  return {};
}

Answer compileInWorker(const WorkerSettings &settings, const Request &request, const std::atomic<bool> *cancelled) {
  constexpr size_t maxAnswer = size_t(1) << 30, maxLastWords = 64 << 10;
  MemoryFile input("request"), output("answer"), errors("errors");
  if (input.handle < 0 || output.handle < 0 || errors.handle < 0 || !input.write(encode(request)))
    return failure(Outcome::Environment, formatv("cannot create a file in memory: {0}", std::strerror(errno)));
  const int files[] = {input.handle, output.handle, errors.handle};
  pid_t self = getpid(), worker = fork();
  if (worker == 0)
    becomeWorker(settings.program.c_str(), self, files, settings.memoryBytes);
  if (worker < 0)
    return failure(Outcome::Environment, formatv("cannot start a process: {0}", std::strerror(errno)));
  int status = waitFor(worker, cancelled);
  if (cancelled && *cancelled)
    return failure(Outcome::Cancelled, "the compilation was cancelled");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    if (std::optional<Answer> answer = decodeAnswer(output.read(maxAnswer)))
      return std::move(*answer);
  std::string said = errors.read(maxLastWords);
  StringRef line = StringRef(said).ltrim().split('\n').first.rtrim();
  if (WIFEXITED(status) && WEXITSTATUS(status) == cannotStart)
    return failure(Outcome::Environment, formatv("cannot start '{0}'", settings.program));
  bool lacksMemory = line.contains("out of memory") || line.contains("out of host memory") ||
                     line.contains("bad_alloc") || line.contains("llocation failed");
  if (settings.memoryBytes != 0 && (lacksMemory || line.empty()))
    return failure(Outcome::Environment,
                   formatv("the compilation needs more than its memory limit of {0} bytes", settings.memoryBytes));
  std::string how = WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                        : formatv("exit code {0}", WEXITSTATUS(status)).str();
  Outcome outcome =
      lacksMemory || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ? Outcome::Environment : Outcome::Internal;
  return failure(outcome,
                 formatv("the compiler process has terminated: {0}{1}{2}", how, line.empty() ? "" : ": ", line));
}

} // namespace tile
