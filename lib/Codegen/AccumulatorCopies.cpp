// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds copies of accumulators in PTX; see AccumulatorCopies.h. The groups in flight are those of the lines above, in
// the order of the text: what is in flight at the end of a loop's text is in flight at its exit.
#include "Codegen/AccumulatorCopies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <deque>

using llvm::StringRef;

namespace tile::codegen {
namespace {

using Registers = llvm::StringSet<>;

/// The accumulators of the wgmmas in flight: those of each committed group, the oldest first, and last the group that
/// is not committed yet.
class Flight {
public:
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
    }
  }

  /// Returns true if the line copies one of the accumulators to another register.
  bool isCopied(StringRef line) const {
    if (!line.starts_with("mov.b32"))
      return false;
    StringRef source = line.split(',').second.trim("; \t");
    return llvm::any_of(groups, [&](const Registers &group) { return group.contains(source); });
  }

  void land() { groups = std::deque<Registers>(1); }

private:
  std::deque<Registers> groups = std::deque<Registers>(1);
};

} // namespace

std::string awaitBeforeCopies(StringRef ptx) {
  if (!ptx.contains("wgmma.mma_async"))
    return ptx.str();
  std::string text;
  text.reserve(ptx.size());
  Flight flight;
  for (StringRef rest = ptx; !rest.empty();) {
    StringRef line = rest.take_until([](char c) { return c == '\n'; });
    rest = rest.drop_front(std::min(line.size() + 1, rest.size()));
    if (flight.isCopied(line.trim())) {
      text += "\twgmma.wait_group.sync.aligned 0;\n";
      flight.land();
    }
    flight.read(line.trim());
    text += (line + "\n").str();
  }
  return text;
}

} // namespace tile::codegen
