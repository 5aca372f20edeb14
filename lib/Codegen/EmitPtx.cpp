// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drives the NVPTX back end directly, because upstream's gpu-module-to-binary does not expose ptxas's report.
#include "Codegen/EmitPtx.h"
#include "Codegen/AccumulatorCopies.h"
#include "Codegen/AwaitLate.h"
#include "Codegen/ConstantOffsets.h"
#include "Codegen/EqualPhis.h"
#include "Codegen/HighProducts.h"
#include "Codegen/JoinWaits.h"
#include "Codegen/KeepPacked.h"
#include "Codegen/MemoryUse.h"
#include "Codegen/OrderInstructions.h"
#include "Codegen/RoundInWords.h"
#include "Codegen/RoundMultiplications.h"
#include "Codegen/UniformAddresses.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/BypassSlowDivision.h"

#include <mutex>

// The four entry points of the NVPTX target. llvm/Support/TargetSelect.h would declare those of every target in the
// LLVM build.
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tile::codegen {
namespace {

constexpr const char *nvptxTriple = "nvptx64-nvidia-cuda";

/// Collects errors that LLVM reports about the module, instead of letting it print them.
class DiagnosticCollector : public llvm::DiagnosticHandler {
public:
  explicit DiagnosticCollector(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(errors);
    if (!errors.empty())
      stream << "; ";
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

private:
  std::string &errors;
};

std::unique_ptr<llvm::TargetMachine> createMachine(const target::GpuTarget &gpu, unsigned optLevel) {
  // Registers the target only once, because registration writes to LLVM's registry, which other threads may read.
  static std::once_flag isRegistered;
  std::call_once(isRegistered, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });

  llvm::Triple triple(nvptxTriple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  assert(target && "the NVPTX target is linked in");
  llvm::TargetOptions options;
  // Contract a * b + c of fp32 and fp64 into fma, as every other GPU language does. RoundMultiplications.h describes
  // how other types are handled.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  auto level = optLevel == 0 ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Aggressive;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, gpu.name, llvm::formatv("+ptx{0}", gpu.ptxVersion).str(), options,
                                  llvm::Reloc::PIC_, std::nullopt, level));
}

/// Skips passes of the back end:
/// * Straight-line strength reduction, which compares every address with every other one: 0.3 s for a kernel with 200
///   scalar accesses, more than all other phases together. Without it, matmul and softmax need the same number of
///   registers, RMSNorm and transpose need 6 and 8 more, and no kernel spills more.
/// * CodeGenPrepare, which parses each inline assembly statement many times and takes 0.05 of 0.30 s for matmul.
///   Without it, main loops are identical, register counts change by at most 1, and only matmul without alignment
///   assumptions spills more (816 bytes instead of 648). CodeGenPrepare also bypasses slow divisions;
///   bypassLongDivisions does this instead.
/// * Global value numbering, which would run two more times here and take 0.01 of 0.25 s. Without it, only one example
///   changes: conv2d needs one register less.
/// * N-ary reassociation, which takes 2 of 240 ms. Without it, only conv2d changes: it has 40 instructions fewer.
///
/// Before PTX 8.3, also skips the load-store vectorizer. A vector load that covers a gap between adjacent loads needs
/// `used_bytes_mask` to declare the unused bytes; without it, the load could read beyond the end of a buffer.
struct PassChoice : llvm::OptPassGate {
  explicit PassChoice(bool marksUsedBytes) : marksUsedBytes(marksUsedBytes) {}
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef name, llvm::StringRef) const override {
    if (name == "load-store-vectorizer")
      return marksUsedBytes;
    return name != "slsr" && name != "codegenprepare" && name != "gvn" && name != "nary-reassociate";
  }

private:
  bool marksUsedBytes;
};

/// The passes of LLVM's middle end that benefit kernels, in the syntax of `opt -passes=`. The -O3 pipeline also has
/// passes for calls, memory and vectors of general programs, and runs InstCombine eight times. InstCombine compares all
/// phis of a block with each other, which takes long for loops that carry 128 accumulator registers: 59 ms for matmul
/// of size 8192. For that matmul, this pipeline takes 115 of tilec's 436 million instructions. Of 90 kernels (examples,
/// GEMMs of seven sizes, execution tests), two have over 1 % more instructions than with -O3: dot-scaled 4 %, shapes 2
/// %. A third InstCombine, SCCP, BDCE, DSE and another LICM and EarlyCSE changed none of 98 kernels by more than 8
/// instructions or 1 %.
constexpr const char *beforeLoops =
    "globalopt,function(simplifycfg,sroa,early-cse),cgscc(inline,function-attrs),"
    "function("
    "sroa,speculative-execution<only-if-divergent-target>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,reassociate,"
    "loop-mssa(loop-instsimplify,licm<no-allowspeculation>,loop-rotate,licm),simplifycfg,";
/// Derives trip counts from loop guards, so that the loop can be unrolled: a loop from `4 * y` to `min(4 * y + 4, 32)`,
/// for example, has four iterations if it has any. Skipped for kernels with MMAs, whose many phis make InstCombine
/// slow, and for kernels with barriers, where instructions that are sunk into loops cost registers. For all other
/// kernels, the compile time is negligible.
constexpr const char *tripCountPasses = "instcombine<no-verify-fixpoint>,sink,correlated-propagation,";
constexpr const char *fromLoops = "loop(indvars,loop-deletion,loop-unroll-full),"
                                  "sroa,";
/// Skipped for kernels with MMAs: they have many accumulators, but no two of them are equal.
constexpr const char *mergeEqualPhis = "merge-equal-phis,";
constexpr const char *afterPhis =
    "gvn,correlated-propagation,adce,"
    "simplifycfg<switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>,"
    "loop-unroll<O3>,infer-alignment,instcombine<no-verify-fixpoint>,loop-mssa(licm),div-rem-pairs,"
    "simplifycfg<switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>),"
    "globaldce";

/// Moves each extractvalue next to the inline assembly statement that produces the results. InstCombine sinks
/// extractvalues to their uses. For each one in another block, the back end then copies all 128 results of a wgmma: 37
/// of 511 million instructions for matmul of size 8192.
void extractResultsEarly(llvm::Function &function) {
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
      auto *taken = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction);
      auto *call = taken ? llvm::dyn_cast<llvm::CallInst>(taken->getAggregateOperand()) : nullptr;
      if (call && call->getParent() != &block)
        taken->moveAfter(call);
    }
}

/// Replaces conversions of a signed i1 to bf16 by a select of -1.0 or 0.0. On targets that can convert to bf16, LLVM
/// 22's patterns produce 1.0 for true. InstCombine also narrows conversions of wider types to this one.
void selectSignedBooleans(llvm::Function &function) {
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
      auto *convert = llvm::dyn_cast<llvm::SIToFPInst>(&instruction);
      if (!convert || !convert->getSrcTy()->isIntegerTy(1) || !convert->getDestTy()->isBFloatTy())
        continue;
      llvm::Type *type = convert->getDestTy();
      auto *number = llvm::SelectInst::Create(convert->getOperand(0), llvm::ConstantFP::get(type, -1.0),
                                              llvm::ConstantFP::get(type, 0.0), "", convert->getIterator());
      number->setDebugLoc(convert->getDebugLoc());
      convert->replaceAllUsesWith(number);
      convert->eraseFromParent();
    }
}

/// Divides 64-bit integers as 32-bit integers if both operands are small enough at run time, which takes 20
/// instructions instead of 80. Skipped in blocks with wgmmas, since ptxas waits for pending wgmmas where lanes diverge.
void bypassLongDivisions(llvm::Function &function) {
  auto isWgmma = [](const llvm::Instruction &instruction) { return nameOf(instruction).contains("wgmma"); };
  llvm::SmallVector<llvm::BasicBlock *> blocks; // collected before new blocks are added
  for (llvm::BasicBlock &block : function)
    if (llvm::none_of(block, isWgmma))
      blocks.push_back(&block);
  for (llvm::BasicBlock *block : blocks)
    llvm::bypassSlowDivision(block, {{64, 32}});
}

} // namespace

NvptxBackend::NvptxBackend(const target::GpuTarget &target, unsigned optLevel)
    : machine(createMachine(target, optLevel)), hasBF16(target.has(target::Feature::BF16Arithmetic)),
      marksUsedBytes(target.ptxVersion >= 83) {}

NvptxBackend::~NvptxBackend() = default;

void NvptxBackend::prepare(llvm::Module &module) const {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
}

void NvptxBackend::optimize(llvm::Module &module) const {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::FunctionPassManager &passes, auto) {
    if (mergeEqualPhis != name.str() + ",")
      return false;
    passes.addPass(MergeEqualPhis());
    return true;
  });
  llvm::ModulePassManager passes;
  // Run the target's callbacks, which resolve libdevice's queries of the GPU architecture.
  builder.invokePipelineStartEPCallbacks(passes, llvm::OptimizationLevel::O3);
  bool hasMmas = llvm::any_of(module, multiplies), isSimple = !hasMmas && llvm::none_of(module, hasBarrier);
  llvm::cantFail(builder.parsePassPipeline(passes, std::string(beforeLoops) + (isSimple ? tripCountPasses : "") +
                                                       fromLoops + (hasMmas ? "" : mergeEqualPhis) + afterPhis));
  passes.run(module, modules);
  for (llvm::Function &function : module) {
    splitConstantOffsets(function);
    multiplyHigh(function);
    bypassLongDivisions(function);
    extractResultsEarly(function);
    awaitLate(function);
    keepPacked(function);
    orderByResult(function); // after keepPacked, because recomputed values must be ordered as well
    joinWaits(function);
    takeSharedBaseAnew(function);
    if (hasBF16)
      roundInWords(function);
  }
}

llvm::Expected<std::string> NvptxBackend::emitPtx(llvm::Module &module) const {
  std::string errors;
  module.getContext().setDiagnosticHandler(std::make_unique<DiagnosticCollector>(errors));
  for (llvm::Function &function : module) {
    selectSignedBooleans(function);
    roundMultiplications(function, hasBF16);
  }
  PassChoice gate(marksUsedBytes);
  module.getContext().setOptPassGate(gate);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot emit PTX for this module");
  passes.run(module);
  module.getContext().setOptPassGate(llvm::getGlobalPassGate());
  module.getContext().setDiagnosticHandler(nullptr);
  if (!errors.empty())
    return llvm::createStringError("LLVM cannot emit PTX: " + errors);
  return awaitBeforeCopies(text);
}

std::vector<std::string> functionsOfLibdevice(const llvm::Module &module) {
  std::vector<std::string> names;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__nv_") && !function.use_empty())
      names.push_back(function.getName().str());
  return names;
}

llvm::Error linkLibdevice(llvm::Module &module, llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(llvm::formatv("cannot read '{0}': {1}", path, buffer.getError().message()));
  // The module has 350 functions. It is loaded lazily, so that only the functions that are linked are parsed.
  llvm::Expected<std::unique_ptr<llvm::Module>> library =
      llvm::getOwningLazyBitcodeModule(std::move(*buffer), module.getContext());
  if (!library)
    return llvm::joinErrors(llvm::createStringError(llvm::formatv("'{0}' is not LLVM bitcode", path)),
                            library.takeError());
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  auto internalize = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(
        linked, [&](const llvm::GlobalValue &value) { return !value.hasName() || !names.contains(value.getName()); });
  };
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded, internalize))
    return llvm::createStringError(llvm::formatv("cannot link '{0}'", path));
  return llvm::Error::success();
}

} // namespace tile::codegen
