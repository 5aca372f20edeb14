// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05.ld, st and their waits. PTX ISA 9.7.16.8.
//
// A load reads when it is issued. Until wait::ld, its registers may be read (a read waits for the load), but not
// written. A store writes at any time before wait::st. Each is one access by the whole warp.
#include "Simulator/Exec/Tensor/Fragments.h"
#include "Simulator/Exec/Tensor/Tensor.h"
#include "Simulator/Numerics/MinMax.h"

#include <algorithm>
#include <bit>

namespace tile::sim::tensor {

namespace {

struct MoveForm {
  Shape shape = Shape::L32x32;
  unsigned registers = 1;
  bool isPacked = false;
  unsigned split = 0; ///< .16x32bx2: distance in columns from the first half to the second

  unsigned perRegister() const { return isPacked ? 2 : 1; }
  /// Calls `function(first column, columns)` for the columns that the instruction accesses, with all their lanes.
  template <typename Function> void forColumns(Function &&function) const {
    const unsigned columns = columnsOf(shape, registers) * perRegister();
    function(0u, columns);
    if (shape == Shape::L16x32x2)
      function(split, columns);
  }
  /// Returns the cell of a register; with .pack::16b, the first of its two cells.
  Cell cell(unsigned thread, unsigned reg) const {
    Cell cell = cellOf(shape, thread, reg);
    cell.column *= perRegister();
    if (shape == Shape::L16x32x2 && thread >= 16)
      cell.column += split;
    return cell;
  }
};

/// Returns the first cell of the warp's access, or nullopt after a report.
std::optional<TensorAddress> findStart(Warp &warp, const Instruction &instruction, const MoveForm &form,
                                       const AddressSource &address) {
  const uint32_t bits = address.one(warp, 0);
  for (unsigned lane = 1; lane < warpSize; ++lane)
    if (address.one(warp, lane) != bits) {
      refuse(warp, ReportKind::InvalidOperand, instruction, lane,
             "{}: the address differs between the lanes: {:#x} in lane 0, {:#x} in lane {}", instruction.text(), bits,
             uint32_t(address.one(warp, lane)), lane);
      return std::nullopt;
    }
  const TensorAddress start = TensorAddress::of(bits);
  const unsigned first = warp.index % warpsInGroup * tensorLanesOfWarp, lanes = lanesOf(form.shape);
  if (start.lane < first || start.lane + lanes > first + tensorLanesOfWarp || start.lane % lanes) {
    refuse(warp, ReportKind::InvalidOperand, instruction, -1,
           "{} of lanes {} to {} by warp {}, which reaches lanes {} to {} of tensor memory", instruction.text(),
           start.lane, start.lane + lanes - 1, warp.index, first, first + tensorLanesOfWarp - 1);
    return std::nullopt;
  }
  bool isAllocated = true;
  form.forColumns([&](unsigned column, unsigned columns) {
    isAllocated = isAllocated && checkColumns(warp, instruction, -1, warp.cta, start.column + column, columns);
  });
  return isAllocated ? std::optional(start) : std::nullopt;
}

void noteMove(Warp &warp, const Instruction &instruction, const MoveForm &form, TensorAddress start, bool isStore) {
  Checker *checker = checkerOf(warp);
  if (!checker)
    return;
  const Epoch finished = isStore ? Epoch{warp.component(Warp::Waitable::TensorStores), warp.tensorStoreWaits + 1}
                                 : Epoch{warp.component(Warp::Waitable::TensorLoads), warp.tensorLoadWaits + 1};
  form.forColumns([&](unsigned first, unsigned columns) {
    for (unsigned column = first; column < first + columns; ++column)
      checker->tensorAccess(warp, {.loc = instruction.loc,
                                   .isCollective = true,
                                   .kind = isStore ? AccessKind::Write : AccessKind::Read,
                                   .range = rangeOf(warp.cta, start.lane, lanesOf(form.shape), start.column + column),
                                   .finished = finished});
  });
}

bool isWholeWarp(Warp &warp, const Instruction &instruction) {
  return warp.alive == allLanes || refuse(warp, ReportKind::Divergence, instruction, -1,
                                          "{} needs all 32 threads of the warp, but only lanes {:#010x} are active",
                                          instruction.text(), warp.alive);
}

/// .red: each thread also computes the minimum or maximum of its values.
struct Reduction {
  uint32_t (*combine)(uint32_t, uint32_t) = nullptr; ///< null: no reduction
  bool isAbs = false;
  Dest<uint32_t> result;
};

class Load final : public Operation {
public:
  Load(const MoveForm &form, std::vector<Dest<uint32_t>> dests, AddressSource address, const Reduction &reduction)
      : form(form), dests(std::move(dests)), address(address), reduction(reduction) {
    aligned = true;
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (!isWholeWarp(warp, *instruction))
      return Step::Fault;
    const std::optional<TensorAddress> start = findStart(warp, *instruction, form, address);
    if (!start)
      return Step::Fault;
    noteMove(warp, *instruction, form, *start, false);
    TensorMemory &memory = warp.cta.tensor;
    uint32_t reduced[warpSize];
    for (unsigned r = 0; r < dests.size(); ++r) {
      uint32_t values[warpSize];
      for (unsigned thread = 0; thread < warpSize; ++thread) {
        const Cell cell = form.cell(thread, r);
        const unsigned lane = start->lane + cell.lane, column = start->column + cell.column;
        values[thread] = form.isPacked ? (memory.at(lane, column) & 0xffff) | memory.at(lane, column + 1) << 16
                                       : memory.at(lane, column);
      }
      write(warp, active, dests[r], values);
      if (reduction.combine)
        reduce(r == 0, values, reduced);
    }
    if (reduction.combine)
      write(warp, active, reduction.result, reduced);
    return Step::Next;
  }

private:
  static void write(Warp &warp, LaneMask active, const Dest<uint32_t> &dest, const uint32_t *values) {
    dest.write(warp, active, values);
    if (!dest.isSink)
      warp.registersLoading.push_back(dest.offset);
  }

  void reduce(bool isFirst, const uint32_t *values, uint32_t *reduced) const {
    for (unsigned thread = 0; thread < warpSize; ++thread) {
      const uint32_t value = reduction.isAbs ? values[thread] & 0x7fffffff : values[thread];
      reduced[thread] = isFirst ? value : reduction.combine(reduced[thread], value);
    }
  }

  MoveForm form;
  std::vector<Dest<uint32_t>> dests;
  AddressSource address;
  Reduction reduction;
};

template <bool isMax, numerics::NanRule nanRule> uint32_t combineFloats(uint32_t a, uint32_t b) {
  const float result = numerics::minMax<float, isMax, nanRule, false>(std::bit_cast<float>(a), std::bit_cast<float>(b));
  return std::bit_cast<uint32_t>(result);
}
template <typename T, bool isMax> uint32_t combineIntegers(uint32_t a, uint32_t b) {
  return uint32_t(isMax ? std::max(T(a), T(b)) : std::min(T(a), T(b)));
}

/// Takes .min or .max, with {.abs}{.NaN}.f32, or with .u32 or .s32.
bool takeReduction(Decoding &d, Reduction &reduction) {
  using numerics::NanRule;
  const int op = d.takeOne({"min", "max"});
  reduction.isAbs = d.take("abs");
  const bool propagates = d.take("NaN"), isMax = op == 1;
  const std::optional<Type> type = d.takeType();
  if (op < 0 || ((reduction.isAbs || propagates) && type != Type::F32))
    return false;
  if (type == Type::F32 && propagates)
    reduction.combine = isMax ? combineFloats<true, NanRule::Propagate> : combineFloats<false, NanRule::Propagate>;
  else if (type == Type::F32)
    reduction.combine = isMax ? combineFloats<true, NanRule::PassOver> : combineFloats<false, NanRule::PassOver>;
  else if (type == Type::U32)
    reduction.combine = isMax ? combineIntegers<uint32_t, true> : combineIntegers<uint32_t, false>;
  else if (type == Type::S32)
    reduction.combine = isMax ? combineIntegers<int32_t, true> : combineIntegers<int32_t, false>;
  return reduction.combine;
}

class StoreOperation final : public AsyncOperation {
public:
  StoreOperation(Warp &warp, const Instruction &instruction, const MoveForm &form, TensorAddress start,
                 std::vector<uint32_t> values)
      : warp(warp), instruction(instruction), form(form), start(start), values(std::move(values)) {
    ++warp.tensorStoresInFlight;
  }

  bool advance(Random &) override {
    TensorMemory &memory = warp.cta.tensor;
    for (unsigned r = 0; r < form.registers; ++r)
      for (unsigned thread = 0; thread < warpSize; ++thread) {
        const Cell cell = form.cell(thread, r);
        const unsigned lane = start.lane + cell.lane, column = start.column + cell.column;
        const uint32_t value = values[r * warpSize + thread];
        memory.at(lane, column) = form.isPacked ? value & 0xffff : value;
        if (form.isPacked)
          memory.at(lane, column + 1) = value >> 16;
      }
    --warp.tensorStoresInFlight;
    return true;
  }
  std::string describe() const override {
    return fmt::format("{} at line {} of warp {}", instruction.text(), instruction.loc.ptxLine, warp.index);
  }

private:
  Warp &warp;
  const Instruction &instruction;
  MoveForm form;
  TensorAddress start;
  std::vector<uint32_t> values;
};

class Store final : public Operation {
public:
  Store(const MoveForm &form, std::vector<Source<uint32_t>> sources, AddressSource address)
      : form(form), sources(std::move(sources)), address(address) {
    aligned = true;
  }

  Step execute(Warp &warp, Fragment &, LaneMask) const override {
    if (!isWholeWarp(warp, *instruction))
      return Step::Fault;
    const std::optional<TensorAddress> start = findStart(warp, *instruction, form, address);
    if (!start)
      return Step::Fault;
    noteMove(warp, *instruction, form, *start, true);
    std::vector<uint32_t> values(sources.size() * warpSize);
    uint32_t scratch[warpSize];
    for (unsigned r = 0; r < sources.size(); ++r)
      std::copy_n(sources[r].read(warp, scratch), warpSize, values.begin() + r * warpSize);
    warp.cta.cluster.start(std::make_unique<StoreOperation>(warp, *instruction, form, *start, std::move(values)));
    return Step::Next;
  }

private:
  MoveForm form;
  std::vector<Source<uint32_t>> sources;
  AddressSource address;
};

class Wait final : public Operation {
public:
  explicit Wait(bool ofStores) : ofStores(ofStores) { aligned = true; }

  Step execute(Warp &warp, Fragment &, LaneMask) const override {
    if (ofStores && warp.tensorStoresInFlight)
      return Step::Wait;
    if (!ofStores) {
      warp.finishTensorLoads();
      return Step::Next;
    }
    ++warp.tensorStoreWaits;
    if (Checker *checker = checkerOf(warp))
      checker->raise(warp, {warp.component(Warp::Waitable::TensorStores), warp.tensorStoreWaits}, allLanes,
                     /*collective=*/true);
    return Step::Next;
  }
  std::string describeWait(const Warp &warp, const Fragment &) const override {
    return ofStores && warp.tensorStoresInFlight ? "waits for stores to tensor memory" : std::string();
  }

private:
  bool ofStores;
};

/// Takes .sync.aligned.shape.num{.pack::16b}.b32 and the operands other than the address.
bool takeShape(Decoding &d, MoveForm &form) {
  if (!d.take("sync") || !d.take("aligned"))
    return false;
  const int shape = d.takeOne({"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
  const int power = d.takeOne({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  if (shape < 0 || power < 0)
    return false;
  form.shape = Shape(shape);
  form.registers = registersOf(form.shape) << power;
  return true;
}

bool takeForm(Decoding &d, bool isStore, MoveForm &form) {
  if (!takeShape(d, form))
    return false;
  form.isPacked = d.take(isStore ? "unpack::16b" : "pack::16b");
  const bool isSplit = form.shape == Shape::L16x32x2;
  if (!d.take("b32") || !d.finished(2 + isSplit) || form.registers > mostRegisters)
    return false;
  if (isSplit) {
    const Operand &split = d.operand(isStore ? 1 : 2);
    if (split.kind != Operand::Kind::Immediate)
      return false;
    form.split = split.bits;
  }
  return elementsOf(d.operand(isStore ? d.instruction.operands.size() - 1 : 0)).size() == form.registers;
}

} // namespace

/// Takes the suffixes and the result of tcgen05.ld.red, which accesses only whole lanes (.32x32b). According to the
/// ISA, sm_103a, sm_110a and their families have this instruction.
runtime::Status takeReducingForm(Decoding &d, MoveForm &form, Reduction &reduction) {
  if (const std::string &target = d.program.module.target; target.starts_with("sm_100"))
    return d.error(fmt::format("{} has no .red; sm_103a and sm_110a have it", target));
  if (!takeShape(d, form) || form.shape != Shape::L32x32 || !takeReduction(d, reduction) || !d.finished(3) ||
      form.registers < 2 || elementsOf(d.operand(0)).size() != form.registers)
    return d.unsupported();
  reduction.result = d.dest<uint32_t>(1);
  return runtime::Success{};
}

Result<OperationPtr> decodeLoad(Decoding &d) {
  MoveForm form;
  Reduction reduction;
  const bool reduces = d.take("red");
  if (reduces) {
    if (runtime::Status taken = takeReducingForm(d, form, reduction); !taken)
      return taken.error();
  } else if (!takeForm(d, false, form)) {
    return d.unsupported();
  }
  std::vector<Dest<uint32_t>> dests;
  for (const Operand &element : elementsOf(d.operand(0)))
    dests.push_back(d.dest<uint32_t>(element));
  return decoded(d, make<Load>(form, std::move(dests), d.address(d.operand(1 + reduces)), reduction));
}

Result<OperationPtr> decodeStore(Decoding &d) {
  MoveForm form;
  if (!takeForm(d, true, form))
    return d.unsupported();
  std::vector<Source<uint32_t>> sources;
  for (const Operand &element : elementsOf(d.operand(d.instruction.operands.size() - 1)))
    sources.push_back(d.source<uint32_t>(element));
  return decoded(d, make<Store>(form, std::move(sources), d.address(d.operand(0))));
}

Result<OperationPtr> decodeWait(Decoding &d, bool ofStores) {
  return d.take("sync") && d.take("aligned") && d.finished(0) ? Result<OperationPtr>(make<Wait>(ofStores))
                                                              : d.unsupported();
}

} // namespace tile::sim::tensor
