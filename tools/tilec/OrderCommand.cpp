// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec order gemm.tile -D BLOCK_K=32`, `tilec order gemm.cubin`: prints in which order each variant adds floats.
#include "OrderCommand.h"

#include "CommandWords.h"
#include "CompileKernel.h"
#include "Lab/Verify/BitContract.h"
#include "Messages.h"
#include "Runtime/Artifact.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace tile;
using driver::Outcome;

namespace {

bool isArtifact(llvm::StringRef path) {
  return llvm::is_contained({".cubin", ".ptx", ".tilepack"}, llvm::sys::path::extension(path));
}

} // namespace

int tile::orderCommand(llvm::ArrayRef<const char *> words) {
  bool isJson = false;
  CLI::App app("", "tilec order");
  app.add_flag("--json", isJson, "Print a JSON document");
  CommandLine line;
  line.takesVariants = true;
  line.purpose = "tilec order: prints in which order each variant of a kernel adds floats. The kernel is compiled with "
                 "the options of\n"
                 "tilec; an artifact is read as it is";
  line.usage = "tilec order [options] <file.tile or artifact>";
  if (std::optional<int> code = parseWords(words, app, line))
    return *code;
  if (std::optional<int> code = refuseOutputs(line, "tilec order"))
    return *code;
  if (isArtifact(line.compiler.input)) {
    runtime::Result<runtime::Artifact> artifact = runtime::readArtifactFile(line.compiler.input);
    if (!artifact)
      return fail(line.compiler, Outcome::Environment, artifact.error().message);
    runner::printOrders(*artifact, isJson);
    return int(Outcome::Success);
  }
  if (std::optional<int> code = readInput(line))
    return *code;
  line.compiler.emit = driver::EmitKind::Cubin;
  auto print = [&](const Answer &answer) -> llvm::Error {
    runtime::Result<runtime::Artifact> artifact =
        runtime::readArtifact({reinterpret_cast<const uint8_t *>(answer.artifact.data()), answer.artifact.size()});
    if (!artifact)
      return llvm::createStringError(artifact.error().message);
    runner::printOrders(*artifact, isJson);
    return llvm::Error::success();
  };
  return int(compileKernel(std::move(line), print, /*isLast=*/false));
}
