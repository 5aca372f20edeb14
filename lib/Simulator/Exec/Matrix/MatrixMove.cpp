// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix, stmatrix, movmatrix: move 8x8 matrices of 16-bit elements between shared memory and fragments. PTX ISA
// 9.7.14.5.15 to 17. Lane i provides the address of row i % 8 (16 bytes) of matrix i / 8. Register j of lane i contains
// the elements 2 * (i % 4) and 2 * (i % 4) + 1 of row i / 4 of matrix j or, with .trans, of its transpose.
#include "Simulator/Exec/Matrix/Decoders.h"
#include "Simulator/Exec/MemoryPort.h"

#include <fmt/format.h>

namespace tile::sim::matrix {

namespace {

constexpr unsigned side = 8;
constexpr unsigned rowBytes = 16;

struct Matrix {
  uint16_t at[side][side];
  void transpose() {
    for (unsigned row = 0; row < side; ++row)
      for (unsigned column = 0; column < row; ++column)
        std::swap(at[row][column], at[column][row]);
  }
};
static_assert(sizeof(Matrix) == side * rowBytes);

Matrix gather(const uint32_t *values) {
  Matrix matrix;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    std::memcpy(&matrix.at[lane / 4][lane % 4 * 2], &values[lane], sizeof(uint32_t));
  return matrix;
}
void scatter(const Matrix &matrix, uint32_t *values) {
  for (unsigned lane = 0; lane < warpSize; ++lane)
    std::memcpy(&values[lane], &matrix.at[lane / 4][lane % 4 * 2], sizeof(uint32_t));
}

/// Returns the lanes that provide the addresses of `count` matrices.
LaneMask addressLanes(size_t count) {
  return count * side == warpSize ? allLanes : (LaneMask(1) << count * side) - 1;
}

LaneAccess describeRows(const Instruction *instruction, AccessKind kind) {
  LaneAccess access;
  access.instruction = instruction;
  access.kind = kind;
  access.bytes = rowBytes;
  return access;
}

/// Resolves the addresses of rows, which must be in shared memory (PTX ISA, "ldmatrix" and "stmatrix"). Returns false
/// after a report.
bool resolveRows(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize], LaneAccess &access,
                 std::byte *(&host)[warpSize]) {
  if (!resolveLanes(warp, space, lanes, addresses, access, host))
    return false;
  for (LaneMask remaining = lanes; remaining; remaining &= remaining - 1)
    if (unsigned lane = firstLane(remaining); access.space[lane] != Space::Shared) {
      warp.fault(ReportKind::InvalidOperand, access.instruction->loc, lane,
                 fmt::format("the row at {:#x} is in {} memory, not in shared memory", addresses[lane],
                             spaceName(access.space[lane])));
      return false;
    }
  return true;
}

class LoadMatrix final : public Operation {
public:
  LoadMatrix(Space space, AddressSource address, std::vector<Dest<uint32_t>> dests, bool transposed)
      : space(space), address(address), dests(std::move(dests)), transposed(transposed) {
    aligned = true;
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (!isWholeWarp(warp, *this))
      return Step::Fault;
    LaneMask lanes = addressLanes(dests.size());
    uint64_t addresses[warpSize];
    std::byte *host[warpSize];
    address.read(warp, lanes, addresses);
    LaneAccess access = describeRows(instruction, AccessKind::Read);
    if (!resolveRows(warp, space, lanes, addresses, access, host))
      return Step::Fault;
    for (size_t i = 0; i < dests.size(); ++i) {
      Matrix matrix;
      for (unsigned row = 0; row < side; ++row)
        std::memcpy(matrix.at[row], host[i * side + row], rowBytes);
      if (transposed)
        matrix.transpose();
      uint32_t values[warpSize];
      scatter(matrix, values);
      dests[i].write(warp, active, values);
    }
    return Step::Next;
  }

private:
  Space space;
  AddressSource address;
  std::vector<Dest<uint32_t>> dests;
  bool transposed;
};

class StoreMatrix final : public Operation {
public:
  StoreMatrix(Space space, AddressSource address, std::vector<Source<uint32_t>> sources, bool transposed)
      : space(space), address(address), sources(std::move(sources)), transposed(transposed) {
    aligned = true;
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (!isWholeWarp(warp, *this))
      return Step::Fault;
    LaneMask lanes = addressLanes(sources.size());
    uint64_t addresses[warpSize];
    std::byte *host[warpSize];
    address.read(warp, lanes, addresses);
    Matrix matrices[4];
    uint32_t scratch[warpSize];
    for (size_t i = 0; i < sources.size(); ++i) {
      matrices[i] = gather(sources[i].read(warp, scratch));
      if (transposed)
        matrices[i].transpose();
    }
    LaneAccess access = describeRows(instruction, AccessKind::Write);
    access.values = reinterpret_cast<const std::byte *>(matrices);
    if (!resolveRows(warp, space, lanes, addresses, access, host))
      return Step::Fault;
    forLanes(lanes, [&](unsigned lane) { std::memcpy(host[lane], matrices[lane / side].at[lane % side], rowBytes); });
    warp.cta.cluster.noteProgress();
    return Step::Next;
  }

private:
  Space space;
  AddressSource address;
  std::vector<Source<uint32_t>> sources;
  bool transposed;
};

class TransposeMatrix final : public Operation {
public:
  TransposeMatrix(Dest<uint32_t> dest, Source<uint32_t> source) : dest(dest), source(source) { aligned = true; }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (!isWholeWarp(warp, *this))
      return Step::Fault;
    uint32_t scratch[warpSize];
    Matrix matrix = gather(source.read(warp, scratch));
    matrix.transpose();
    scatter(matrix, scratch);
    dest.write(warp, active, scratch);
    return Step::Next;
  }

private:
  Dest<uint32_t> dest;
  Source<uint32_t> source;
};

/// Takes .m8n8.x4{.trans}{.shared}.b16, which follows .sync.aligned, and sets `count` to the number of matrices.
/// ByteMatrixMove.cpp has the other shapes.
bool takeMatrixSuffixes(Decoding &d, unsigned &count, bool &transposed, Space &space) {
  if (!d.take("m8n8"))
    return false;
  int number = d.takeOne({"x1", "x2", "x4"});
  if (number < 0)
    return false;
  count = 1u << number;
  transposed = d.take("trans");
  space = d.takeOne({"shared", "shared::cta"}) >= 0 ? Space::Shared : Space::Generic;
  return d.take("b16");
}

} // namespace

Result<OperationPtr> decodeLoadMatrix(Decoding &d) {
  unsigned count = 0;
  bool transposed = false;
  Space space = Space::Generic;
  if (!d.take("sync") || !d.take("aligned"))
    return d.unsupported();
  if (d.peek() != "m8n8")
    return decodeLoadBytes(d);
  if (!takeMatrixSuffixes(d, count, transposed, space) || !d.finished(2) || elementsOf(d.operand(0)).size() != count)
    return d.unsupported();
  std::vector<Dest<uint32_t>> dests;
  for (const Operand &element : elementsOf(d.operand(0)))
    dests.push_back(d.dest<uint32_t>(element));
  return make<LoadMatrix>(space, d.address(d.operand(1)), std::move(dests), transposed);
}

Result<OperationPtr> decodeStoreMatrix(Decoding &d) {
  unsigned count = 0;
  bool transposed = false;
  Space space = Space::Generic;
  if (!d.take("sync") || !d.take("aligned"))
    return d.unsupported();
  if (d.peek() != "m8n8")
    return decodeStoreBytes(d);
  if (!takeMatrixSuffixes(d, count, transposed, space) || !d.finished(2) || elementsOf(d.operand(1)).size() != count)
    return d.unsupported();
  std::vector<Source<uint32_t>> sources;
  for (const Operand &element : elementsOf(d.operand(1)))
    sources.push_back(d.source<uint32_t>(element));
  return make<StoreMatrix>(space, d.address(d.operand(0)), std::move(sources), transposed);
}

Result<OperationPtr> decodeTransposeMatrix(Decoding &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") || !d.take("trans") || !d.take("b16") || !d.finished(2))
    return d.unsupported();
  return make<TransposeMatrix>(d.dest<uint32_t>(0), d.source<uint32_t>(1));
}

} // namespace tile::sim::matrix
