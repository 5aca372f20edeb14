// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: a sidecar file, which contains the directives and annotations of the kernels in a file that must not be
// changed:
//
//   kernel.py                                   kernel.sig
//     @triton.jit                                 #: grid(cdiv(N, BLOCK))
//     def scale(x, N, BLOCK: tl.constexpr):       #: buffer x[N] = inout
//         ...                                     def scale(x: "*fp32", N: "i32", BLOCK=128): ...
//
// It is a Python stub: functions without bodies. Its annotations and defaults replace those of the source's parameters,
// and its directives replace directives of the same kind.

#include "Frontend/Syntax/ParserImpl.h"

namespace tile::frontend {

namespace {

void collectFunctions(const Block &block, const std::string &name, std::vector<FunctionStmt *> &found) {
  for (const Stmt *stmt : block) {
    const auto *function = as<FunctionStmt>(stmt);
    if (function && function->name == name)
      found.push_back(const_cast<FunctionStmt *>(function)); // the arena owns mutable nodes
    if (const auto *host = as<HostStmt>(stmt))
      collectFunctions(host->body, name, found);
    if (const auto *conditional = as<IfStmt>(stmt)) {
      for (const IfStmt::Branch &branch : conditional->branches)
        collectFunctions(branch.body, name, found);
      collectFunctions(conditional->elseBody, name, found);
    }
  }
}

template <typename T> void replace(T &old, const T &given) {
  bool isGiven = false;
  if constexpr (requires { given.empty(); })
    isGiven = !given.empty();
  else
    isGiven = given.has_value();
  if (isGiven)
    old = given;
}

void complete(FunctionStmt &function, const FunctionStmt &stub, DiagnosticEngine &diagnostics) {
  for (const Parameter &given : stub.parameters) {
    Parameter *parameter = nullptr;
    for (Parameter &candidate : function.parameters)
      if (candidate.name == given.name)
        parameter = &candidate;
    if (!parameter) {
      diagnostics.report(Diag::unknown_parameter, given.range, {function.name, given.name})
          .note(function.nameRange, "the kernel is defined here");
      continue;
    }
    if (given.annotation)
      parameter->annotation = given.annotation;
    if (given.defaultValue)
      parameter->defaultValue = given.defaultValue;
  }
  DirectiveSet &set = function.directives;
  replace(set.grid, stub.directives.grid);
  replace(set.buffers, stub.directives.buffers);
  replace(set.configs, stub.directives.configs);
  replace(set.defaults, stub.directives.defaults);
  replace(set.requirements, stub.directives.requirements);
  replace(set.expects, stub.directives.expects);
  replace(set.numWarps, stub.directives.numWarps);
  replace(set.numStages, stub.directives.numStages);
  replace(set.cluster, stub.directives.cluster);
  replace(set.schedule, stub.directives.schedule);
}

} // namespace

/// Parses imports, decorators and functions with their directives; anything else is an error.
void Parser::parseSidecar() {
  while (!at(Tok::End)) {
    if (at(Tok::KwImport) || at(Tok::KwFrom) || at(Tok::At)) {
      skipLine();
    } else if (at(Tok::KwDef)) {
      if (FunctionStmt *function = parseFunction({}, peek().range))
        module.body.push_back(function);
    } else if (!accept(Tok::Newline)) {
      unexpected("a function of a sidecar, like 'def kernel(x: \"*fp32\"): ...'");
      skipLine();
      skipBlock();
    }
  }
  parseDirectives(*this, nextDirective, stream.directives.size(), nullptr);
}

void applySidecar(Module &module, const SourceFile &file, DiagnosticEngine &diagnostics) {
  Module sidecar;
  sidecar.file = diagnostics.addFile(file);
  if (!diagnostics.checkText(sidecar.file))
    return;
  const std::string &text = diagnostics.file(sidecar.file).text;
  Parser(text, lexFile(text, sidecar.file), sidecar, diagnostics).parseSidecar();
  for (const Stmt *stmt : sidecar.body) {
    const auto &stub = *as<FunctionStmt>(stmt);
    std::vector<FunctionStmt *> functions;
    collectFunctions(module.body, stub.name, functions);
    if (functions.empty())
      diagnostics.report(Diag::sidecar_kernel, stub.nameRange, {stub.name, diagnostics.file(module.file).name});
    for (FunctionStmt *function : functions)
      complete(*function, stub, diagnostics);
  }
  module.adopt(std::move(sidecar));
}

} // namespace tile::frontend
