// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes the operations of streams, and reports operations that conflict but are not ordered.
#include "SimDriver/State.h"

#include <fmt/format.h>

using namespace tile::runtime;
using namespace tile::sim;

namespace {

/// Returns "reads bytes 0 to 63 of allocation 2 of device 1".
std::string describe(const StreamRace &race) {
  constexpr const char *present[] = {"reads", "writes", "adds to"}; // by access kind
  constexpr const char *past[] = {"read", "written", "added to"};
  const SimulatedDevices &devices = state().devices;
  std::string bytes = fmt::format("bytes at {:#x}", race.bytes.begin);
  if (const Allocation *allocation = devices.contents().find(race.bytes.begin, 1))
    bytes = fmt::format("bytes {} to {} of {} of device {}", race.bytes.begin - allocation->address,
                        race.bytes.end - 1 - allocation->address, allocation->name, devices.ownerOf(*allocation));
  return fmt::format("race: {} {} {}, which are {} by {}; no event, flag or synchronization orders them",
                     race.later.name, present[unsigned(race.later.kind)], bytes, past[unsigned(race.earlier.kind)],
                     race.earlier.name);
}

} // namespace

CUresult tile::sim::execute(const StreamOrder::Place &place, const Work &work, VectorClock *after) {
  State &shared = state();
  const Settings::Check check = shared.devices.settings.check;
  if (check == Settings::Check::Off)
    return work();
  StreamOperation operation;
  shared.operation = &operation;
  struct Reset {
    State &shared;
    ~Reset() { shared.operation = nullptr; }
  };
  CUresult result = success;
  {
    const Reset reset{shared};
    result = work();
  }
  if (result != success)
    return result;
  const std::optional<StreamRace> race = shared.order.finish(place, operation, after);
  if (!race)
    return success;
  const bool isWarning = check == Settings::Check::Warn;
  std::fprintf(stderr, "simulator: %s%s\n", isWarning ? "warning: " : "", describe(*race).c_str());
  return isWarning ? success : launchFailed;
}

CUresult tile::sim::executeOrKeep(CUstream stream, Work work) {
  State &shared = state();
  if (!shared.captures.isCaptured(stream))
    return execute({currentDevice(), stream}, work);
  shared.captures.add(stream, std::move(work));
  return success;
}

void tile::sim::nameOperation(std::string name) {
  if (StreamOperation *operation = state().operation)
    operation->name = std::move(name);
}

void tile::sim::noteAccess(AccessKind kind, uint64_t address, uint64_t bytes) {
  if (StreamOperation *operation = state().operation)
    operation->footprint.add(kind, address, bytes);
}
