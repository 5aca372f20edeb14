// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes, checks and issues tcgen05.mma.
//
// Not supported: .sp (sparse A), .ashift, .ws with a zero-column mask, and elements of 4 and 6 bits in tensor memory
// for kinds f8f6f4 and mxf8f6f4.
#include "Simulator/Exec/Tensor/Mma.h"

#include <algorithm>

namespace tile::sim::tensor {

namespace {

class Mma final : public LaneByLaneOperation {
public:
  MmaForm form;
  AddressSource accumulator, leftAddress, leftScales, rightScales;
  Source<uint64_t> left, right;
  Source<uint32_t> descriptor;
  PredicateSource keep;
  unsigned inputShift = 0;
  std::vector<Source<uint32_t>> disabled;

private:
  Step executeLane(Warp &warp, unsigned lane) const override;
  bool readOperands(Warp &warp, unsigned lane, MmaIssue &issue) const;
  bool checkFactors(Warp &warp, unsigned lane, const MmaIssue &issue) const;
  bool checkTensor(Warp &warp, unsigned lane, const MmaIssue &issue, Cta &cta) const;
  void noteScales(Warp &warp, unsigned lane, const MmaIssue &issue, const Cta &cta, bool isRight) const;
  void noteAccumulator(Warp &warp, unsigned lane, const MmaIssue &issue, unsigned index) const;
};

TensorAddress takeScaleAddress(uint32_t bits) { // the upper two bits select a byte, as the descriptor does
  return TensorAddress::of(bits & 0x3fffffff);
}

bool Mma::readOperands(Warp &warp, unsigned lane, MmaIssue &issue) const {
  issue.form = form;
  const uint32_t bits = descriptor.one(warp, lane);
  if (const std::string error = readInstructionDescriptor(bits, form, issue.shape); !error.empty())
    return refuse(warp, ReportKind::InvalidOperand, *instruction, lane,
                  "{} with the instruction descriptor {:#010x}: {}", instruction->text(), bits, error);
  issue.shape.traits.inputShift = inputShift;
  issue.accumulator = TensorAddress::of(accumulator.one(warp, lane));
  issue.keepsAccumulator = keep.read(warp) >> lane & 1;
  for (size_t i = 0; i < disabled.size(); ++i)
    issue.disabledLanes[i / (tensorLanes / 32)][i % (tensorLanes / 32)] = disabled[i].one(warp, lane);
  issue.ctas = {&warp.cta};
  if (form.ctaGroup == 2) {
    Cta *peer = findPeer(warp, *instruction, lane);
    if (!peer)
      return false;
    issue.ctas.insert(warp.cta.rank % 2 ? issue.ctas.begin() : issue.ctas.end(), peer);
  }
  const std::optional<matrix::Descriptor> rightFound =
      takeDescriptor(warp, lane, *instruction, right.one(warp, lane), "B");
  if (!rightFound)
    return false;
  issue.right = *rightFound;
  if (form.isScaled())
    issue.scales = {takeScaleAddress(leftScales.one(warp, lane)), takeScaleAddress(rightScales.one(warp, lane))};
  if (form.leftInTensor) {
    issue.leftInTensor = TensorAddress::of(leftAddress.one(warp, lane));
    return true;
  }
  const std::optional<matrix::Descriptor> leftFound =
      takeDescriptor(warp, lane, *instruction, left.one(warp, lane), "A");
  if (leftFound)
    issue.left = *leftFound;
  return leftFound.has_value();
}

/// Checks that the addresses are aligned as the shapes and types of the operands require.
bool Mma::checkFactors(Warp &warp, unsigned lane, const MmaIssue &issue) const {
  const Placement placement = issue.placement();
  const unsigned maxLane = placement.isSpread ? 16 : 0;
  for (auto [first, name] : {std::pair(issue.accumulator.lane, "D"), std::pair(issue.leftInTensor.lane, "A")})
    if (first % 16 || first > maxLane)
      return refuse(warp, ReportKind::InvalidOperand, *instruction, lane, "{}: {} begins at lane {}; {} allowed",
                    instruction->text(), name, first, maxLane ? "0 and 16 are" : "only 0 is");
  for (auto [isWide, isLineMajor] : {std::pair(issue.left.hasWideChunks, issue.shape.leftLineMajor),
                                     std::pair(issue.right.hasWideChunks, issue.shape.rightLineMajor)})
    if (isWide && !isLineMajor)
      return refuse(warp, ReportKind::InvalidOperand, *instruction, lane,
                    "{}: the swizzle in chunks of 32 bytes is for MN-major factors", instruction->text());
  const matrix::Element element = issue.shape.traits.left;
  const bool isSmall = matrix::bitsOf(element) < 8 && issue.shape.perChunk == 16;
  if (form.leftInTensor && isSmall)
    return refuse(warp, ReportKind::InvalidOperand, *instruction, lane,
                  "{}: the simulator does not support elements of {} bits in tensor memory", instruction->text(),
                  matrix::bitsOf(element));
  for (Cta *cta : issue.ctas)
    if ((!form.leftInTensor && !checkShared(warp, lane, *instruction, *cta, issue.leftMatrix(), "A")) ||
        !checkShared(warp, lane, *instruction, *cta, issue.rightMatrix(), "B"))
      return false;
  return true;
}

/// Checks the columns in the tensor memory of one CTA that the MMA accesses.
bool Mma::checkTensor(Warp &warp, unsigned lane, const MmaIssue &issue, Cta &cta) const {
  auto check = [&](TensorAddress address, unsigned columns, bool isAccumulator) {
    return checkColumns(warp, *instruction, lane, cta, address.column, columns) &&
           checkAccumulators(warp, lane, *instruction, cta, address, columns, isAccumulator ? issue.shape.m : 0,
                             isAccumulator ? issue.shape.n : 0);
  };
  const Placement placement = issue.placement();
  if (!check(issue.accumulator, placement.partColumns, true))
    return false;
  if (form.leftInTensor && !check(issue.leftInTensor, columnsOfLeft, false))
    return false;
  if (!form.isScaled())
    return true;
  auto columnsOf = [](unsigned lines) { return (lines + tensorLanesOfWarp - 1) / tensorLanesOfWarp; };
  return check(issue.scales.left, columnsOf(placement.rows), false) &&
         check(issue.scales.right, columnsOf(placement.partColumns), false);
}

void Mma::noteScales(Warp &warp, unsigned lane, const MmaIssue &issue, const Cta &cta, bool isRight) const {
  const Placement placement = issue.placement();
  const unsigned lines = isRight ? placement.partColumns : placement.rows;
  for (unsigned line = 0; line < lines; line += tensorLanesOfWarp)
    for (unsigned part = 0; part < tensorLanes / tensorLanesOfWarp; ++part) {
      const ScaleCell first = scaleCell(issue, isRight, line, part);
      notePipeAccess(warp, lane, *instruction, AccessKind::Read,
                     rangeOf(cta, first.lane, std::min(tensorLanesOfWarp, lines - line), first.column));
    }
}

void Mma::noteAccumulator(Warp &warp, unsigned lane, const MmaIssue &issue, unsigned index) const {
  const AccessKind kind = issue.keepsAccumulator ? AccessKind::Atomic : AccessKind::Write;
  const Cta &cta = *issue.ctas[index];
  const Placement placement = issue.placement();
  const unsigned first = issue.accumulator.column, base = issue.accumulator.lane;
  if (!placement.isSpread && !issue.disablesAny())
    return notePipeAccess(warp, lane, *instruction, kind, rangeOf(cta, 0, tensorLanes, first, placement.partColumns));
  for (unsigned column = first; column < first + placement.partColumns; ++column)
    placement.forLanes([&](unsigned begin, unsigned lanes) {
      for (unsigned at = begin + base, end = at + lanes; at < end;) {
        unsigned run = at;
        while (run < end && !issue.isDisabled(index, run))
          ++run;
        if (run > at)
          notePipeAccess(warp, lane, *instruction, kind, rangeOf(cta, at, run - at, column));
        at = run + 1;
      }
    });
}

Step Mma::executeLane(Warp &warp, unsigned lane) const {
  MmaIssue issue;
  if (!readOperands(warp, lane, issue) || !checkFactors(warp, lane, issue))
    return Step::Fault;
  for (Cta *cta : issue.ctas)
    if (!checkTensor(warp, lane, issue, *cta))
      return Step::Fault;
  if (checkerOf(warp))
    for (unsigned i = 0; i < issue.ctas.size(); ++i) {
      const Cta &cta = *issue.ctas[i];
      if (form.leftInTensor)
        for (unsigned column = 0; column < columnsOfLeft; ++column)
          issue.placement().forLanes([&](unsigned begin, unsigned lanes) {
            notePipeAccess(warp, lane, *instruction, AccessKind::Read,
                           rangeOf(cta, begin + issue.leftInTensor.lane, lanes, issue.leftInTensor.column + column));
          });
      for (bool isRight : {false, true})
        if (form.isScaled())
          noteScales(warp, lane, issue, cta, isRight);
      noteAccumulator(warp, lane, issue, i);
      addAccumulator(warp, lane, *instruction, cta, issue.accumulator, issue.placement().partColumns, issue.shape.m,
                     issue.shape.n);
    }
  if (Observer *observer = warp.cta.cluster.machine.observer)
    observer->tensorCore(warp, *instruction, uint64_t(issue.shape.m) * issue.shape.n * issue.shape.k);
  tensor::issue(warp, lane, std::make_unique<MmaOperation>(warp, lane, *instruction, std::move(issue)));
  return Step::Next;
}

/// Takes .scale_vec::NX, .block16 or .block32. Returns the number of scales per line, or 0 if the suffix does not fit
/// the kind. The suffix may be omitted, except for mxf4nvf4, because the other kinds have only one possible value.
unsigned takeScaleVector(Decoding &d, MmaKind kind) {
  const int which = d.takeOne({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"});
  if (kind == MmaKind::MXF8F6F4)
    return which < 0 || which == 0 || which == 4 ? 1 : 0;
  if (kind == MmaKind::MXF4)
    return which < 0 || which == 1 || which == 4 ? 2 : 0;
  return which == 2 || which == 3 ? 4 : which == 1 || which == 4 ? 2 : 0;
}

/// Takes .collector::a::fill and similar suffixes. They control which operand the tensor core keeps, which has no
/// effect here.
void takeCollector(Decoding &d) {
  for (std::string_view buffer : {"a", "b0", "b1", "b2", "b3"})
    for (std::string_view use : {"fill", "use", "lastuse", "discard"})
      if (d.take(fmt::format("collector::{}::{}", buffer, use)))
        return;
}

bool takeForm(Decoding &d, MmaForm &form) {
  form.isWeightStationary = d.take("ws");
  form.ctaGroup = takeCtaGroup(d);
  const int kind = d.takeOne(
      {"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  if (!form.ctaGroup || kind < 0 || (form.isWeightStationary && form.ctaGroup != 1))
    return false;
  form.kind = MmaKind(kind);
  if (form.isScaled()) {
    if (!d.take("block_scale") || form.isWeightStationary)
      return false;
    form.scaleVector = takeScaleVector(d, form.kind);
    if (!form.scaleVector)
      return false;
  }
  takeCollector(d);
  return d.suffixesFinished();
}

/// Returns true if the target has kind::i8: PTX ISA 9.7.16.10.9.1, "Target ISA Notes".
bool hasIntegers(std::string_view target) {
  return target == "sm_100a" || target == "sm_101a" || target == "sm_110a";
}

/// Takes the operands {disable-output-lane,} enable-input-d {, scale-input-d} from operand `next` on.
bool takeRest(Decoding &d, size_t next, Mma &mma) {
  const size_t count = d.instruction.operands.size();
  constexpr unsigned wordsOfCta = tensorLanes / 32;
  if (next < count && d.operand(next).kind == Operand::Kind::Vector) {
    for (const Operand &element : elementsOf(d.operand(next++)))
      mma.disabled.push_back(d.source<uint32_t>(element));
    if (mma.disabled.size() != wordsOfCta * mma.form.ctaGroup || mma.form.isScaled())
      return false;
  }
  if (next >= count)
    return false;
  mma.keep = d.predicateSource(d.operand(next++));
  if (next == count)
    return true;
  const bool mayShift =
      (mma.form.kind == MmaKind::F16 || mma.form.kind == MmaKind::TF32) && !mma.form.isWeightStationary;
  const Operand &shift = d.operand(next++);
  constexpr uint64_t maxShift = 15;
  if (!mayShift || next != count || shift.kind != Operand::Kind::Immediate || shift.bits > maxShift)
    return false;
  mma.inputShift = shift.bits;
  return true;
}

} // namespace

Result<OperationPtr> decodeMma(Decoding &d) {
  auto operation = std::make_unique<Mma>();
  MmaForm &form = operation->form;
  const size_t count = d.instruction.operands.size();
  if (!takeForm(d, form) || count < 5)
    return d.failed ? d.error(d.failure) : d.unsupported();
  const std::string &target = d.program.module.target;
  if (form.kind == MmaKind::I8 && !hasIntegers(target))
    return d.error(fmt::format("{} has no kind::i8; sm_100a and sm_110a have it", target));
  if (d.instruction.has("scale_vec::4X") && target.ends_with('f'))
    return d.error(fmt::format("{} has no .scale_vec::4X; .block16 means the same", target));
  form.leftInTensor = d.operand(1).kind == Operand::Kind::Address;
  operation->accumulator = d.address(d.operand(0));
  if (form.leftInTensor)
    operation->leftAddress = d.address(d.operand(1));
  else
    operation->left = d.source<uint64_t>(1);
  operation->right = d.source<uint64_t>(2);
  operation->descriptor = d.source<uint32_t>(3);
  size_t next = 4;
  if (form.isScaled()) {
    if (count < 7)
      return d.unsupported();
    operation->leftScales = d.address(d.operand(next++));
    operation->rightScales = d.address(d.operand(next++));
  }
  if (!takeRest(d, next, *operation))
    return d.failed ? d.error(d.failure) : d.unsupported();
  return decoded(d, std::move(operation));
}

} // namespace tile::sim::tensor
