// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The abstract syntax tree, built by the parser and read by everything else.
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

/// 'target' is a Name, or a Tuple/List of targets. It may be an Attribute in methods that run at compile time, and a
/// Subscript in host code.
struct AssignStmt : Stmt {
  AssignStmt() : Stmt(StmtKind::Assign) {}
  static constexpr StmtKind Kind = StmtKind::Assign;
  const Expr *target = nullptr;
  const Expr *value = nullptr;
  bool isHost = false; // the value has lambdas, dictionaries or comprehensions; only decorators may use it
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
  std::string stop;    // the loop ends when this hidden name is true (SemaJumps.cpp); empty if it has no early end
  bool breaks = false; // the code after the loop runs after an early end by 'break', but not after a return
};

struct WhileStmt : Stmt {
  WhileStmt() : Stmt(StmtKind::While) {}
  static constexpr StmtKind Kind = StmtKind::While;
  const Expr *condition = nullptr;
  Block body;
};

/// "with context [as target], ...": has no separate scope; its body is part of the enclosing block.
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
  std::string module;      // module of a "from" import
  uint32_t level = 0;      // leading dots of "from .m"
  bool isOptional = false; // inside "try"
  std::vector<Alias> names;
};

struct Parameter {
  std::string name;
  SourceRange range; // range of the name
  const Expr *annotation = nullptr;
  const Expr *defaultValue = nullptr;
  bool isVarArgs = false;
  bool isKeywords = false; // "**name"; host code
  bool keywordOnly = false;
};

/// A decorator. 'value' is null if the argument uses Python that is not in the language. An argument with lambdas,
/// dictionaries or comprehensions is stored in 'hostValue'.
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
  bool isConstexpr = false; // runs at compile time: its names stay constants, and its loops are executed
  bool isHost = false;      // a function of the host program: it may compute values outside kernels, but kernels cannot
                            // call it
  /// Errors in the function, if its module defers them until the function is used.
  std::vector<Diagnostic> errors;
};

/// A class. In kernels, named tuples and aggregates are values. Kernels can use only the constants and functions of
/// other classes. Methods without @triton.jit run at compile time. Errors in a method are kept in its 'errors'.
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
  /// Returns true for a direct subclass of a class in Python's `enum`.
  bool isEnumeration() const;
};

/// A top-level name of Python code that tilec skips; using it in a kernel is an error with an explanation.
struct SkippedName {
  std::string name;
  SourceRange range;
  std::string what;                       // "class", "host function", "constant", "parameter"
  const FunctionStmt *function = nullptr; // for a host function without kernels inside
};

/// A function of the host program that contains kernels: a scope whose names the kernels see.
struct HostStmt : Stmt {
  HostStmt() : Stmt(StmtKind::Host) {}
  static constexpr StmtKind Kind = StmtKind::Host;
  std::string name;
  Block body; // as the body of a module
  std::vector<SkippedName> skipped;
};

/// Host statements that are not parsed, and the names whose values depend on them; or a host function, which assigns
/// only its name.
struct SkippedStmt : Stmt {
  SkippedStmt() : Stmt(StmtKind::Skipped) {}
  static constexpr StmtKind Kind = StmtKind::Skipped;
  std::vector<std::string> assigned; // "name = ...", "with f() as name", "del name"
  std::vector<std::string> changed;  // "name[i] = ...", "name.x = ...", "name.sort()": modify a value
  const FunctionStmt *function = nullptr;
};

/// "kernel[grid](arguments)" in the host program, and the bindings in the function around it.
struct HostLaunch {
  static constexpr int whole = -1;

  struct Binding {
    std::string name;
    uint32_t place = 0;          ///< offset of the statement in the file
    const Expr *value = nullptr; ///< null: unknown
    int element = whole;         ///< index in the value that is bound to the name
  };

  std::string kernel;
  const CallExpr *call = nullptr;          ///< null if the call could not be parsed
  const SubscriptExpr *launcher = nullptr; ///< kernel[grid]
  std::vector<Binding> bindings;           ///< in file order
};

// ---------------------------------------------------------------------------------------------------------- module

struct Module {
  uint32_t file = 0;
  Block body; // imports, constants, functions, classes, top-level ifs
  std::vector<SkippedName> skipped;
  std::vector<InstanceDirective> instances;
  std::vector<HostLaunch> launches;
  /// A decorator that is probably a misspelled kernel decorator, and the correct name.
  std::optional<std::pair<SourceRange, std::string>> misspelled;
  /// Errors in a function are kept with the function, so unused functions need not be in the language.
  bool defersErrors = false;

  template <typename T> T *make(SourceRange range) {
    auto node = std::make_unique<T>();
    node->range = range;
    T *result = node.get();
    arena.push_back(std::move(node));
    return result;
  }

  /// Takes over the nodes and instances of another file.
  void adopt(Module other);

private:
  std::deque<std::unique_ptr<Node>> arena;
};

/// Checked downcast by kind: null if 'node' is null or of another kind.
template <typename T, typename Base> const T *as(const Base *node) {
  return node && node->kind == T::Kind ? static_cast<const T *>(node) : nullptr;
}

} // namespace tile::frontend
