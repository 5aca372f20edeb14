// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer target: text -> lexer -> parser -> sema -> tile dialect -> MLIR verifier.
//
// A first line "#fuzz: word ..." chooses options, so that corpus files stay readable .tile files:
//   tile1 debug names        --std=tile1, keep assertions, record the names of values
//   kernel=NAME NAME=VALUE   --kernel, -D
//   signature=LIST           --signature (without blanks)
// A file that the front end accepts must pass the verifier, and one that it rejects must have an error. Sanitizers find
// everything else.

#include "Frontend/Frontend.h"
#include "fuzz/Mutator.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::frontend;

namespace {

constexpr std::string_view optionMark = "#fuzz:";

// A kernel may normally grow until its compilation takes seconds. Here the limit is lower, so that a slow input is a
// finding.
constexpr size_t maxWork = 20000;

CompileRequest readRequest(llvm::StringRef text) {
  CompileRequest request;
  llvm::StringRef line = text.split('\n').first;
  if (!line.consume_front(optionMark))
    return request;
  for (llvm::StringRef word : llvm::split(line, ' ')) {
    auto [name, value] = word.split('=');
    if (word == "tile1")
      request.standard = Standard::Tile1;
    else if (word == "debug")
      request.debug = true;
    else if (word == "names")
      request.recordVariables = true;
    else if (name == "kernel")
      request.kernelName = value.str();
    else if (name == "signature")
      request.signature = value.str();
    else if (!value.empty())
      request.definitions[name.str()] = value.str();
  }
  return request;
}

/// A possible answer of the cost model: an open parameter can be recognized by the size 96.
TileChoices chooseTiles(const OpenGemm &product) {
  TileChoices chosen = product.given;
  chosen.blockM = chosen.blockM.value_or(64);
  chosen.blockN = chosen.blockN.value_or(96);
  chosen.blockK = chosen.blockK.value_or(32);
  chosen.groupM = chosen.groupM.value_or(8);
  chosen.numWarps = chosen.numWarps.value_or(4);
  chosen.numStages = chosen.numStages.value_or(3);
  return chosen;
}

[[noreturn]] void fail(const char *what, const DiagnosticEngine &diagnostics) {
  llvm::errs() << "FrontendFuzzer: " << what << '\n' << diagnostics.render();
  abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  // Each input has a separate context, so that runs are repeatable and everything that an input allocates there is
  // freed with it.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadDialects(context);
  DiagnosticEngine diagnostics;
  WarningOptions warnings;
  warnings.apply("all");
  diagnostics.setWarnings(warnings);
  // The file name has no folder, so that no modules are searched.
  Module module = parse({"<fuzz>", text}, diagnostics);
  (void)dumpAst(module);
  if (!diagnostics.hasErrors()) {
    CompileRequest request = readRequest(text);
    request.choose = chooseTiles;
    request.maxWork = maxWork;
    mlir::OwningOpRef<mlir::ModuleOp> emitted = emitModule(context, module, request, diagnostics);
    if (!emitted && !diagnostics.hasErrors())
      fail("rejected without an error", diagnostics);
    if (emitted && failed(mlir::verify(*emitted)))
      fail("accepted, but the verifier rejects it", diagnostics);
    for (const Diagnostic &diagnostic : diagnostics.all())
      if (diagnostic.name == diagnosticName(Diag::invalid_module))
        fail("what the front end emitted does not verify", diagnostics);
  }
  (void)diagnostics.render();
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  // Occasionally inserts bytes that form no token, which the lexer must survive.
  if (seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  tile::fuzz::Mutator mutator(seed);
  std::string text = mutator.mutate({reinterpret_cast<const char *>(data), size}).substr(0, maxSize);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second,
                                            size_t secondSize, uint8_t *out, size_t maxSize, unsigned seed) {
  tile::fuzz::Mutator mutator(seed);
  std::string text = mutator
                         .crossOver({reinterpret_cast<const char *>(first), firstSize},
                                    {reinterpret_cast<const char *>(second), secondSize})
                         .substr(0, maxSize);
  std::copy(text.begin(), text.end(), out);
  return text.size();
}

/// The options of sanitizers for a program whose LLVM is not sanitized; README.md says why.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_stack_use_after_return=0:"
         "strict_string_checks=1:allocator_may_return_null=0";
}

extern "C" const char *__ubsan_default_options() {
  return "print_stacktrace=1";
}
