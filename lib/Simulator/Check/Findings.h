// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the checker says about an access and an earlier one: kinds, places and wording of its reports.
#pragma once

#include "Simulator/Check/Knowledge.h"
#include "Simulator/Machine/Machine.h"

#include <mutex>
#include <tuple>

namespace tile::sim {

/// How an access relates to an earlier one of the same bytes.
enum class Order : uint8_t {
  Ordered,
  NotFenced,       ///< ordered, but by the generic proxy, and the later one is of the async proxy
  NotTensorFenced, ///< ordered, but accesses of tensor memory without tcgen05.fence
  Unordered
};

/// Names of what the records of the shadow memory hold as numbers. Shared by all host threads.
class Naming {
public:
  explicit Naming(const Machine &machine);
  uint32_t warpNumber(const Warp &warp) const { return uint32_t(warp.cta.linearId) * warpsPerCta + warp.index; }
  uint64_t ctaOf(uint32_t warpNumber) const { return warpNumber / warpsPerCta; }
  Actor actor(uint32_t warpNumber, uint32_t line, int32_t lane) const;
  /// "bulk copy", "wgmma", "ld.shared.b32"
  std::string operation(uint32_t line) const;
  /// "byte 16 of 'x' (4096 bytes)"; `rank`: whose shared memory, -1: of the CTA that accesses it.
  std::string location(Space space, uint64_t address, int rank) const;

  void addComponent(Component component, std::string what);
  /// "phase 2 of the mbarrier at shared+57344", "group 3 of the bulk copies of warp 4"
  std::string epoch(Epoch epoch) const;

  const Machine &machine;

private:
  uint32_t warpsPerCta;
  std::unordered_map<uint32_t, const Instruction *> instructions; ///< by PTX line
  mutable std::mutex mutex;
  std::unordered_map<Component, std::string> components;
};

/// An access as reports describe it.
struct Deed {
  uint32_t warp = 0;
  uint32_t line = 0;
  int32_t lane = -1;
  uint32_t bytes = 0; ///< 0: not known
  Manner manner;
};

class Findings {
public:
  explicit Findings(Naming &naming) : naming(naming) {}
  ~Findings();

  /// `where` of the first byte that both touch.
  struct Site {
    Space space = Space::Global;
    uint64_t address = 0;
    int rank = -1;
  };
  void conflict(const Deed &now, const Deed &past, Epoch pastEpoch, const Site &site, Order order);
  void sameInstruction(const Deed &now, int32_t otherLane, const Site &site);
  /// By ld.global.nc, of what the kernel has written before.
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
  /// False for a known one, which it counts; else a report of what `deed` does: say the rest and add().
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
