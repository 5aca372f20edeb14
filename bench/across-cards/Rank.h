// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank of the benchmark: a thread or a process with a GPU.
#pragma once

#include "Gpu.h"
#include "Operands.h"

#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace across {

struct Case {
  tile_dist_operation operation;
  int64_t m, n, k; ///< sizes of one rank's GEMM
  bool hasGemm() const { return operation != TILE_DIST_ALL_REDUCE; }
};

struct Options {
  std::string kernels, nccl, cublas;
  int ranks = 2;
  int timeout = 60000;
  int rounds = 5;
  tile_dist_transport transport = TILE_DIST_ANY;
  std::string mode = "check"; ///< check, bench, experts, soak, lost, endure
  bool isVerbose = false;     ///< prints every step before it begins
  int replays = 3;            ///< how often checks replay a graph; 0: no graphs
  bool isShort = false;       ///< only checks small shapes
  std::string only;           ///< which checks to run: gemms, experts; empty: both
  double seconds = 60;        ///< duration of a soak test
  unsigned seed = 1;
  std::vector<int64_t> tokens = {2048, 4096, 8192}; ///< numbers of tokens of all ranks, in benchmarks
  std::vector<Case> cases;
  std::vector<std::string> experts; ///< cases of mixtures of experts
};

/// What a rank is doing, for the watchdog's message.
struct Progress {
  std::mutex mutex;
  std::string text = "start";
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
};

/// The result of a benchmark case.
struct Measured {
  tile_dist_operation operation;
  double speedup; ///< speed of the form that the library chooses, relative to NCCL followed by cuBLAS
  double ofBound; ///< the larger of the times of GEMM and communication alone, as a fraction of this form's time
  double ofBest;  ///< the time of the fastest form, as a fraction of this form's time
  bool isRight;
};

/// State that the threads of one process share; if ranks are processes, each has its own.
struct Shared {
  explicit Shared(int threads) : meeting(threads), numbers(size_t(threads)), progress(size_t(threads)) {}
  std::barrier<> meeting;
  std::vector<double> numbers;
  std::vector<Progress> progress;
  std::vector<Measured> results; ///< written by the first rank
  std::string ncclId;
  tile_dist_group *group = nullptr;
};

inline const char *nameOf(tile_dist_operation operation) {
  constexpr const char *names[] = {"all_gather_gemm", "gemm_reduce_scatter", "gemm_all_reduce", "all_reduce"};
  return names[operation];
}
inline const char *nameOf(tile_dist_form form) {
  constexpr const char *names[] = {"auto", "sequential", "chunked", "flagged"};
  return names[form];
}

/// Returns the name of a case and a form, for messages.
std::string describe(const Case &work, const char *form);

class Rank {
public:
  /// `thread` is the rank's number, or -1 if the environment gives the number.
  Rank(const Options &options, Shared &shared, int thread);
  ~Rank();

  struct CheckOptions {
    int samples; ///< number of elements that are compared; 0: all
    int replays; ///< how often a graph is replayed; 0: no graph
  };
  /// Runs a form once, three times in a row, and as a graph. Compares the results with double precision, and the bits
  /// of all runs with each other. Prints a message and returns false if a result is wrong.
  bool check(const Case &work, tile_dist_form form, const CheckOptions &depth);
  /// Lets one rank not take part in a run; the other ranks must get an error within the time limit.
  bool loseRank();
  /// Runs operations until a call fails, because another rank has been killed.
  [[noreturn]] void endure();
  void bench(const Case &work);
  bool soak();

  bool isFirst() const { return info.rank == 0; }
  /// Returns true if other ranks are threads of this process.
  bool isThread() const { return shared.numbers.size() > 1; }
  /// Records, and with --verbose prints, which step begins now.
  void step(const std::string &text);
  void barrier() { checkDist(tile_dist_barrier(comm)); }
  /// Returns the microseconds per run on the slowest rank.
  double measure(const std::function<void()> &run, int iterations);
  /// Returns the largest of the values that all ranks pass.
  double largest(double mine);
  /// Returns NCCL and cuBLAS, which are opened by the first call.
  class Baseline &peer();

  /// Records the work that `run` enqueues in a graph, and launches it `replays` times, each time after `prepare`, which
  /// gets the number of the replay. `name` is for messages.
  void replay(const std::string &name, int replays, const std::function<void()> &run,
              const std::function<void(int)> &prepare);

  const Options &options;
  Shared &shared;
  const int slot; ///< index among the ranks of this process
  tile_runtime *runtime = nullptr;
  tile_dist_comm *comm = nullptr;
  tile_dist_info info = {};
  tile_dist_kernels kernels = {};
  Handle stream = nullptr, begin = nullptr, end = nullptr;
  std::unique_ptr<class Baseline> baseline;

private:
  struct Buffers {
    std::unique_ptr<Memory> a, b, c, room;
  };
  size_t elementsOfA(const Case &work) const;
  size_t elementsOfC(const Case &work) const;
  Buffers makeBuffers(const Case &work, bool hasRoom) const;
  void step(const Case &work, const char *form, const char *text);
  tile_dist_plan *makePlan(const Case &work, tile_dist_form form);
  double expected(const Case &work, int64_t row, int64_t column) const;
  /// Returns true if a run with invalid operands fails immediately and disturbs nothing; otherwise prints a message.
  bool rejectsMisuse(tile_dist_plan *plan, const Case &work, const tile_dist_plan_info &chosen, const Buffers &buffers);
  bool isRight(const Case &work, const Memory &c, int samples, const char *form) const;
  void multiply(Address a, Address b, Address c, const Case &work);
};

/// Prints geometric means of the forms that the library has chosen.
void printSummary(const std::vector<Measured> &results);

} // namespace across
