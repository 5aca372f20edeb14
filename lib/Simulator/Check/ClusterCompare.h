// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds races between clusters that are not ordered with each other.
//
// If thread blocks do not communicate, clusters run in several host threads, each with a private shadow of global
// memory. When a cluster ends, its accesses are compared here, page by page. To get the same result for any number of
// host threads, the two smallest clusters that read, wrote or atomically updated a byte are kept, and only the smallest
// conflicting pair is reported at the end. Clusters that write the same value to a byte do not conflict.
#pragma once

#include "Simulator/Check/Shadow.h"

#include <map>
#include <mutex>

namespace tile::sim {

class ClusterCompare {
public:
  /// The origin of an access to a byte.
  struct Toucher {
    uint32_t cluster = 0;
    uint32_t warp = 0;
    uint32_t line = 0;
    uint8_t lane = 0;
    AccessKind kind = AccessKind::Read;
  };
  struct Conflict {
    uint64_t address = 0;
    uint64_t bytes = 0;
    Toucher first, second;
  };
  /// Adds the accesses of a cluster that has ended. May be called by several host threads concurrently.
  void merge(uint32_t cluster, Shadow &shadow);
  /// Calls `report` for each conflict, in order of addresses.
  template <typename Function> void forConflicts(Function &&report) {
    for (auto &[number, summary] : pages)
      for (const Conflict &conflict : conflicts(number, summary))
        report(conflict);
  }

private:
  /// A run of consecutive bytes of a page that one cluster accessed.
  struct Run {
    uint16_t begin = 0, end = 0;
    Toucher toucher;
  };
  using Runs = std::vector<Run>; ///< disjoint, sorted by address
  struct Summary {
    /// by access kind: the runs of the cluster with the smallest index and of the one with the second smallest
    Runs smallest[3][2];
    std::unique_ptr<Shadow::Values> written; ///< the values that any cluster stored
  };
  static void collect(Shadow &shadow, Shadow::Page &page, uint32_t cluster, Runs (&runs)[3]);
  static void add(Runs &runs, unsigned begin, unsigned end, const Toucher &toucher);
  static void join(Runs (&smallest)[2], const Runs &added);
  static void joinValues(Summary &summary, const Shadow::Values &added);
  static bool allWroteTheSame(const Summary &summary, unsigned begin, unsigned end);
  static std::vector<Conflict> conflicts(uint64_t page, const Summary &summary);

  std::mutex mutex;
  std::map<uint64_t, Summary> pages;
};

} // namespace tile::sim
