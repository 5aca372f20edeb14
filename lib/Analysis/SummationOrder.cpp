// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation that is neither listed as one that does not add across elements nor described by a case contributes its
// full form, with all layouts: two kernels are then equal only if it is identical in both.
#include "Analysis/SummationOrder.h"

#include "Cta/CtaDialect.h"
#include "Layout/LinearLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using llvm::formatv;

namespace tile {
namespace {

/// Operations that compute each element by itself, only move elements, synchronize, or compute integers. A sum that
/// they take part in (in a loop, for example) is an instruction of one thread.
bool keepsElements(Operation *op) {
  static const llvm::StringSet<> names = {
      // tile
      "addptr", "address_cast", "load", "store", "make_desc", "desc_load", "desc_store", "create_tensor_map",
      "acquire_tensor_map", "open_tensor_map", "arange", "splat", "map", "rounded", "hint", "library_call", "reshape",
      "broadcast", "expand_dims", "trans", "gather", "butterfly", "histogram", "atomic_rmw", "atomic_cas", "assume",
      "assert", "print", "barrier", "grid_dependency", "wait_flag", "program_id", "num_programs", "swizzle2d", "return",
      "yield", "programs", "kernel",
      // cta
      "mbarrier_alloc", "mbarrier_wait", "mbarrier_arrive", "mbarrier_expect", "alloc", "slot", "next_slot",
      "trans_buffer", "local_store", "local_load", "local_gather", "local_count", "cluster_rank", "cluster_id",
      "num_clusters", "cluster_barrier", "tma_multicast", "async_copy", "async_commit", "async_wait", "flag_set",
      "flag_wait", "await_grids", "launch_dependents", "convert_layout", "slice_columns", "undefined", "zeros",
      "copy_registers", "await", "token_none", "wgmma_wait", "panel_store", "panel_load", "panel_gather", "ring_alloc",
      "ring_acquire", "ring_commit", "ring_wait", "ring_release", "ring_skip", "ring_drain", "ring_buffers",
      "ring_none", "ring_holds", "warp_roles", "turn_open", "turn_begin", "turn_end", "team", "tensor_memory_open",
      "tensor_memory_close", "tensor_memory_alloc", "tensor_memory_slot", "tensor_memory_load", "tensor_memory_store",
      "tcgen05_commit", "tcgen05_await", "tensor_memory_fence", "tma_load", "tma_load_sync", "tma_store",
      "tma_store_wait", "make_tensor_map", "tma_prefetch", "proxy_fence", "partial_store"};
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "arith" || dialect == "math" || dialect == "scf" || dialect == "ub")
    return true;
  return (dialect == "tile" || dialect == "cta") && names.contains(op->getName().stripDialect());
}

std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Returns which registers, lanes and warps move along an axis, in order, and the steps: "register 1 2 lane 4 8".
std::string printAlong(const layout::LinearLayout &layout, unsigned axis) {
  std::string text;
  for (const std::string &dim : layout.inDimNames()) {
    text += " " + dim;
    for (const std::vector<int32_t> &basis : layout.bases(dim))
      if (basis[axis] != 0)
        text += formatv(" {0}", basis[axis]);
  }
  return text;
}

/// Returns 2 to the number of bits that move along an axis.
int64_t countAlong(const layout::LinearLayout &layout, StringRef dim, unsigned axis) {
  int64_t count = 1;
  for (const std::vector<int32_t> &basis : layout.bases(std::string_view(dim)))
    count <<= basis[axis] != 0;
  return count;
}

std::string describeAlong(const layout::LinearLayout &layout, unsigned axis) {
  const int64_t registers = countAlong(layout, "register", axis), lanes = countAlong(layout, "lane", axis),
                warps = countAlong(layout, "warp", axis);
  std::string text = formatv("{0} in a thread", registers);
  if (lanes > 1)
    text += formatv(", {0} lanes", lanes);
  if (warps > 1)
    text += formatv(", {0} warps", warps);
  return text;
}

/// Returns "sum", "maximum" or the like.
StringRef nameOf(Region &combine) {
  Block &block = combine.front();
  if (block.getOperations().size() != 2)
    return "reduction";
  return llvm::TypeSwitch<Operation *, StringRef>(&block.front())
      .Case<arith::AddFOp>([](auto) { return "sum"; })
      .Case<arith::MulFOp>([](auto) { return "product"; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([](auto) { return "maximum"; })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([](auto) { return "minimum"; })
      .Default([](auto) { return "reduction"; });
}

bool hasFloats(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); });
}

/// Prints a region with its types, but without names.
std::string printRegion(Region &region) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  region.walk([&](Operation *op) {
    stream << op->getName() << op->getAttrDictionary() << "(";
    for (Value operand : op->getOperands()) {
      if (auto argument = dyn_cast<BlockArgument>(operand))
        stream << " %arg" << argument.getArgNumber();
      else
        stream << " " << operand.getDefiningOp()->getName();
      stream << ":" << operand.getType();
    }
    stream << ")";
  });
  return text;
}

class Describer {
public:
  explicit Describer(KernelOp kernel) : kernel(kernel) {}

  SummationOrder run() {
    kernel.walk([&](Operation *op) { visit(op); });
    llvm::sort(order.keys);
    order.keys.erase(llvm::unique(order.keys), order.keys.end());
    return std::move(order);
  }

private:
  void add(Operation *op, const std::string &step, const std::string &key) {
    auto start = kernel->getLoc()->findInstanceOf<FileLineColLoc>();
    std::string position, relative; // position of the operation, and of the calls that lead to it
    op->getLoc()->walk([&](Location location) {
      auto place = dyn_cast<FileLineColLoc>(location);
      if (!place)
        return WalkResult::advance();
      const bool isInFile = start && place.getFilename() == start.getFilename();
      std::string file = isInFile ? "" : llvm::sys::path::filename(place.getFilename().getValue()).str() + ":";
      if (position.empty())
        position = formatv("{0}{1}:{2}", file, place.getLine(), place.getColumn());
      const int64_t first = isInFile ? int64_t(start.getLine()) : 0;
      relative += formatv("{0}{1}:{2} ", file, int64_t(place.getLine()) - first, place.getColumn());
      return WalkResult::advance();
    });
    std::string text = position.empty() ? step : position + ": " + step;
    if (!llvm::is_contained(order.steps, text))
      order.steps.push_back(text);
    order.keys.push_back(relative + op->getName().getStringRef().str() + " " + key);
  }

  void addDot(Operation *op, const std::string &types, StringRef engine, int64_t depth, int64_t instruction,
              const std::string &more = "", const std::string &key = "") {
    add(op,
        formatv("dot {0} by {1}: {2} elements of K in order, {3} in an instruction{4}", types, engine, depth,
                instruction, more),
        formatv("{0} {1} {2} {3}{4}{5}", types, engine, depth, instruction, more, key));
  }

  static std::string typesOf(Type a, Type b, Type acc) { return print(a) + " x " + print(b) + " -> " + print(acc); }

  void visitReduction(Operation *op, unsigned axis, StringRef part) {
    if (!hasFloats(op->getOperandTypes()))
      return; // integers are exact
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    const layout::LinearLayout &layout = cta::getLayout(type);
    std::string kind = part.empty() ? nameOf(op->getRegion(0)).str() : part.str();
    add(op,
        formatv("{0} of {1} {2}: {3}", kind, type.getDimSize(axis), type.getElementType(), describeAlong(layout, axis)),
        formatv("{0} {1} {2}{3} {4} {5}", kind, type.getDimSize(axis), op->getOperandTypes().size(),
                printAlong(layout, axis), op->getAttrDictionary(), printRegion(op->getRegion(0))));
  }

  void visit(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](cta::WgmmaOp dot) {
          auto b = dot.getB().getType();
          auto buffer = dyn_cast<cta::BufferType>(dot.getA().getType());
          Type a = buffer ? buffer.getElementType() : getElementTypeOf(dot.getA().getType());
          int64_t instruction = 256 / int64_t(a.getIntOrFloatBitWidth()); // 32 bytes of K
          std::string more, key = formatv(" {0}", bool(dot.getAccumulate()));
          if (dot.getPromote())
            more = formatv(", sums of {0} added in f32", *dot.getPromote());
          if (auto tensor = dyn_cast<RankedTensorType>(dot.getA().getType()))
            key += printAlong(cta::getLayout(tensor), 1);
          addDot(dot, typesOf(a, b.getElementType(), dot.getAcc().getType().getElementType()), "wgmma", b.getShape()[0],
                 instruction, more, key);
        })
        .Case([&](cta::MmaSyncOp dot) {
          std::string key;
          for (auto [operand, axis] : {std::pair(dot.getA(), 1u), std::pair(dot.getB(), 0u)})
            key += printAlong(cta::getLayout(operand.getType()), axis);
          const int64_t depth = cast<RankedTensorType>(dot.getB().getType()).getDimSize(0);
          addDot(dot,
                 typesOf(dot.getMultipliedType(dot.getA()), dot.getMultipliedType(dot.getB()),
                         getElementTypeOf(dot.getAcc().getType())),
                 "mma.sync", depth, dot.getShape()[2], "", key + (dot.getAScale() ? " scaled" : ""));
        })
        .Case([&](cta::FmaDotOp dot) {
          addDot(dot,
                 typesOf(dot.getA().getType().getElementType(), dot.getB().getType().getElementType(),
                         getElementTypeOf(dot.getAcc().getType())),
                 "fma", dot.getB().getType().getShape()[0], 1);
        })
        .Case([&](cta::Tcgen05MmaOp dot) {
          std::string key;
          llvm::raw_string_ostream(key) << " " << bool(dot.getAccumulate()) << bool(dot.getAScale());
          Type a = dot.getMultipliedTypeA();
          addDot(dot, typesOf(a, dot.getMultipliedType(dot.getB().getType()), dot.getAcc().getType().getElementType()),
                 "tcgen05", dot.getShapeA()[1], 256 / int64_t(a.getIntOrFloatBitWidth()), "", key);
        })
        .Case([&](ReduceOp reduce) { visitReduction(reduce, reduce.getAxis(), ""); })
        .Case([&](cta::PartialReduceOp reduce) { visitReduction(reduce, reduce.getAxis(), ""); })
        .Case([&](ScanOp scan) { visitReduction(scan, scan.getAxis(), "scan"); })
        .Case([&](cta::PartialScanOp scan) { visitReduction(scan, scan.getAxis(), "scan"); })
        .Case([&](cta::ScanCarryOp scan) { visitReduction(scan, scan.getAxis(), "totals of a scan"); })
        .Case([&](cta::ClusterSumOp sum) {
          order.isShared = true;
          add(sum, formatv("split K: accumulators of {0} CTAs of a cluster, added in their order", sum.getCtas()), "");
        })
        .Case([&](cta::PartialAddOp sum) {
          order.isShared = true;
          add(sum,
              "stream-K: accumulators of CTAs that share a tile, added in their order; which steps a CTA computes "
              "depends on the number of multiprocessors",
              "");
        })
        .Default([&](Operation *other) {
          if (other->getParentOfType<ReduceOp>() || keepsElements(other))
            return;
          std::string key;
          llvm::raw_string_ostream stream(key);
          stream << other->getAttrDictionary() << other->getOperandTypes() << " -> " << other->getResultTypes();
          add(other, formatv("{0}, by all layouts", other->getName()), key);
        });
  }

  KernelOp kernel;
  SummationOrder order;
};

} // namespace

SummationOrder describeSummation(KernelOp kernel) {
  return Describer(kernel).run();
}

std::string printTileProgram(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kernel.getArgumentTypes() << "\n";
  AsmState state(kernel);
  for (Operation &op : kernel.getBody().front()) {
    op.print(stream, state);
    stream << "\n";
  }
  return text;
}

} // namespace tile
