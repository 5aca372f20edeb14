// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alternating warp groups; see TakeTurns.h.
#include "Transforms/Cta/TakeTurns.h"

#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Target/Tuned.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

namespace {

/// The operations between which a turn lasts: from before the first MMA to after the last one.
struct Turn {
  Operation *first, *last;
};

/// Returns the number of registers of the matrices that the operation computes element by element, or reduces; zero if
/// the number is small.
int64_t countWork(Operation *op) {
  const int64_t fewRegisters = target::tunedOf(cta::getTarget(op)).alternationVectorRegisters;
  auto count = [](ValueRange values) {
    int64_t registers = 0;
    for (Value value : values)
      if (isa<RankedTensorType>(value.getType()) && cta::getLayoutAttr(value.getType()))
        registers += cta::getLayout(value.getType()).numRegisters();
    return registers;
  };
  int64_t registers = isElementwise(op) ? count(op->getResults()) : isa<ReduceOp>(op) ? count(op->getOperands()) : 0;
  return registers > fewRegisters ? registers : 0;
}

/// Returns true if warps execute the operation without synchronizing.
bool isAlone(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return llvm::all_of(reduce.getSrcs(), [&](Value source) {
      layout::Bases warps = cta::getLayout(source.getType()).bases(layout::warpDim);
      return llvm::all_of(warps, [&](const std::vector<int32_t> &basis) { return basis[reduce.getAxis()] == 0; });
    });
  return isElementwise(op) || op->hasTrait<OpTrait::ConstantLike>() ||
         isa<cta::WgmmaOp, cta::AwaitOp, cta::RingWaitOp, cta::RingReleaseOp, LoadOp, BroadcastOp, ExpandDimsOp,
             SplatOp, ArangeOp>(op) ||
         (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
          llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>));
}

/// Plans a turn with all MMAs of an iteration, or of a program. Returns nullopt if there are fewer than two, if little
/// is computed between them and the MMAs of the next iteration, or if warps synchronize in the turn.
std::optional<Turn> planTurn(Block &body) {
  const int64_t minWork = target::tunedOf(cta::getTarget(body.getParentOp())).workPerAlternation;
  auto mmas = llvm::to_vector(body.getOps<cta::WgmmaOp>());
  if (mmas.size() < 2)
    return std::nullopt;
  Turn turn{mmas.front(), mmas.back()};
  int64_t work = 0;
  for (Operation &op : body.without_terminator()) {
    bool isInTurn = !op.isBeforeInBlock(turn.first) && !turn.last->isBeforeInBlock(&op);
    if (isInTurn && !isAlone(&op))
      return std::nullopt;
    work += isInTurn ? 0 : countWork(&op);
  }
  return work < minWork ? std::nullopt : std::optional(turn);
}

void emitTurn(RewriterBase &rewriter, Location loc, const Turn &turn, unsigned groups) {
  rewriter.setInsertionPoint(turn.first);
  cta::TurnBeginOp::create(rewriter, loc, groups);
  rewriter.setInsertionPointAfter(turn.last);
  cta::TurnEndOp::create(rewriter, loc, groups);
}

/// Adds turns to the loops and programs of a role. Returns true if any of them has turns.
bool alternateGroups(RewriterBase &rewriter, const cta::Role &role, Location loc) {
  unsigned groups = role.getAttr().getWarps() / target::warpsPerGroup;
  if (groups < 2)
    return false;
  bool hasTurns = false;
  role.getBody().walk([&](Operation *op) {
    if (!isa<scf::ForOp, ProgramsOp>(op))
      return;
    if (std::optional<Turn> turn = planTurn(op->getRegion(0).front())) {
      emitTurn(rewriter, op->getLoc(), *turn, groups);
      hasTurns = true;
    }
  });
  if (!hasTurns)
    return false;
  rewriter.setInsertionPointToStart(&role.getBody().front());
  cta::TurnOpenOp::create(rewriter, loc, groups);
  return true;
}

} // namespace

void tile::takeTurns(RewriterBase &rewriter, KernelOp kernel) {
  cta::WarpRolesOp roles = cta::findRoles(kernel);
  if (!roles)
    return;
  for (const cta::Role &role : roles.getAll())
    if (alternateGroups(rewriter, role, roles.getLoc())) // the named barriers suffice for the turns of one role
      return;
}
