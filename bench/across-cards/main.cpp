// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks and measures libtiledist on the GPUs of one host, with ranks as threads, or as processes started by torchrun,
// mpirun or by hand with RANK, WORLD_SIZE and MASTER_PORT:
//
//   bench-across-cards check --kernels=DIR                 all operations, forms and ways to move data
//   bench-across-cards bench --kernels=DIR --nccl=FILE --cublas=FILE [--tokens=4096] [--case=OPERATION:M,N,K]
//   bench-across-cards experts --kernels=DIR --nccl=FILE --cublas=FILE [--tokens=4096]
//       [--experts=TOKENS,HIDDEN,WIDTH,EXPERTS,TOP_K]    mixtures of experts; tokens of one rank
//   bench-across-cards soak --kernels=DIR --seconds=300    random shapes
//   bench-across-cards lost --kernels=DIR --timeout=3000   a rank leaves: the other ranks must get an error
//   bench-across-cards endure --kernels=DIR                runs until a rank is killed: the others must get an error
//
// Every step of a rank has a time limit, after which a watchdog says where the ranks are and ends the program;
// --verbose prints each step before it begins. DIR has gemm.cubin, gemm_wait.cubin and sum.cubin, compiled from
// lib/Distributed/kernels, and, unless --only=gemms is given, moe_NAME.cubin compiled from moe_NAME.tile,
// moe_gate_up.cubin and moe_down.cubin compiled from moe_gemm.tile with and without GATED=1, and silu_mul.cubin.
// Without GPUs, the checks run in the simulator with LD_LIBRARY_PATH=build/simulator.
#include "Baseline.h"
#include "Moe.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

using namespace across;

namespace {

/// A layer of a model that is distributed over the ranks.
struct Layer {
  const char *name;
  tile_dist_operation operation;
  int64_t n, k; ///< sizes of the whole layer
  bool splitsK; ///< whether ranks split K; otherwise they split the columns
};
constexpr Layer layers[] = {
    {"Llama-70B qkv", TILE_DIST_ALL_GATHER_GEMM, 10240, 8192, false},
    {"Llama-70B gate and up", TILE_DIST_ALL_GATHER_GEMM, 57344, 8192, false},
    {"Llama-70B attention output", TILE_DIST_GEMM_REDUCE_SCATTER, 8192, 8192, true},
    {"Llama-70B down", TILE_DIST_GEMM_REDUCE_SCATTER, 8192, 28672, true},
    {"DeepSeek-V3 q", TILE_DIST_ALL_GATHER_GEMM, 24576, 1536, false},
    {"DeepSeek-V3 gate and up", TILE_DIST_ALL_GATHER_GEMM, 36864, 7168, false},
    {"DeepSeek-V3 shared gate and up", TILE_DIST_ALL_GATHER_GEMM, 4096, 7168, false},
    {"DeepSeek-V3 attention output", TILE_DIST_GEMM_REDUCE_SCATTER, 7168, 16384, true},
    {"DeepSeek-V3 down", TILE_DIST_GEMM_REDUCE_SCATTER, 7168, 18432, true},
};

std::vector<MoeCase> expertCases(const std::vector<int64_t> &tokens, int ranks) {
  std::vector<MoeCase> cases;
  for (int64_t all : tokens) {
    cases.push_back({"DeepSeek-V3", all / ranks, 7168, 2048, 256, 8});
    // As many experts per GPU as on 8 GPUs.
    cases.push_back({"DeepSeek-V3, a quarter", all / ranks, 7168, 2048, 64, 8});
    cases.push_back({"Mixtral 8x7B", all / ranks, 4096, 14336, 8, 2});
  }
  return cases;
}

std::vector<Case> layerCases(const std::vector<int64_t> &tokens, int ranks) {
  std::vector<Case> cases;
  for (const Layer &layer : layers)
    for (int64_t m : tokens)
      cases.push_back(
          {layer.operation, m, layer.splitsK ? layer.n : layer.n / ranks, layer.splitsK ? layer.k / ranks : layer.k});
  return cases;
}

bool startsWith(const char *text, const char *prefix, const char *&value) {
  const size_t length = std::strlen(prefix);
  value = text + length;
  return std::strncmp(text, prefix, length) == 0;
}

Case parseCase(const std::string &text) {
  for (int operation = 0; operation < 3; ++operation) {
    const std::string prefix = std::string(nameOf(tile_dist_operation(operation))) + ":";
    long m = 0, n = 0, k = 0;
    if (text.rfind(prefix, 0) == 0 && std::sscanf(text.c_str() + prefix.size(), "%ld,%ld,%ld", &m, &n, &k) == 3)
      return {tile_dist_operation(operation), m, n, k};
  }
  throw std::runtime_error("'" + text + "' is not OPERATION:M,N,K");
}

bool checkAll(Rank &rank, const Options &options, bool isSimulated) {
  const int ranks = rank.info.size;
  bool right = true;
  int count = 0;
  // In the order of complexity: NCCL or copies alone, GEMMs and copies, tiles that wait, and what the cost model
  // chooses.
  for (tile_dist_form form : {TILE_DIST_SEQUENTIAL, TILE_DIST_CHUNKED, TILE_DIST_FLAGGED, TILE_DIST_AUTO})
    for (int operation = 0; operation < (options.only == "experts" ? 0 : 4); ++operation) {
      const auto kind = tile_dist_operation(operation);
      std::vector<Case> cases = {{kind, 64 * ranks, 72, 104},
                                 {kind, 100 * ranks, 136, 64}, // tiles that have rows of several ranks
                                 {kind, 1 * ranks, 8, 8}};
      if (!isSimulated && !options.isShort) {
        cases.push_back({kind, 1024 * ranks, 2048, 512});
        cases.push_back({kind, 2048 * ranks, 4096, 4096});
        cases.push_back({kind, 1000 * ranks, 3000, 2056});
      }
      for (const Case &work : cases) {
        const bool isLarge = work.m * work.n > 1 << 16;
        right = rank.check(work, form, {isLarge ? 200 : 0, options.replays}) && right;
        ++count;
      }
    }
  std::optional<Moe> moe;
  if (options.only != "gemms")
    moe.emplace(rank);
  for (tile_dist_form form : {TILE_DIST_SEQUENTIAL, TILE_DIST_CHUNKED}) {
    if (!moe)
      break;
    std::vector<MoeCase> cases = {{"few", 24, 72, 40, 4 * ranks, 3}};
    if (!options.isShort)
      cases.push_back({"of a rank", 5, 64, 24, ranks, 1});
    if (!isSimulated) {
      cases.push_back({"many", 9, 16, 16, 136 * ranks, 8}); // more experts than moe_place counts at a time
      if (!options.isShort)
        cases.push_back({"large", 700, 4096, 1024, 16 * ranks, 8});
    }
    for (const MoeCase &work : cases) {
      right = moe->check(work, form) && right;
      ++count;
    }
    if (ranks > 1 || form == TILE_DIST_SEQUENTIAL) // one rank has only one form
      right = moe->checkBackward({"trained", 10, 40, 24, 3 * ranks, 3}, form) && right;
  }
  rank.barrier();
  if (rank.isFirst())
    std::printf("check: %d cases on %d ranks, peer access %d, NCCL %d, %d graph replays: %s\n", count, ranks,
                rank.info.peer_access, rank.info.nccl_version, options.replays, right ? "right" : "WRONG");
  return right;
}

MoeCase parseExperts(const std::string &text) {
  long tokens = 0, hidden = 0, width = 0, experts = 0, topK = 0;
  if (std::sscanf(text.c_str(), "%ld,%ld,%ld,%ld,%ld", &tokens, &hidden, &width, &experts, &topK) != 5)
    throw std::runtime_error("'" + text + "' is not TOKENS,HIDDEN,WIDTH,EXPERTS,TOP_K");
  return {"experts", tokens, hidden, width, experts, topK};
}

bool benchExperts(Rank &rank, const Options &options) {
  Moe moe(rank);
  std::vector<MoeMeasured> results;
  std::vector<MoeCase> cases;
  for (const std::string &text : options.experts)
    cases.push_back(parseExperts(text));
  for (const MoeCase &work : cases.empty() ? expertCases(options.tokens, rank.info.size) : cases)
    results.push_back(moe.bench(work));
  if (rank.isFirst())
    printSummary(results);
  return std::all_of(results.begin(), results.end(), [](const MoeMeasured &result) { return result.isRight; });
}

bool runRank(const Options &options, Shared &shared, int thread) {
  Rank rank(options, shared, thread);
  if (options.mode == "lost")
    return rank.loseRank();
  if (options.mode == "soak")
    return rank.soak();
  if (options.mode == "endure")
    rank.endure();
  if (options.mode == "check") {
    char name[64] = "";
    call("cuDeviceGetName", +name, 64, 0);
    return checkAll(rank, options, std::string_view(name) == "tile simulator");
  }
  if (options.mode == "experts")
    return benchExperts(rank, options);
  for (const Case &work : options.cases)
    rank.bench(work);
  if (rank.isFirst())
    printSummary(shared.results);
  return std::all_of(shared.results.begin(), shared.results.end(),
                     [](const Measured &result) { return result.isRight; });
}

bool guarded(const Options &options, Shared &shared, int thread) {
  try {
    return runRank(options, shared, thread);
  } catch (const std::exception &exception) {
    std::printf("FAILED: rank %d: %s\n", thread, exception.what());
    std::fflush(stdout);
    std::_Exit(1); // other ranks may wait for this one
  }
}

/// Ends the program if a step takes much longer than the library may wait.
[[noreturn]] void watch(const Options &options, Shared &shared) {
  const auto limit = std::chrono::milliseconds(2 * options.timeout) + std::chrono::seconds(5);
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto now = std::chrono::steady_clock::now();
    bool isStuck = false;
    for (Progress &progress : shared.progress) {
      const std::lock_guard lock(progress.mutex);
      isStuck |= now - progress.since > limit;
    }
    if (!isStuck)
      continue;
    for (size_t i = 0; i < shared.progress.size(); ++i) {
      const std::lock_guard lock(shared.progress[i].mutex);
      std::printf("STUCK: rank %zu of this process: %s, for %.1f s\n", i, shared.progress[i].text.c_str(),
                  std::chrono::duration<double>(now - shared.progress[i].since).count());
    }
    std::fflush(stdout);
    std::_Exit(3);
  }
}

Options parse(int count, char **words) {
  Options options;
  std::vector<int64_t> tokens;
  if (count > 1)
    options.mode = words[1];
  for (int i = 2; i < count; ++i) {
    const char *value = nullptr;
    if (startsWith(words[i], "--kernels=", value))
      options.kernels = value;
    else if (startsWith(words[i], "--nccl=", value))
      options.nccl = value;
    else if (startsWith(words[i], "--cublas=", value))
      options.cublas = value;
    else if (startsWith(words[i], "--verbose", value))
      options.isVerbose = true;
    else if (startsWith(words[i], "--short", value))
      options.isShort = true;
    else if (startsWith(words[i], "--only=", value))
      options.only = value;
    else if (startsWith(words[i], "--graphs=", value))
      options.replays = std::atoi(value);
    else if (startsWith(words[i], "--ranks=", value))
      options.ranks = std::atoi(value);
    else if (startsWith(words[i], "--timeout=", value))
      options.timeout = std::atoi(value);
    else if (startsWith(words[i], "--rounds=", value))
      options.rounds = std::atoi(value);
    else if (startsWith(words[i], "--seconds=", value))
      options.seconds = std::atof(value);
    else if (startsWith(words[i], "--seed=", value))
      options.seed = unsigned(std::atoi(value));
    else if (startsWith(words[i], "--tokens=", value))
      tokens.push_back(std::atol(value));
    else if (startsWith(words[i], "--case=", value))
      options.cases.push_back(parseCase(value));
    else if (startsWith(words[i], "--experts=", value))
      options.experts.push_back(value);
    else if (startsWith(words[i], "--transport=", value))
      options.transport = std::string_view(value) == "nccl"     ? TILE_DIST_NCCL
                          : std::string_view(value) == "copies" ? TILE_DIST_COPIES
                                                                : TILE_DIST_ANY;
    else
      throw std::runtime_error(std::string("unknown option ") + words[i]);
  }
  if (!tokens.empty())
    options.tokens = tokens;
  return options;
}

} // namespace

int main(int count, char **words) {
  try {
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // so that even a program that is killed has printed its steps
    Options options = parse(count, words);
    const bool isProcess = std::getenv("WORLD_SIZE") || std::getenv("OMPI_COMM_WORLD_SIZE");
    if (options.cases.empty())
      options.cases = layerCases(options.tokens, options.ranks);
    Shared shared(isProcess ? 1 : options.ranks);
    if (options.mode == "bench" || options.mode == "experts")
      shared.ncclId = Baseline::makeId(options.nccl);
    if (options.mode == "check" || options.mode == "soak" || options.mode == "endure")
      std::thread([&] { watch(options, shared); }).detach();
    if (isProcess)
      std::_Exit(guarded(options, shared, -1) ? 0 : 1);
    checkDist(tile_dist_group_create(options.ranks, &shared.group));
    std::vector<std::thread> threads;
    std::vector<char> right(size_t(options.ranks), 0);
    for (int rank = 0; rank < options.ranks; ++rank)
      threads.emplace_back([&, rank] { right[size_t(rank)] = guarded(options, shared, rank); });
    for (std::thread &thread : threads)
      thread.join();
    tile_dist_group_destroy(shared.group);
    std::fflush(stdout);
    // The watchdog thread still reads objects that this function owns.
    std::_Exit(std::all_of(right.begin(), right.end(), [](char value) { return value != 0; }) ? 0 : 1);
  } catch (const std::exception &exception) {
    std::fprintf(stderr, "bench-across-cards: %s\n", exception.what());
    return 2;
  }
}
