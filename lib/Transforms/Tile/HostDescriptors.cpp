// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-host-descriptors: let the launcher encode descriptors and pass them as arguments of the kernel.
//
//   tile.kernel @k(%a {tile.name = "a"}, %M, %K, %lda)      tile.kernel @k(%a, %M, %K, %lda, %d: !tile.desc<128x64xf16>
//     %d = tile.make_desc %a, [%M, %K], [%lda, %one]   ==>      {tile.tensor_map = #tile.tensor_map<base = "a",
//     %x = tile.desc_load %d[%i, %j]                             shape = ["M", "K"], strides = ["lda"]>})
//                                                             %x = tile.desc_load %d[%i, %j]
//
// The recipe's shape and strides are expressions in the language of lib/Runtime/Expression, outermost dimension first,
// in elements; the last stride is 1 and is omitted. A negative size counts as zero, so `max(M, 0)` is written `M`.
// Values are printed only if host and kernel compute the same result. 64-bit host arithmetic gives the kernel's result
// unless the kernel overflows, and index arithmetic is assumed not to overflow. Signed division is printed only if it
// rounds like Python's division. tile.make_desc requires strides that are multiples of 16 bytes; the launcher checks
// this.
//
// A descriptor whose block size is not a power of two is passed only if its copies need not be padded
// (Analysis/Engines/OddBlocks.h), and a kernel may pass only a limited number of descriptors. All other descriptors are
// expanded.
//
// A kernel without dots keeps its descriptors, which then become vector accesses.
#include "Analysis/Addresses/AxisInfo.h"
#include "Analysis/Engines/DeviceDescriptors.h"
#include "Analysis/Engines/EngineChoice.h"
#include "Analysis/Engines/OddBlocks.h"
#include "Target/KernelParameters.h"
#include "Tile/TileDialect.h"
#include "Transforms/Passes.h"
#include "Transforms/Tile/EmptyDescriptors.h"

#include "Cta/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace tile {
#define GEN_PASS_DEF_TILEHOSTDESCRIPTORS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using llvm::formatv;

namespace {

/// The maximum nesting of printed expressions, far below what the launcher's parser accepts.
constexpr unsigned maxNesting = 16;

/// Prints integer expressions in the launcher's language.
class ExpressionPrinter {
public:
  ExpressionPrinter(KernelOp kernel, AxisInfoAnalysis &facts) : kernel(kernel), facts(facts) {}

  /// Returns nullopt if the value depends on more than parameters, or might have another value on the host.
  std::optional<std::string> print(Value value, unsigned nesting = 0) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)) && constant.getBitWidth() <= 64)
      return constant.isNegative() ? formatv("({0})", constant.getSExtValue()).str()
                                   : std::to_string(constant.getSExtValue());
    if (auto argument = dyn_cast<BlockArgument>(value))
      return printParameter(argument);
    Operation *op = value.getDefiningOp();
    if (isa<arith::ExtSIOp, HintOp>(op))
      return print(op->getOperand(0), nesting);
    std::string form = getForm(op);
    if (form.empty() || nesting == maxNesting)
      return std::nullopt;
    std::optional<std::string> lhs = print(op->getOperand(0), nesting + 1), rhs = print(op->getOperand(1), nesting + 1);
    if (!lhs || !rhs)
      return std::nullopt;
    std::string text = formatv(form.c_str(), *lhs, *rhs);
    return nesting == 0 || StringRef(form).ends_with("})") ? text : "(" + text + ")";
  }

private:
  std::optional<std::string> printParameter(BlockArgument argument) {
    bool isParameter = argument.getOwner()->getParentOp() == kernel &&
                       (argument.getType().isInteger(32) || argument.getType().isInteger(64)) &&
                       !kernel.getArgAttr(argument.getArgNumber(), unsignedAttrName);
    if (!isParameter)
      return std::nullopt;
    return kernel.getArgName(argument.getArgNumber());
  }

  /// Returns the format string of an operation on two integers, or an empty string if the language has none.
  std::string getForm(Operation *op) {
    auto divides = [&](bool roundsDown) {
      std::optional<int64_t> divisor = facts.get(op->getOperand(1)).constant;
      return divisor && *divisor > 0 && (roundsDown || facts.get(op->getOperand(0)).isNonNegative());
    };
    return llvm::TypeSwitch<Operation *, std::string>(op)
        .Case([](arith::AddIOp) { return "{0} + {1}"; })
        .Case([](arith::SubIOp) { return "{0} - {1}"; })
        .Case([](arith::MulIOp) { return "{0} * {1}"; })
        .Case([](arith::MinSIOp) { return "min({0}, {1})"; })
        .Case([](arith::MaxSIOp) { return "max({0}, {1})"; })
        .Case([&](arith::FloorDivSIOp) { return divides(true) ? "{0} // {1}" : ""; })
        .Case([&](arith::CeilDivSIOp) { return divides(true) ? "cdiv({0}, {1})" : ""; })
        .Case([&](arith::DivSIOp) { return divides(false) ? "{0} // {1}" : ""; })
        .Case([&](arith::RemSIOp) { return divides(false) ? "{0} % {1}" : ""; })
        .Default([](Operation *) { return ""; });
  }

  KernelOp kernel;
  AxisInfoAnalysis &facts;
};

/// The data from which the launcher encodes a descriptor.
struct Recipe {
  TensorMapAttr map;
  DescType type;

  bool operator==(const Recipe &) const = default;
};

/// A recipe, or the reason why there is none.
struct RecipeResult {
  std::optional<Recipe> recipe;
  std::string reason;
};

class Hosting {
public:
  explicit Hosting(KernelOp kernel) : kernel(kernel), facts(kernel), printer(kernel, facts) {}

  void run() {
    SmallVector<std::pair<MakeDescOp, Recipe>> plan;
    kernel.walk([&](MakeDescOp desc) {
      RecipeResult result = planRecipe(desc);
      if (result.recipe)
        plan.emplace_back(desc, *result.recipe);
      else
        desc.emitRemark() << "descriptor gets no tensor map at launch: " << result.reason;
    });
    dropTooMany(plan);
    // If only the right operand of a dot had a tensor map, its block would have to be padded after all.
    for (MakeDescOp desc : findUnpaired(llvm::to_vector(llvm::make_first_range(plan)))) {
      desc.emitRemark()
          << "descriptor gets no tensor map at launch: the descriptor of the dot's other operand has none";
      llvm::erase_if(plan, [&](auto &entry) { return entry.first == desc; });
    }
    for (auto &[desc, recipe] : plan) {
      keepOutsideEmpty(desc);
      desc.replaceAllUsesWith(getArgument(recipe, desc.getLoc()));
      desc.erase();
    }
  }

private:
  /// Keeps as many descriptors as a kernel may have, in the order of their first reads. The kernel encodes the others
  /// itself, or they are expanded.
  void dropTooMany(SmallVector<std::pair<MakeDescOp, Recipe>> &plan) {
    auto isRead = [](auto &entry) { return llvm::any_of(entry.first->getUsers(), llvm::IsaPred<DescLoadOp>); };
    SmallVector<Recipe> taken;
    for (bool reads : {true, false})
      llvm::erase_if(plan, [&](auto &entry) {
        if (isRead(entry) != reads || llvm::is_contained(taken, entry.second))
          return false;
        if (taken.size() < target::maxTensorMaps)
          return taken.push_back(entry.second), false;
        entry.first.emitRemark() << "descriptor gets no tensor map at launch: a kernel can have at most "
                                 << target::maxTensorMaps;
        return true;
      });
  }

  RecipeResult planRecipe(MakeDescOp desc) {
    auto fail = [](std::string reason) { return RecipeResult{std::nullopt, std::move(reason)}; };
    DescType type = desc.getType();
    auto base = dyn_cast<BlockArgument>(desc.getBase());
    if (!base || base.getOwner()->getParentOp() != kernel)
      return fail("its base is not a parameter of the kernel");
    std::string name = kernel.getArgName(base.getArgNumber());
    // cuTensorMapEncodeTiled (CUDA driver API) requires an aligned global address.
    if (facts.get(base).getDivisibilityOfAll() < 16)
      return fail(formatv("'{0}' is not known to be aligned to 16 bytes; pass --assume={0}=16 if it is", name));
    if (std::string reason = whyNoTensorMap(desc, facts); !reason.empty())
      return fail(reason);
    SmallVector<StringAttr> shape, strides;
    for (auto [dim, size] : llvm::enumerate(desc.getShape())) {
      std::optional<std::string> text = printSize(size);
      if (!text)
        return fail(formatv("the size of dimension {0} cannot be computed from integer parameters", dim));
      shape.push_back(StringAttr::get(kernel.getContext(), *text));
    }
    for (auto [dim, stride] : llvm::enumerate(desc.getStrides().drop_back())) {
      std::optional<std::string> text = printer.print(stride);
      if (!text)
        return fail(formatv("the stride of dimension {0} cannot be computed from integer parameters", dim));
      strides.push_back(StringAttr::get(kernel.getContext(), *text));
    }
    StringAttr baseName = StringAttr::get(kernel.getContext(), name);
    return {Recipe{TensorMapAttr::get(kernel.getContext(), baseName, shape, strides), type}, ""};
  }

  std::optional<std::string> printSize(Value size) {
    if (auto maximum = size.getDefiningOp<arith::MaxSIOp>())
      if (matchPattern(maximum.getRhs(), m_Zero()))
        size = maximum.getLhs();
    return printer.print(size);
  }

  /// Returns one argument for all descriptors with the same recipe.
  Value getArgument(const Recipe &recipe, Location location) {
    for (auto &[other, argument] : arguments)
      if (other == recipe)
        return argument;
    Builder builder(kernel.getContext());
    DictionaryAttr attributes = builder.getDictionaryAttr(builder.getNamedAttr(tensorMapAttrName, recipe.map));
    unsigned index = kernel.getNumArguments();
    LogicalResult inserted = kernel.insertArgument(index, recipe.type, attributes, location);
    assert(succeeded(inserted) && "a kernel's type is a function type");
    (void)inserted;
    return arguments.emplace_back(recipe, kernel.getArgument(index)).second;
  }

  KernelOp kernel;
  AxisInfoAnalysis facts;
  ExpressionPrinter printer;
  SmallVector<std::pair<Recipe, Value>> arguments;
};

struct TileHostDescriptors : tile::impl::TileHostDescriptorsBase<TileHostDescriptors> {
  void runOnKernel() override {
    if (multipliesBlocks())
      Hosting(getOperation()).run();
  }

private:
  /// Returns true if wgmma multiplies data that is read through descriptors: otherwise TMA does not pay off.
  bool multipliesBlocks() {
    WalkResult result = getOperation().walk([](DotOp dot) {
      bool isLoaded = isa_and_present<DescLoadOp, LoadOp>(traceOperand(dot.getA()).source);
      bool multiplies = getEngineOfBlocks(dot) && isa_and_present<DescLoadOp>(traceOperand(dot.getB()).source) &&
                        (isLoaded || staysInRegisters(dot));
      return multiplies ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted();
  }
};

} // namespace
