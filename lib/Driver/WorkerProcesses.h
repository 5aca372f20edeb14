// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs work in several worker processes, so that a crash in one compilation does not affect others, and the processes
// do not contend for malloc.
//
//   WorkerProcesses workers(10, [](size_t index) { return compile(index); });
//   workers.start(3);         // three workers run from here on
//   compileInThisProcess();
//   for (const WorkerProcesses::Result &result : workers.finish(4))  // now four
//     use(result);
//
// The workers are forks of this process, which must have no other thread that holds a lock. Each worker takes one item
// of work after another. The output of a worker is captured, and shown only if the worker crashes.
#pragma once

#include "llvm/Support/Error.h"

#include <atomic>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tile::driver {

class WorkerProcesses {
public:
  struct Result {
    bool isDone = false;
    std::string bytes;   ///< the return value of the work
    std::string failure; ///< if the work is not done: how its process ended, and the first line of its output
    /// If the work is not done: whether a signal killed the process, such as the SIGKILL of the OOM killer.
    bool isKilled = false;
  };

  /// Sets up `count` items. `work` runs in other processes, so its side effects are not visible here.
  WorkerProcesses(size_t count, std::function<std::string(size_t)> work);
  /// Kills the workers that are still running.
  ~WorkerProcesses();
  WorkerProcesses(const WorkerProcesses &) = delete;

  /// Starts up to `processes` workers. Failing to start some is not an error, because finish() needs only one.
  void start(unsigned processes);

  /// Waits until all work is done, by up to `processes` workers, and returns the results in order.
  llvm::Expected<std::vector<Result>> finish(unsigned processes);

private:
  struct Worker {
    pid_t process;
    int records; ///< memory-backed file: records of the work that was begun and done
    int log;     ///< memory-backed file: the output of the process
  };

  bool startOne();
  void collect(const Worker &worker, int status);
  [[noreturn]] void workAsChild(int records, int log);
  void wait(const Worker &worker, int &status);

  size_t count;
  std::function<std::string(size_t)> work;
  std::atomic<uint32_t> *next; ///< in shared memory: the first item that no worker has taken
  std::vector<Worker> running;
  std::vector<Result> results;
  std::string startFailure;
};

} // namespace tile::driver
