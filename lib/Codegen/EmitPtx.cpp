// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The NVPTX back end, driven directly: upstream's gpu-module-to-binary hides what ptxas reports.
#include "Codegen/EmitPtx.h"
#include "Codegen/AwaitLate.h"
#include "Codegen/ConstantOffsets.h"
#include "Codegen/EqualPhis.h"
#include "Codegen/JoinWaits.h"
#include "Codegen/KeepPacked.h"
#include "Codegen/MemoryUse.h"
#include "Codegen/OrderInstructions.h"
#include "Codegen/RoundInWords.h"
#include "Codegen/RoundProducts.h"
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

// The four entry points of the target that llvm/Support/TargetSelect.h would declare for every target of the build.
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
  // Once: LLVM's registry is written, and other threads may read it.
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
  // a * b + c of fp32 and fp64 may become one fma, as in every other GPU language; see RoundProducts.h for the others.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  auto level = optLevel == 0 ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Aggressive;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, gpu.name, llvm::formatv("+ptx{0}", gpu.ptxVersion).str(), options,
                                  llvm::Reloc::PIC_, std::nullopt, level));
}

/// Leaves out four passes of the backend:
/// * straight-line strength reduction, which compares every address with every other one: 0.3 s for a kernel with 200
///   scalar accesses, more than all other phases together. Without it matmul and softmax keep their registers, RMSNorm
///   and transpose need 6 and 8 more; none spills more;
/// * CodeGenPrepare, which parses each inline assembly statement many times and takes 0.05 of 0.30 s for matmul: main
///   loops stay the same instruction by instruction, registers change by 1 at most, and only matmul without any
///   promised alignment spills more (816 bytes, not 648). What it does to divisions, bypassLongDivisions does;
/// * global value numbering, which runs twice more here, 0.01 of 0.25 s: of all examples only conv2d changes, by one
///   register less;
/// * n-ary reassociation, 2 of 240 ms: only conv2d changes, by 40 instructions fewer.
///
/// And one that is dear in another way: before PTX 8.3 a load of neighbours that fills the gap between them cannot say
/// which of its bytes are used (`used_bytes_mask`), so that it reads beyond a buffer whose last elements it begins
/// with.
struct PassChoice : llvm::OptPassGate {
  explicit PassChoice(bool saysUsedBytes) : saysUsedBytes(saysUsedBytes) {}
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef name, llvm::StringRef) const override {
    if (name == "load-store-vectorizer")
      return saysUsedBytes;
    return name != "slsr" && name != "codegenprepare" && name != "gvn" && name != "nary-reassociate";
  }

private:
  bool saysUsedBytes;
};

/// What kernels gain from LLVM's middle end, in the order and the notation of `opt -passes=`. The -O3 pipeline also has
/// passes for calls, memory and vectors of other programs, and runs InstCombine eight times, whose comparison of all
/// phis of a block with each other takes long where loops carry 128 sums: 59 ms for matmul of 8192; this takes 115 of
/// tilec's 436 million instructions there. Of 90 kernels (examples, products of seven sizes, execution tests) two got
/// more than 1 % more instructions than with -O3: dot-scaled 4 %, shapes 2 %. A third InstCombine, SCCP, BDCE, DSE and
/// one more LICM and EarlyCSE changed none of 98 by more than 8 instructions or 1 %.
constexpr const char *beforeLoops =
    "globalopt,function(simplifycfg,sroa,early-cse),cgscc(inline,function-attrs),"
    "function("
    "sroa,speculative-execution<only-if-divergent-target>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,reassociate,"
    "loop-mssa(loop-instsimplify,licm<no-allowspeculation>,loop-rotate,licm),simplifycfg,";
/// What the condition in front of a loop says: one from `4 * y` to `min(4 * y + 4, 32)` has four iterations if it has
/// any, and is unrolled. Not beside products, whose many phis take InstCombine long, and not where threads meet: what
/// is sunk into loops costs them registers there. For others it takes no time to speak of.
constexpr const char *lengthsOfLoops = "instcombine<no-verify-fixpoint>,sink,correlated-propagation,";
constexpr const char *fromLoops = "loop(indvars,loop-deletion,loop-unroll-full),"
                                  "sroa,";
/// Not beside products, whose sums are many and all different.
constexpr const char *mergeEqualPhis = "merge-equal-phis,";
constexpr const char *afterPhis =
    "gvn,correlated-propagation,adce,"
    "simplifycfg<switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>,"
    "loop-unroll<O3>,infer-alignment,instcombine<no-verify-fixpoint>,loop-mssa(licm),div-rem-pairs,"
    "simplifycfg<switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>),"
    "globaldce";

/// Takes the results of a statement with several where it is. InstCombine sinks that to where they are used, and the
/// backend then copies all 128 results of a wgmma for each that is taken in another block: 37 of 511 million
/// instructions for matmul of 8192.
void takeResultsAtOnce(llvm::Function &function) {
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
      auto *taken = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction);
      auto *call = taken ? llvm::dyn_cast<llvm::CallInst>(taken->getAggregateOperand()) : nullptr;
      if (call && call->getParent() != &block)
        taken->moveAfter(call);
    }
}

/// -1.0 or 0.0 by a select. LLVM 22's patterns make 1.0 of a signed i1 that is true where the result is bf16 and the
/// target converts to it, and InstCombine makes such conversions of wider ones.
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

/// Divides numbers of 64 bits as those of 32 where both are small enough when it comes to it: 20 instructions instead
/// of
/// 80. Not beside products of warp groups, since ptxas awaits those that are in flight where lanes branch.
void bypassLongDivisions(llvm::Function &function) {
  auto isProduct = [](const llvm::Instruction &instruction) { return nameOf(instruction).contains("wgmma"); };
  llvm::SmallVector<llvm::BasicBlock *> blocks; // before there are new ones
  for (llvm::BasicBlock &block : function)
    if (llvm::none_of(block, isProduct))
      blocks.push_back(&block);
  for (llvm::BasicBlock *block : blocks)
    llvm::bypassSlowDivision(block, {{64, 32}});
}

} // namespace

NvptxBackend::NvptxBackend(const target::GpuTarget &target, unsigned optLevel)
    : machine(createMachine(target, optLevel)), hasBF16(target.has(target::Feature::BF16Arithmetic)),
      saysUsedBytes(target.ptxVersion >= 83) {}

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
  // The target's: libdevice asks which GPU it is compiled for.
  builder.invokePipelineStartEPCallbacks(passes, llvm::OptimizationLevel::O3);
  bool hasProducts = llvm::any_of(module, multiplies), isSimple = !hasProducts && llvm::none_of(module, hasBarrier);
  llvm::cantFail(builder.parsePassPipeline(passes, std::string(beforeLoops) + (isSimple ? lengthsOfLoops : "") +
                                                       fromLoops + (hasProducts ? "" : mergeEqualPhis) + afterPhis));
  passes.run(module, modules);
  for (llvm::Function &function : module) {
    splitConstantOffsets(function);
    bypassLongDivisions(function);
    takeResultsAtOnce(function);
    awaitLate(function);
    keepPacked(function);
    orderByResult(function); // also what was packed, and is computed again
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
    roundProducts(function, hasBF16);
  }
  PassChoice gate(saysUsedBytes);
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
  return std::string(text);
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
  // Lazily: only the functions that are linked are ever parsed, out of 350.
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
