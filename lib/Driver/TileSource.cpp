// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options -> files and requests.
#include "Driver/TileSource.h"

#include "Driver/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace tile::driver {

frontend::SourceFile inputOf(const CompilerOptions &options) {
  return {options.input == "-" ? "<stdin>" : options.input, options.inputText};
}

llvm::Expected<std::optional<frontend::SourceFile>> readSidecar(const CompilerOptions &options) {
  llvm::SmallString<128> path(options.input);
  llvm::sys::path::replace_extension(path, ".sig");
  llvm::StringRef given = options.signature;
  bool isGiven = given.consume_front("@");
  llvm::sys::fs::file_status status; // of a link, so that one to nowhere is an error
  if (!isGiven && (options.input == "-" || llvm::sys::fs::status(path, status, /*follow=*/false)))
    return std::nullopt;
  std::string name = isGiven ? given.str() : path.str().str();
  llvm::Expected<std::string> text = readInput(name);
  if (!text)
    return text.takeError();
  return frontend::SourceFile{name, std::move(*text)};
}

frontend::CompileRequest requestOf(const CompilerOptions &options, const target::GpuTarget &gpu) {
  frontend::CompileRequest request;
  request.kernelName = options.kernel;
  request.signature = llvm::StringRef(options.signature).starts_with("@") ? "" : options.signature;
  request.definitions = options.definitions;
  request.assumptions = options.assumptions;
  request.numWarps = options.numWarps;
  request.numStages = options.numStages;
  request.cluster = options.cluster;
  request.schedule = options.schedule;
  request.targetCapability = int(gpu.capability);
  request.debug = options.debug;
  request.standard = options.standard;
  request.importPaths = options.importPaths;
  request.sizes = options.sizes;
  request.recordVariables = options.debugInfo;
  return request;
}

frontend::Module parseInput(const CompilerOptions &options, const std::optional<frontend::SourceFile> &sidecar,
                            frontend::DiagnosticEngine &engine) {
  // Of a file with several kernels only the chosen one needs to be in the language.
  frontend::Module module = frontend::parse(inputOf(options), engine, /*defersErrors=*/!options.kernel.empty());
  if (sidecar)
    frontend::applySidecar(module, *sidecar, engine);
  return module;
}

} // namespace tile::driver
