// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds copies of accumulators in PTX; see AccumulatorCopies.h. Lines are read once, in order: the wgmmas in flight at
// a label are those in flight at the preceding line or at an earlier branch to the label. Backward branches are
// ignored, because copies at the head of a loop belong to its first iteration.
#include "Codegen/AccumulatorCopies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <deque>

using llvm::StringRef;

namespace tile::codegen {
namespace {

/// The accumulators of the wgmmas in flight, by group: first the committed groups, oldest first, then the group that is
/// not yet committed.
class Flight {
public:
  /// Reads a line, whose leading space has been removed.
  void read(StringRef line) {
    if (line.consume_front("wgmma.mma_async")) {
      for (StringRef name : llvm::split(line.split('{').second.split('}').first, ','))
        groups.back().insert(name.trim());
    } else if (line.starts_with("wgmma.commit_group")) {
      groups.emplace_back();
    } else if (line.consume_front("wgmma.wait_group.sync.aligned")) {
      size_t kept = 0;
      if (!line.trim("; \t").getAsInteger(10, kept))
        while (groups.size() > kept + 1)
          groups.pop_front();
    } else if (line.starts_with("$L") && line.consume_back(":")) {
      join(atLabels[line]);
    } else if (line.contains("bra") && line.contains("$L")) {
      StringRef label = line.drop_until([](char c) { return c == '$'; }).rtrim("; ");
      atLabels[label].join(*this);
      if (!line.starts_with("@"))
        land();
    }
  }

  /// Returns true if the line copies an accumulator in flight to another register.
  bool isCopied(StringRef line) const {
    if (!line.starts_with("mov.b32"))
      return false;
    StringRef source = line.split(',').second.trim("; \t");
    return llvm::any_of(groups, [&](const Registers &group) { return group.contains(source); });
  }

  void land() { groups = std::deque<Registers>(1); }

private:
  using Registers = llvm::StringSet<>;

  /// Adds the wgmmas that are in flight on another path to the same label.
  void join(const Flight &other) {
    while (groups.size() < other.groups.size())
      groups.emplace_front();
    for (size_t age = 1; age <= other.groups.size(); ++age)
      for (const auto &name : other.groups[other.groups.size() - age])
        groups[groups.size() - age].insert(name.getKey());
  }

  std::deque<Registers> groups = std::deque<Registers>(1);
  llvm::StringMap<Flight> atLabels; ///< the wgmmas in flight at earlier branches, by label
};

} // namespace

std::string awaitBeforeCopies(StringRef ptx) {
  if (!ptx.contains("wgmma.mma_async"))
    return ptx.str();
  std::string text;
  text.reserve(ptx.size());
  Flight flight;
  while (!ptx.empty()) {
    auto [line, remaining] = ptx.split('\n');
    if (flight.isCopied(line.trim())) {
      text += "\twgmma.wait_group.sync.aligned 0;\n";
      flight.land();
    }
    flight.read(line.trim());
    text += line;
    if (line.size() < ptx.size())
      text += '\n';
    ptx = remaining;
  }
  return text;
}

} // namespace tile::codegen
