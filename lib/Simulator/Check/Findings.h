// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checker's findings about an access and an earlier one: the kinds, locations and wording of the reports.
#pragma once

#include "Simulator/Check/Knowledge.h"
#include "Simulator/Machine/Machine.h"

#include <mutex>
#include <tuple>

namespace tile::sim {

/// How an access is ordered after an earlier one to the same bytes.
enum class Order : uint8_t {
  Ordered,
  NotFenced,       ///< ordered in the generic proxy only, but the later access uses the async proxy
  NotTensorFenced, ///< ordered, but these are accesses to tensor memory without a tcgen05.fence
  Unordered
};

/// Names for the indices in shadow-memory records. Shared by all host threads.
class Naming {
public:
  explicit Naming(const Machine &machine);
  uint32_t warpNumber(const Warp &warp) const { return uint32_t(warp.cta.linearId) * warpsPerCta + warp.index; }
  uint64_t ctaOf(uint32_t warpNumber) const { return warpNumber / warpsPerCta; }
  uint64_t gpuOf(uint32_t warpNumber) const {
    const uint32_t *grid = machine.config.grid;
    return ctaOf(warpNumber) / (uint64_t(grid[0]) * grid[1] * grid[2]);
  }
  Actor actor(uint32_t warpNumber, uint32_t line, int32_t lane) const;
  /// Returns the name of the operation in a line of the PTX: "bulk copy", "wgmma", "ld.shared.b32".
  std::string operation(uint32_t line) const;
  /// Returns "byte 16 of 'x' (4096 bytes)". `rank` is the CTA that owns the shared memory; -1 is the CTA that accesses
  /// it.
  std::string location(Space space, uint64_t address, int rank) const;

  void addComponent(Component component, std::string what);
  /// Returns "phase 2 of the mbarrier at shared+57344", "group 3 of the bulk copies of warp 4".
  std::string epoch(Epoch epoch) const;

  const Machine &machine;

private:
  uint32_t warpsPerCta;
  std::unordered_map<uint32_t, const Instruction *> instructions; ///< by PTX line
  mutable std::mutex mutex;
  std::unordered_map<Component, std::string> components;
};

/// An access, as reports describe it.
struct Deed {
  uint32_t warp = 0;
  uint32_t line = 0;
  int32_t lane = -1;
  uint32_t bytes = 0; ///< 0: unknown
  Manner manner;
};

class Findings {
public:
  explicit Findings(Naming &naming) : naming(naming) {}
  ~Findings();

  /// Where two accesses overlap: the first byte that both of them access.
  struct Site {
    Space space = Space::Global;
    uint64_t address = 0;
    int rank = -1;
  };
  void conflict(const Deed &now, const Deed &past, Epoch pastEpoch, const Site &site, Order order);
  void sameInstruction(const Deed &now, int32_t otherLane, const Site &site);
  /// Reports a read by ld.global.nc of data that the kernel has written.
  void staleRead(const Deed &now, const Deed &past, const Site &site);
  void uninitialized(const Deed &now, const Site &site);
  void barrierAsData(const Deed &now, const Site &site, bool ends);
  void barrierNotFenced(const Deed &now, const Deed &init, const Site &site);
  void unfinishedAtExit(const Deed &past, Epoch epoch, const Site &site);
  void remoteAtExit(const Deed &past, const Site &site, const Cta &cta);

private:
  Actor actor(const Deed &deed) const { return naming.actor(deed.warp, deed.line, deed.lane); }
  std::string describe(const Deed &deed) const;
  std::string hint(const Deed &now, const Deed &past) const;
  std::string missingProxyFence(const std::string &what, const Deed &past, const Site &site) const;
  std::string missingTensorFence(const std::string &what, const Deed &past) const;
  /// Begins a report of `deed` and returns true; the caller adds the details and calls add(). If the finding was
  /// reported before, only counts it and returns false.
  bool begin(Report &report, ReportKind kind, const Deed &deed, uint32_t otherLine);
  void add(Report report);

  Naming &naming;
  struct Known {
    Report report;
    uint64_t more = 0;
  };
  using Key = std::tuple<ReportKind, uint32_t, uint32_t>;
  std::map<Key, Known> known;
  Key building;
};

} // namespace tile::sim
