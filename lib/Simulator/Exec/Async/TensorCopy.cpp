// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor in tile mode, including gather4 and scatter4. PTX ISA 9.7.9.27.
//
// im2col modes are not implemented: they are rejected when the program is loaded.
#include "Simulator/Exec/Async/BulkCopy.h"
#include "Simulator/Exec/Async/MapAccess.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

constexpr uint32_t boxAlignment = 128; ///< alignment of the box in shared memory, PTX ISA 5.5.6
/// The alignment, in bytes, of the first element of a box within its row. On an H200, a copy with any other position
/// causes an illegal-instruction error (measured for elements of 1, 2 and 4 bytes, all swizzles, one and two
/// dimensions).
constexpr int64_t rowAlignment = 16;

/// The operand [map, {coordinates}].
struct TensorOperand {
  AddressSource map;
  unsigned rank = 0;
  bool listsRows = false; ///< gather4, scatter4: a column and four row indices
  unsigned count() const { return listsRows ? 5 : rank; }
  Source<int32_t> coordinates[maxTensorDimensions];
};

/// Finds the map of one lane's copy and the coordinates of its box. Returns false after a report.
bool loadBox(Warp &warp, const Instruction &instruction, unsigned lane, const TensorOperand &operand, TensorMap &map,
             int32_t (&coordinates)[maxTensorDimensions]) {
  if (!loadTensorMap(warp, instruction, lane, operand.map.one(warp, lane), map))
    return false;
  if (map.rank != operand.rank) {
    warp.fault(ReportKind::InvalidOperand, instruction.loc, lane,
               fmt::format("{} coordinates for a tensor map of rank {}", operand.rank, map.rank));
    return false;
  }
  if (operand.listsRows && map.box[1] != 1) {
    warp.fault(
        ReportKind::InvalidOperand, instruction.loc, lane,
        fmt::format("a copy of individual rows through a tensor map whose box has {} rows; 1 is needed", map.box[1]));
    return false;
  }
  for (unsigned dim = 0; dim < operand.count(); ++dim)
    coordinates[dim] = operand.coordinates[dim].one(warp, lane);
  return true;
}

class TensorCopy final : public LaneByLaneOperation {
public:
  BulkForm form;
  std::optional<ReduceOp> reduction;
  TensorOperand tensor;
  AddressSource shared, barrier;
  Source<uint16_t> ctaMask;

private:
  Step executeLane(Warp &warp, unsigned lane) const override {
    TensorMap map;
    int32_t coordinates[maxTensorDimensions] = {};
    if (!loadBox(warp, *instruction, lane, tensor, map, coordinates))
      return Step::Fault;
    if (int64_t bytes = int64_t(coordinates[0]) * map.elementBytes(); bytes % rowAlignment != 0)
      return warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                        fmt::format("innermost coordinate {} is at byte {} of a row; copies begin at multiples of {}",
                                    coordinates[0], bytes, rowAlignment));
    TransferPlan plan{.warp = warp,
                      .instruction = *instruction,
                      .lane = lane,
                      .rows = tensor.listsRows ? BoxRows::listed(map, coordinates) : BoxRows(map, coordinates)};
    plan.map = &map;
    // This behaviour was measured on an H200. For reductions it is unknown.
    if (form.direction == BulkDirection::OutOfShared && !reduction)
      plan.rows.endAtWholePieces();
    if (!resolveRows(plan, map.address))
      return Step::Fault;
    if (form.direction == BulkDirection::IntoShared)
      return startLoads(plan, form, map.swizzle, boxAlignment, shared.one(warp, lane), barrier.one(warp, lane),
                        ctaMask.one(warp, lane));
    if (reduction) {
      plan.reducer = findReducer(*reduction, reductionType(map.type, *reduction));
      if (!plan.reducer)
        return warp.fault(
            ReportKind::InvalidOperand, instruction->loc, lane,
            fmt::format("there is no such reduction for element type {} of the tensor map", unsigned(map.type)));
    }
    SharedBox box{.swizzle = map.swizzle};
    if (!resolveBox(plan, shared.one(warp, lane), boxAlignment, box))
      return Step::Fault;
    startOutOfShared(plan, box);
    observeCopy(plan, false);
    return Step::Next;
  }
};

/// cp.async.bulk.prefetch.tensor. Only checks the map.
class TensorPrefetch final : public Operation {
public:
  TensorOperand tensor;
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (; active; active &= active - 1) {
      TensorMap map;
      int32_t coordinates[maxTensorDimensions] = {};
      if (!loadBox(warp, *instruction, firstLane(active), tensor, map, coordinates))
        return Step::Fault;
    }
    return Step::Next;
  }
};

/// Takes .1d … .5d and returns the rank, or 0 if there is none.
unsigned takeRank(Decoding &d) {
  return d.takeOne({"1d", "2d", "3d", "4d", "5d"}) + 1;
}

bool decodeTensor(Decoding &d, const Operand &operand, unsigned rank, TensorOperand &tensor) {
  tensor.rank = rank;
  if (operand.kind != Operand::Kind::Address || operand.elements.size() < 2)
    return false;
  // The coordinates follow the map, as separate elements or as one vector.
  const Operand &second = operand.elements[1];
  bool isVector = second.kind == Operand::Kind::Vector;
  const std::vector<Operand> &list = isVector ? second.elements : operand.elements;
  size_t first = isVector ? 0 : 1;
  if (list.size() != first + tensor.count())
    return false;
  tensor.map = d.address(operand);
  for (unsigned dim = 0; dim < tensor.count(); ++dim)
    tensor.coordinates[dim] = d.source<int32_t>(list[first + dim]);
  return true;
}

} // namespace

Result<OperationPtr> decodeTensorPrefetch(Decoding &d) {
  unsigned rank = takeRank(d);
  bool known = rank > 0 && d.take("L2") && d.take("global");
  auto operation = std::make_unique<TensorPrefetch>();
  operation->tensor.listsRows = d.takeOne({"tile", "tile::gather4"}) == 1;
  known &= !operation->tensor.listsRows || rank == 2;
  bool hint = d.take("L2::cache_hint");
  if (!known || !d.finished(1 + hint) || !decodeTensor(d, d.operand(0), rank, operation->tensor))
    return d.unsupported();
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeTensorCopy(Decoding &d) {
  auto operation = std::make_unique<TensorCopy>();
  BulkForm &form = operation->form;
  bool reduces = d.instruction.suffixes.front() == "reduce";
  unsigned rank = takeRank(d);
  // CUTLASS writes .cta_group before the destination, and ptxas accepts that position, too.
  form.ctaGroup = d.takeOne({"cta_group::1", "cta_group::2"}) + 1;
  int destination = d.takeOne({"shared::cluster", "shared::cta", "global"});
  int source = d.takeOne({"global", "shared::cta"});
  if (reduces && !(operation->reduction = takeReduceOp(d)))
    return d.unsupported();
  const int mode = d.takeOne({"tile", "tile::gather4", "tile::scatter4"});
  operation->tensor.listsRows = mode > 0;
  if (mode > 0 && (rank != 2 || reduces || (mode == 2) != (destination == 2)))
    return d.unsupported();
  if (destination == 2 && source == 1 && d.take("bulk_group"))
    form.direction = BulkDirection::OutOfShared;
  else if (!reduces && (destination == 0 || destination == 1) && source == 0 && d.take("mbarrier::complete_tx::bytes"))
    form.direction = BulkDirection::IntoShared;
  else
    return d.unsupported();
  bool loads = form.direction == BulkDirection::IntoShared;
  form.toOwnCta = destination == 1;
  form.multicast = loads && destination == 0 && d.take("multicast::cluster");
  if (!form.ctaGroup && loads)
    form.ctaGroup = d.takeOne({"cta_group::1", "cta_group::2"}) + 1;
  form.cacheHint = d.take("L2::cache_hint");
  if (rank == 0 || (form.ctaGroup && !loads) || !d.finished(2 + loads + form.multicast + form.cacheHint))
    return d.unsupported();
  if (!decodeTensor(d, d.operand(loads), rank, operation->tensor))
    return d.error("the number of coordinates must equal the number of dimensions");
  operation->shared = d.address(d.operand(!loads));
  if (loads)
    operation->barrier = d.address(d.operand(2));
  if (form.multicast)
    operation->ctaMask = d.source<uint16_t>(3);
  return decoded(d, std::move(operation));
}

} // namespace tile::sim
