// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The critical path of the modelled timeline: the chain of causes that leads from the last event back to the start.
//
//   copy ──▶ arrival ──▶ barrier ──▶ MMA ──▶ wait for its group ──▶ store ──▶ end
#pragma once

#include "Explain/Timeline.h"

namespace tile::explain {

/// A point in time, and the index of the work that ends then.
struct Moment {
  static constexpr uint32_t none = UINT32_MAX;
  double time = 0;
  uint32_t cause = none;
};

inline Moment later(Moment a, Moment b) {
  return b.time > a.time ? b : a;
}

class CriticalPath {
public:
  /// Adds work that began at `start`, when its cause had ended, and returns the moment at which the work ends.
  Moment add(Moment start, double end, SpanKind kind, unsigned line);
  /// Returns the chain of causes in chronological order, without overlaps. Adjacent intervals of the same kind and line
  /// are merged into one span.
  std::vector<Span> backFrom(Moment end) const;

private:
  struct Piece {
    Span span;
    uint32_t cause;
  };
  std::vector<Piece> pieces;
};

} // namespace tile::explain
