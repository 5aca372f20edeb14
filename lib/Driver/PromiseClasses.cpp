// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds classes of assumptions by trial: the divisors of parameters, and the strides of 1, that widen accesses.
#include "Driver/PromiseClasses.h"

#include "Analysis/Addresses/AccessPromises.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tile::driver {
namespace {

using Definitions = std::map<std::string, std::string>;

/// Maximum number of kernels for each class of assumptions about a GEMM: 25 in total with pointer operands. If TMA
/// loads the operands, kernels for more sizes are worthwhile; otherwise the assumptions matter more.
constexpr size_t maxOfFastest = 12, maxOfLoads = 1, maxOfPieces8 = 3, maxOfPieces4 = 3, maxOfGeneral = 6;

std::map<std::string, int> namesOf(KernelOp kernel, const Divisors &divisors) {
  std::map<std::string, int> named;
  for (auto [parameter, divisor] : divisors)
    named[kernel.getArgName(parameter)] = int(divisor);
  return named;
}

bool multiplies(KernelOp kernel) {
  WalkResult result = kernel.walk([](DotOp) { return WalkResult::interrupt(); });
  return result.wasInterrupted();
}

/// Returns, for each pointer, the strides of which one must be 1 for the pointer's accesses to be contiguous.
llvm::MapVector<BlockArgument, SmallVector<BlockArgument>> findStridesOfPointers(KernelOp kernel) {
  llvm::MapVector<BlockArgument, SmallVector<BlockArgument>> strides;
  for (const GlobalAccess &access : collectGlobalAccesses(kernel)) {
    AccessInputs inputs = collectInputs(access, /*withMask=*/false);
    if (inputs.pointers.size() != 1 || strides.contains(inputs.pointers.front()))
      continue;
    SmallVector<BlockArgument> found = findUnitStrides(kernel, access);
    // The constant has 32 bits, so 64-bit arithmetic with a wider stride would overflow.
    llvm::erase_if(found, [](BlockArgument stride) { return !stride.getType().isInteger(32); });
    if (!found.empty())
      strides[inputs.pointers.front()] = found;
  }
  return strides;
}

/// Returns the possible choices of strides that are 1. The choice with the last stride of each pointer comes first,
/// because parameters follow the order of dimensions and rows are usually contiguous. Returns one entry without
/// definitions if no strides are parameters.
std::vector<Definitions> findStrideChoices(KernelOp kernel) {
  constexpr size_t most = 4; // the operand layouts of a GEMM
  std::vector<Definitions> choices{{}};
  for (auto &[pointer, strides] : findStridesOfPointers(kernel)) {
    std::vector<Definitions> extended;
    for (BlockArgument stride : llvm::reverse(strides))
      for (Definitions choice : choices) {
        choice[kernel.getArgName(stride.getArgNumber())] = "1";
        extended.push_back(std::move(choice));
      }
    choices = std::move(extended);
  }
  choices.resize(std::min(choices.size(), most));
  return choices;
}

class ClassFinder {
public:
  ClassFinder(KernelInspector &inspector, const CompilerOptions &options, const target::GpuTarget &gpu)
      : inspector(inspector), options(options), gpu(gpu) {}

  std::vector<PromiseClass> run() {
    InspectedKernel inspected = inspector.inspect(options, commonTile());
    if (!inspected)
      return {};
    PromiseClass general{.name = "general", .maxKernels = maxOfGeneral, .why = "all other calls"};
    // If tensor maps cannot be encoded for a call, for example because of negative strides, the call must not fail if
    // plain pointer accesses can serve it.
    if (inspector.usesTensorMapsForPointers(options, inspected) && canOmitTensorMaps(inspected))
      general.limits.mapsOfPointers = false;
    classes.push_back(general);
    for (auto [index, definitions] : llvm::enumerate(findStrideChoices(inspected.kernel())))
      addForStrides(definitions, index == 0 ? "" : "-" + std::to_string(index + 1));
    if (classes.size() == 1)
      classes.front().maxKernels = maxOfFastest;
    return std::move(classes);
  }

private:
  /// Returns true if the kernel works with the given blocks and without TMA. Blocks that are not powers of two need
  /// tensor maps, and others may need too many registers.
  bool canOmitTensorMaps(InspectedKernel &inspected) {
    auto isOdd = [](std::optional<int64_t> size) { return size && !llvm::isPowerOf2_64(*size); };
    if (inspected.isOpen && inspected.gemm)
      return !isOdd(inspected.gemm->given.blockM) && !isOdd(inspected.gemm->given.blockN);
    CompilerOptions plain = options;
    plain.pipeline.limits.mapsOfPointers = false;
    return inspector.lowers(plain, inspected);
  }

  /// Returns true if pointer accesses use tensor maps under these assumptions.
  bool usesTensorMaps(const PromiseClass &promises) {
    CompilerOptions promised = withPromises(options, promises);
    InspectedKernel inspected = inspector.inspect(promised, commonTile());
    return inspected && inspector.usesTensorMapsForPointers(promised, inspected);
  }

  void add(PromiseClass promises) {
    bool isNew = llvm::none_of(classes, [&](const PromiseClass &other) {
      return other.assumptions == promises.assumptions && other.definitions == promises.definitions &&
             other.limits == promises.limits;
    });
    if (isNew)
      classes.push_back(std::move(promises));
  }

  void addForStrides(const Definitions &definitions, const std::string &suffix) {
    PromiseClass strides{.name = "contiguous" + suffix, .definitions = definitions, .why = "contiguous in memory"};
    InspectedKernel inspected = inspector.inspect(withPromises(options, strides), commonTile());
    if (!inspected)
      return; // the kernel rejects such strides
    KernelOp kernel = inspected.kernel();
    std::vector<GlobalAccess> accesses = collectGlobalAccesses(kernel), loads = accesses;
    // Only blocks that may be dot operands matter; the cost of loading a bias row is negligible.
    llvm::erase_if(loads, [](const GlobalAccess &access) { return access.isStore() || access.rank() < 2; });
    auto promise = [&](const char *name, ArrayRef<GlobalAccess> which, Widening wanted, size_t most, const char *why) {
      return PromiseClass{.name = name + suffix,
                          .assumptions = namesOf(kernel, findDivisors(kernel, which, wanted)),
                          .definitions = definitions,
                          .widensStores =
                              llvm::any_of(which, [](const GlobalAccess &access) { return access.isStore(); }),
                          .maxKernels = most,
                          .why = why};
    };
    // TMA needs fewer assumptions than wide masked accesses. It is used only together with wgmma.
    bool byTma = gpu.has(target::Feature::Tma) && multiplies(kernel);
    PromiseClass aligned = promise("aligned", accesses, {widestAccess, byTma}, maxOfFastest, "16-byte accesses");
    if (byTma && usesTensorMaps(aligned))
      aligned.why = "TMA copies";
    else if (byTma) {
      byTma = false;
      aligned = promise("aligned", accesses, {widestAccess, false}, maxOfFastest, "16-byte accesses");
    }
    add(aligned);
    if (multiplies(kernel)) {
      add(promise("loads", loads, {widestAccess, byTma}, maxOfLoads, "aligned loads only"));
      if (inspected.isOpen) {
        add(promise("pieces8", loads, {8, false}, maxOfPieces8, "8-byte loads"));
        add(promise("pieces4", loads, {4, false}, maxOfPieces4, "4-byte loads"));
      }
    }
    add(strides);
  }

  KernelInspector &inspector;
  const CompilerOptions &options;
  const target::GpuTarget &gpu;
  std::vector<PromiseClass> classes;
};

} // namespace

std::string PromiseClass::describe() const {
  std::vector<std::string> parts;
  for (const auto &[name, value] : definitions)
    parts.push_back(name + "=" + value);
  for (const auto &[name, divisor] : assumptions)
    parts.push_back(name + ":" + std::to_string(divisor));
  return llvm::join(parts, ", ");
}

CompilerOptions withPromises(const CompilerOptions &options, const PromiseClass &promises) {
  CompilerOptions changed = options;
  for (const auto &[name, divisor] : promises.assumptions)
    changed.assumptions[name] = divisor;
  for (const auto &[name, value] : promises.definitions)
    changed.definitions[name] = value;
  changed.pipeline.limits = options.pipeline.limits & promises.limits;
  return changed;
}

std::vector<PromiseClass> findPromiseClasses(KernelInspector &inspector, const CompilerOptions &options,
                                             const target::GpuTarget &gpu) {
  return ClassFinder(inspector, options, gpu).run();
}

} // namespace tile::driver
