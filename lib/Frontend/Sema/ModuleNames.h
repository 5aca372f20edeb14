// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resolves names outside functions: those of the compiled file, of files that it imports, and of the language's
// modules.

#pragma once

#include "Frontend/Sema/Part.h"

namespace tile::frontend {

class ModuleNames : Part {
public:
  using Part::Part;
  SymValue unknownImport(const std::string &name, SourceRange range);
  bool reportBroken(const FunctionStmt &function, std::optional<SourceRange> call = std::nullopt);
  void declare(const Block &block);
  bool needsRun(const std::string &name) const;
  std::optional<SymValue> hostFunction(const std::string &name);
  std::optional<SymValue> callHostFunction(const FunctionStmt &function, const std::vector<SymValue> &arguments,
                                           SourceRange range);
  std::optional<Value> namespaceMember(const std::string &space, const std::string &name);
  SymValue lookupAttribute(const NamespaceValue &space, const std::string &name, SourceRange range);
  std::optional<SymValue> lookupGlobal(const std::string &name, SourceRange range);
  bool isSkipped(const std::string &name) const;
  SymValue unknownName(const std::string &name, SourceRange range);
  ModuleScope *ownerOf(const FunctionStmt &function) { return owners.at(&function); }

  ModuleScope *current = nullptr;
  std::map<std::string, std::unique_ptr<ModuleScope>> modules; // by path; null if the file cannot be read
  std::map<const FunctionStmt *, ModuleScope *> owners;
  std::map<const ClassStmt *, ModuleScope *> classOwners;
  /// For each function, the values that names in its decorators have where it is defined; they may be rebound later.
  std::map<const FunctionStmt *, std::map<std::string, ModuleValue>> decoratorValues;

private:
  void declareImport(const ImportStmt &import);
  std::vector<std::string> moduleFolders(uint32_t level);
  std::string findModule(uint32_t level, const std::string &dotted);
  std::string explainMissing(const ModuleScope::Import &import);
  void warnMissingModule(const ImportStmt &import);
  ModuleScope *loadModule(const std::string &path);
  std::optional<SymValue> lookupIn(ModuleScope &module, const std::string &name, SourceRange range);
  std::optional<SymValue> importMember(const ModuleScope::Import &import, SourceRange range);
  std::optional<SymValue> lookupImport(const std::string &name, SourceRange range);
  void hide(const std::string &name);
  void keepEarlier(const std::string &name, SourceRange range, bool isChange);
  void forget(const std::string &name, SourceRange reason);
  void declareSkipped(const SkippedStmt &stmt);
  void declareStatement(const Stmt &stmt);
  void declareHost(const HostStmt &host);
  void rememberDecorators(const FunctionStmt &function);
  void rememberGuess(const IfStmt &stmt, SourceRange condition);
  std::optional<bool> moduleCondition(const Expr &condition);
  SymValue evaluateGlobal(const std::string &name);
  SymValue changedName(const std::string &name, SourceRange change, SourceRange range);

  std::deque<Module> importedModules;
  std::vector<std::unique_ptr<ModuleScope>> hostScopes;
  struct MissingImport {
    SourceRange range;
    std::string reason;
  };
  std::map<std::string, MissingImport> missingImports; // by the name shown in messages
  std::map<std::string, std::string> unreadable;       // reasons why files cannot be read, by path
};

/// While an instance exists, names are looked up in a module instead of the current kernel or helper.
class InModule {
public:
  InModule(Sema &sema, ModuleScope *module) : sema(sema), module(sema.names.current) {
    std::swap(scope, sema.session.scope);
    sema.names.current = module;
  }
  ~InModule() {
    std::swap(scope, sema.session.scope);
    sema.names.current = module;
  }

private:
  Sema &sema;
  ModuleScope *module;
  Environment scope;
};

} // namespace tile::frontend
