// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shfl.sync: PTX ISA 9.7.9.6.
//
//   c: bits 0-4 are the last lane of a segment that may be read; bits 8-12 are a mask of those bits of the lane number
//   that select the segment (0 if the whole warp is one segment).
#include "Simulator/Exec/Arithmetic/WarpOperations.h"

namespace tile::sim {
namespace {

enum class Shuffle { Up, Down, Butterfly, Index };

class ShuffleOperation final : public WarpOperation {
public:
  ShuffleOperation(Decoding &d, Shuffle mode)
      : WarpOperation(d.source<uint32_t>(4)), mode(mode), a(d.source<uint32_t>(1)), b(d.source<uint32_t>(2)),
        c(d.source<uint32_t>(3)) {
    const Operand &to = d.operand(0);
    bool isPair = to.kind == Operand::Kind::Pair;
    dest = d.dest<uint32_t>(isPair ? to.elements[0] : to);
    if (isPair)
      inRange = d.predicateDest(to.elements[1]);
  }

protected:
  void exchange(Warp &warp, LaneMask group) const override {
    uint32_t scratch[3][warpSize], results[warpSize];
    const uint32_t *values = a.read(warp, scratch[0]), *amounts = b.read(warp, scratch[1]);
    const uint32_t *limits = c.read(warp, scratch[2]);
    LaneMask valid = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned amount = amounts[lane] & 31, segment = limits[lane] >> 8 & 31;
      int first = int(lane & segment), last = int((lane & segment) | (limits[lane] & 31 & ~segment));
      int from = int(lane);
      bool isValid = false;
      switch (mode) {
      case Shuffle::Up:
        from -= int(amount);
        isValid = from >= last;
        break;
      case Shuffle::Down:
        from += int(amount);
        isValid = from <= last;
        break;
      case Shuffle::Butterfly:
        from ^= int(amount);
        isValid = from <= last;
        break;
      case Shuffle::Index:
        from = first | int(amount & ~segment);
        isValid = from <= last;
        break;
      }
      // The ISA does not define the value that is read from a lane that does not participate; here, the reader keeps
      // its own value.
      bool takesPart = isValid && (group >> from & 1);
      results[lane] = values[takesPart ? from : int(lane)];
      valid |= LaneMask(isValid) << lane;
    }
    dest.write(warp, group, results);
    inRange.write(warp, group, valid);
  }

private:
  Shuffle mode;
  Source<uint32_t> a, b, c;
  Dest<uint32_t> dest;
  PredicateDest inRange;
};

} // namespace

/// Decodes shfl.sync.mode.b32 d{|p}, a, b, c, membermask.
Result<OperationPtr> decodeShuffle(Decoding &d) {
  if (!d.take("sync"))
    return d.unsupported();
  int mode = d.takeOne({"up", "down", "bfly", "idx"});
  if (mode < 0 || d.takeType() != Type::B32 || !d.finished(5))
    return d.unsupported();
  return make<ShuffleOperation>(d, Shuffle(mode));
}

} // namespace tile::sim
