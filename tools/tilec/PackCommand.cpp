// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Combines kernels in a pack: compiles the sources one after another, names the artifacts, and writes a pack or a
// header.
#include "PackCommand.h"

#include "Codegen/EmitPackHeader.h"
#include "CompileKernel.h"
#include "Driver/OutputFile.h"
#include "Driver/TileSource.h"
#include "Messages.h"
#include "Runtime/Artifact.h"
#include "Runtime/Bundle.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace tile;
using driver::EmitKind;
using driver::Outcome;
using llvm::formatv;
using llvm::StringRef;

namespace {

/// An input "FILE" or "NAME=FILE".
struct Input {
  std::string name, file; ///< name: empty if none is given

  explicit Input(StringRef word) : file(word) {
    auto [left, right] = word.split('=');
    if (right.empty() || llvm::sys::fs::exists(word))
      return;
    name = left.str();
    file = right.str();
  }

  bool isArtifact() const {
    return llvm::is_contained({".cubin", ".ptx", ".tilepack"}, llvm::sys::path::extension(file));
  }
};

runtime::Bytes bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

bool holdsSeveral(const CommandLine &line) {
  return line.compiler.emit == EmitKind::Tilepack || line.compiler.emit == EmitKind::Header;
}

/// Returns the kernels of a source that have launch directives. A kernel with instances is replaced by its instances.
std::vector<std::string> kernelsOf(const CommandLine &line) {
  if (line.compiler.language != driver::InputLanguage::Tile)
    return {};
  llvm::Expected<std::optional<frontend::SourceFile>> sidecar = driver::readSidecar(line.compiler);
  if (!sidecar) // reported when the kernel is compiled
    return llvm::consumeError(sidecar.takeError()), std::vector<std::string>();
  frontend::DiagnosticEngine ignored;
  frontend::Module module = driver::parseInput(line.compiler, *sidecar, ignored);
  std::vector<std::string> names;
  for (const std::string &kernel : frontend::listLaunchedKernels(module)) {
    size_t before = names.size();
    for (const frontend::InstanceDirective &instance : module.instances)
      if (instance.kernel == kernel)
        names.push_back(instance.name);
    if (names.size() == before)
      names.push_back(kernel);
  }
  for (const frontend::InstanceDirective &instance : module.instances) // instances of kernels without a separate grid
    if (!llvm::is_contained(names, instance.name))
      names.push_back(instance.name);
  return names;
}

/// Collects kernels, and reports the first failure.
class Packer {
public:
  explicit Packer(const CommandLine &line) : line(line) {}

  bool add(const Input &input) { return input.isArtifact() ? addArtifact(input) : addSource(input); }

  /// Returns the pack or the header, depending on the output.
  std::optional<std::string> finish() {
    runtime::Result<std::string> pack = runtime::writeBundle(artifacts);
    if (!pack)
      return reject(Outcome::Rejected, pack.error().message), std::nullopt;
    if (line.compiler.emit == EmitKind::Tilepack)
      return std::move(*pack);
    std::string name = line.compiler.headerName;
    if (name.empty())
      name = line.output.empty() || line.output == "-" ? "kernels" : llvm::sys::path::stem(line.output).str();
    std::replace_if(name.begin(), name.end(), [](char c) { return !llvm::isAlnum(c) && c != '_'; }, '_');
    if (llvm::isDigit(name.front()))
      name.insert(name.begin(), '_');
    for (const codegen::HeaderKernel &kernel : kernels)
      if (kernel.name == name)
        return reject(Outcome::Usage, formatv("the header and a kernel are both called '{0}'; give the header another "
                                              "name with --header-name",
                                              name)),
               std::nullopt;
    return codegen::emitPackHeader(kernels, *pack, name);
  }

  Outcome outcome = Outcome::Success;
  std::vector<std::string> files;

private:
  bool reject(Outcome reason, const llvm::Twine &message) {
    fail(line.compiler, reason, message);
    outcome = reason;
    return false;
  }

  /// Adds the artifact of one kernel, from `origin`.
  bool keep(std::string name, const std::string &origin, std::string bytes) {
    runtime::Result<runtime::Artifact> artifact = runtime::readArtifact(bytesOf(bytes));
    if (!artifact)
      return reject(Outcome::Rejected, "'" + origin + "': " + artifact.error().message);
    if (name.empty())
      name = artifact->manifest.kernel;
    auto [known, isNew] = origins.try_emplace(name, origin);
    if (!isNew)
      return reject(Outcome::Usage, formatv("two kernels are called '{0}': one of '{1}' and one of '{2}'; name one of "
                                            "them, as in {0}_2={2}",
                                            name, known->second, origin));
    codegen::HeaderKernel kernel{name, {}};
    for (size_t i = 0; i < runtime::variantCount(*artifact); ++i)
      kernel.variants.push_back(runtime::variantManifest(*artifact, i));
    kernels.push_back(std::move(kernel));
    artifacts.push_back({std::move(name), std::move(bytes)});
    return true;
  }

  bool addArtifact(const Input &input) {
    llvm::Expected<std::string> bytes = driver::readInput(input.file);
    if (!bytes)
      return reject(Outcome::Environment, toString(bytes.takeError()));
    files.push_back(input.file);
    if (!runtime::isBundle(bytesOf(*bytes)))
      return keep(input.name, input.file, std::move(*bytes));
    runtime::Result<runtime::Bundle> bundle = runtime::Bundle::read(bytesOf(*bytes));
    if (!bundle)
      return reject(Outcome::Rejected, "'" + input.file + "': " + bundle.error().message);
    if (!input.name.empty() && bundle->size() > 1)
      return reject(Outcome::Usage, formatv("'{0}' has {1} kernels, which cannot all be called '{2}'", input.file,
                                            bundle->size(), input.name));
    for (size_t i = 0; i < bundle->size(); ++i) {
      runtime::Result<std::string> artifact = bundle->artifact(i);
      if (!artifact)
        return reject(Outcome::Rejected, "'" + input.file + "': " + artifact.error().message);
      if (!keep(input.name.empty() ? bundle->name(i) : input.name, input.file, std::move(*artifact)))
        return false;
    }
    return true;
  }

  bool addSource(const Input &input) {
    CommandLine one = line;
    one.compiler.input = input.file;
    if (!line.languageGiven)
      one.compiler.language =
          StringRef(input.file).ends_with(".mlir") ? driver::InputLanguage::Mlir : driver::InputLanguage::Tile;
    llvm::Expected<std::string> text = driver::readSource(input.file);
    if (!text)
      return reject(Outcome::Environment, toString(text.takeError()));
    one.compiler.inputText = std::move(*text);
    if (one.compiler.emit == EmitKind::Header) {
      one.compiler.strip = !one.compiler.keepPtx;
      one.compiler.emit = EmitKind::Tilepack;
    }
    one.compiler.headerName.clear();
    std::vector<std::string> chosen = {one.compiler.kernel};
    if (one.compiler.kernel.empty())
      if (std::vector<std::string> found = kernelsOf(one); !found.empty())
        chosen = std::move(found);
    if (!input.name.empty() && chosen.size() > 1)
      return reject(Outcome::Usage, formatv("'{0}' has {1} kernels, which cannot all be called '{2}'", input.file,
                                            chosen.size(), input.name));
    for (const std::string &kernel : chosen)
      if (!compile(one, kernel, input))
        return false;
    return true;
  }

  bool compile(CommandLine one, const std::string &kernel, const Input &input) {
    one.compiler.kernel = kernel;
    one.meaning.push_back("pack: " + kernel); // for the key of the cache
    bool isKept = true;
    auto use = [&](const Answer &answer) {
      for (const std::string &file : answer.files)
        if (!llvm::is_contained(files, file))
          files.push_back(file);
      isKept = keep(input.name.empty() ? kernel : input.name, input.file, answer.artifact);
      return llvm::Error::success();
    };
    Outcome reached = compileKernel(std::move(one), use, /*isLast=*/false);
    if (reached != Outcome::Success)
      outcome = reached;
    return reached == Outcome::Success && isKept;
  }

  const CommandLine &line;
  std::map<std::string, std::string> origins; ///< name of a kernel -> its input
  std::vector<runtime::NamedArtifact> artifacts;
  std::vector<codegen::HeaderKernel> kernels;
};

} // namespace

bool tile::namesPack(const CommandLine &line) {
  Input first(line.inputs.front());
  return holdsSeveral(line) && (line.inputs.size() > 1 || !first.name.empty() || first.isArtifact());
}

bool tile::hasSeveralKernels(const CommandLine &line) {
  return holdsSeveral(line) && line.compiler.kernel.empty() && kernelsOf(line).size() > 1;
}

int tile::packCommand(const CommandLine &line,
                      llvm::function_ref<llvm::Error(const std::string &, llvm::ArrayRef<std::string>)> write) {
  if (line.compiler.diagnosticsFormat != driver::DiagnosticsFormat::Text)
    return fail(line.compiler, Outcome::Usage, "--diagnostics-format is for one kernel, not for a pack of several");
  Packer packer(line);
  for (const std::string &word : line.inputs)
    if (!packer.add(Input(word)))
      return int(packer.outcome);
  std::optional<std::string> result = packer.finish();
  if (!result)
    return int(packer.outcome);
  if (llvm::Error error = write(*result, packer.files))
    return fail(line.compiler, Outcome::Environment, toString(std::move(error)));
  return int(Outcome::Success);
}
