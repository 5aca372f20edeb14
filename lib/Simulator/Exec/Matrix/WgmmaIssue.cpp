// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes, checks and issues wgmma.
#include "Simulator/Exec/Matrix/Decoders.h"
#include "Simulator/Exec/Matrix/Wgmma.h"
#include "Simulator/Exec/MemoryPort.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::sim::matrix {

namespace {

class Wgmma final : public Operation {
public:
  Wgmma(WgmmaShape shape, Source<uint64_t> left, Source<uint64_t> right, PredicateSource keep)
      : shape(std::move(shape)), left(left), right(right), keep(keep) {
    aligned = ownsRegisters = true;
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override;

  std::string missingFence; ///< describes the finding of findMissingFence; empty if there is none

  /// Called when the warp has waited for all groups before `group`.
  static void forget(Warp &warp, uint64_t group) {
    while (!warp.wgmmaUnwaited.empty() && warp.wgmmaUnwaited.front().first < group)
      warp.wgmmaUnwaited.pop_front();
    listRegisters(warp);
  }

private:
  static void listRegisters(Warp &warp);
  bool checkGroup(Warp &warp) const;
  bool readOperands(Warp &warp, WgmmaIssue &issue) const;
  bool checkRegisters(Warp &warp) const;
  bool checkMemory(Warp &warp, const Descriptor &descriptor, bool isLineMajor, unsigned first, unsigned count,
                   std::string_view which) const;
  WgmmaOperation *findOperation(Warp &warp) const;
  bool overlaps(const WgmmaShape &other) const;

  WgmmaShape shape;
  Source<uint64_t> left, right;
  PredicateSource keep;
};

/// Reports an error and returns false.
template <typename... Arguments>
bool refuse(Warp &warp, ReportKind kind, const Operation &operation, fmt::format_string<Arguments...> text,
            Arguments &&...arguments) {
  warp.fault(kind, operation.instruction->loc, -1, fmt::format(text, std::forward<Arguments>(arguments)...));
  return false;
}

bool Wgmma::checkGroup(Warp &warp) const {
  unsigned first = warp.index / warpsInGroup * warpsInGroup;
  for (unsigned i = first; i < first + warpsInGroup; ++i) {
    if (i >= warp.cta.warps.size())
      return refuse(warp, ReportKind::InvalidOperand, *this,
                    "{} needs the four warps {} to {}, but the CTA has {} warps", instruction->text(), first,
                    first + warpsInGroup - 1, warp.cta.warps.size());
    if (warp.cta.warps[i]->alive != allLanes)
      return refuse(warp, ReportKind::InvalidOperand, *this,
                    "{} needs all threads of the warps {} to {}, but some of warp {} have ended", instruction->text(),
                    first, first + warpsInGroup - 1, i);
  }
  return true;
}

bool Wgmma::readOperands(Warp &warp, WgmmaIssue &issue) const {
  uint64_t scratch[warpSize];
  auto uniform = [&](const Source<uint64_t> &source, std::string_view which, uint64_t &value) {
    const uint64_t *values = source.read(warp, scratch);
    value = values[0];
    for (unsigned lane = 1; lane < warpSize; ++lane)
      if (values[lane] != value)
        return refuse(
            warp, ReportKind::InvalidOperand, *this,
            "{}: the descriptor of the {} factor differs between the lanes: {:#x} in lane 0, {:#x} in lane {}",
            instruction->text(), which, value, values[lane], lane);
    return true;
  };
  uint64_t bits = 0;
  if (!shape.leftInRegisters) {
    if (!uniform(left, "left", bits))
      return false;
    issue.left = Descriptor(bits);
  }
  if (!uniform(right, "right", bits))
    return false;
  issue.right = Descriptor(bits);
  LaneMask mask = keep.read(warp);
  issue.keepsAccumulators = mask != 0;
  if (mask != 0 && mask != allLanes)
    return refuse(warp, ReportKind::InvalidOperand, *this, "{}: scale-d differs between the lanes: {:#010x}",
                  instruction->text(), mask);
  return true;
}

bool Wgmma::overlaps(const WgmmaShape &other) const {
  auto intersect = [](const std::vector<uint32_t> &a, const std::vector<uint32_t> &b) {
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
  };
  bool isChain = shape.isSameKind(other) && shape.accumulators == other.accumulators;
  return (!isChain && intersect(shape.accumulators, other.accumulators)) || intersect(shape.left, other.accumulators) ||
         intersect(shape.accumulators, other.left);
}

/// Lists the registers in flight. Accumulators that consecutive wgmmas share are listed once.
void Wgmma::listRegisters(Warp &warp) {
  std::vector<uint32_t> &all = warp.registersInFlight;
  all.clear();
  const WgmmaShape *last = nullptr;
  for (auto [group, operation] : warp.wgmmaUnwaited) {
    const WgmmaShape &shape = static_cast<const Wgmma *>(operation)->shape;
    if (!last || last->accumulators != shape.accumulators)
      all.insert(all.end(), shape.accumulators.begin(), shape.accumulators.end());
    all.insert(all.end(), shape.left.begin(), shape.left.end());
    last = &shape;
  }
}

bool Wgmma::checkRegisters(Warp &warp) const {
  if (!missingFence.empty() && warp.cta.cluster.machine.checker)
    return refuse(warp, ReportKind::MissingFence, *this, "{}", missingFence);
  for (auto [group, operation] : warp.wgmmaUnwaited)
    if (operation != this && overlaps(static_cast<const Wgmma *>(operation)->shape))
      return refuse(warp, ReportKind::AccumulatorUse, *this,
                    "{} uses registers of the wgmma at line {}, which is in flight: only accumulators of the same "
                    "shape may be shared; otherwise wgmma.wait_group must come first",
                    instruction->text(), operation->instruction->loc.ptxLine);
  return true;
}

/// Checks the bounds of lines [first, first + count) of an operand and informs the checker; adjacent chunks form one
/// range. Returns false after a report.
bool Wgmma::checkMemory(Warp &warp, const Descriptor &descriptor, bool isLineMajor, unsigned first, unsigned count,
                        std::string_view which) const {
  constexpr uint32_t chunk = 16;
  Cta &cta = warp.cta;
  uint32_t limit = sharedBase + cta.sharedSize();
  std::vector<uint64_t> chunks(limit / chunk / 64 + 1);
  uint32_t outside = 0;
  bool isOutside = false;
  forChunks(descriptor, isLineMajor, first, count, shape, [&](uint32_t address, unsigned, unsigned) {
    if (!cta.shared(address, chunk)) {
      outside = address;
      isOutside = true;
    } else {
      chunks[address / chunk / 64] |= uint64_t(1) << address / chunk % 64;
    }
  });
  if (isOutside)
    return refuse(warp, ReportKind::OutOfBounds, *this,
                  "{}: the {} factor reaches shared+{}, of {} bytes of shared memory (descriptor: start {:#x}, leading "
                  "byte offset {}, stride byte offset {}, swizzle {} bytes)",
                  instruction->text(), which, int64_t(outside) - sharedBase, cta.sharedSize(), descriptor.start,
                  descriptor.leading, descriptor.stride, descriptor.swizzle > chunk ? descriptor.swizzle : 0);
  Checker *checker = cta.cluster.machine.checker;
  if (!checker)
    return true;
  Epoch finished = {leader(warp).component(Warp::Waitable::Wgmma), uint32_t(warp.wgmmaGroups.committedGroups() + 1)};
  auto isSet = [&](uint32_t index) { return index < chunks.size() * 64 && (chunks[index / 64] >> index % 64 & 1); };
  for (uint32_t word = 0; word < chunks.size(); ++word)
    while (chunks[word]) {
      uint32_t begin = word * 64 + std::countr_zero(chunks[word]), end = begin;
      for (; isSet(end); ++end)
        chunks[end / 64] &= ~(uint64_t(1) << end % 64);
      Range range = {Space::Shared, cta.rank, begin * chunk - sharedBase, (end - begin) * chunk};
      checker->asyncAccess(warp, 0, instruction->loc, AccessKind::Read, range, true, finished);
    }
  return true;
}

/// Returns an operation that another warp of the group has issued and this warp has not yet joined, or null.
WgmmaOperation *Wgmma::findOperation(Warp &warp) const {
  unsigned first = leader(warp).index;
  for (unsigned i = first; i < first + warpsInGroup; ++i)
    for (AsyncOperation *operation : warp.cta.warps[i]->wgmmaQueue)
      if (!static_cast<WgmmaOperation *>(operation)->hasJoined(warp))
        return static_cast<WgmmaOperation *>(operation);
  return nullptr;
}

Step Wgmma::execute(Warp &warp, Fragment &, LaneMask) const {
  WgmmaIssue issue;
  if (!checkGroup(warp) || !readOperands(warp, issue) || !checkRegisters(warp))
    return Step::Fault;
  unsigned row = warp.index % warpsInGroup * 16;
  if (!shape.leftInRegisters && !checkMemory(warp, issue.left, shape.leftLineMajor, row, 16, "left"))
    return Step::Fault;
  if (!checkMemory(warp, issue.right, shape.rightLineMajor, 0, shape.columns, "right"))
    return Step::Fault;
  Cluster &cluster = warp.cta.cluster;
  WgmmaOperation *operation = findOperation(warp);
  if (!operation) {
    auto started = std::make_unique<WgmmaOperation>(*instruction, shape, issue, warp);
    operation = started.get();
    cluster.start(std::move(started));
  } else if (&operation->instruction != instruction) {
    refuse(warp, ReportKind::Divergence, *this,
           "warp {} executes {} while the other warps of its group execute the wgmma at line {}", warp.index,
           instruction->text(), operation->instruction.loc.ptxLine);
    return Step::Fault;
  } else if (!(operation->issue == issue)) {
    refuse(warp, ReportKind::InvalidOperand, *this,
           "{}: descriptors or scale-d of warp {} differ from those of the other warps of its group",
           instruction->text(), warp.index);
    return Step::Fault;
  }
  operation->join(warp);
  warp.wgmmaUnwaited.emplace_back(warp.wgmmaGroups.committedGroups(), this);
  listRegisters(warp);
  if (Observer *observer = cluster.machine.observer)
    observer->tensorCore(warp, *instruction, uint64_t(16) * shape.columns * shape.depth);
  return Step::Next;
}

/// wgmma.fence. Orders register accesses of the warp and the tensor core. The simulator does not reorder such accesses,
/// so there is nothing to execute.
class WgmmaFence final : public Operation {
public:
  WgmmaFence() { aligned = true; }
  Step execute(Warp &, Fragment &, LaneMask) const override { return Step::Next; }
};

class WgmmaCommit final : public Operation {
public:
  WgmmaCommit() { aligned = true; }
  Step execute(Warp &warp, Fragment &, LaneMask) const override {
    warp.wgmmaGroups.commit();
    return Step::Next;
  }
};

class WgmmaWait final : public Operation {
public:
  WgmmaWait(uint64_t allowed) : allowed(allowed) { aligned = true; }

  Step execute(Warp &warp, Fragment &, LaneMask) const override {
    if (!warp.wgmmaGroups.done(allowed))
      return Step::Wait;
    uint64_t committed = warp.wgmmaGroups.committedGroups();
    if (committed <= allowed)
      return Step::Next;
    Wgmma::forget(warp, committed - allowed);
    if (Checker *checker = warp.cta.cluster.machine.checker)
      checker->raise(warp, {leader(warp).component(Warp::Waitable::Wgmma), uint32_t(committed - allowed)}, allLanes,
                     true);
    return Step::Next;
  }
  std::string describeWait(const Warp &warp, const Fragment &) const override {
    if (warp.wgmmaGroups.done(allowed))
      return {};
    return fmt::format("waits until at most {} wgmma groups are in flight", allowed);
  }

private:
  uint64_t allowed;
};

/// Returns true for the shapes and types of PTX ISA 9.7.15.3.
bool isShapeOf(Element left, Element right, Shape shape) {
  if (!mayMultiply(left, right) || bitsOf(left) < 8 || left == Element::F64)
    return false;
  bool isFine =
      shape.m == groupRows && shape.k * bitsOf(left) == 256 && shape.n % 8 == 0 && shape.n >= 8 && shape.n <= 256;
  return isFine && (!isInteger(left) || shape.n <= 24 || shape.n % 16 == 0);
}

/// Takes an immediate with two valid values: imm-scale-a and imm-scale-b are 1 or -1, imm-trans is 0 or 1.
std::optional<bool> takeImmediate(Decoding &d, size_t index, int no, int yes) {
  const Operand &operand = d.operand(index);
  if (operand.kind != Operand::Kind::Immediate)
    return std::nullopt;
  int value = int(operand.bits);
  return value == yes ? std::optional(true) : value == no ? std::optional(false) : std::nullopt;
}

/// Sets `offsets` to those of the registers of a vector. Returns false if not all of them are 32-bit registers.
bool takeRegisters(Decoding &d, size_t index, std::vector<uint32_t> &offsets) {
  for (const Operand &element : elementsOf(d.operand(index))) {
    Dest<uint32_t> dest = d.dest<uint32_t>(element);
    if (dest.isSink || dest.registerBytes != sizeof(uint32_t))
      return false;
    offsets.push_back(dest.offset);
  }
  return true;
}

/// Takes the immediates after scale-d. Integer forms have none, and only 16-bit elements have the transpositions.
bool takeImmediates(Decoding &d, WgmmaShape &shape) {
  size_t count = d.instruction.operands.size(), next = 4;
  if (isInteger(shape.traits.left))
    return count == next;
  bool is16 = bitsOf(shape.traits.left) == 16;
  if (count != next + 2 + (is16 ? 2 - shape.leftInRegisters : 0))
    return false;
  std::optional<bool> negateLeft = takeImmediate(d, next, 1, -1), negateRight = takeImmediate(d, next + 1, 1, -1);
  if (!negateLeft || !negateRight)
    return false;
  shape.negateLeft = *negateLeft;
  shape.negateRight = *negateRight;
  if (!is16)
    return true;
  next += 2;
  std::optional<bool> left = shape.leftInRegisters ? false : takeImmediate(d, next++, 0, 1);
  std::optional<bool> right = takeImmediate(d, next, 0, 1);
  if (!left || !right)
    return false;
  shape.leftLineMajor = *left;
  shape.rightLineMajor = *right;
  return true;
}

std::string describeMissingFence(Decoding &d) {
  const Function &function = d.program.function;
  std::optional<MissingFence> missing =
      findMissingFence(function, uint32_t(&d.instruction - function.instructions.data()));
  if (!missing)
    return {};
  if (missing->isEntry)
    return fmt::format("{}: no wgmma.fence comes before it", d.instruction.text());
  return fmt::format("{} uses {}, which line {} accesses ({}): a wgmma.fence must stand between them",
                     d.instruction.text(), function.registers[missing->reg].name,
                     function.instructions[missing->instruction].loc.ptxLine,
                     function.instructions[missing->instruction].text());
}

Result<OperationPtr> decodeMmaAsync(Decoding &d) {
  if (!d.take("sync") || !d.take("aligned"))
    return d.unsupported();
  std::optional<Shape> dims = takeShape(d);
  std::optional<Accumulator> accumulator = takeAccumulator(d);
  std::optional<Element> left = takeElement(d), right = takeElement(d);
  if (!dims || !accumulator || !left || !right || !mayAccumulate(*left, *accumulator) ||
      !isShapeOf(*left, *right, *dims))
    return d.unsupported();
  WgmmaShape shape;
  shape.traits = {*left, *right, *accumulator, true};
  if (isInteger(*left))
    shape.traits.saturate = d.take("satfinite");
  if (!d.suffixesFinished() || d.instruction.operands.size() < 4)
    return d.unsupported();
  shape.columns = dims->n;
  shape.depth = dims->k;
  shape.leftInRegisters = d.operand(1).kind == Operand::Kind::Vector;
  if (!takeImmediates(d, shape))
    return d.unsupported();
  unsigned perRegister = *accumulator == Accumulator::F16 ? 2 : 1;
  bool hasRegisters =
      takeRegisters(d, 0, shape.accumulators) && (!shape.leftInRegisters || takeRegisters(d, 1, shape.left));
  if (!hasRegisters || shape.accumulators.size() != shape.columns / 2 / perRegister ||
      (shape.leftInRegisters && shape.left.size() != 4))
    return d.error(fmt::format("needs {} accumulator registers of 32 bits{}", shape.columns / 2 / perRegister,
                               shape.leftInRegisters ? " and 4 of the left factor" : ""));
  Source<uint64_t> leftDescriptor = shape.leftInRegisters ? Source<uint64_t>() : d.source<uint64_t>(1);
  auto operation =
      std::make_unique<Wgmma>(std::move(shape), leftDescriptor, d.source<uint64_t>(2), d.predicateSource(d.operand(3)));
  operation->missingFence = describeMissingFence(d);
  return OperationPtr(std::move(operation));
}

} // namespace

Result<OperationPtr> decodeWgmma(Decoding &d) {
  int kind = d.takeOne({"mma_async", "fence", "commit_group", "wait_group"});
  if (kind == 0)
    return decodeMmaAsync(d);
  if (kind < 0 || !d.take("sync") || !d.take("aligned"))
    return d.unsupported();
  if (kind == 1 && d.finished(0))
    return make<WgmmaFence>();
  if (kind == 2 && d.finished(0))
    return make<WgmmaCommit>();
  if (kind == 3 && d.finished(1) && d.operand(0).kind == Operand::Kind::Immediate)
    return make<WgmmaWait>(d.operand(0).bits);
  return d.unsupported();
}

} // namespace tile::sim::matrix
