// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov and cvta. PTX ISA 9.7.9.
#include "Simulator/Exec/Decoding.h"
#include "Simulator/Machine/Machine.h"

namespace tile::sim {

namespace {

template <typename T> class Move final : public Operation {
public:
  Move(Dest<T> dest, Source<T> source) : dest(dest), source(source) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    T scratch[warpSize];
    dest.write(warp, active, source.read(warp, scratch));
    return Step::Next;
  }

private:
  Dest<T> dest;
  Source<T> source;
};

class MovePredicate final : public Operation {
public:
  MovePredicate(PredicateDest dest, PredicateSource source) : dest(dest), source(source) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    dest.write(warp, active, source.read(warp));
    return Step::Next;
  }

private:
  PredicateDest dest;
  PredicateSource source;
};

/// mov.pred p, %is_explicit_cluster. Moves 1 if the special register is true.
class MoveSpecialPredicate final : public Operation {
public:
  MoveSpecialPredicate(PredicateDest dest, Source<uint32_t> source) : dest(dest), source(source) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    dest.write(warp, active, source.one(warp, firstLane(active)) ? allLanes : 0);
    return Step::Next;
  }

private:
  PredicateDest dest;
  Source<uint32_t> source;
};

/// mov.b64 %rd, {%r1, %r2}. The first element is the least significant part.
template <typename Whole, typename Part> class Pack final : public Operation {
public:
  Pack(Dest<Whole> dest, std::vector<Source<Part>> parts) : dest(dest), parts(std::move(parts)) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    Whole values[warpSize] = {};
    Part scratch[warpSize];
    for (size_t i = 0; i < parts.size(); ++i) {
      const Part *part = parts[i].read(warp, scratch);
      for (unsigned lane = 0; lane < warpSize; ++lane)
        values[lane] |= Whole(part[lane]) << (8 * sizeof(Part) * i);
    }
    dest.write(warp, active, values);
    return Step::Next;
  }

private:
  Dest<Whole> dest;
  std::vector<Source<Part>> parts;
};

template <typename Whole, typename Part> class Unpack final : public Operation {
public:
  Unpack(std::vector<Dest<Part>> parts, Source<Whole> source) : parts(std::move(parts)), source(source) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    Whole scratch[warpSize];
    Part values[warpSize];
    // The values are copied first, because a destination may be a part of the source register.
    std::memcpy(scratch, source.read(warp, scratch), sizeof(scratch));
    for (size_t i = 0; i < parts.size(); ++i) {
      for (unsigned lane = 0; lane < warpSize; ++lane)
        values[lane] = Part(scratch[lane] >> (8 * sizeof(Part) * i));
      parts[i].write(warp, active, values);
    }
    return Step::Next;
  }

private:
  std::vector<Dest<Part>> parts;
  Source<Whole> source;
};

/// Reads a clock. Clocks count the instructions of the warp, so they never decrease and differ between runs only if the
/// schedules differ.
template <typename T> class ReadClock final : public Operation {
public:
  ReadClock(Dest<T> dest, unsigned shift) : dest(dest), shift(shift) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    T values[warpSize];
    std::fill(values, values + warpSize, T(warp.cta.cluster.progress->events + warp.instructionsRun++) >> shift);
    dest.write(warp, active, values);
    return Step::Next;
  }

private:
  Dest<T> dest;
  unsigned shift;
};

/// mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid
class MoveVector final : public Operation {
public:
  static constexpr size_t count = 4;
  explicit MoveVector(Decoding &d) {
    for (const Operand &element : d.operand(0).elements)
      dests.push_back(d.dest<uint32_t>(element));
    for (const Operand &element : d.operand(1).elements)
      sources.push_back(d.source<uint32_t>(element));
  }
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    uint32_t values[count][warpSize];
    for (size_t i = 0; i < count; ++i) // a destination may also be a source
      forLanes(active, [&](unsigned lane) { values[i][lane] = sources[i].one(warp, lane); });
    for (size_t i = 0; i < count; ++i)
      dests[i].write(warp, active, values[i]);
    return Step::Next;
  }

private:
  std::vector<Dest<uint32_t>> dests;
  std::vector<Source<uint32_t>> sources;
};

template <typename Whole, typename Part> OperationPtr packOrUnpack(Decoding &d) {
  if (d.operand(1).kind == Operand::Kind::Vector) {
    std::vector<Source<Part>> parts;
    for (const Operand &element : d.operand(1).elements)
      parts.push_back(d.source<Part>(element));
    return make<Pack<Whole, Part>>(d.dest<Whole>(0), std::move(parts));
  }
  std::vector<Dest<Part>> parts;
  for (const Operand &element : d.operand(0).elements)
    parts.push_back(d.dest<Part>(element));
  return make<Unpack<Whole, Part>>(std::move(parts), d.source<Whole>(1));
}

bool isSpecialVector(const Operand &operand) {
  return operand.kind == Operand::Kind::Vector && operand.elements.front().kind == Operand::Kind::Special;
}

/// Decodes .v4.u32 {a, b, c, d}, %tid or {e, f, g, h}.
Result<OperationPtr> decodeMoveOfVector(Decoding &d) {
  const std::optional<Type> type = d.takeType();
  if (!type || bitWidth(*type) != 32 || !d.finished(2) || d.operand(0).kind != Operand::Kind::Vector ||
      d.operand(1).kind != Operand::Kind::Vector || d.operand(0).elements.size() != MoveVector::count ||
      d.operand(1).elements.size() != MoveVector::count)
    return d.unsupported();
  return make<MoveVector>(d);
}

Result<OperationPtr> decodeVectorMove(Decoding &d, unsigned bits) {
  if (isSpecialVector(d.operand(1)))
    return d.unsupported();
  size_t count = d.operand(d.operand(1).kind == Operand::Kind::Vector ? 1 : 0).elements.size();
  switch (bits * 8 + count) {
  case 16 * 8 + 2:
    return packOrUnpack<uint16_t, uint8_t>(d);
  case 32 * 8 + 2:
    return packOrUnpack<uint32_t, uint16_t>(d);
  case 32 * 8 + 4:
    return packOrUnpack<uint32_t, uint8_t>(d);
  case 64 * 8 + 2:
    return packOrUnpack<uint64_t, uint32_t>(d);
  case 64 * 8 + 4:
    return packOrUnpack<uint64_t, uint16_t>(d);
  case 128 * 8 + 2:
    return packOrUnpack<unsigned __int128, uint64_t>(d);
  case 128 * 8 + 4:
    return packOrUnpack<unsigned __int128, uint32_t>(d);
  default:
    return d.unsupported();
  }
}

Result<OperationPtr> decodeClock(Decoding &d, unsigned bits) {
  SpecialRegister clock = d.operand(1).special;
  bool isHigh = clock == SpecialRegister::ClockHi || clock == SpecialRegister::GlobalTimerHi;
  if (bits == 64)
    return make<ReadClock<uint64_t>>(d.dest<uint64_t>(0), 0);
  if (bits != 32)
    return d.unsupported();
  return isHigh ? make<Move<uint32_t>>(d.dest<uint32_t>(0), Source<uint32_t>())
                : make<ReadClock<uint32_t>>(d.dest<uint32_t>(0), 0);
}

Result<OperationPtr> decodeMove(Decoding &d) {
  if (d.take("v4"))
    return decodeMoveOfVector(d);
  std::optional<Type> type = d.takeType();
  if (!type || !d.finished(2))
    return d.unsupported();
  if (*type == Type::Pred && d.operand(1).kind == Operand::Kind::Special)
    return make<MoveSpecialPredicate>(d.predicateDest(d.operand(0)), d.source<uint32_t>(1));
  if (*type == Type::Pred)
    return make<MovePredicate>(d.predicateDest(d.operand(0)), d.predicateSource(d.operand(1)));
  unsigned bits = bitWidth(*type);
  if (d.operand(0).kind == Operand::Kind::Vector || d.operand(1).kind == Operand::Kind::Vector)
    return decodeVectorMove(d, bits);
  if (d.operand(1).kind == Operand::Kind::Special && isClock(d.operand(1).special))
    return decodeClock(d, bits);
  bool isFloat = *type == Type::F32 || *type == Type::F64;
  switch (bits) {
  case 8:
    return make<Move<uint8_t>>(d.dest<uint8_t>(0), d.source<uint8_t>(1));
  case 16:
    return make<Move<uint16_t>>(d.dest<uint16_t>(0), d.source<uint16_t>(1));
  case 32:
    if (isFloat)
      return make<Move<float>>(d.dest<float>(0), d.source<float>(1));
    return make<Move<uint32_t>>(d.dest<uint32_t>(0), d.source<uint32_t>(1));
  case 64:
    if (isFloat)
      return make<Move<double>>(d.dest<double>(0), d.source<double>(1));
    if (d.operand(1).kind == Operand::Kind::Special) // zero-extended
      return make<Move<uint32_t>>(d.dest<uint32_t>(0), d.source<uint32_t>(1));
    return make<Move<uint64_t>>(d.dest<uint64_t>(0), d.source<uint64_t>(1));
  case 128:
    return make<Move<unsigned __int128>>(d.dest<unsigned __int128>(0), d.source<unsigned __int128>(1));
  default:
    return d.unsupported();
  }
}

/// Returns the start of a space's window in the generic address space; see Memory.h.
uint64_t windowOf(int space) {
  constexpr uint64_t windows[] = {0,           sharedWindow, sharedWindow, sharedWindow,
                                  localWindow, paramWindow,  paramWindow,  paramWindow};
  return windows[space];
}

int takeSpace(Decoding &d) {
  return d.takeOne({"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry"});
}

class ConvertAddress final : public Operation {
public:
  ConvertAddress(Dest<uint64_t> dest, Source<uint64_t> source, uint64_t addend)
      : dest(dest), source(source), addend(addend) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    uint64_t scratch[warpSize], values[warpSize];
    const uint64_t *from = source.read(warp, scratch);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      values[lane] = from[lane] + addend;
    dest.write(warp, active, values);
    return Step::Next;
  }

private:
  Dest<uint64_t> dest;
  Source<uint64_t> source;
  uint64_t addend;
};

Result<OperationPtr> decodeConvertAddress(Decoding &d) {
  bool toSpace = d.take("to");
  int space = takeSpace(d);
  std::optional<Type> type = d.takeType();
  if (space < 0 || !type || bitWidth(*type) != 64 || !d.finished(2))
    return d.unsupported();
  uint64_t window = windowOf(space);
  return make<ConvertAddress>(d.dest<uint64_t>(0), d.source<uint64_t>(1), toSpace ? -window : window);
}

class IsSpace final : public Operation {
public:
  IsSpace(PredicateDest dest, Source<uint64_t> source, uint64_t window) : dest(dest), source(source), window(window) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    uint64_t scratch[warpSize];
    const uint64_t *from = source.read(warp, scratch);
    LaneMask result = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      bool inside = window ? from[lane] >= window && from[lane] < window + windowSize
                           : from[lane] < sharedWindow || from[lane] >= globalBase;
      result |= LaneMask(inside) << lane;
    }
    dest.write(warp, active, result);
    return Step::Next;
  }

private:
  PredicateDest dest;
  Source<uint64_t> source;
  uint64_t window;
};

Result<OperationPtr> decodeIsSpace(Decoding &d) {
  int space = takeSpace(d);
  if (space < 0 || !d.finished(2))
    return d.unsupported();
  return make<IsSpace>(d.predicateDest(d.operand(0)), d.source<uint64_t>(1), windowOf(space));
}

} // namespace

std::span<const DecoderEntry> moveDecoders() {
  static constexpr DecoderEntry table[] = {
      {"mov", decodeMove}, {"cvta", decodeConvertAddress}, {"isspacep", decodeIsSpace}};
  return table;
}

} // namespace tile::sim
