// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The abstract syntax tree: what the parser builds and everything else reads.
//
// Nodes are plain structs tagged by a kind, owned by the Module's arena and immutable after parsing. Names follow
// CPython's 'ast' module, so that the printed tree can be compared with what Python prints.

#pragma once

#include "Frontend/Syntax/Directives.h"
#include "Frontend/Syntax/Expressions.h"

#include <deque>

namespace tile::frontend {

enum class StmtKind : uint8_t {
  Expr,
  Assign,
  AugAssign,
  AnnAssign,
  Return,
  Pass,
  Assert,
  Raise,
  Break,
  Continue,
  If,
  For,
  While,
  With,
  Import,
  Function,
  Class,
  Host,
  Skipped,
};

struct Stmt : Node {
  explicit Stmt(StmtKind kind) : kind(kind) {}
  const StmtKind kind;
};

using Block = std::vector<const Stmt *>;

struct ExprStmt : Stmt {
  ExprStmt() : Stmt(StmtKind::Expr) {}
  static constexpr StmtKind Kind = StmtKind::Expr;
  const Expr *value = nullptr;
};

/// 'target' is a Name, or a Tuple/List of targets; in methods that run at compile time also an Attribute, in host code
/// also a Subscript.
struct AssignStmt : Stmt {
  AssignStmt() : Stmt(StmtKind::Assign) {}
  static constexpr StmtKind Kind = StmtKind::Assign;
  const Expr *target = nullptr;
  const Expr *value = nullptr;
  bool isHost = false; // has lambdas, dictionaries or comprehensions: only decorators read it
};

struct AugAssignStmt : Stmt {
  AugAssignStmt() : Stmt(StmtKind::AugAssign) {}
  static constexpr StmtKind Kind = StmtKind::AugAssign;
  const NameExpr *target = nullptr;
  BinaryOp op = BinaryOp::Add;
  const Expr *value = nullptr;
};

struct AnnAssignStmt : Stmt {
  AnnAssignStmt() : Stmt(StmtKind::AnnAssign) {}
  static constexpr StmtKind Kind = StmtKind::AnnAssign;
  const NameExpr *target = nullptr;
  const Expr *annotation = nullptr;
  const Expr *value = nullptr; // may be null
};

struct ReturnStmt : Stmt {
  ReturnStmt() : Stmt(StmtKind::Return) {}
  static constexpr StmtKind Kind = StmtKind::Return;
  const Expr *value = nullptr; // may be null
};

struct PassStmt : Stmt {
  PassStmt() : Stmt(StmtKind::Pass) {}
  static constexpr StmtKind Kind = StmtKind::Pass;
};

struct AssertStmt : Stmt {
  AssertStmt() : Stmt(StmtKind::Assert) {}
  static constexpr StmtKind Kind = StmtKind::Assert;
  const Expr *condition = nullptr;
  const Expr *message = nullptr; // may be null
};

struct RaiseStmt : Stmt {
  RaiseStmt() : Stmt(StmtKind::Raise) {}
  static constexpr StmtKind Kind = StmtKind::Raise;
  const Expr *value = nullptr; // may be null
};

struct BreakStmt : Stmt {
  BreakStmt() : Stmt(StmtKind::Break) {}
  static constexpr StmtKind Kind = StmtKind::Break;
};

struct ContinueStmt : Stmt {
  ContinueStmt() : Stmt(StmtKind::Continue) {}
  static constexpr StmtKind Kind = StmtKind::Continue;
};

/// if / elif / ... / else: one branch per condition, in order.
struct IfStmt : Stmt {
  IfStmt() : Stmt(StmtKind::If) {}
  static constexpr StmtKind Kind = StmtKind::If;
  struct Branch {
    SourceRange keyword;
    const Expr *condition = nullptr;
    Block body;
  };
  std::vector<Branch> branches;
  Block elseBody;
};

struct ForStmt : Stmt {
  ForStmt() : Stmt(StmtKind::For) {}
  static constexpr StmtKind Kind = StmtKind::For;
  const NameExpr *target = nullptr;
  const Expr *iterator = nullptr;
  Block body;
  std::string stop;    // the loop ends when this hidden name is true (SemaJumps.cpp); empty: it runs to its end
  bool breaks = false; // what follows the loop may run though it has ended early; not so after a return
};

struct WhileStmt : Stmt {
  WhileStmt() : Stmt(StmtKind::While) {}
  static constexpr StmtKind Kind = StmtKind::While;
  const Expr *condition = nullptr;
  Block body;
};

/// "with context [as target], ...": no scope of its own, so that its body is part of the block around it.
struct WithStmt : Stmt {
  WithStmt() : Stmt(StmtKind::With) {}
  static constexpr StmtKind Kind = StmtKind::With;
  struct Item {
    const Expr *context = nullptr;
    const NameExpr *target = nullptr; // may be null
  };
  SourceRange keyword;
  std::vector<Item> items;
  Block body;
};

/// "import a.b as c" or "from m import a as b, c".
struct ImportStmt : Stmt {
  ImportStmt() : Stmt(StmtKind::Import) {}
  static constexpr StmtKind Kind = StmtKind::Import;
  struct Alias {
    std::string name;
    std::string asName; // empty: not renamed
  };
  bool isFrom = false;
  std::string module;      // for "from"
  uint32_t level = 0;      // leading dots of "from .m"
  bool isOptional = false; // inside of "try"
  std::vector<Alias> names;
};

struct Parameter {
  std::string name;
  SourceRange range; // of the name
  const Expr *annotation = nullptr;
  const Expr *defaultValue = nullptr;
  bool isVarArgs = false;
  bool isKeywords = false; // "**name"; host code
  bool keywordOnly = false;
};

/// A decorator; 'value' is null when its argument uses Python that is not in the language. With lambdas, dictionaries
/// and comprehensions it is 'hostValue'.
struct Decorator {
  SourceRange range;
  std::string name; // dotted: "triton.jit"
  const Expr *value = nullptr;
  const Expr *hostValue = nullptr; // may be null
};

struct FunctionStmt : Stmt {
  FunctionStmt() : Stmt(StmtKind::Function) {}
  static constexpr StmtKind Kind = StmtKind::Function;
  std::string name;
  SourceRange nameRange;
  std::vector<Decorator> decorators;
  std::vector<Parameter> parameters;
  const Expr *returns = nullptr;
  Block body;
  DirectiveSet directives;
  bool isConstexpr = false; // runs at compile time: its names stay constants, and its loops are walked
  bool isHost = false;      // of the host program: it may make values outside of kernels, which cannot call it
  /// What is wrong in the function, if its module defers that until the function is used.
  std::vector<Diagnostic> errors;
};

/// A class: named tuples and aggregates are values of kernels, of others their constants and functions are used.
/// Methods without @triton.jit run at compile time. What is wrong in a method is kept in its 'errors'.
struct ClassStmt : Stmt {
  ClassStmt() : Stmt(StmtKind::Class) {}
  static constexpr StmtKind Kind = StmtKind::Class;
  std::string name;
  SourceRange nameRange;
  std::vector<Decorator> decorators;
  std::vector<const Expr *> bases;
  std::vector<const AnnAssignStmt *> fields; // "name: type" and "name: type = default"
  std::vector<const AssignStmt *> constants; // "NAME = value"
  std::vector<const FunctionStmt *> methods;

  bool isNamedTuple() const;
  bool isAggregate() const;
  /// Derives from a class of Python's `enum`, directly.
  bool isEnumeration() const;
};

/// A top-level name that belongs to Python code which tilec skips; using it in a kernel is an error that says so.
struct SkippedName {
  std::string name;
  SourceRange range;
  std::string what;                       // "class", "host function", "constant", "parameter"
  const FunctionStmt *function = nullptr; // of a host function without kernels inside
};

/// A function of the host program with kernels inside: a scope of its own, whose names they see.
struct HostStmt : Stmt {
  HostStmt() : Stmt(StmtKind::Host) {}
  static constexpr StmtKind Kind = StmtKind::Host;
  std::string name;
  Block body; // as that of a module
  std::vector<SkippedName> skipped;
};

/// Statements of the host program that are not read, and the names whose values depend on them; or a host function,
/// which is the only name that it assigns.
struct SkippedStmt : Stmt {
  SkippedStmt() : Stmt(StmtKind::Skipped) {}
  static constexpr StmtKind Kind = StmtKind::Skipped;
  std::vector<std::string> assigned; // "name = ...", "with f() as name", "del name"
  std::vector<std::string> changed;  // "name[i] = ...", "name.x = ...", "name.sort()": of values that can change
  const FunctionStmt *function = nullptr;
};

/// "kernel[grid](arguments)" in the host program, and what the function around it calls by which name.
struct HostLaunch {
  static constexpr int whole = -1;

  struct Binding {
    std::string name;
    uint32_t place = 0;          ///< of the statement, in the file
    const Expr *value = nullptr; ///< null: not known
    int element = whole;         ///< of the value that the name is
  };

  std::string kernel;
  const CallExpr *call = nullptr;          ///< null, as the next: it could not be parsed
  const SubscriptExpr *launcher = nullptr; ///< kernel[grid]
  std::vector<Binding> bindings;           ///< in the order of the file
};

// ---------------------------------------------------------------------------------------------------------- module

struct Module {
  uint32_t file = 0;
  Block body; // imports, constants, functions, classes, top-level ifs
  std::vector<SkippedName> skipped;
  std::vector<InstanceDirective> instances;
  std::vector<HostLaunch> launches;
  /// Errors in functions are kept with them: what is not used need not be in the language.
  bool defersErrors = false;

  template <typename T> T *make(SourceRange range) {
    auto node = std::make_unique<T>();
    node->range = range;
    T *result = node.get();
    arena.push_back(std::move(node));
    return result;
  }

  /// Takes the nodes and instances of another file.
  void adopt(Module other);

private:
  std::deque<std::unique_ptr<Node>> arena;
};

/// Checked downcast by kind: null when 'node' is null or of another kind.
template <typename T, typename Base> const T *as(const Base *node) {
  return node && node->kind == T::Kind ? static_cast<const T *>(node) : nullptr;
}

} // namespace tile::frontend
