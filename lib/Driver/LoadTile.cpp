// .tile text -> tile dialect, by the front end.
#include "Driver/Compilation.h"

#include "Driver/ChooseConfig.h"
#include "Frontend/Frontend.h"
#include "Lint/Lint.h"

namespace tile::driver {

bool Compilation::loadTile() {
  frontend::DiagnosticEngine engine;
  engine.setWarnings(options.warnings);
  std::string explanation;
  frontend::SourceFile file{options.input == "-" ? "<stdin>" : options.input, options.inputText};
  // Of a file with several kernels only the chosen one needs to be in the language.
  frontend::Module module = frontend::parse(file, engine, /*defersErrors=*/!options.kernel.empty());
  if (options.emit == EmitKind::Ast && !engine.hasErrors()) {
    output = frontend::dumpAst(module);
    if (!llvm::StringRef(output).ends_with("\n"))
      output += '\n';
  } else if (!engine.hasErrors()) {
    frontend::CompileRequest request;
    request.kernelName = options.kernel;
    request.signature = options.signature;
    request.definitions = options.definitions;
    request.assumptions = options.assumptions;
    request.numWarps = options.numWarps;
    request.numStages = options.numStages;
    request.cluster = options.cluster;
    request.targetCapability = int(gpu->capability);
    request.debug = options.debug;
    request.standard = options.standard;
    request.importPaths = options.importPaths;
    request.sizes = options.sizes;
    request.choose = [&](const frontend::OpenProduct &product) {
      ConfigChoice choice = chooseConfig(options, *gpu, product, options.explainConfig ? &explanation : nullptr);
      // For sizes that need not be split, the schedule that could would only take time (0.4 us of 26 at 2048).
      if (!options.sizes.empty() && !choice.splitsRounds)
        options.pipeline.disabled.push_back("cta-stream-k");
      return choice.tiles;
    };
    request.recordVariables = options.debugInfo;
    request.inspect = [&](KernelOp kernel, const frontend::KernelText &text) {
      lint::inspect({kernel, text.operations, engine, gpu->has(target::Feature::Tma)});
      if (options.debugInfo)
        kernelText = text;
    };
    moduleOp = frontend::emitModule(*context, module, request, engine);
  }
  if (isText())
    errors << engine.render();
  else
    log.add(engine);
  if (options.explainConfig && moduleOp)
    errors << (explanation.empty() ? "tilec: the kernel leaves nothing open\n" : explanation);
  if (engine.hasErrors() || (output.empty() && !moduleOp)) {
    state = Outcome::Rejected;
    return false;
  }
  return true;
}

} // namespace tile::driver
