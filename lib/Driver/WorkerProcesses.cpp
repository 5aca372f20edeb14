// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A counter in shared memory assigns the work. Results are records in a memory-backed file, which, unlike a pipe, can
// grow without a reader:
//
//   {index, begun} {index, size, bytes...} {index, begun} ...
#include "Driver/WorkerProcesses.h"

#include "Codegen/Subprocess.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using llvm::formatv;
using llvm::StringRef;

namespace tile::driver {
namespace {

struct Record {
  static constexpr uint64_t begun = ~uint64_t(0);
  uint64_t index;
  uint64_t size; ///< bytes that follow; `begun`: no bytes follow
};

void writeAll(int file, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t count = write(file, bytes, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      kill(getpid(), SIGKILL); // no memory for the result: exit as if killed by the OOM killer
    bytes += count;
    size -= size_t(count);
  }
}

void writeRecord(int file, Record record) {
  writeAll(file, reinterpret_cast<const char *>(&record), sizeof record);
}

std::string readAll(int file) {
  struct stat info;
  std::string text;
  if (fstat(file, &info) != 0)
    return text;
  text.resize(size_t(info.st_size));
  size_t filled = 0;
  for (ssize_t count; (count = pread(file, text.data() + filled, text.size() - filled, off_t(filled))) != 0;) {
    if (count > 0)
      filled += size_t(count);
    else if (errno != EINTR)
      break;
  }
  text.resize(filled);
  return text;
}

} // namespace

WorkerProcesses::WorkerProcesses(size_t count, std::function<std::string(size_t)> work)
    : count(count), work(std::move(work)), results(count) {
  void *page = mmap(nullptr, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  next = page == MAP_FAILED ? nullptr : new (page) std::atomic<uint32_t>(0);
  if (!next)
    startFailure = std::strerror(errno);
}

WorkerProcesses::~WorkerProcesses() {
  for (const Worker &worker : running)
    kill(worker.process, SIGKILL);
  for (const Worker &worker : running) {
    int status;
    wait(worker, status);
    close(worker.records);
    close(worker.log);
  }
  if (next)
    munmap(next, sizeof *next);
}

void WorkerProcesses::start(unsigned processes) {
  size_t most = std::min<size_t>(processes, count);
  while (running.size() < most && next && *next < count)
    if (!startOne())
      return;
}

bool WorkerProcesses::startOne() {
  Worker worker{0, memfd_create("results", MFD_CLOEXEC), memfd_create("log", MFD_CLOEXEC)};
  bool hasFiles = worker.records >= 0 && worker.log >= 0;
  pid_t self = getpid();
  if (hasFiles)
    worker.process = fork();
  if (hasFiles && worker.process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != self)
      _exit(1);
    workAsChild(worker.records, worker.log);
  }
  if (hasFiles && worker.process > 0) {
    running.push_back(worker);
    return true;
  }
  startFailure = std::strerror(errno);
  for (int file : {worker.records, worker.log})
    if (file >= 0)
      close(file);
  return false;
}

void WorkerProcesses::workAsChild(int records, int log) {
  // LLVM's crash handler prints the stack. The first backtrace of a process loads a library, which would deadlock if
  // the signal had interrupted malloc, so load the library here.
  void *frame;
  backtrace(&frame, 1);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  for (uint32_t index; (index = next->fetch_add(1)) < count;) {
    writeRecord(records, {index, Record::begun});
    std::string bytes = work(index);
    writeRecord(records, {index, bytes.size()});
    writeAll(records, bytes.data(), bytes.size());
  }
  _exit(0); // skip destructors and buffers, which belong to the parent process
}

void WorkerProcesses::wait(const Worker &worker, int &status) {
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR)
    continue;
}

void WorkerProcesses::collect(const Worker &worker, int status) {
  std::string bytes = readAll(worker.records), log = readAll(worker.log);
  std::string how = WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                        : formatv("exit code {0}", WEXITSTATUS(status)).str();
  StringRef said = StringRef(log).ltrim().split('\n').first.rtrim();
  for (StringRef remaining = bytes; remaining.size() >= sizeof(Record);) {
    Record record;
    std::memcpy(&record, remaining.data(), sizeof record);
    remaining = remaining.drop_front(sizeof record);
    Result &result = results[record.index];
    if (record.size == Record::begun) {
      result.failure = said.empty() ? how : how + ": " + said.str();
      result.isKilled = WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
      continue;
    }
    if (remaining.size() < record.size)
      break; // truncated by a crash
    result = {true, remaining.take_front(record.size).str(), "", false};
    remaining = remaining.drop_front(record.size);
  }
  close(worker.records);
  close(worker.log);
}

llvm::Expected<std::vector<WorkerProcesses::Result>> WorkerProcesses::finish(unsigned processes) {
  while (true) {
    start(std::max(1u, processes));
    if (running.empty())
      break;
    // Work that a crashed worker did not take is done by the other workers and by the workers of the next round.
    for (const Worker &worker : running) {
      int status = 0;
      wait(worker, status);
      collect(worker, status);
    }
    running.clear();
  }
  if (!next || *next < count)
    return llvm::make_error<codegen::EnvironmentError>(formatv("cannot start a process: {0}", startFailure).str());
  for (Result &result : results)
    if (!result.isDone && result.failure.empty()) { // killed after taking the work but before recording that
      result.failure = "its process was terminated";
      result.isKilled = true;
    }
  return std::move(results);
}

} // namespace tile::driver
