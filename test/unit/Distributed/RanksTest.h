// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks that are threads on simulated devices, for tests of bad input.
#pragma once

#include "tile/tile_dist.h"

#include <dlfcn.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

inline void *findSymbol(void *library, const char *symbol) {
  return dlsym(library, symbol);
}

inline void *simulator() {
  static void *const library = dlopen(TILE_SIMULATOR, RTLD_NOW | RTLD_LOCAL);
  return library;
}

/// Runs functions in ranks that are threads.
class RanksTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_NE(simulator(), nullptr) << dlerror();
    ASSERT_EQ(tile_runtime_create(findSymbol, simulator(), &runtime), TILE_OK) << tile_last_error();
    options.runtime = runtime;
    options.device = -1;
    options.timeout_milliseconds = 300;
    options.transport = TILE_DIST_COPIES;
    options.lookup = findSymbol;
    options.lookup_user = simulator();
  }
  void TearDown() override { tile_runtime_destroy(runtime); }

  /// Connects `count` of `size` ranks, each with its own options, and runs `body` in each.
  std::vector<std::string> run(int size, int count, const std::function<void(int, tile_dist_options &)> &change,
                               const std::function<tile_status(int, tile_dist_comm *)> &body) {
    tile_dist_group *group = nullptr;
    EXPECT_EQ(tile_dist_group_create(size, &group), TILE_OK);
    std::vector<std::string> results{size_t(count)};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank)
      threads.emplace_back([&, rank] {
        tile_dist_options own = options;
        change(rank, own);
        tile_dist_comm *comm = nullptr;
        tile_status status = tile_dist_connect_threads(group, rank, &own, &comm);
        if (status == TILE_OK)
          status = body(rank, comm);
        results[size_t(rank)] = status == TILE_OK ? "ok" : tile_dist_last_error();
        tile_dist_destroy(comm);
      });
    for (std::thread &thread : threads)
      thread.join();
    tile_dist_group_destroy(group);
    return results;
  }

  static void unchanged(int, tile_dist_options &) {}
  static tile_status nothing(int, tile_dist_comm *) { return TILE_OK; }

  tile_runtime *runtime = nullptr;
  tile_dist_options options = {};
};

/// Expects that all messages contain `part`.
inline void expectAll(const std::vector<std::string> &results, const char *part) {
  for (const std::string &result : results)
    EXPECT_NE(result.find(part), std::string::npos) << result;
}
