// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SIMD video instructions on two halves or four bytes of a register: vadd2/4, vsub2/4, vavrg2/4, vabsdiff2/4, vmin2/4,
// vmax2/4 and vset2/4. PTX ISA 9.7.17.2.
#include "Simulator/Exec/Arithmetic/Video.h"

#include <array>

namespace tile::sim {

namespace {

/// The elements of {b, a} that an operand selects, for each element of the result. The elements of a come
/// first.
using Selection = std::array<uint8_t, 4>;

/// Parses "h10", "b7654", …: one digit for each element of the result, the highest first.
std::optional<Selection> parseSelection(std::string_view name, unsigned elements, unsigned first) {
  Selection selection = {};
  for (unsigned i = 0; i < elements; ++i)
    selection[i] = uint8_t(first + i);
  if (name.empty())
    return selection;
  if (name.size() != elements + 1 || name[0] != (elements == 2 ? 'h' : 'b'))
    return std::nullopt;
  for (unsigned i = 0; i < elements; ++i) {
    const char digit = name[elements - i];
    if (digit < '0' || unsigned(digit - '0') >= 2 * elements)
      return std::nullopt;
    selection[i] = uint8_t(digit - '0');
  }
  return selection;
}

/// Parses "h1", "b310", …: the elements of the result that are written, the highest first. Returns one bit for each.
std::optional<unsigned> parseMask(std::string_view name, unsigned elements) {
  if (name.empty())
    return (1u << elements) - 1;
  if (name.size() < 2 || name[0] != (elements == 2 ? 'h' : 'b'))
    return std::nullopt;
  unsigned mask = 0, above = elements;
  for (const char digit : name.substr(1)) {
    if (digit < '0' || unsigned(digit - '0') >= above)
      return std::nullopt;
    above = unsigned(digit - '0');
    mask |= 1u << above;
  }
  return mask;
}

class SimdVideo final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    forLanes(active, [&](unsigned lane) { dest.one(warp, lane, compute(warp, lane)); });
    return Step::Next;
  }

  VideoOp op = VideoOp::Add;
  VideoRelation relation = VideoRelation::Equal;
  bool isSigned = false, isSignedA = false, isSignedB = false, saturates = false, accumulates = false;
  unsigned elements = 2, mask = 0;
  Selection selectionA = {}, selectionB = {};
  Source<uint32_t> a, b, c;
  Dest<uint32_t> dest;

private:
  uint32_t compute(const Warp &warp, unsigned lane) const {
    const unsigned bits = 32 / elements;
    const uint64_t both = uint64_t(b.one(warp, lane)) << 32 | a.one(warp, lane);
    uint32_t result = c.one(warp, lane);
    for (unsigned i = 0; i < elements; ++i) {
      if (!(mask >> i & 1))
        continue;
      VideoValue value = computeVideo(op, relation, extractVideo(both, bits * selectionA[i], bits, isSignedA),
                                      extractVideo(both, bits * selectionB[i], bits, isSignedB));
      if (saturates)
        value = clampVideo(value, bits, isSigned);
      const uint32_t element = ((1u << bits) - 1) << (bits * i);
      if (accumulates)
        result += uint32_t(value);
      else
        result = (result & ~element) | (uint32_t(value) << (bits * i) & element);
    }
    return result;
  }
};

/// Decodes the suffixes {.dtype}.atype.btype{.sat}{.cmp}{.add}, and d{.mask}, a{.asel}, b{.bsel}, c.
template <VideoOp op, unsigned elements> Result<OperationPtr> decodeSimdVideo(Decoding &d) {
  auto operation = std::make_unique<SimdVideo>();
  operation->op = op;
  operation->elements = elements;
  bool isValid = true;
  if (op != VideoOp::Compare)
    operation->isSigned = takeVideoType(d, isValid);
  operation->isSignedA = takeVideoType(d, isValid);
  operation->isSignedB = takeVideoType(d, isValid);
  if (op == VideoOp::Compare) {
    const std::optional<VideoRelation> relation = takeVideoRelation(d);
    isValid &= relation.has_value();
    operation->relation = relation.value_or(VideoRelation::Equal);
  } else {
    operation->saturates = d.take("sat");
  }
  operation->accumulates = d.take("add");
  if (!isValid || !d.finished(4) || (operation->saturates && operation->accumulates) || !d.operand(3).part.empty())
    return d.unsupported();
  for (const Operand &operand : d.instruction.operands)
    if (operand.negated)
      return d.error("only vmad can negate its operands");
  const std::optional<unsigned> mask = parseMask(d.operand(0).part, elements);
  const std::optional<Selection> selectionA = parseSelection(d.operand(1).part, elements, 0);
  const std::optional<Selection> selectionB = parseSelection(d.operand(2).part, elements, elements);
  if (!mask || !selectionA || !selectionB)
    return unknownPart(d, d.operand(!mask ? 0 : !selectionA ? 1 : 2));
  operation->mask = *mask;
  operation->selectionA = *selectionA;
  operation->selectionB = *selectionB;
  operation->dest = d.dest<uint32_t>(0);
  operation->a = d.source<uint32_t>(1);
  operation->b = d.source<uint32_t>(2);
  operation->c = d.source<uint32_t>(3);
  return OperationPtr(std::move(operation));
}

} // namespace

std::span<const DecoderEntry> simdVideoDecoders() {
  static constexpr DecoderEntry table[] = {{"vadd2", decodeSimdVideo<VideoOp::Add, 2>},
                                           {"vsub2", decodeSimdVideo<VideoOp::Sub, 2>},
                                           {"vavrg2", decodeSimdVideo<VideoOp::Average, 2>},
                                           {"vabsdiff2", decodeSimdVideo<VideoOp::Difference, 2>},
                                           {"vmin2", decodeSimdVideo<VideoOp::Min, 2>},
                                           {"vmax2", decodeSimdVideo<VideoOp::Max, 2>},
                                           {"vset2", decodeSimdVideo<VideoOp::Compare, 2>},
                                           {"vadd4", decodeSimdVideo<VideoOp::Add, 4>},
                                           {"vsub4", decodeSimdVideo<VideoOp::Sub, 4>},
                                           {"vavrg4", decodeSimdVideo<VideoOp::Average, 4>},
                                           {"vabsdiff4", decodeSimdVideo<VideoOp::Difference, 4>},
                                           {"vmin4", decodeSimdVideo<VideoOp::Min, 4>},
                                           {"vmax4", decodeSimdVideo<VideoOp::Max, 4>},
                                           {"vset4", decodeSimdVideo<VideoOp::Compare, 4>}};
  return table;
}

} // namespace tile::sim
