// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tilec: compiles its inputs to one output. The result is written last, so an error leaves no file behind.
#include "CompileKernel.h"
#include "Driver/OutputFile.h"
#include "Driver/TileSource.h"
#include "ExplainCommand.h"
#include "FormatCommand.h"
#include "LanguageServer/Server.h"
#include "Messages.h"
#include "Options.h"
#include "OrderCommand.h"
#include "PackCommand.h"
#include "RunCommand.h"
#include "Runner/Run.h"
#include "Tools.h"
#include "VerifyCommand.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace tile;
using driver::EmitKind;
using driver::Outcome;

namespace {

/// Returns the output path if -o is absent: text is printed, and an artifact is named after its source.
std::string defaultOutput(const driver::CompilerOptions &options) {
  if (options.emit != EmitKind::Cubin && options.emit != EmitKind::Tilepack)
    return "-";
  llvm::StringRef stem = options.input == "-" ? "kernel" : llvm::sys::path::stem(options.input);
  return (stem + (options.emit == EmitKind::Cubin ? ".cubin" : ".tilepack")).str();
}

bool isSameFile(llvm::StringRef one, llvm::StringRef other) {
  bool isSame = false;
  return one != "-" && (one == other || (!llvm::sys::fs::equivalent(one, other, isSame) && isSame));
}

llvm::Error writeResult(llvm::StringRef output, llvm::StringRef depfile, llvm::StringRef result,
                        llvm::ArrayRef<std::string> files) {
  for (llvm::StringRef written : {output, depfile})
    for (const std::string &file : files)
      if (isSameFile(written, file))
        return llvm::createStringError("the output '" + written + "' is also an input of this compilation");
  if (llvm::Error error = driver::writeOutput(output, result))
    return error;
  return depfile.empty() ? llvm::Error::success() : driver::writeOutput(depfile, driver::dependencyRule(output, files));
}

int compileCommand(llvm::ArrayRef<const char *> words) {
  CommandLine line;
  switch (parseCommandLine(words, /*run=*/false, line)) {
  case ParseStatus::Help:
  case ParseStatus::Done:
    return int(Outcome::Success);
  case ParseStatus::Error:
    return int(Outcome::Usage);
  case ParseStatus::Compile:
    break;
  }
  std::string output = line.output.empty() ? defaultOutput(line.compiler) : line.output;
  // Check first: the output is written at the end, so a successful compilation would overwrite its input.
  for (const std::string &written : {output, line.depfile})
    for (const std::string &input : line.inputs)
      if (isSameFile(written, input))
        return fail(line.compiler, Outcome::Usage, "the output '" + written + "' is also the input");
  if (isSameFile(output, line.depfile))
    return fail(line.compiler, Outcome::Usage, "the output '" + output + "' is also the file of -MF");
  bool isPack = namesPack(line);
  if (!isPack) {
    llvm::Expected<std::string> text = driver::readSource(line.compiler.input);
    if (!text)
      return fail(line.compiler, Outcome::Environment, toString(text.takeError()));
    line.compiler.inputText = std::move(*text);
    isPack = hasSeveralKernels(line);
  }
  if (isPack)
    return packCommand(line, [&](const std::string &result, llvm::ArrayRef<std::string> files) {
      return writeResult(output, line.depfile, result, files);
    });
  auto write = [&, depfile = line.depfile](const Answer &answer) {
    return writeResult(output, depfile, answer.artifact, answer.files);
  };
  return int(compileKernel(std::move(line), write, /*isLast=*/true));
}

int languageServerCommand(llvm::ArrayRef<const char *> words) {
  llvm::SmallVector<const char *> options;
  for (const char *word : words) {
    if (llvm::StringRef(word) == "--help" || llvm::StringRef(word) == "-h") {
      llvm::outs() << "tilec lsp [--stdio] [-I DIR] [--std=STANDARD] [--target=TARGET] [-W...]\n\nThe language server, "
                      "also installed as tile-lsp. An editor starts it and communicates with it over\nstandard input "
                      "and output. "
                      "The options are those of tilec and apply to all files.\n";
      return int(Outcome::Success);
    }
    if (llvm::StringRef(word) != "--stdio") // some clients pass --stdio, although it is the only mode
      options.push_back(word);
  }
  CommandLine line;
  if (!parseServerOptions(options, line))
    return int(Outcome::Usage);
  if (!target::findTarget(line.compiler.target))
    return fail(line.compiler, Outcome::Usage,
                "unknown target '" + line.compiler.target + "'; see tilec --target=help");
  return lsp::serve(std::make_unique<llvm::lsp::JSONTransportInputOverFile>(stdin), llvm::outs(),
                    std::move(line.compiler));
}

} // namespace

int tile::tilecMain(int argc, char **argv) {
  llvm::ArrayRef<const char *> words(argv + 1, argc - 1);
  llvm::StringRef first = words.empty() ? "" : words.front();
  auto runTool = [&] {
    if (llvm::sys::path::filename(argv[0]).starts_with("tile-lsp"))
      return languageServerCommand(words);
    if (first == "run")
      return runCommand(words.drop_front());
    if (first == "explain")
      return explainCommand(words.drop_front());
    if (first == "format")
      return formatCommand(words.drop_front());
    if (first == "order")
      return orderCommand(words.drop_front());
    if (first == "verify")
      return verifyCommand(words.drop_front());
    if (first == "lsp")
      return languageServerCommand(words.drop_front());
    return first == "worker" && words.size() == 1 ? workerCommand() : compileCommand(words);
  };
  int code = 0;
  try {
    code = runner::finishOutput("tilec", runTool());
  } catch (const std::bad_alloc &) { // for buffers of a run or the interpreter's shadow memory
    messages() << "tilec: error: out of host memory\n";
    code = int(Outcome::Rejected);
  }
  // LLVM's stream would end the process in its destructor.
  llvm::outs().flush();
  if (std::error_code failed = llvm::outs().error()) {
    llvm::outs().clear_error();
    messages() << "tilec: error: cannot write to standard output: " << failed.message() << '\n';
    return code ? code : int(Outcome::Environment);
  }
  return code;
}
