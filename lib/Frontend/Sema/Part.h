// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state that the parts of the analysis share: the code that is being evaluated, its limits, and its messages.
//
// Each part is a class with a header of its own. Parts call each other through Sema, which refers to all of them.

#pragma once

#include "Frontend/Emit/Emitter.h"
#include "Frontend/Sema/ModuleScope.h"
#include "Frontend/Values/Python.h"

namespace tile::frontend {

class HostReader;

class ModuleNames; // names outside functions
class Classes;     // classes and their objects
class Evaluator;   // expressions
class Calls;       // calls
class Statements;  // statements and control flow
class Records;     // source of operations, for warnings and debuggers
class Signature;   // parameters of the kernel
class Choices;     // warps, stages and values that the kernel leaves open
class Launch;      // directives
class Tuner;       // @triton.autotune and @triton.heuristics

/// A call that is being emitted.
struct Frame {
  const FunctionStmt *function;
  SourceRange call;
  mlir::Location caller;
};

struct BoundArgument {
  std::string name;
  SymValue value;
  SourceRange range;
};

/// The code that is being evaluated, and the amount of work done so far.
struct Session {
  Session(const Module &module, const CompileRequest &request, DiagnosticEngine &diagnostics, Emitter &emitter)
      : module(module), request(request), diagnostics(diagnostics), emitter(emitter) {}

  std::vector<std::pair<SourceRange, std::string>> callsAround() const;
  bool charge(size_t amount, SourceRange range);
  SymValue limitSize(SymValue value, SourceRange range, size_t times = 1);
  SymValue error(Diag id, SourceRange range, const std::vector<std::string> &arguments = {},
                 std::optional<std::pair<SourceRange, std::string>> note = std::nullopt);
  mlir::Location location(SourceRange range);
  DiagnosticEngine::Builder warn(Diag id, SourceRange range, const std::vector<std::string> &arguments = {});
  /// Returns true in code of the host program, which may call the host's functions.
  bool isHostCode() const { return hostDepth > 0 || isConstexprFunction(); }
  /// Returns true in a function that runs at compile time.
  bool isConstexprFunction() const { return !frames.empty() && frames.back().function->isConstexpr; }

  const Module &module;
  const CompileRequest &request;
  DiagnosticEngine &diagnostics;
  Emitter &emitter;
  Environment scope;
  std::vector<Frame> frames;
  std::deque<Module> scratchModules; // owns expressions of -D and --signature, and rewritten statements
  HostReader *host = nullptr;        // reads the decorators of the kernel
  unsigned hostDepth = 0;            // nesting of evaluations outside kernels
  unsigned quietDepth = 0;           // nesting of evaluations that report nothing
  unsigned messageDepth = 0;         // nesting of messages that may mention run-time values
  size_t work = 0;
  bool exhausted = false;
};

/// The parts of the analysis.
struct Sema {
  Emitter &emitter;
  PythonContext &python;
  Session &session;
  ModuleNames &names;
  Classes &classes;
  Evaluator &evaluator;
  Calls &calls;
  Statements &statements;
  Records &records;
  Signature &signature;
  Choices &choices;
  Launch &launch;
  Tuner &tuner;
};

/// Base of the parts.
class Part {
public:
  explicit Part(Sema &sema)
      : sema(sema), emitter(sema.emitter), builder(sema.emitter.builder), module(sema.session.module),
        request(sema.session.request), diagnostics(sema.session.diagnostics), scope(sema.session.scope),
        frames(sema.session.frames), host(sema.session.host), hostDepth(sema.session.hostDepth),
        quietDepth(sema.session.quietDepth) {}

protected:
  SymValue error(Diag id, SourceRange range, const std::vector<std::string> &arguments = {},
                 std::optional<std::pair<SourceRange, std::string>> note = std::nullopt) {
    return sema.session.error(id, range, arguments, std::move(note));
  }
  DiagnosticEngine::Builder warn(Diag id, SourceRange range, const std::vector<std::string> &arguments = {}) {
    return sema.session.warn(id, range, arguments);
  }
  mlir::Location location(SourceRange range) { return sema.session.location(range); }
  bool charge(size_t amount, SourceRange range) { return sema.session.charge(amount, range); }
  SymValue limitSize(SymValue value, SourceRange range, size_t times = 1) {
    return sema.session.limitSize(std::move(value), range, times);
  }
  bool isHostCode() const { return sema.session.isHostCode(); }
  bool isConstexprFunction() const { return sema.session.isConstexprFunction(); }
  bool isTile1() const { return emitter.isTile1(); }

  Sema &sema;
  Emitter &emitter;
  mlir::OpBuilder &builder;
  const Module &module;
  const CompileRequest &request;
  DiagnosticEngine &diagnostics;
  Environment &scope;
  std::vector<Frame> &frames;
  HostReader *&host;
  unsigned &hostDepth, &quietDepth;
};

} // namespace tile::frontend
