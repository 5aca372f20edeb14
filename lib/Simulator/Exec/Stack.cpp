// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alloca, stacksave and stackrestore: the part of local memory that a thread allocates while it runs. PTX ISA 9.7.18.
//
// The stack follows the variables in local memory and grows upwards. The special register StackPointer is the offset of
// its end.
#include "Simulator/Exec/Decoding.h"

#include <bit>
#include <fmt/format.h>

namespace tile::sim {

namespace {

/// Returns the operand for the stack pointer, which all of these instructions read.
Operand stackPointer() {
  Operand operand;
  operand.kind = Operand::Kind::Special;
  operand.special = SpecialRegister::StackPointer;
  return operand;
}

template <typename T> class Allocate final : public Operation {
public:
  Allocate(Decoding &d, uint64_t alignment)
      : pointer(d.source<uint32_t>(stackPointer())), dest(d.dest<T>(0)), size(d.source<T>(1)), alignment(alignment),
        localBytes(d.program.localBytes) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1) {
      const unsigned lane = firstLane(remaining);
      const uint64_t begin = (pointer.one(warp, lane) + alignment - 1) & ~(alignment - 1);
      const uint64_t bytes = size.one(warp, lane);
      if (begin > localBytes || bytes > localBytes - begin)
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, int32_t(lane),
                          fmt::format("alloca of {} bytes; the thread's stack of {} bytes has {} left", bytes,
                                      programStackBytes, localBytes - std::min(begin, localBytes)));
      dest.one(warp, lane, T(begin));
      warp.lanes<uint32_t>(pointer.offset)[lane] = uint32_t(begin + bytes);
    }
    return Step::Next;
  }

private:
  Source<uint32_t> pointer;
  Dest<T> dest;
  Source<T> size;
  uint64_t alignment, localBytes;
};

template <typename T> class SaveStack final : public Operation {
public:
  explicit SaveStack(Decoding &d) : pointer(d.source<uint32_t>(stackPointer())), dest(d.dest<T>(0)) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    forLanes(active, [&](unsigned lane) { dest.one(warp, lane, pointer.one(warp, lane)); });
    return Step::Next;
  }

private:
  Source<uint32_t> pointer;
  Dest<T> dest;
};

template <typename T> class RestoreStack final : public Operation {
public:
  explicit RestoreStack(Decoding &d) : pointer(d.source<uint32_t>(stackPointer())), source(d.source<T>(0)) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1) {
      const unsigned lane = firstLane(remaining);
      const uint64_t saved = source.one(warp, lane);
      uint32_t &end = warp.lanes<uint32_t>(pointer.offset)[lane];
      if (saved > end)
        return warp.fault(
            ReportKind::InvalidOperand, instruction->loc, int32_t(lane),
            fmt::format("stackrestore to offset {}, which is beyond the end of the stack at {}", saved, end));
      end = uint32_t(saved);
    }
    return Step::Next;
  }

private:
  Source<uint32_t> pointer;
  Source<T> source;
};

/// Takes .u32 or .u64. Returns its number of bits, or 0.
unsigned takeAddressBits(Decoding &d) {
  constexpr unsigned bits[] = {0, 32, 64};
  return bits[d.takeOne({"u32", "u64"}) + 1];
}

/// Decodes .type ptr, size{, immAlign}. The default alignment is 8.
Result<OperationPtr> decodeAllocate(Decoding &d) {
  const unsigned bits = takeAddressBits(d);
  const bool hasAlignment = d.instruction.operands.size() == 3;
  if (bits == 0 || !d.finished(hasAlignment ? 3 : 2))
    return d.unsupported();
  const uint64_t alignment = hasAlignment ? d.operand(2).bits : 8;
  if (hasAlignment && d.operand(2).kind != Operand::Kind::Immediate)
    return d.unsupported();
  if (!std::has_single_bit(alignment) || alignment > programStackBytes)
    return d.error(fmt::format("the alignment {} is not a power of two of at most {}", alignment, programStackBytes));
  return bits == 32 ? make<Allocate<uint32_t>>(d, alignment) : make<Allocate<uint64_t>>(d, alignment);
}

Result<OperationPtr> decodeSaveStack(Decoding &d) {
  const unsigned bits = takeAddressBits(d);
  if (bits == 0 || !d.finished(1))
    return d.unsupported();
  return bits == 32 ? make<SaveStack<uint32_t>>(d) : make<SaveStack<uint64_t>>(d);
}

Result<OperationPtr> decodeRestoreStack(Decoding &d) {
  const unsigned bits = takeAddressBits(d);
  if (bits == 0 || !d.finished(1))
    return d.unsupported();
  return bits == 32 ? make<RestoreStack<uint32_t>>(d) : make<RestoreStack<uint64_t>>(d);
}

} // namespace

std::span<const DecoderEntry> stackDecoders() {
  static constexpr DecoderEntry table[] = {
      {"alloca", decodeAllocate}, {"stacksave", decodeSaveStack}, {"stackrestore", decodeRestoreStack}};
  return table;
}

} // namespace tile::sim
