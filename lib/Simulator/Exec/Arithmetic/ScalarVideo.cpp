// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar video instructions: vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset and vmad. PTX ISA 9.7.17.1.
#include "Simulator/Exec/Arithmetic/Video.h"

namespace tile::sim {

namespace {

/// The bytes of a register that an operand selects.
struct RegisterPart {
  unsigned shift = 0, bits = 32;
  bool isWhole() const { return bits == 32; }
};

/// Parses "", "b0" to "b3", "h0" or "h1".
std::optional<RegisterPart> parsePart(std::string_view name) {
  if (name.empty())
    return RegisterPart();
  if (name.size() != 2 || name[1] < '0')
    return std::nullopt;
  const unsigned index = unsigned(name[1] - '0');
  if (name[0] == 'b' && index < 4)
    return RegisterPart{8 * index, 8};
  if (name[0] == 'h' && index < 2)
    return RegisterPart{16 * index, 16};
  return std::nullopt;
}

/// A source operand: a part of a register, extended to an integer.
struct VideoSource {
  Source<uint32_t> source;
  RegisterPart part;
  bool isSigned = false;
  VideoValue one(const Warp &warp, unsigned lane) const {
    return extractVideo(source.one(warp, lane), part.shift, part.bits, isSigned);
  }
};

enum class Secondary : uint8_t { None, Add, Min, Max };

class ScalarVideo final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    forLanes(active, [&](unsigned lane) { dest.one(warp, lane, compute(warp, lane)); });
    return Step::Next;
  }

  VideoOp op = VideoOp::Add;
  VideoRelation relation = VideoRelation::Equal;
  Secondary secondary = Secondary::None;
  bool saturates = false, isSigned = false, wraps = false;
  VideoSource a, b;
  Source<uint32_t> c;
  Dest<uint32_t> dest;
  RegisterPart destPart;

private:
  uint32_t compute(const Warp &warp, unsigned lane) const {
    VideoValue right = b.one(warp, lane);
    if (op == VideoOp::ShiftLeft || op == VideoOp::ShiftRight)
      right = wraps ? right & 31 : std::min<VideoValue>(right, 32);
    VideoValue value = computeVideo(op, relation, a.one(warp, lane), right);
    if (saturates)
      value = clampVideo(value, destPart.bits, isSigned);
    const uint32_t third = c.one(warp, lane);
    const VideoValue extended = extractVideo(third, 0, 32, isSigned);
    switch (secondary) {
    case Secondary::None:
      break;
    case Secondary::Add:
      value += extended;
      break;
    case Secondary::Min:
      value = std::min(value, extended);
      break;
    case Secondary::Max:
      value = std::max(value, extended);
      break;
    }
    if (destPart.isWhole())
      return uint32_t(value);
    const uint32_t mask = ((1u << destPart.bits) - 1) << destPart.shift;
    return (uint32_t(value) << destPart.shift & mask) | (third & ~mask);
  }
};

/// Decodes the operands of an operation whose suffixes have been taken: d{.dsel}, a{.asel}, b{.bsel}{, c}.
Result<OperationPtr> decodeScalarOperands(Decoding &d, std::unique_ptr<ScalarVideo> operation) {
  if (!d.suffixesFinished() || d.instruction.operands.size() < 3)
    return d.unsupported();
  for (const Operand &operand : d.instruction.operands)
    if (!parsePart(operand.part))
      return unknownPart(d, operand);
    else if (operand.negated)
      return d.error("only vmad can negate its operands");
  operation->destPart = *parsePart(d.operand(0).part);
  const bool isMerged = !operation->destPart.isWhole(), hasSecondary = operation->secondary != Secondary::None;
  if (isMerged && hasSecondary)
    return d.error("a part of the destination and a second operation exclude each other");
  // Without either, ptxas accepts an operand c as well, which is then not used.
  const bool hasThird = d.instruction.operands.size() == 4;
  if (!d.finished(hasThird ? 4 : 3) || (!hasThird && (isMerged || hasSecondary)) ||
      (hasThird && !d.operand(3).part.empty()))
    return d.unsupported();
  operation->dest = d.dest<uint32_t>(0);
  operation->a.source = d.source<uint32_t>(1);
  operation->a.part = *parsePart(d.operand(1).part);
  operation->b.source = d.source<uint32_t>(2);
  operation->b.part = *parsePart(d.operand(2).part);
  if (hasThird)
    operation->c = d.source<uint32_t>(3);
  return OperationPtr(std::move(operation));
}

Secondary takeSecondary(Decoding &d) {
  return Secondary(d.takeOne({"add", "min", "max"}) + 1);
}

/// Decodes .dtype.atype.btype{.sat}{.clamp, .wrap}{.op2}, where shifts have a mode.
template <VideoOp op> Result<OperationPtr> decodeScalarVideo(Decoding &d) {
  constexpr bool isShift = op == VideoOp::ShiftLeft || op == VideoOp::ShiftRight;
  auto operation = std::make_unique<ScalarVideo>();
  operation->op = op;
  bool isValid = true;
  operation->isSigned = takeVideoType(d, isValid);
  operation->a.isSigned = takeVideoType(d, isValid);
  operation->b.isSigned = takeVideoType(d, isValid);
  operation->saturates = d.take("sat");
  if (isShift) {
    const int mode = d.takeOne({"clamp", "wrap"});
    operation->wraps = mode == 1;
    isValid &= mode >= 0 && !operation->b.isSigned;
    operation->saturates |= !operation->saturates && d.take("sat"); // ptxas accepts either sequence
  }
  operation->secondary = takeSecondary(d);
  return isValid ? decodeScalarOperands(d, std::move(operation)) : d.unsupported();
}

/// Decodes vset.atype.btype.cmp{.op2}. The result is unsigned.
Result<OperationPtr> decodeScalarSet(Decoding &d) {
  auto operation = std::make_unique<ScalarVideo>();
  operation->op = VideoOp::Compare;
  bool isValid = true;
  operation->a.isSigned = takeVideoType(d, isValid);
  operation->b.isSigned = takeVideoType(d, isValid);
  const std::optional<VideoRelation> relation = takeVideoRelation(d);
  operation->secondary = takeSecondary(d);
  if (!isValid || !relation)
    return d.unsupported();
  operation->relation = *relation;
  return decodeScalarOperands(d, std::move(operation));
}

/// vmad: (a * b) + c, with optional negations, an added 1 (.po) and a shift of the result. PTX ISA 9.7.17.1.3.
class VideoMad final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    forLanes(active, [&](unsigned lane) {
      const VideoValue ab = a.one(warp, lane) * b.one(warp, lane);
      const VideoValue third = extractVideo(c.one(warp, lane), 0, 32, isSignedC);
      VideoValue value = (negatesAB ? -ab : ab) + (negatesC ? -third : third) + (addsOne ? 1 : 0);
      value >>= shift;
      dest.one(warp, lane, uint32_t(saturates ? clampVideo(value, 32, isSigned) : value));
    });
    return Step::Next;
  }

  VideoSource a, b;
  Source<uint32_t> c;
  Dest<uint32_t> dest;
  bool negatesAB = false, negatesC = false, addsOne = false, saturates = false;
  bool isSignedC = false, isSigned = false;
  unsigned shift = 0;
};

/// Decodes .dtype.atype.btype{.po}{.sat}{.shr7, .shr15} d, {-}a{.asel}, {-}b{.bsel}, {-}c.
Result<OperationPtr> decodeVideoMad(Decoding &d) {
  auto operation = std::make_unique<VideoMad>();
  bool isValid = true;
  takeVideoType(d, isValid); // the operands alone determine the sign of the result
  operation->a.isSigned = takeVideoType(d, isValid);
  operation->b.isSigned = takeVideoType(d, isValid);
  operation->addsOne = d.take("po");
  operation->saturates = d.take("sat");
  constexpr unsigned shifts[] = {0, 7, 15};
  operation->shift = shifts[d.takeOne({"shr7", "shr15"}) + 1];
  if (!isValid || !d.finished(4) || !d.operand(0).part.empty() || d.operand(0).negated || !d.operand(3).part.empty())
    return d.unsupported();
  for (size_t i : {1, 2})
    if (!parsePart(d.operand(i).part))
      return unknownPart(d, d.operand(i));
  operation->negatesAB = d.operand(1).negated != d.operand(2).negated;
  operation->negatesC = d.operand(3).negated;
  const bool isNegated = d.operand(1).negated || d.operand(2).negated || operation->negatesC;
  if ((operation->addsOne && isNegated) || (operation->negatesAB && operation->negatesC))
    return d.error("either a * b or c can be negated, and neither with .po");
  operation->isSignedC = operation->a.isSigned || operation->b.isSigned || operation->negatesAB;
  operation->isSigned = operation->isSignedC || operation->negatesC;
  operation->dest = d.dest<uint32_t>(0);
  operation->a.source = d.source<uint32_t>(1);
  operation->a.part = *parsePart(d.operand(1).part);
  operation->b.source = d.source<uint32_t>(2);
  operation->b.part = *parsePart(d.operand(2).part);
  operation->c = d.source<uint32_t>(3);
  return OperationPtr(std::move(operation));
}

} // namespace

std::span<const DecoderEntry> scalarVideoDecoders() {
  static constexpr DecoderEntry table[] = {{"vadd", decodeScalarVideo<VideoOp::Add>},
                                           {"vsub", decodeScalarVideo<VideoOp::Sub>},
                                           {"vabsdiff", decodeScalarVideo<VideoOp::Difference>},
                                           {"vmin", decodeScalarVideo<VideoOp::Min>},
                                           {"vmax", decodeScalarVideo<VideoOp::Max>},
                                           {"vshl", decodeScalarVideo<VideoOp::ShiftLeft>},
                                           {"vshr", decodeScalarVideo<VideoOp::ShiftRight>},
                                           {"vset", decodeScalarSet},
                                           {"vmad", decodeVideoMad}};
  return table;
}

} // namespace tile::sim
