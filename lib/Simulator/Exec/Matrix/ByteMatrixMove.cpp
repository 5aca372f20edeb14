// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix and stmatrix of bytes, which sm_100a and sm_120a have. PTX ISA 9.7.14.5.15, 9.7.14.5.16.
//
// A row has 16 bytes, or 16 elements of 4 or 6 bits, which occupy the first of 16 bytes and are each expanded to a
// byte. Thread i provides the address of row i. Byte b of register j of thread t is:
//
//   ldmatrix .m8n16         row t/4 of matrix j                                      byte 4 (t%4) + b
//   ldmatrix .m16n16.trans  row 4 (t%4) + 2 (j%2) + b%2 of matrix j/2, 16 rows each  byte t/4 + 8 (b/2)
//   stmatrix .m16n8.trans   row 2 (t%4) + b%2 of matrix j                            byte t/4 + 8 (b/2)
#include "Simulator/Exec/Matrix/Decoders.h"
#include "Simulator/Exec/MemoryPort.h"

#include <fmt/format.h>

namespace tile::sim::matrix {

namespace {

constexpr unsigned bytesOfRow = 16;

enum class ByteShape : uint8_t { Load8x16, Load16x16, Store16x8 };

struct ByteForm {
  ByteShape shape = ByteShape::Load8x16;
  unsigned matrices = 1;
  unsigned elementBits = 8;
  Space space = Space::Generic;

  unsigned rows() const { return matrices * (shape == ByteShape::Load16x16 ? 16 : 8); }
  unsigned registers() const { return rows() / 8; }
  LaneMask lanes() const { return rows() == warpSize ? allLanes : (LaneMask(1) << rows()) - 1; }
  struct SourceLoc {
    unsigned row, byte;
  };
  SourceLoc loc(unsigned thread, unsigned reg, unsigned b) const {
    switch (shape) {
    case ByteShape::Load8x16:
      return {8 * reg + thread / 4, 4 * (thread % 4) + b};
    case ByteShape::Load16x16:
      return {16 * (reg / 2) + 4 * (thread % 4) + 2 * (reg % 2) + b % 2, thread / 4 + 8 * (b / 2)};
    case ByteShape::Store16x8:
      return {8 * reg + 2 * (thread % 4) + b % 2, thread / 4 + 8 * (b / 2)};
    }
    return {};
  }
};

/// Resolves the addresses of the rows in shared memory. Returns false after a report.
bool resolveByteRows(Warp &warp, const Instruction &instruction, const ByteForm &form, const AddressSource &address,
                     AccessKind kind, const std::byte *values, std::byte *(&host)[warpSize]) {
  uint64_t addresses[warpSize];
  address.read(warp, form.lanes(), addresses);
  LaneAccess access;
  access.instruction = &instruction;
  access.kind = kind;
  access.bytes = bytesOfRow;
  access.values = values;
  if (!resolveLanes(warp, form.space, form.lanes(), addresses, access, host))
    return false;
  for (LaneMask remaining = form.lanes(); remaining; remaining &= remaining - 1)
    if (unsigned lane = firstLane(remaining); access.space[lane] != Space::Shared) {
      warp.fault(ReportKind::InvalidOperand, instruction.loc, lane,
                 fmt::format("the row at {:#x} is not in shared memory", addresses[lane]));
      return false;
    }
  return true;
}

class LoadBytes final : public Operation {
public:
  LoadBytes(const ByteForm &form, AddressSource address, std::vector<Dest<uint32_t>> dests)
      : form(form), address(address), dests(std::move(dests)) {
    aligned = true;
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    std::byte *host[warpSize];
    if (!isWholeWarp(warp, *this) ||
        !resolveByteRows(warp, *instruction, form, address, AccessKind::Read, nullptr, host))
      return Step::Fault;
    for (unsigned r = 0; r < dests.size(); ++r) {
      uint32_t values[warpSize] = {};
      for (unsigned thread = 0; thread < warpSize; ++thread)
        for (unsigned b = 0; b < sizeof(uint32_t); ++b) {
          const ByteForm::SourceLoc loc = form.loc(thread, r, b);
          values[thread] |= element(host[loc.row], loc.byte) << 8 * b;
        }
      dests[r].write(warp, active, values);
    }
    return Step::Next;
  }

private:
  uint32_t element(const std::byte *row, unsigned index) const {
    const unsigned first = index * form.elementBits;
    uint32_t bits = uint32_t(row[first / 8]);
    if (first % 8 + form.elementBits > 8)
      bits |= uint32_t(row[first / 8 + 1]) << 8;
    return bits >> first % 8 & ((1u << form.elementBits) - 1);
  }

  ByteForm form;
  AddressSource address;
  std::vector<Dest<uint32_t>> dests;
};

class StoreBytes final : public Operation {
public:
  StoreBytes(const ByteForm &form, AddressSource address, std::vector<Source<uint32_t>> sources)
      : form(form), address(address), sources(std::move(sources)) {
    aligned = true;
  }

  Step execute(Warp &warp, Fragment &, LaneMask) const override {
    std::byte rows[warpSize][bytesOfRow] = {};
    std::byte *host[warpSize];
    uint32_t scratch[warpSize];
    for (unsigned r = 0; r < sources.size(); ++r) {
      const uint32_t *values = sources[r].read(warp, scratch);
      for (unsigned thread = 0; thread < warpSize; ++thread)
        for (unsigned b = 0; b < sizeof(uint32_t); ++b) {
          const ByteForm::SourceLoc loc = form.loc(thread, r, b);
          rows[loc.row][loc.byte] = std::byte(values[thread] >> 8 * b);
        }
    }
    if (!isWholeWarp(warp, *this) ||
        !resolveByteRows(warp, *instruction, form, address, AccessKind::Write, &rows[0][0], host))
      return Step::Fault;
    for (unsigned row = 0; row < form.rows(); ++row)
      std::memcpy(host[row], rows[row], bytesOfRow);
    warp.cta.cluster.noteProgress();
    return Step::Next;
  }

private:
  ByteForm form;
  AddressSource address;
  std::vector<Source<uint32_t>> sources;
};

Space takeShared(Decoding &d) {
  return d.takeOne({"shared", "shared::cta"}) >= 0 ? Space::Shared : Space::Generic;
}

} // namespace

Result<OperationPtr> decodeLoadBytes(Decoding &d) {
  ByteForm form;
  const bool isWide = d.take("m16n16");
  const int power = !isWide && !d.take("m8n16") ? -1 : d.takeOne({"x1", "x2", "x4"});
  if (power < 0 || (isWide && power > 1) || d.take("trans") != isWide)
    return d.unsupported();
  form.shape = isWide ? ByteShape::Load16x16 : ByteShape::Load8x16;
  form.matrices = 1u << power;
  form.space = takeShared(d);
  if (d.take("b8x16")) {
    const int packing = d.takeOne({"b4x16_p64", "b6x16_p32"});
    if (packing < 0)
      return d.unsupported();
    form.elementBits = packing == 0 ? 4 : 6;
  } else if (!isWide || !d.take("b8")) {
    return d.unsupported();
  }
  if (!d.finished(2) || elementsOf(d.operand(0)).size() != form.registers())
    return d.unsupported();
  std::vector<Dest<uint32_t>> dests;
  for (const Operand &element : elementsOf(d.operand(0)))
    dests.push_back(d.dest<uint32_t>(element));
  return make<LoadBytes>(form, d.address(d.operand(1)), std::move(dests));
}

Result<OperationPtr> decodeStoreBytes(Decoding &d) {
  ByteForm form{ByteShape::Store16x8};
  const int power = d.take("m16n8") ? d.takeOne({"x1", "x2", "x4"}) : -1;
  if (power < 0 || !d.take("trans"))
    return d.unsupported();
  form.matrices = 1u << power;
  form.space = takeShared(d);
  if (!d.take("b8") || !d.finished(2) || elementsOf(d.operand(1)).size() != form.registers())
    return d.unsupported();
  std::vector<Source<uint32_t>> sources;
  for (const Operand &element : elementsOf(d.operand(1)))
    sources.push_back(d.source<uint32_t>(element));
  return make<StoreBytes>(form, d.address(d.operand(0)), std::move(sources));
}

} // namespace tile::sim::matrix
