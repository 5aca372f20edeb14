// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain/CriticalPath.h"

#include <algorithm>

namespace tile::explain {

Moment CriticalPath::add(Moment start, double end, SpanKind kind, unsigned line) {
  pieces.push_back({{start.time, end, kind, line}, start.cause});
  return {end, uint32_t(pieces.size() - 1)};
}

std::vector<Span> CriticalPath::backFrom(Moment end) const {
  std::vector<Span> spans;
  double time = end.time; // start of the following span, which may overlap the end of this one
  for (uint32_t index = end.cause; index != Moment::none; index = pieces[index].cause) {
    Span span = pieces[index].span;
    span.end = std::min(span.end, time);
    time = span.start;
    if (span.end <= span.start)
      continue;
    if (!spans.empty() && spans.back().kind == span.kind && spans.back().line == span.line)
      spans.back().start = span.start;
    else
      spans.push_back(span);
  }
  std::reverse(spans.begin(), spans.end());
  return spans;
}

} // namespace tile::explain
