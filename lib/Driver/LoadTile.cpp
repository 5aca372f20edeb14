// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts .tile text to the tile dialect with the front end.
//
// How a kernel uses its open blocks is known only after it has been emitted, and the emitted code depends on the block
// sizes. Therefore the cost model chooses block sizes and the front end runs. If the code rules these sizes out
// (KernelFacts.h), the cost model chooses again and the front end runs again.
#include "Driver/Compilation.h"

#include "Codegen/EmitManifest.h"
#include "Cta/CtaDialect.h"
#include "Driver/ChooseConfig.h"
#include "Driver/KernelFacts.h"
#include "Driver/TileSource.h"
#include "Frontend/Configurations.h"
#include "Frontend/Frontend.h"
#include "Lint/Lint.h"
#include "Runner/Inputs/Arguments.h"

using namespace mlir;

namespace tile::driver {

/// One run of the front end.
struct Compilation::TileAttempt {
  frontend::DiagnosticEngine engine;
  std::string explanation, tree, printed;
  frontend::KernelText kernelText;
  OwningOpRef<ModuleOp> moduleOp;
  std::optional<frontend::OpenGemm> gemm; ///< set if the cost model has chosen something
  ConfigChoice choice = {};

  /// Returns the constraints that the code imposes on the chosen blocks, or a refusal if the front end rejects them.
  KernelFacts facts() {
    // Sizes that the user gave do not change, whatever the kernel does with them.
    auto chosen = [](std::optional<int64_t> given, std::optional<int64_t> size) {
      return given ? 1 : size.value_or(1);
    };
    int64_t rows = chosen(gemm->given.blockM, choice.tiles.blockM),
            columns = chosen(gemm->given.blockN, choice.tiles.blockN);
    if (!moduleOp)
      return refusalOf(rows, columns);
    KernelFacts all;
    for (KernelOp kernel : moduleOp->getOps<KernelOp>())
      all = all | findFacts(kernel, rows, columns);
    return all;
  }
};

/// Returns the values of --size, and the values of other parameters and of the grid that the kernel's directives derive
/// from them.
lint::Expected Compilation::expectedLaunch(KernelOp kernel) const {
  lint::Expected expected{options.sizes, {}};
  llvm::Expected<runtime::Manifest> manifest = codegen::describeKernel(kernel, codegen::SourceInfo());
  if (!manifest) {
    llvm::consumeError(manifest.takeError());
    return expected;
  }
  std::vector<std::string> arguments;
  for (const auto &[name, size] : options.sizes)
    if (manifest->findParameter(name))
      arguments.push_back(name + "=" + std::to_string(size));
  int numSms = options.numSms ? int(options.numSms) : int(gpu->numSms);
  runner::Result<runner::Bindings> bindings = runner::Bindings::bind(*manifest, arguments, numSms);
  if (arguments.empty() || !bindings)
    return expected;
  for (auto [index, parameter] : llvm::enumerate(manifest->parameters))
    if (parameter.isInteger())
      expected.sizes[parameter.name] = bindings->scalar(index).integer;
  if (runner::Result<std::vector<int64_t>> grid = runner::bindGrid(*manifest, *bindings))
    expected.grid = std::move(*grid);
  return expected;
}

static std::string quoteForShell(llvm::StringRef text) {
  if (llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || llvm::StringRef("_.-+").contains(c); }))
    return text.str();
  std::string quoted = "\"";
  for (char c : text)
    quoted += (llvm::StringRef("\"\\$`").contains(c) ? "\\" : "") + std::string(1, c);
  return quoted + "\"";
}

/// Prints each configuration as tilec options, one line each.
static std::string printConfigurations(const frontend::KernelConfigurations &list) {
  std::string text = "# key:" + (list.keys.empty() ? "" : " " + llvm::join(list.keys, ", ")) + "\n";
  for (const frontend::KernelConfiguration &one : list.configurations) {
    std::vector<std::string> words;
    for (const auto &[name, value] : one.definitions) {
      words.push_back("-D" + name + "=" + quoteForShell(value));
    }
    if (one.numWarps)
      words.push_back("--num-warps=" + std::to_string(*one.numWarps));
    if (one.numStages)
      words.push_back("--num-stages=" + std::to_string(*one.numStages));
    text += llvm::join(words, " ") + (one.isConditional ? " # pruned for some arguments\n" : "\n");
  }
  return text;
}

void Compilation::choose(TileAttempt &attempt, const KernelFacts &facts) const {
  attempt.choice =
      chooseConfig(options, *gpu, *attempt.gemm, facts, options.explainConfig ? &attempt.explanation : nullptr);
  if (options.explainConfig && facts.hasFurtherAccumulators)
    attempt.explanation += "the kernel has further accumulators; tiles are smaller to leave registers for them\n";
}

void Compilation::attemptTile(TileAttempt &attempt, const KernelFacts &facts) {
  attempt.engine.setWarnings(options.warnings);
  frontend::Module module = parseInput(options, sidecar, attempt.engine);
  if (attempt.engine.hasErrors())
    return;
  if (options.emit == EmitKind::Ast) {
    attempt.tree = frontend::dumpAst(module);
    if (!llvm::StringRef(attempt.tree).ends_with("\n"))
      attempt.tree += '\n';
    return;
  }
  frontend::CompileRequest request = requestOf(options, *gpu);
  if (options.emit == EmitKind::Configurations) {
    attempt.tree = printConfigurations(frontend::listConfigurations(module, request, attempt.engine));
    return;
  }
  request.choose = [&](const frontend::OpenGemm &gemm) {
    if (options.tiles)
      return *options.tiles;
    attempt.gemm = gemm;
    choose(attempt, facts);
    return attempt.choice.tiles;
  };
  if (options.printsText)
    request.print = [&](const std::string &text) { attempt.printed += text; };
  request.inspect = [&](KernelOp kernel, const frontend::KernelText &text) {
    lint::inspect({kernel, text.operations, attempt.engine, gpu->has(target::Feature::Tma), expectedLaunch(kernel)});
    if (options.debugInfo)
      attempt.kernelText = text;
  };
  attempt.moduleOp = frontend::emitModule(*context, module, request, attempt.engine);
  if (attempt.moduleOp)
    cta::setTarget(*attempt.moduleOp, *gpu);
}

bool Compilation::loadTile() {
  llvm::Expected<std::optional<frontend::SourceFile>> read = readSidecar(options);
  if (!read)
    return fail(Outcome::Environment, read.takeError());
  sidecar = std::move(*read);
  auto attempt = std::make_unique<TileAttempt>();
  KernelFacts facts;
  attemptTile(*attempt, facts);
  // A size chosen by the cost model must not make a kernel fail, or run much slower, if other sizes would work.
  while (attempt->gemm) {
    KernelFacts known = facts | attempt->facts();
    if (known == facts)
      break;
    facts = known;
    frontend::TileChoices tiles = attempt->choice.tiles;
    choose(*attempt, facts);
    if (attempt->choice.tiles == tiles)
      break;
    attempt = std::make_unique<TileAttempt>();
    attemptTile(*attempt, facts);
  }
  // Without a tail to split, the schedule that supports splitting only costs time (0.4 us of 26 us at size 2048).
  if (attempt->gemm && !attempt->choice.splitsTail && !options.sizes.empty())
    options.pipeline.limits.sharedTail = false;
  // If each CTA has one program, do not look for a second one. (This reduces 3.3 us to 3.1 us at size 512, and 5.27 us
  // to 5.05 us at 1024.)
  if (attempt->choice.isOneWave && !options.sizes.empty())
    options.pipeline.limits.severalPrograms = false;
  for (uint32_t index = 1; index < attempt->engine.numFiles(); ++index) // skips the input
    if (const std::string &name = attempt->engine.file(index).name; !llvm::StringRef(name).starts_with("<"))
      files.push_back(name);
  output = std::move(attempt->tree);
  moduleOp = std::move(attempt->moduleOp);
  kernelText = std::move(attempt->kernelText);
  if (isText()) {
    errors << attempt->printed << attempt->engine.render();
  } else {
    if (!attempt->printed.empty())
      log.add("remark", llvm::StringRef(attempt->printed).rtrim('\n'));
    log.add(attempt->engine);
  }
  bool isExplained = attempt->engine.isEnabled(frontend::Diag::missing_divisibility);
  if (options.advise && !isExplained && !attempt->choice.advice.empty() && moduleOp && options.emit >= EmitKind::Ptx)
    note(attempt->choice.advice);
  if (options.explainConfig && moduleOp)
    errors << (attempt->explanation.empty() ? "tilec: the kernel has no auto parameters\n" : attempt->explanation);
  if (attempt->engine.hasErrors() || (output.empty() && !moduleOp)) {
    state = attempt->engine.hasOnlyOptionErrors() ? Outcome::Usage : Outcome::Rejected;
    return false;
  }
  return true;
}

} // namespace tile::driver
