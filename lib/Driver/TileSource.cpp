// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts options to source files and front-end requests.
#include "Driver/TileSource.h"

#include "Driver/OutputFile.h"
#include "Runtime/ElfSection.h"
#include "Runtime/Pack.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

namespace tile::driver {

/// Returns the kind of the artifact, such as "a cubin"; empty if `text` is not an artifact.
static llvm::StringRef kindOfArtifact(const std::string &text, llvm::StringRef path) {
  const runtime::Bytes bytes(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  if (runtime::isElf(bytes)) {
    constexpr size_t machinePlace = 18; // ELF-64 object file format
    constexpr unsigned cuda = 190;      // EM_CUDA
    const bool isCubin =
        bytes.size() < machinePlace + 2 || (bytes[machinePlace] | bytes[machinePlace + 1] << 8) == cuda;
    return isCubin ? "a cubin" : "an ELF program";
  }
  if (runtime::isPack(bytes))
    return "a tilepack";
  return path.ends_with(".ptx") ? "PTX" : "";
}

llvm::Expected<std::string> readSource(llvm::StringRef path) {
  llvm::Expected<std::string> text = readInput(path);
  if (!text)
    return text;
  if (llvm::StringRef kind = kindOfArtifact(*text, path); !kind.empty())
    return llvm::createStringError(llvm::formatv(
        kind == "an ELF program"
            ? "'{0}' is {1}, not the source of a kernel"
            : "'{0}' is {1}, not the source of a kernel; run a compiled kernel with: tile-run {0} NAME=VALUE...",
        path, kind));
  return text;
}

frontend::SourceFile inputOf(const CompilerOptions &options) {
  return {options.input == "-" ? "<stdin>" : options.input, options.inputText};
}

llvm::Expected<std::optional<frontend::SourceFile>> readSidecar(const CompilerOptions &options) {
  llvm::SmallString<128> path(options.input);
  llvm::sys::path::replace_extension(path, ".sig");
  llvm::StringRef given = options.signature;
  bool isGiven = given.consume_front("@");
  llvm::sys::fs::file_status status; // not following links, so that a dangling link is an error
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
  for (const auto &[name, values] : options.alternatives)
    request.alternatives.push_back(name);
  request.configurations = options.configurations;
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
  // If a kernel is named, errors in the other kernels of the file are deferred.
  frontend::Module module = frontend::parse(inputOf(options), engine, /*defersErrors=*/!options.kernel.empty());
  if (sidecar)
    frontend::applySidecar(module, *sidecar, engine);
  return module;
}

} // namespace tile::driver
