// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the host program that kernels depend on: code outside functions, in Python's execution order; pure
// functions that compute constants; and the scopes of functions that contain kernels.
//
//   def mask_of(bits):                  a host function: evaluated when a value of the module needs it
//       return (1 << bits) - 1
//   MASK = tl.constexpr(mask_of(7))
//   TEXT = ""                           statements that compute a value together: run when it is first needed
//   for i in range(4):
//       TEXT += f"mov.b32 $0, r{i};"
//
// A kernel itself cannot call host functions, as in Triton. They are evaluated like functions of the language that run
// at compile time, so only pure ones work.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Host/HostFacts.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Syntax/Names.h"
#include "Frontend/Syntax/Walk.h"
#include "Frontend/Values/Collections.h"

using namespace mlir;

namespace tile::frontend {

namespace {

void collectChangedLists(const Block &block, std::vector<std::string> &names) {
  for (const Stmt *stmt : block) {
    if (const NameExpr *changed = changedBy(*stmt))
      names.push_back(changed->id);
    for (const Block *inner : blocksOf(*stmt))
      collectChangedLists(*inner, names);
  }
}

const Expr *valueOf(const Stmt &stmt) {
  if (const auto *node = as<AssignStmt>(&stmt))
    return node->value;
  if (const auto *node = as<AnnAssignStmt>(&stmt))
    return node->value;
  if (const auto *node = as<ForStmt>(&stmt))
    return node->iterator;
  if (const auto *node = as<WhileStmt>(&stmt))
    return node->condition;
  return nullptr;
}

/// Returns true if the value is, or contains, the list that `name` refers to.
bool sharesName(const Expr &value, const std::string &name) {
  auto any = [&](const std::vector<const Expr *> &parts) {
    return llvm::any_of(parts, [&](const Expr *part) { return part && sharesName(*part, name); });
  };
  if (const auto *node = as<NameExpr>(&value))
    return node->id == name;
  if (const auto *node = as<ListExpr>(&value))
    return any(node->elements);
  if (const auto *node = as<TupleExpr>(&value))
    return any(node->elements);
  const auto *dictionary = as<DictExpr>(&value);
  return dictionary && any(dictionary->values);
}

bool areShared(const Block &statements, const std::string &name) {
  return llvm::any_of(statements, [&](const Stmt *stmt) {
    const Expr *value = valueOf(*stmt);
    return value && sharesName(*value, name);
  });
}

/// Returns true if the block defines one of these names in a way that kernels can use; host functions do not count.
bool definesAny(const Block &block, const std::set<std::string> &names) {
  auto isOne = [&](const std::string &name) { return names.contains(name); };
  return llvm::any_of(assignedNames(block), isOne) || llvm::any_of(block, [&](const Stmt *stmt) {
           if (const auto *function = as<FunctionStmt>(stmt))
             return isOne(function->name);
           if (const auto *skipped = as<SkippedStmt>(stmt))
             return !skipped->function && llvm::any_of(skipped->assigned, isOne);
           const auto *import = as<ImportStmt>(stmt);
           return import && llvm::any_of(import->names, [&](const ImportStmt::Alias &alias) {
                    return alias.name == "*" || isOne(alias.asName.empty() ? alias.name : alias.asName);
                  });
         });
}

/// Returns true if `branch` defines functions for kernels, and `other` defines none of them.
bool lacksKernelsOf(const Block &other, const Block &branch) {
  std::set<std::string> names;
  for (const Stmt *stmt : branch)
    if (const auto *function = as<FunctionStmt>(stmt))
      names.insert(function->name);
  return !names.empty() && !definesAny(other, names);
}

} // namespace

/// Removes earlier definitions of a name.
void ModuleNames::hide(const std::string &name) {
  current->globals.erase(name);
  current->expressions.erase(name);
  current->statements.erase(name);
  current->hostValues.erase(name);
  current->imports.erase(name);
  current->hostFunctions.erase(name);
  current->changed.erase(name);
  current->guessed.erase(name);
}

/// Prepares for rebinding or changing `name`. Values that mention the name refer to its earlier value, so the
/// statements that compute the earlier value are added to theirs. Values become unknown if they share a list that is
/// modified, call a function that reads the name, or were computed by a function of this name.
void ModuleNames::keepEarlier(const std::string &name, SourceRange range, bool isChange) {
  auto earlier = current->statements.find(name);
  bool isFunction = current->hostFunctions.contains(name);
  if (earlier == current->statements.end() && !isFunction)
    return;
  auto readsName = [&](const std::string &callee) {
    std::optional<SymValue> host = hostFunction(callee);
    auto known = current->globals.find(callee);
    const SymValue *value = host ? &*host : known != current->globals.end() ? &known->second : nullptr;
    const auto *function = value && value->isConstant() ? std::get_if<const FunctionStmt *>(&value->constant) : nullptr;
    std::set<std::string> read;
    if (function)
      collectNames((*function)->body, read);
    return read.contains(name);
  };
  std::vector<std::string> lost;
  for (auto &[other, statements] : current->statements) {
    std::set<std::string> mentioned;
    collectNames(statements, mentioned);
    bool isShared = isChange && (areShared(statements, name) || areShared(earlier->second, other));
    bool isOfFunction = isFunction && mentioned.contains(name);
    if (other != name && (isShared || isOfFunction || llvm::any_of(mentioned, readsName)))
      lost.push_back(other);
    if (other == name || isFunction || !mentioned.contains(name))
      continue;
    for (const Stmt *stmt : earlier->second)
      if (!llvm::is_contained(statements, stmt))
        statements.push_back(stmt);
    llvm::sort(statements, [](const Stmt *a, const Stmt *b) { return a->range.begin < b->range.begin; });
  }
  for (const std::string &other : lost)
    forget(other, range);
}

void ModuleNames::forget(const std::string &name, SourceRange reason) {
  hide(name);
  current->changed[name] = reason;
}

/// Marks the names that a skipped statement assigns or changes as unknown.
void ModuleNames::declareSkipped(const SkippedStmt &stmt) {
  for (const std::string &name : stmt.assigned) {
    keepEarlier(name, stmt.range, /*isChange=*/false);
    forget(name, stmt.range);
  }
  if (stmt.function) {
    current->changed.erase(stmt.function->name);
    current->hostFunctions[stmt.function->name] = stmt.function;
  }
  // Setting an attribute of a function or module does not make it unknown.
  for (const std::string &name : stmt.changed) {
    auto known = current->globals.find(name);
    bool isClass = known != current->globals.end() && known->second.isConstant() &&
                   std::holds_alternative<const ClassStmt *>(known->second.constant);
    keepEarlier(name, stmt.range, /*isChange=*/true);
    if (isClass || current->statements.contains(name))
      forget(name, stmt.range);
  }
}

/// Declares the names of an assignment, or of a loop that computes values.
void ModuleNames::declareStatement(const Stmt &stmt) {
  const Expr *value = valueOf(stmt);
  const auto *augmented = as<AugAssignStmt>(&stmt);
  if (const NameExpr *changed = augmented ? augmented->target : changedBy(stmt)) {
    auto known = current->statements.find(changed->id);
    if (known == current->statements.end())
      return;
    keepEarlier(changed->id, stmt.range, /*isChange=*/true);
    known->second.push_back(&stmt);
    current->globals.erase(changed->id);
    return;
  }
  if (!value)
    return;
  std::vector<std::string> names = assignedNames({&stmt});
  if (const auto *loop = as<ForStmt>(&stmt))
    collectChangedLists(loop->body, names);
  if (const auto *loop = as<WhileStmt>(&stmt))
    collectChangedLists(loop->body, names);
  // The values that a loop computes may depend on everything that it assigns. The value of an assignment may depend on
  // the earlier values of the names that it mentions.
  bool isLoop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While;
  std::set<std::string> mentioned;
  if (!isLoop)
    collectNames(value, mentioned);
  Block before;
  for (const std::string &name : names)
    if (isLoop || mentioned.contains(name))
      for (const Stmt *earlier : current->statements[name])
        if (!llvm::is_contained(before, earlier))
          before.push_back(earlier);
  llvm::sort(before, [](const Stmt *a, const Stmt *b) { return a->range.begin < b->range.begin; });
  before.push_back(&stmt);
  const auto *assignment = as<AssignStmt>(&stmt);
  for (const std::string &name : names)
    keepEarlier(name, stmt.range, /*isChange=*/false);
  for (const std::string &name : names) {
    hide(name);
    (assignment && assignment->isHost ? current->hostValues : current->expressions)[name] = value;
    current->statements[name] = before;
  }
}

/// Declares a function that contains kernels.
void ModuleNames::declareHost(const HostStmt &host) {
  hide(host.name);
  ModuleScope &inner = *hostScopes.emplace_back(std::make_unique<ModuleScope>());
  inner.module = current->module;
  inner.path = current->path;
  inner.parent = current;
  inner.skipped = &host.skipped;
  InModule inside(sema, &inner);
  declare(host.body);
}

void ModuleNames::rememberDecorators(const FunctionStmt &function) {
  std::set<std::string> names;
  for (const Decorator &decorator : function.decorators)
    collectNames(decorator.hostValue ? decorator.hostValue : decorator.value, names);
  for (const std::string &name : names) {
    if (auto host = current->hostValues.find(name); host != current->hostValues.end())
      decoratorValues[&function][name] = {host->second, current->statements[name]};
    else if (auto plain = current->expressions.find(name); plain != current->expressions.end())
      decoratorValues[&function][name] = {plain->second, current->statements[name]};
  }
}

void ModuleNames::declare(const Block &block) {
  for (const Stmt *stmt : block) {
    if (const auto *import = as<ImportStmt>(stmt)) {
      declareImport(*import);
    } else if (const auto *function = as<FunctionStmt>(stmt)) {
      hide(function->name);
      current->globals[function->name] = SymValue::makeConstant(function);
      owners[function] = current;
      rememberDecorators(*function);
    } else if (const auto *type = as<ClassStmt>(stmt)) {
      hide(type->name);
      current->globals[type->name] = SymValue::makeConstant(type);
      classOwners[type] = current;
      for (const FunctionStmt *method : type->methods) {
        owners[method] = current;
        if (isKernelOfClass(*method))
          rememberDecorators(*method);
      }
    } else if (const auto *host = as<HostStmt>(stmt)) {
      declareHost(*host);
    } else if (const auto *skipped = as<SkippedStmt>(stmt)) {
      declareSkipped(*skipped);
    } else if (const auto *conditional = as<IfStmt>(stmt)) {
      // Conditions often test versions or architectures. If the condition is known, use the branch that it selects.
      // Otherwise use the last branch, or an earlier one if it has kernels that the last branch lacks ("if
      // has_triton(): ... else: def f(): raise ...").
      const Block *chosen = &conditional->elseBody;
      const Block *lacking = nullptr;
      const Expr *guess = nullptr;
      for (const IfStmt::Branch &branch : conditional->branches) {
        std::optional<bool> holds = moduleCondition(*branch.condition);
        guess = guess || holds ? guess : branch.condition;
        lacking = !holds && lacksKernelsOf(conditional->elseBody, branch.body) ? &branch.body : lacking;
        bool isLast = &branch == &conditional->branches.back() && conditional->elseBody.empty() && !holds;
        if (holds.value_or(isLast)) {
          chosen = &branch.body;
          break;
        }
      }
      declare(lacking && chosen == &conditional->elseBody ? *lacking : *chosen);
      if (guess)
        rememberGuess(*conditional, guess->range);
    } else {
      declareStatement(*stmt);
    }
  }
}

/// Records that the constants which the branches assign depend on a condition whose value was guessed.
void ModuleNames::rememberGuess(const IfStmt &stmt, SourceRange condition) {
  auto remember = [&](const Block &block) {
    for (const std::string &name : assignedNames(block))
      if (current->expressions.contains(name) || current->globals.contains(name))
        current->guessed[name] = condition;
  };
  for (const IfStmt::Branch &branch : stmt.branches)
    remember(branch.body);
  remember(stmt.elseBody);
}

/// Evaluates a condition outside functions, if that is possible without reading other files.
std::optional<bool> ModuleNames::moduleCondition(const Expr &condition) {
  if (std::optional<bool> fact = hostCondition(condition, request.targetCapability))
    return fact;
  std::set<std::string> names;
  collectNames(&condition, names);
  for (const std::string &name : names) {
    auto known = current->globals.find(name);
    const auto *space = known != current->globals.end() && known->second.isConstant()
                            ? std::get_if<NamespaceValue>(&known->second.constant)
                            : nullptr;
    if (current->imports.contains(name) || (space && !space->path.empty()))
      return std::nullopt;
  }
  ++hostDepth;
  std::optional<SymValue> value = sema.evaluator.evaluateQuietly(condition);
  --hostDepth;
  return value ? truthOf(*value) : std::nullopt;
}

/// Returns true if a value of the module needs more than its assigned expression.
bool ModuleNames::needsRun(const std::string &name) const {
  auto found = current->statements.find(name);
  return found != current->statements.end() && ModuleValue{nullptr, found->second}.needsRun();
}

bool ModuleValue::needsRun() const {
  if (statements.empty())
    return false;
  const auto *assignment = as<AssignStmt>(statements.front());
  bool isPlain = statements.front()->kind == StmtKind::AnnAssign || (assignment && as<NameExpr>(assignment->target));
  return statements.size() > 1 || !isPlain;
}

/// Returns a function of the host program; nullopt for functions with known answers (HostFacts.h).
std::optional<SymValue> ModuleNames::hostFunction(const std::string &name) {
  auto found = current->hostFunctions.find(name);
  if (found == current->hostFunctions.end() || hostAnswer(name, {}, request.targetCapability))
    return std::nullopt;
  owners[found->second] = current;
  return SymValue::makeConstant(found->second);
}

/// Returns the known result of calling a host function, or an error; nullopt if it must be evaluated.
std::optional<SymValue> ModuleNames::callHostFunction(const FunctionStmt &function,
                                                      const std::vector<SymValue> &arguments, SourceRange range) {
  if (std::optional<SymValue> answer = hostAnswer(function.name, arguments, request.targetCapability))
    return answer;
  if (isHostCode())
    return std::nullopt;
  return error(Diag::host_name, range, {function.name, "host function"},
               std::pair{function.nameRange, std::string("it is defined here, in the host program")});
}

} // namespace tile::frontend
