// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05.cp: copies rows of 16 or 32 bytes from shared memory to lanes of tensor memory. PTX ISA 9.7.16.9.1.
//
//   shape                      row r goes to the lanes
//   128x256b, 128x128b         r
//   4x256b                     32 * r
//   64x128b.warpx2::02_13      r, r + 64
//   64x128b.warpx2::01_23      l, l + 32 where l = r % 32 + r / 32 * 64
//   32x128b.warpx4             r, r + 32, r + 64, r + 96
//
// Not supported: the forms that decompress 4- and 6-bit elements.
#include "Simulator/Exec/Tensor/SharedMatrix.h"

namespace tile::sim::tensor {

namespace {

struct CopyShape {
  unsigned rows = 0, chunks = 0; ///< number of 16-byte chunks per row
  enum class Lanes : uint8_t { Same, Spread, Twice, Pairs, FourTimes } lanes = Lanes::Same;

  template <typename Function> void forLanesOf(unsigned row, Function &&function) const {
    switch (lanes) {
    case Lanes::Same:
      return function(row);
    case Lanes::Spread:
      return function(32 * row);
    case Lanes::Twice:
      function(row);
      return function(row + 64);
    case Lanes::Pairs:
      function(row % 32 + row / 32 * 64);
      return function(row % 32 + row / 32 * 64 + 32);
    case Lanes::FourTimes:
      for (unsigned lane = row; lane < tensorLanes; lane += 32)
        function(lane);
      return;
    }
  }
};

class CopyOperation final : public PipeOperation {
public:
  CopyOperation(Warp &warp, unsigned lane, const Instruction &instruction, const CopyShape &shape,
                const SharedMatrix &source, TensorAddress to, std::vector<Cta *> ctas)
      : PipeOperation(warp, lane, instruction), shape(shape), source(source), to(to), ctas(std::move(ctas)) {}

private:
  void execute() override {
    for (Cta *cta : ctas)
      source.forChunks([&](uint32_t address, unsigned row, unsigned chunk) {
        uint32_t words[chunkBytes / sizeof(uint32_t)];
        std::memcpy(words, cta->shared(address, chunkBytes), chunkBytes);
        shape.forLanesOf(row, [&](unsigned target) {
          for (unsigned i = 0; i < std::size(words); ++i)
            cta->tensor.at(to.lane + target, to.column + chunk * std::size(words) + i) = words[i];
        });
      });
  }

  CopyShape shape;
  SharedMatrix source;
  TensorAddress to;
  std::vector<Cta *> ctas;
};

class Copy final : public LaneByLaneOperation {
public:
  Copy(unsigned group, const CopyShape &shape, AddressSource address, Source<uint64_t> descriptor)
      : group(group), shape(shape), address(address), descriptor(descriptor) {}

private:
  Step executeLane(Warp &warp, unsigned lane) const override {
    std::vector<Cta *> ctas = {&warp.cta};
    if (group == 2)
      ctas.push_back(findPeer(warp, *instruction, lane));
    const std::optional<matrix::Descriptor> found =
        ctas.back() ? takeDescriptor(warp, lane, *instruction, descriptor.one(warp, lane), "the source") : std::nullopt;
    if (!found)
      return Step::Fault;
    // The source as a matrix: each row is a line, whose elements are chunks.
    const SharedMatrix source{*found, false, shape.rows, shape.chunks, 1};
    const TensorAddress to = TensorAddress::of(address.one(warp, lane));
    const bool isSpread = shape.lanes == CopyShape::Lanes::Spread;
    if (to.lane >= (isSpread ? tensorLanesOfWarp : 1)) {
      refuse(warp, ReportKind::InvalidOperand, *instruction, lane, "{} to lane {}; it must be 0", instruction->text(),
             to.lane);
      return Step::Fault;
    }
    for (Cta *cta : ctas)
      if (!checkShared(warp, lane, *instruction, *cta, source, "the source") ||
          !checkColumns(warp, *instruction, lane, *cta, to.column, columns()) ||
          !checkAccumulators(warp, lane, *instruction, *cta, to, columns(), 0, 0))
        return Step::Fault;
    for (Cta *cta : ctas)
      noteTarget(warp, lane, *cta, to);
    issue(warp, lane, std::make_unique<CopyOperation>(warp, lane, *instruction, shape, source, to, std::move(ctas)));
    return Step::Next;
  }

  unsigned columns() const { return shape.chunks * chunkBytes / sizeof(uint32_t); }

  void noteTarget(Warp &warp, unsigned lane, const Cta &cta, TensorAddress to) const {
    if (shape.lanes != CopyShape::Lanes::Spread)
      return notePipeAccess(warp, lane, *instruction, AccessKind::Write,
                            rangeOf(cta, 0, tensorLanes, to.column, columns()));
    for (unsigned column = to.column; column < to.column + columns(); ++column)
      for (unsigned row = 0; row < shape.rows; ++row)
        notePipeAccess(warp, lane, *instruction, AccessKind::Write,
                       rangeOf(cta, to.lane + tensorLanesOfWarp * row, 1, column));
  }

  unsigned group;
  CopyShape shape;
  AddressSource address;
  Source<uint64_t> descriptor;
};

std::optional<CopyShape> takeShape(Decoding &d) {
  using Lanes = CopyShape::Lanes;
  switch (d.takeOne({"128x256b", "128x128b", "4x256b", "64x128b", "32x128b"})) {
  case 0:
    return CopyShape{128, 2, Lanes::Same};
  case 1:
    return CopyShape{128, 1, Lanes::Same};
  case 2:
    return CopyShape{4, 2, Lanes::Spread};
  case 3:
    if (d.take("warpx2::02_13"))
      return CopyShape{64, 1, Lanes::Twice};
    return d.take("warpx2::01_23") ? std::optional(CopyShape{64, 1, Lanes::Pairs}) : std::nullopt;
  case 4:
    return d.take("warpx4") ? std::optional(CopyShape{32, 1, Lanes::FourTimes}) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// tcgen05.shift.down: moves rows 1 to 31 of each warp's lanes to the preceding row; row 31 keeps its contents.
class ShiftOperation final : public PipeOperation {
public:
  ShiftOperation(Warp &warp, unsigned lane, const Instruction &instruction, unsigned column, std::vector<Cta *> ctas)
      : PipeOperation(warp, lane, instruction), column(column), ctas(std::move(ctas)) {}

  static constexpr unsigned columns = 8; ///< .31x256b

private:
  void execute() override {
    for (Cta *cta : ctas)
      for (unsigned i = column; i < column + columns; ++i)
        for (unsigned to = 0; to < tensorLanes; ++to)
          if (to % tensorLanesOfWarp != tensorLanesOfWarp - 1)
            cta->tensor.at(to, i) = cta->tensor.at(to + 1, i);
  }

  unsigned column;
  std::vector<Cta *> ctas;
};

/// Decodes and issues tcgen05.shift.down: PTX ISA 9.7.16.9.2.
class Shift final : public LaneByLaneOperation {
public:
  Shift(unsigned group, AddressSource address) : group(group), address(address) {}

private:
  Step executeLane(Warp &warp, unsigned lane) const override {
    std::vector<Cta *> ctas = {&warp.cta};
    if (group == 2)
      ctas.push_back(findPeer(warp, *instruction, lane));
    if (!ctas.back())
      return Step::Fault;
    const TensorAddress at = TensorAddress::of(address.one(warp, lane));
    if (at.lane) {
      refuse(warp, ReportKind::InvalidOperand, *instruction, lane,
             "{} from lane {}; only shifts of all lanes are supported", instruction->text(), at.lane);
      return Step::Fault;
    }
    for (Cta *cta : ctas) {
      if (!checkColumns(warp, *instruction, lane, *cta, at.column, ShiftOperation::columns))
        return Step::Fault;
      notePipeAccess(warp, lane, *instruction, AccessKind::Atomic,
                     rangeOf(*cta, 0, tensorLanes, at.column, ShiftOperation::columns));
    }
    issue(warp, lane, std::make_unique<ShiftOperation>(warp, lane, *instruction, at.column, std::move(ctas)));
    return Step::Next;
  }

  unsigned group;
  AddressSource address;
};

} // namespace

Result<OperationPtr> decodeSharedCopy(Decoding &d) {
  const unsigned group = takeCtaGroup(d);
  const std::optional<CopyShape> shape = group ? takeShape(d) : std::nullopt;
  if (!shape || !d.finished(2))
    return d.failed ? d.error(d.failure) : d.unsupported();
  return decoded(d, make<Copy>(group, *shape, d.address(d.operand(0)), d.source<uint64_t>(1)));
}

Result<OperationPtr> decodeShift(Decoding &d) {
  const unsigned group = takeCtaGroup(d);
  if (!group || !d.take("down") || !d.finished(1))
    return d.failed ? d.error(d.failure) : d.unsupported();
  if (d.program.module.target.ends_with('f'))
    return d.error(fmt::format("{} has no tcgen05.shift", d.program.module.target));
  return decoded(d, make<Shift>(group, d.address(d.operand(0))));
}

} // namespace tile::sim::tensor
