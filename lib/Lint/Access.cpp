// Accesses to global memory that are slower than they need to be: no two elements of a block next to each other, or
// alignment that nobody has promised. Both are decided by trying: on a copy of the kernel a parameter gets the value 1,
// or is a multiple of 16 bytes, and the analysis that the compiler itself uses says what that changes.
#include "Lint/Lint.h"

#include "Analysis/AxisInfo.h"
#include "Analysis/BlockPointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile::frontend;

namespace tile::lint {
namespace {

// A warp's worth: smaller blocks are one or two accesses anyway.
constexpr int64_t smallestBlock = 32;
// The widest access of one thread (PTX ISA, "ld", .v4.b32), and what TMA needs rows to be aligned to.
constexpr int64_t widestBytes = 16;

/// A load or store through a block of pointers.
struct Access {
  Operation *op;
  Value pointer, mask;
};

std::vector<Access> collectAccesses(Operation *kernel) {
  std::vector<Access> accesses;
  kernel->walk([&](Operation *op) {
    Access access{op, {}, {}};
    if (auto load = dyn_cast<LoadOp>(op))
      access = {op, load.getPtr(), load.getMask()};
    else if (auto store = dyn_cast<StoreOp>(op))
      access = {op, store.getPtr(), store.getMask()};
    auto tensor = access.pointer ? dyn_cast<RankedTensorType>(access.pointer.getType()) : RankedTensorType();
    if (tensor && tensor.getNumElements() >= smallestBlock)
      accesses.push_back(access);
  });
  return accesses;
}

int64_t elementBytes(const Access &access) {
  return getBytesInMemory(cast<PtrType>(getElementTypeOf(access.pointer.getType())).getPointee());
}

/// Integer parameters that the access's address or mask is computed from.
struct Inputs {
  SmallVector<BlockArgument> parameters;
  bool dependsOnMemory = false;
};

Inputs collectInputs(const Access &access, bool withMask) {
  Inputs inputs;
  llvm::SetVector<Value> reached;
  reached.insert(access.pointer);
  if (withMask && access.mask)
    reached.insert(access.mask);
  for (size_t next = 0; next < reached.size(); ++next) {
    if (auto argument = dyn_cast<BlockArgument>(reached[next])) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (isa<KernelOp>(parent) && isa<IntegerType>(argument.getType()))
        inputs.parameters.push_back(argument);
      else if (auto loop = dyn_cast<LoopLikeOpInterface>(parent))
        reached.insert(parent->operand_begin(), parent->operand_end());
      for (Region &region : parent->getRegions())
        if (!isa<KernelOp>(parent) && !region.empty())
          reached.insert(region.front().getTerminator()->operand_begin(),
                         region.front().getTerminator()->operand_end());
      continue;
    }
    Operation *op = reached[next].getDefiningOp();
    inputs.dependsOnMemory |= isa<LoadOp, DescLoadOp>(op);
    reached.insert(op->operand_begin(), op->operand_end());
  }
  llvm::sort(inputs.parameters, [](BlockArgument a, BlockArgument b) { return a.getArgNumber() < b.getArgNumber(); });
  return inputs;
}

std::string nameOf(BlockArgument parameter) {
  auto kernel = cast<KernelOp>(parameter.getOwner()->getParentOp());
  return kernel.getArgAttrOfType<StringAttr>(parameter.getArgNumber(), KernelOp::getArgNameAttrName()).str();
}

bool isContiguous(Value pointer, AxisInfoAnalysis &analysis) {
  const AxisInfo &info = analysis.get(pointer);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(pointer.getType()).getShape();
  bool isRepeated = true;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (info.getContiguity(dim) > 1)
      return true;
    isRepeated &= info.getConstancy(dim) == size;
  }
  return isRepeated; // one address: a broadcast
}

/// A copy of the kernel on which parameters can be changed, with the access in it.
class Trial {
public:
  Trial(KernelOp kernel, const Access &access) : kernel(kernel), copy(kernel->clone(mapping)), access(access) {}
  ~Trial() { copy->erase(); }

  void setValue(BlockArgument parameter, int64_t value) {
    OpBuilder builder = OpBuilder::atBlockBegin(&copy->getRegion(0).front());
    Value constant =
        arith::ConstantOp::create(builder, copy->getLoc(), builder.getIntegerAttr(parameter.getType(), value));
    mapping.lookup(Value(parameter)).replaceAllUsesWith(constant);
  }

  void setDivisor(BlockArgument parameter, int64_t divisor) {
    int64_t known = 1;
    if (auto attribute =
            getKernel().getArgAttrOfType<IntegerAttr>(parameter.getArgNumber(), KernelOp::getDivisibilityAttrName()))
      known = attribute.getInt();
    getKernel().setArgAttr(parameter.getArgNumber(), KernelOp::getDivisibilityAttrName(),
                           OpBuilder(copy).getI32IntegerAttr(int32_t(std::max(known, divisor))));
  }

  bool isContiguous() const {
    AxisInfoAnalysis analysis(copy);
    return lint::isContiguous(mapping.lookup(access.pointer), analysis);
  }

  /// Bytes that one thread can move at once, as far as addresses and mask allow it.
  int64_t widthInBytes() const {
    AxisInfoAnalysis analysis(copy);
    const AxisInfo &pointer = analysis.get(mapping.lookup(access.pointer));
    int64_t width = 1, bytes = elementBytes(access);
    for (unsigned dim = 0; dim < pointer.getRank(); ++dim) {
      int64_t vector = pointer.getAlignedContiguity(dim);
      if (access.mask)
        vector = std::min(vector, analysis.get(mapping.lookup(access.mask)).getConstancy(dim));
      width = std::max(width, vector);
    }
    return std::min(width * bytes, widestBytes);
  }

  bool isForTma() const {
    BlockPointers blocks(getKernel());
    Operation *op = mapping.lookup(access.op);
    if (auto load = dyn_cast<LoadOp>(op))
      return blocks.analyze(load).access.has_value();
    return blocks.analyze(cast<StoreOp>(op)).access.has_value();
  }

private:
  KernelOp getKernel() const { return cast<KernelOp>(copy); }

  KernelOp kernel;
  IRMapping mapping;
  Operation *copy;
  const Access &access;
};

/// Shows the parameter, and what its annotation could be.
void suggest(const Subject &subject, frontend::DiagnosticEngine::Builder &builder, BlockArgument parameter,
             const std::string &annotation) {
  auto [name, old] = subject.declarationOf(parameter);
  if (name.end <= name.begin)
    return;
  builder.note(name, "'" + nameOf(parameter) + "' is declared here");
  std::string_view text = subject.diagnostics.text(old);
  bool isPlain = !text.empty() && text.find_first_of("[\"'") == std::string_view::npos;
  if (isPlain)
    builder.fixItOfNote(old, annotation);
}

} // namespace

void findUncoalesced(const Subject &subject) {
  AxisInfoAnalysis analysis(subject.kernel);
  for (const Access &access : collectAccesses(subject.kernel)) {
    Inputs inputs = collectInputs(access, /*withMask=*/false);
    if (isContiguous(access.pointer, analysis) || inputs.dependsOnMemory)
      continue; // addresses that come from memory cannot be rearranged
    std::optional<BlockArgument> stride;
    for (BlockArgument parameter : inputs.parameters) {
      Trial trial(subject.kernel, access);
      trial.setValue(parameter, 1);
      if (trial.isContiguous() && !stride)
        stride = parameter;
    }
    std::string name = stride ? nameOf(*stride) : "";
    std::string hint = stride ? "; if '" + name + "' is always 1, say so: -D " + name + "=1" : "";
    auto builder = subject.report(Diag::uncoalesced, access.op, {hint});
    if (stride)
      suggest(subject, builder, *stride, "constexpr");
  }
}

void findMissingDivisibility(const Subject &subject) {
  AxisInfoAnalysis analysis(subject.kernel);
  for (const Access &access : collectAccesses(subject.kernel)) {
    bool mayUseTma = subject.hasTma && cast<RankedTensorType>(access.pointer.getType()).getRank() >= 2;
    int64_t needed = std::max<int64_t>(1, widestBytes / elementBytes(access));
    SmallVector<BlockArgument> assumed = collectInputs(access, /*withMask=*/true).parameters;
    auto isWide = [&](ArrayRef<BlockArgument> parameters) {
      Trial trial(subject.kernel, access);
      for (BlockArgument parameter : parameters)
        trial.setDivisor(parameter, needed);
      return trial.widthInBytes() == widestBytes || (mayUseTma && trial.isForTma());
    };
    if (!isContiguous(access.pointer, analysis) || isWide({}) || !isWide(assumed))
      continue;
    for (size_t i = assumed.size(); i-- > 0;) {
      SmallVector<BlockArgument> without = assumed;
      without.erase(without.begin() + i);
      if (isWide(without))
        assumed = without;
    }
    std::string names = llvm::join(
        llvm::map_range(assumed, [](BlockArgument parameter) { return "'" + nameOf(parameter) + "'"; }), " and ");
    std::string promises =
        llvm::join(llvm::map_range(assumed,
                                   [&](BlockArgument parameter) {
                                     return "--assume=" + nameOf(parameter) + "=" + std::to_string(needed);
                                   }),
                   " ");
    int64_t width = Trial(subject.kernel, access).widthInBytes();
    auto builder = subject.report(Diag::missing_divisibility, access.op,
                                  {std::to_string(width), std::to_string(widestBytes), names, promises});
    for (BlockArgument parameter : assumed) {
      auto [name, annotation] = subject.declarationOf(parameter);
      std::string_view type = subject.diagnostics.text(annotation);
      suggest(subject, builder, parameter, std::string(type) + "[" + std::to_string(needed) + "]");
    }
  }
}

} // namespace tile::lint
