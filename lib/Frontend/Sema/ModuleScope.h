// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of a module, as seen by semantic analysis.

#pragma once

#include "Frontend/Syntax/Ast.h"
#include "Frontend/Values/SymValue.h"

#include <map>
#include <set>

namespace tile::frontend {

/// A module-level name: the last expression that is assigned to it, and the statements that compute its value.
struct ModuleValue {
  const Expr *expression = nullptr;
  Block statements;
  /// Returns true if the value needs more than the expression.
  bool needsRun() const;
};

/// The names of one file outside functions. They are resolved on first use.
struct ModuleScope {
  struct Import {
    std::string module, name; // "from module import name"
    uint32_t level = 0;       // leading dots of the module
    SourceRange range;        // range of the statement
  };
  const Module *module = nullptr;
  ModuleScope *parent = nullptr;                     // scope around a host function
  const std::vector<SkippedName> *skipped = nullptr; // names from host code that was not parsed
  std::string path;                                  // "<...>" if there is no file
  std::map<std::string, SymValue> globals;           // resolved values
  std::map<std::string, const Expr *> expressions;   // not evaluated yet
  std::map<std::string, Block> statements;           // statements that compute it, in order; often one assignment
  std::map<std::string, const Expr *> hostValues;    // values that kernels cannot express
  std::map<std::string, const FunctionStmt *> hostFunctions;
  std::map<std::string, SourceRange> changed; // their values depend on statements that are not parsed
  std::map<std::string, SourceRange> guessed; // their values depend on an undecided condition
  std::map<std::string, Import> imports;      // not resolved yet
  std::vector<Import> stars;                  // "from module import *"
  std::set<std::string> pending;              // being evaluated, to detect cycles
};

} // namespace tile::frontend
