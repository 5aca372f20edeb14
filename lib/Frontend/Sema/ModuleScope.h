// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of a module, as semantic analysis finds them.

#pragma once

#include "Frontend/Sema/SemaValue.h"
#include "Frontend/Syntax/Ast.h"

#include <map>
#include <set>

namespace tile::frontend {

/// A name of a module: the last expression that it is assigned, and the statements that make its value.
struct ModuleValue {
  const Expr *expression = nullptr;
  Block statements;
  /// Whether the value takes more than the expression.
  bool needsRun() const;
};

/// The names of one file outside of functions. They are resolved when they are first used.
struct ModuleScope {
  struct Import {
    std::string module, name; // "from module import name"
    uint32_t level = 0;       // leading dots of the module
    SourceRange range;        // of the statement
  };
  const Module *module = nullptr;
  ModuleScope *parent = nullptr;                     // of a host function: the names around it
  const std::vector<SkippedName> *skipped = nullptr; // host code in it
  std::string path;                                  // "<...>" where there is no file
  std::map<std::string, SymValue> globals;           // resolved
  std::map<std::string, const Expr *> expressions;   // not evaluated yet
  std::map<std::string, Block> statements;           // that make the value, in order; often only the assignment
  std::map<std::string, const Expr *> hostValues;    // beyond the language
  std::map<std::string, const FunctionStmt *> hostFunctions;
  std::map<std::string, SourceRange> changed; // their values depend on statements that are not read
  std::map<std::string, SourceRange> guessed; // on a condition without an answer
  std::map<std::string, Import> imports;      // not looked up yet
  std::vector<Import> stars;                  // "from module import *"
  std::set<std::string> pending;              // being evaluated: finds cycles
};

} // namespace tile::frontend
