// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/Findings.h"

#include <fmt/format.h>

namespace tile::sim {

Naming::Naming(const Machine &machine) : machine(machine) {
  const LaunchConfig &config = machine.config;
  warpsPerCta = (config.block[0] * config.block[1] * config.block[2] + warpSize - 1) / warpSize;
  for (const Instruction &instruction : machine.program.function.instructions)
    instructions.emplace(instruction.loc.ptxLine, &instruction);
}

Actor Naming::actor(uint32_t warpNumber, uint32_t line, int32_t lane) const {
  Actor actor;
  actor.loc.ptxLine = line;
  if (auto found = instructions.find(line); found != instructions.end())
    actor.loc = found->second->loc;
  const uint32_t *grid = machine.config.grid;
  uint64_t cta = ctaOf(warpNumber);
  actor.cta[0] = cta % grid[0];
  actor.cta[1] = cta / grid[0] % grid[1];
  actor.cta[2] = cta / grid[0] / grid[1] % grid[2];
  if (machine.config.gpus() > 1)
    actor.gpu = int32_t(gpuOf(warpNumber));
  actor.warp = warpNumber % warpsPerCta;
  actor.lane = lane;
  return actor;
}

std::string Naming::operation(uint32_t line) const {
  auto found = instructions.find(line);
  if (found == instructions.end())
    return "operation";
  const Instruction &instruction = *found->second;
  auto has = [&](std::string_view suffix) {
    for (const std::string &candidate : instruction.suffixes)
      if (candidate == suffix)
        return true;
    return false;
  };
  if (instruction.name == "wgmma")
    return "wgmma";
  if (instruction.name == "tcgen05" && !instruction.suffixes.empty())
    return "tcgen05." + instruction.suffixes.front();
  if (instruction.name == "cp" && has("bulk"))
    return has("reduce") ? "bulk reduction" : has("tensor") ? "tensor copy" : "bulk copy";
  if (instruction.name == "cp" && has("async"))
    return "cp.async copy";
  return instruction.text();
}

std::string Naming::location(Space space, uint64_t address, int rank) const {
  if (space == Space::Global)
    return machine.memory.describe(address);
  constexpr uint64_t columnBytes = tensorLanes * sizeof(uint32_t);
  std::string where = space == Space::Tensor
                          ? fmt::format("tensor memory, lane {}, column {}", address % columnBytes / sizeof(uint32_t),
                                        address / columnBytes)
                          : fmt::format("shared+{}", address);
  return rank < 0 ? where : fmt::format("{} of the CTA of rank {} in the cluster", where, rank);
}

void Naming::addComponent(Component component, std::string what) {
  std::lock_guard lock(mutex);
  components.emplace(component, std::move(what));
}

std::string Naming::epoch(Epoch epoch) const {
  std::lock_guard lock(mutex);
  auto found = components.find(epoch.component);
  if (found == components.end())
    return "its end";
  const char *what = found->second.starts_with("mbarrier")        ? "phase"
                     : found->second.starts_with("tcgen05")       ? "commit"
                     : found->second.starts_with("tensor-memory") ? "wait"
                                                                  : "group";
  return fmt::format("{} {} of the {}", what, epoch.count ? epoch.count - 1 : 0, found->second);
}

Findings::~Findings() {
  for (auto &[key, entry] : known)
    if (entry.more) {
      entry.report.count = entry.more;
      naming.machine.reports.add(std::move(entry.report));
    }
}

bool Findings::begin(Report &report, ReportKind kind, const Deed &deed, uint32_t otherLine) {
  building = {kind, deed.line, otherLine};
  auto found = known.find(building);
  if (found != known.end()) {
    ++found->second.more;
    return false;
  }
  report.kind = kind;
  report.actor = actor(deed);
  return true;
}

void Findings::add(Report report) {
  known[building].report = report;
  naming.machine.reports.add(std::move(report));
}

std::string Findings::describe(const Deed &deed) const {
  if (deed.manner.async || deed.manner.proxy) {
    const char *verb = deed.manner.writes() ? "write" : "read";
    return fmt::format("{} by a {}", verb, naming.operation(deed.line));
  }
  const char *noun = deed.manner.accessKind() == AccessKind::Read    ? "read"
                     : deed.manner.accessKind() == AccessKind::Write ? "write"
                                                                     : "atomic access";
  return deed.bytes ? fmt::format("{} of {} bytes", noun, deed.bytes) : noun;
}

/// Returns a hint that names the operation that would have ordered the two accesses.
std::string Findings::hint(const Deed &now, const Deed &past) const {
  std::string mixed;
  if (now.manner.strong != past.manner.strong)
    mixed = "; only one of them is atomic or volatile";
  if (now.warp == past.warp)
    return "lanes of one warp, which have not synchronized in between (bar.warp.sync)" + mixed;
  if (naming.ctaOf(now.warp) == naming.ctaOf(past.warp))
    return "no barrier between the two warps" + mixed;
  return "nothing orders the two CTAs" + mixed;
}

std::string Findings::missingProxyFence(const std::string &what, const Deed &past, const Site &site) const {
  std::string text = fmt::format(
      "{}: the {} before it is not visible to the async proxy; fence.proxy.async is missing between the two", what,
      describe(past));
  if (site.rank >= 0)
    text += ", or .cluster scope at the mbarrier that orders them: an arrival at a peer's barrier has .cta by default";
  return text;
}

std::string Findings::missingTensorFence(const std::string &what, const Deed &past) const {
  return fmt::format("{}: ordered after the {}, but not for tensor memory; tcgen05.fence::after_thread_sync is missing "
                     "after the wait, or tcgen05.fence::before_thread_sync before the arrival",
                     what, describe(past));
}

/// Returns true for writes to memory that compilers may reuse for copies without a fence: mbarrier.inval leaves no data
/// there, and a tensor map that tensormap.replace changed was copied to global memory by an instruction that waits.
static bool leavesNoData(std::string_view operation) {
  return operation.starts_with("mbarrier.inval") || operation.starts_with("tensormap.replace");
}

void Findings::conflict(const Deed &now, const Deed &past, Epoch pastEpoch, const Site &site, Order order) {
  ReportKind kind = order == Order::NotFenced || order == Order::NotTensorFenced ? ReportKind::MissingFence
                    : past.manner.async                                          ? ReportKind::EarlyUse
                                                                                 : ReportKind::Race;
  Report report;
  if (!begin(report, kind, now, past.line))
    return;
  std::string what = fmt::format("{} at {}", describe(now), naming.location(site.space, site.address, site.rank));
  std::string note;
  switch (kind) {
  case ReportKind::MissingFence:
    report.message =
        order == Order::NotTensorFenced ? missingTensorFence(what, past) : missingProxyFence(what, past, site);
    note = past.manner.writes() ? "written here" : "read here";
    report.isLatent = order == Order::NotFenced && now.manner.writes() && leavesNoData(naming.operation(past.line));
    break;
  case ReportKind::EarlyUse:
    report.message =
        fmt::format("{}, which a {} still {}: not known to have waited for {}", what, naming.operation(past.line),
                    past.manner.writes() ? "writes" : "reads", naming.epoch(pastEpoch));
    note = fmt::format("the {} was issued here", naming.operation(past.line));
    break;
  default:
    report.message = fmt::format("{} and {} of the same byte: {}", what, describe(past), hint(now, past));
    note = past.manner.accessKind() == AccessKind::Read    ? "read here"
           : past.manner.accessKind() == AccessKind::Write ? "written here"
                                                           : "changed here";
  }
  report.notes.emplace_back(actor(past), std::move(note));
  add(std::move(report));
}

void Findings::sameInstruction(const Deed &now, int32_t otherLane, const Site &site) {
  Report report;
  if (!begin(report, ReportKind::Race, now, now.line))
    return;
  report.message = fmt::format("{} at {}: lanes {} and {} write different values at the same time", describe(now),
                               naming.location(site.space, site.address, site.rank), otherLane, now.lane);
  add(std::move(report));
}

void Findings::staleRead(const Deed &now, const Deed &past, const Site &site) {
  Report report;
  if (!begin(report, ReportKind::Race, now, past.line))
    return;
  report.message = fmt::format("{} at {}, which the kernel has written: a non-coherent load (.nc) may give what was "
                               "there before",
                               describe(now), naming.location(site.space, site.address, site.rank));
  report.notes.emplace_back(actor(past), "written here");
  add(std::move(report));
}

void Findings::uninitialized(const Deed &now, const Site &site) {
  Report report;
  if (!begin(report, ReportKind::Uninitialized, now, 0))
    return;
  report.message = fmt::format("{} at {}, to which nothing has been written", describe(now),
                               naming.location(site.space, site.address, site.rank));
  add(std::move(report));
}

void Findings::barrierAsData(const Deed &now, const Site &site, bool ends) {
  Report report;
  if (!begin(report, ReportKind::BarrierMisuse, now, 0))
    return;
  report.message = fmt::format("{} at {}, which is an mbarrier object", describe(now),
                               naming.location(site.space, site.address, site.rank));
  add(std::move(report));
}

void Findings::barrierNotFenced(const Deed &now, const Deed &init, const Site &site) {
  Report report;
  if (!begin(report, ReportKind::MissingFence, now, init.line))
    return;
  report.message =
      fmt::format("a {} signals the mbarrier at {}, whose initialization is not visible to the async proxy: "
                  "fence.mbarrier_init or fence.proxy.async is missing",
                  naming.operation(now.line), naming.location(site.space, site.address, site.rank));
  report.notes.emplace_back(actor(init), "initialized here");
  report.isLatent = true; // Triton relies on the CTA-wide barrier that follows the initialization
  add(std::move(report));
}

void Findings::unfinishedAtExit(const Deed &past, Epoch epoch, const Site &site) {
  Report report;
  if (!begin(report, ReportKind::EarlyExit, past, 0))
    return;
  report.message = fmt::format("the CTA ends while a {} may still {} its shared memory at {}: nobody has waited for {}",
                               naming.operation(past.line), past.manner.writes() ? "write" : "read",
                               naming.location(site.space, site.address, site.rank), naming.epoch(epoch));
  add(std::move(report));
}

void Findings::remoteAtExit(const Deed &past, const Site &site, const Cta &cta) {
  Report report;
  if (!begin(report, ReportKind::EarlyExit, past, 0))
    return;
  report.message = fmt::format("{} at {}: CTA ({},{},{}), which owns this memory, ends without waiting for the access; "
                               "a cluster barrier is missing",
                               describe(past), naming.location(site.space, site.address, site.rank), cta.id[0],
                               cta.id[1], cta.id[2]);
  add(std::move(report));
}

} // namespace tile::sim
