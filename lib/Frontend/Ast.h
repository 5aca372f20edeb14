// The abstract syntax tree: what the parser builds and everything else reads.
//
// Nodes are plain structs tagged by a kind, owned by the Module's arena and immutable after parsing. Names follow
// CPython's 'ast' module, so that the printed tree can be compared with what Python prints.

#pragma once

#include "Frontend/Diagnostics.h"
#include "Frontend/Directives.h"
#include "Frontend/Token.h"

#include <array>
#include <deque>

namespace tile::frontend {

using Int128 = __int128;

struct Node {
  virtual ~Node() = default;
  SourceRange range;
};

// ---------------------------------------------------------------------------------------------------- expressions

enum class ExprKind : uint8_t {
  Name,
  Int,
  Float,
  String,
  Bool,
  None,
  Ellipsis,
  FString,
  Unary,
  Binary,
  BoolOp,
  Compare,
  Conditional,
  Call,
  Attribute,
  Subscript,
  Slice,
  Tuple,
  List,
  Starred,
  Comprehension,
  // Host code: in the arguments of decorators and, but for lambda, in functions that run at compile time.
  Lambda,
  Dict,
};

struct Expr : Node {
  explicit Expr(ExprKind kind) : kind(kind) {}
  const ExprKind kind;
  uint32_t depth = 1; // height of the tree below; bounded by the parser so that visitors may recurse
  bool parenthesized = false;
  SourceRange outer; // with the parentheses around it

  SourceRange fullRange() const { return parenthesized ? outer : range; }
};

struct NameExpr : Expr {
  NameExpr() : Expr(ExprKind::Name) {}
  static constexpr ExprKind Kind = ExprKind::Name;
  std::string id;
};

struct IntExpr : Expr {
  IntExpr() : Expr(ExprKind::Int) {}
  static constexpr ExprKind Kind = ExprKind::Int;
  Int128 value = 0;
};

struct FloatExpr : Expr {
  FloatExpr() : Expr(ExprKind::Float) {}
  static constexpr ExprKind Kind = ExprKind::Float;
  double value = 0;
};

struct StringExpr : Expr {
  StringExpr() : Expr(ExprKind::String) {}
  static constexpr ExprKind Kind = ExprKind::String;
  std::string value;
};

struct BoolExpr : Expr {
  BoolExpr() : Expr(ExprKind::Bool) {}
  static constexpr ExprKind Kind = ExprKind::Bool;
  bool value = false;
};

/// None and "..." carry nothing.
struct NoneExpr : Expr {
  NoneExpr() : Expr(ExprKind::None) {}
  static constexpr ExprKind Kind = ExprKind::None;
};

struct EllipsisExpr : Expr {
  EllipsisExpr() : Expr(ExprKind::Ellipsis) {}
  static constexpr ExprKind Kind = ExprKind::Ellipsis;
};

struct LambdaExpr : Expr {
  LambdaExpr() : Expr(ExprKind::Lambda) {}
  static constexpr ExprKind Kind = ExprKind::Lambda;
  std::vector<std::string> parameters;
  const Expr *body = nullptr;
};

struct DictExpr : Expr {
  DictExpr() : Expr(ExprKind::Dict) {}
  static constexpr ExprKind Kind = ExprKind::Dict;
  std::vector<const Expr *> keys, values;
};

/// "[element for target in iterable if condition ...]", or the same without brackets as an argument.
struct ComprehensionExpr : Expr {
  ComprehensionExpr() : Expr(ExprKind::Comprehension) {}
  static constexpr ExprKind Kind = ExprKind::Comprehension;
  struct Clause {
    std::vector<std::string> targets; // more than one unpack the items
    const Expr *iterable = nullptr;
    std::vector<const Expr *> conditions;
  };
  const Expr *element = nullptr;
  std::vector<Clause> clauses;
};

/// A piece of an f-string: literal text, or an expression with an optional conversion and format.
struct FStringPart {
  std::string text;
  const Expr *value = nullptr;
  char conversion = 0; // 'r', 's', 'a' or 0
  std::string format;
  bool hasFormat = false;
};

struct FStringExpr : Expr {
  FStringExpr() : Expr(ExprKind::FString) {}
  static constexpr ExprKind Kind = ExprKind::FString;
  std::vector<FStringPart> parts;
};

enum class UnaryOp : uint8_t { Minus, Plus, Invert, Not };
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mult,
  Div,
  FloorDiv,
  Mod,
  Pow,
  LShift,
  RShift,
  BitAnd,
  BitOr,
  BitXor,
  MatMult
};
enum class BoolOperator : uint8_t { And, Or };
enum class CompareOp : uint8_t { Lt, Gt, LtE, GtE, Eq, NotEq, Is, IsNot };

/// How the operator is written, and its name in CPython's ast module.
std::string_view spelling(UnaryOp op);
std::string_view spelling(BinaryOp op);
std::string_view spelling(BoolOperator op);
std::string_view spelling(CompareOp op);
std::string_view className(UnaryOp op);
std::string_view className(BinaryOp op);
std::string_view className(BoolOperator op);
std::string_view className(CompareOp op);

struct UnaryExpr : Expr {
  UnaryExpr() : Expr(ExprKind::Unary) {}
  static constexpr ExprKind Kind = ExprKind::Unary;
  UnaryOp op = UnaryOp::Minus;
  const Expr *operand = nullptr;
};

struct BinaryExpr : Expr {
  BinaryExpr() : Expr(ExprKind::Binary) {}
  static constexpr ExprKind Kind = ExprKind::Binary;
  BinaryOp op = BinaryOp::Add;
  const Expr *left = nullptr;
  const Expr *right = nullptr;
};

/// "a and b and c" is one node with three values.
struct BoolOpExpr : Expr {
  BoolOpExpr() : Expr(ExprKind::BoolOp) {}
  static constexpr ExprKind Kind = ExprKind::BoolOp;
  BoolOperator op = BoolOperator::And;
  std::vector<const Expr *> values;
};

struct CompareExpr : Expr {
  CompareExpr() : Expr(ExprKind::Compare) {}
  static constexpr ExprKind Kind = ExprKind::Compare;
  CompareOp op = CompareOp::Lt;
  const Expr *left = nullptr;
  const Expr *right = nullptr;
};

struct ConditionalExpr : Expr {
  ConditionalExpr() : Expr(ExprKind::Conditional) {}
  static constexpr ExprKind Kind = ExprKind::Conditional;
  const Expr *condition = nullptr;
  const Expr *thenValue = nullptr;
  const Expr *elseValue = nullptr;
};

struct Argument {
  std::string name; // empty: positional
  SourceRange nameRange;
  const Expr *value = nullptr;
};

struct CallExpr : Expr {
  CallExpr() : Expr(ExprKind::Call) {}
  static constexpr ExprKind Kind = ExprKind::Call;
  const Expr *callee = nullptr;
  std::vector<Argument> arguments;
};

struct AttributeExpr : Expr {
  AttributeExpr() : Expr(ExprKind::Attribute) {}
  static constexpr ExprKind Kind = ExprKind::Attribute;
  const Expr *value = nullptr;
  std::string attribute;
  SourceRange attributeRange;
};

struct SubscriptExpr : Expr {
  SubscriptExpr() : Expr(ExprKind::Subscript) {}
  static constexpr ExprKind Kind = ExprKind::Subscript;
  const Expr *value = nullptr;
  const Expr *index = nullptr; // a Tuple when there is a comma
};

struct SliceExpr : Expr {
  SliceExpr() : Expr(ExprKind::Slice) {}
  static constexpr ExprKind Kind = ExprKind::Slice;
  const Expr *lower = nullptr;
  const Expr *upper = nullptr;
  const Expr *step = nullptr;
};

struct TupleExpr : Expr {
  TupleExpr() : Expr(ExprKind::Tuple) {}
  static constexpr ExprKind Kind = ExprKind::Tuple;
  std::vector<const Expr *> elements;
};

struct ListExpr : Expr {
  ListExpr() : Expr(ExprKind::List) {}
  static constexpr ExprKind Kind = ExprKind::List;
  std::vector<const Expr *> elements;
};

struct StarredExpr : Expr {
  StarredExpr() : Expr(ExprKind::Starred) {}
  static constexpr ExprKind Kind = ExprKind::Starred;
  const Expr *value = nullptr;
};

// ----------------------------------------------------------------------------------------------------- statements

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

/// 'target' is a Name, or a Tuple/List of targets; in methods that run at compile time also an Attribute.
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
  bool breaks = false; // what follows the loop may run though it has ended early; not so behind a return
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

// ---------------------------------------------------------------------------------------------------------- module

struct Module {
  uint32_t file = 0;
  Block body; // imports, constants, functions, classes, top-level ifs
  std::vector<SkippedName> skipped;
  std::vector<InstanceDirective> instances;
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
