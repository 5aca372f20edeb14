// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects the remarks of compiler passes by line, such as the engine of each dot or why a load does not use TMA.
#include "Driver/Compilation.h"
#include "Driver/Instrumentation.h"
#include "LanguageServer/Document.h"

#include "llvm/Support/Path.h"

namespace tile::lsp {

namespace {

/// Maximum number of kernels that are compiled when a file is saved; saving waits for them.
constexpr size_t maxCompiled = 10;

/// Collects remarks by line of the file; lines count from 1.
class Remarks final : public driver::PassWatcher {
public:
  Remarks(llvm::StringRef file, std::map<uint32_t, std::vector<std::string>> &lines)
      : file(llvm::sys::path::filename(file)), lines(lines) {}

  void after(llvm::StringRef, mlir::ModuleOp) override {}
  void remark(llvm::StringRef, mlir::Diagnostic &remark) override {
    mlir::Location location = remark.getLocation();
    while (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location))
      location = call.getCallee();
    auto place = llvm::dyn_cast<mlir::FileLineColLoc>(location);
    if (!place || llvm::sys::path::filename(place.getFilename().getValue()) != file)
      return;
    std::vector<std::string> &known = lines[place.getLine()];
    if (std::string text = remark.str(); !llvm::is_contained(known, text))
      known.push_back(std::move(text));
  }

private:
  llvm::StringRef file;
  std::map<uint32_t, std::vector<std::string>> &lines;
};

} // namespace

void Document::compile(const driver::CompilerOptions &given) {
  remarksOfLines.clear();
  const std::vector<Kernel> all = kernels();
  for (const Kernel &kernel : llvm::ArrayRef(all).take_front(maxCompiled)) {
    driver::CompilerOptions options = given;
    options.input = source.name;
    options.inputText = source.text;
    options.kernel = kernel.name;
    options.emit = driver::EmitKind::Cta;
    options.advise = false;
    options.isGuest = true;
    std::string ignored; // ignored, because diagnose() reports the errors
    llvm::raw_string_ostream errors(ignored);
    driver::Compilation compilation(std::move(options), errors);
    Remarks remarks(source.name, remarksOfLines);
    compilation.watch(remarks);
    compilation.run();
  }
}

std::vector<std::string> Document::remarks(uint32_t offset) const {
  auto found = remarksOfLines.find(lines.locate(offset).line);
  return found == remarksOfLines.end() ? std::vector<std::string>() : found->second;
}

} // namespace tile::lsp
