// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analysis of a module and the emission of its kernel in one forward pass over the syntax tree: names are bound to
// symbolic values, and run-time operations are emitted as MLIR as soon as their operands are known. A helper is emitted
// inline at each call, for the argument types and constants of that call (monomorphization).
//
// This class selects the kernel and emits its operation. It owns the parts of the analysis (Part.h), and connects them
// to the emitters.

#pragma once

#include "Frontend/Sema/Calls.h"
#include "Frontend/Sema/Choices.h"
#include "Frontend/Sema/Classes.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/Launch.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Records.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Sema/Tuner.h"

namespace tile::frontend {

class ModuleSema final : public Emitter, public PythonContext {
public:
  ModuleSema(mlir::MLIRContext &context, const Module &module, const CompileRequest &request,
             DiagnosticEngine &diagnostics);

  mlir::OwningOpRef<mlir::ModuleOp> run();
  KernelConfigurations listConfigurations();

  SymValue error(Diag id, SourceRange range, const std::vector<std::string> &arguments = {},
                 std::optional<std::pair<SourceRange, std::string>> note = std::nullopt) override {
    return session.error(id, range, arguments, std::move(note));
  }
  DiagnosticEngine::Builder warn(Diag id, SourceRange range, const std::vector<std::string> &arguments = {}) override {
    return session.warn(id, range, arguments);
  }
  mlir::Location location(SourceRange range) override { return session.location(range); }
  SymValue condition(const SymValue &value, SourceRange range) override { return evaluator.condition(value, range); }
  SymValue callValue(const SymValue &callee, const std::vector<SymValue> &arguments, SourceRange range) override {
    return calls.callValue(callee, arguments, range);
  }
  std::optional<bool> callCondition(const SymValue &condition, SymValue &item, SourceRange range) override {
    return calls.callCondition(condition, item, range);
  }
  SymValue applyBinary(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range) override {
    return evaluator.applyBinary(op, left, right, range);
  }
  SymValue attributeOf(const SymValue &value, const AttributeExpr &expr) override {
    return evaluator.attributeOf(value, expr);
  }
  bool hasAttribute(const SymValue &value, const std::string &name) override {
    return evaluator.hasAttribute(value, name);
  }
  SymValue fromResult(const EvalResult &result, SourceRange range) override {
    return evaluator.fromResult(result, range);
  }
  std::optional<Value> namespaceMember(const std::string &space, const std::string &name) override {
    return names.namespaceMember(space, name);
  }
  void rebind(mlir::Value from, mlir::Value to) override;

private:
  void warnLostWeakness(const SymValue &left, const SymValue &right, DType common, bool isDivision,
                        SourceRange range) override {
    records.warnLostWeakness(left, right, common, isDivision, range);
  }
  const FunctionStmt *selectKernel(const InstanceDirective *&instance);
  void warnOfRedefinitions(const FunctionStmt &kernel);
  void warnDeadBranches();
  bool checkHeldBlocks(KernelOp kernel, SourceRange name);
  mlir::OwningOpRef<mlir::ModuleOp> emitKernel(const FunctionStmt &kernel, const InstanceDirective *instance,
                                               const std::vector<KernelParameter> &parameters);
  void setKernelAttributes(KernelOp op, const FunctionStmt &kernel, const InstanceDirective *instance,
                           const std::vector<KernelParameter> &parameters);

  const Module &module;
  DiagnosticEngine &diagnostics;
  Session session;
  Sema sema;
  ModuleNames names;
  Classes classes;
  Evaluator evaluator;
  Calls calls;
  Statements statements;
  Records records;
  Signature signature;
  Choices choices;
  Launch launch;
  Tuner tuner;
};

} // namespace tile::frontend
