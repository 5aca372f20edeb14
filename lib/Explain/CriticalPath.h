// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What makes the modelled time line as long as it is: from the last event back, what each began after.
//
//   copy ──▶ arrival ──▶ barrier ──▶ product ──▶ wait for its group ──▶ store ──▶ end
#pragma once

#include "Explain/Timeline.h"

namespace tile::explain {

/// A point of time, and the work whose end it is.
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
  /// Work that began at `start`, when its cause had ended, and its end.
  Moment add(Moment start, double end, SpanKind kind, unsigned line);
  /// The chain of causes in the order of time, without gaps; pieces of one kind and line are one span.
  std::vector<Span> backFrom(Moment end) const;

private:
  struct Piece {
    Span span;
    uint32_t cause;
  };
  std::vector<Piece> pieces;
};

} // namespace tile::explain
