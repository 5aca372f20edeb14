// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by scalar and SIMD video instructions: their operations, computed without overflow, and the bytes and halves
// of registers that operands select. PTX ISA 9.7.17.
//
//   vadd.s32.u32.s32.sat.add  %r1, %r2.b3, %r3.h0, %r4       one value per thread
//   vabsdiff4.u32.u32.u32     %r1.b20, %r2.b3210, %r3.b7654, %r4   four
#pragma once

#include "Simulator/Exec/Arithmetic/Family.h"

#include <algorithm>

namespace tile::sim {

enum class VideoOp : uint8_t { Add, Sub, Average, Difference, Min, Max, ShiftLeft, ShiftRight, Compare };
enum class VideoRelation : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

/// Holds the results of all operations on 32-bit values: a shifted u32 needs 64 bits and a sign.
using VideoValue = __int128;

inline bool holds(VideoRelation relation, VideoValue a, VideoValue b) {
  switch (relation) {
  case VideoRelation::Equal:
    return a == b;
  case VideoRelation::NotEqual:
    return a != b;
  case VideoRelation::Less:
    return a < b;
  case VideoRelation::LessEqual:
    return a <= b;
  case VideoRelation::Greater:
    return a > b;
  case VideoRelation::GreaterEqual:
    return a >= b;
  }
  return false;
}

/// Computes an operation. `b` of a shift is from 0 to 32.
inline VideoValue computeVideo(VideoOp op, VideoRelation relation, VideoValue a, VideoValue b) {
  switch (op) {
  case VideoOp::Add:
    return a + b;
  case VideoOp::Sub:
    return a - b;
  case VideoOp::Average: // rounds halves away from zero
    return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
  case VideoOp::Difference:
    return a < b ? b - a : a - b;
  case VideoOp::Min:
    return std::min(a, b);
  case VideoOp::Max:
    return std::max(a, b);
  case VideoOp::ShiftLeft:
    return a * (VideoValue(1) << unsigned(b));
  case VideoOp::ShiftRight:
    return a >> unsigned(b);
  case VideoOp::Compare:
    return holds(relation, a, b);
  }
  return 0;
}

/// Clamps a value to the range of integers of `bits` bits.
inline VideoValue clampVideo(VideoValue value, unsigned bits, bool isSigned) {
  const VideoValue least = isSigned ? -(VideoValue(1) << (bits - 1)) : 0;
  return std::clamp(value, least, least + (VideoValue(1) << bits) - 1);
}

/// Returns `bits` bits of a register, from bit `shift` on, with the sign that the type gives them.
inline VideoValue extractVideo(uint64_t bytes, unsigned shift, unsigned bits, bool isSigned) {
  const VideoValue value = VideoValue(bytes >> shift) & ((VideoValue(1) << bits) - 1);
  return isSigned && (value >> (bits - 1)) != 0 ? value - (VideoValue(1) << bits) : value;
}

/// Takes .u32 or .s32. Returns true if the type is signed, and sets `isValid` to false if it is neither.
inline bool takeVideoType(Decoding &d, bool &isValid) {
  const int type = d.takeOne({"u32", "s32"});
  isValid &= type >= 0;
  return type == 1;
}

inline std::optional<VideoRelation> takeVideoRelation(Decoding &d) {
  const int relation = d.takeOne({"eq", "ne", "lt", "le", "gt", "ge"});
  return relation < 0 ? std::nullopt : std::optional(VideoRelation(relation));
}

/// Returns the error for a part that the operand of an instruction cannot select, such as `%r1.h32`.
inline Error unknownPart(const Decoding &d, const Operand &operand) {
  return d.error("the operand cannot select '." + operand.part + "'");
}

/// The decoders of scalar and SIMD video instructions.
std::span<const DecoderEntry> scalarVideoDecoders();
std::span<const DecoderEntry> simdVideoDecoders();

} // namespace tile::sim
