// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work in processes of its own, several at a time: a compilation that crashes takes nothing else with it, and each
// allocates memory without waiting for the others.
//
//   WorkerProcesses workers(10, [](size_t index) { return compile(index); });
//   workers.start(3);         // three are at work from here on
//   compileSomethingHere();
//   for (const WorkerProcesses::Result &result : workers.finish(4))  // now four
//     use(result);
//
// The processes are copies of this one (fork), which must have no other thread that holds a lock; each takes one piece
// of work after the other. What they print is kept, and shown only of those that crash.
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
    std::string bytes;     ///< what the work returned
    std::string failure;   ///< if it is not done: how its process ended, and what it said first
    bool isKilled = false; ///< if it is not done: by SIGKILL, as the kernel does when memory runs out
  };

  /// `work` runs in other processes: nothing that it changes is seen here.
  WorkerProcesses(size_t count, std::function<std::string(size_t)> work);
  /// Ends those that are still at work.
  ~WorkerProcesses();
  WorkerProcesses(const WorkerProcesses &) = delete;

  /// Starts so many processes, or fewer where that is enough. Those that could not be started are missing, without an
  /// error: finish() needs only one.
  void start(unsigned processes);

  /// Waits until all is done, by so many processes; one result for each piece of work, in order.
  llvm::Expected<std::vector<Result>> finish(unsigned processes);

private:
  struct Worker {
    pid_t process;
    int records; ///< file in memory: what was begun and done
    int log;     ///< likewise: what was printed
  };

  bool startOne();
  void collect(const Worker &worker, int status);
  [[noreturn]] void workAsChild(int records, int log);
  void wait(const Worker &worker, int &status);

  size_t count;
  std::function<std::string(size_t)> work;
  std::atomic<uint32_t> *next; ///< shared: the first piece that nobody has taken
  std::vector<Worker> running;
  std::vector<Result> results;
  std::string startFailure;
};

} // namespace tile::driver
