// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expressions of the syntax tree; see Ast.h.

#pragma once

#include "Frontend/Syntax/Diagnostics.h"
#include "Frontend/Syntax/Token.h"

#include <array>

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
  // Host code: in the arguments of decorators and, except for lambda, in functions that run at compile time.
  Lambda,
  Dict,
};

struct Expr : Node {
  explicit Expr(ExprKind kind) : kind(kind) {}
  const ExprKind kind;
  uint32_t depth = 1; // height of the subtree; bounded by the parser, so that visitors may recurse
  bool parenthesized = false;
  SourceRange outer; // including enclosing parentheses

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

/// None and "..." have no data.
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
  std::vector<std::string> parameters; // including the stars of "*args" and "**kwargs"
  const Expr *body = nullptr;
};

struct DictExpr : Expr {
  DictExpr() : Expr(ExprKind::Dict) {}
  static constexpr ExprKind Kind = ExprKind::Dict;
  std::vector<const Expr *> keys, values; // null key: "**value"
};

/// "[element for target in iterable if condition ...]", or without brackets as an argument.
struct ComprehensionExpr : Expr {
  ComprehensionExpr() : Expr(ExprKind::Comprehension) {}
  static constexpr ExprKind Kind = ExprKind::Comprehension;
  struct Clause {
    std::vector<std::string> targets; // several targets unpack the items
    const Expr *iterable = nullptr;
    std::vector<const Expr *> conditions;
  };
  const Expr *element = nullptr; // for a dictionary, a tuple of key and value
  std::vector<Clause> clauses;
  bool isDictionary = false;
};

/// A part of an f-string: literal text, or an expression with an optional conversion and format.
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
/// In and NotIn occur only in host code.
enum class CompareOp : uint8_t { Lt, Gt, LtE, GtE, Eq, NotEq, Is, IsNot, In, NotIn };

/// Returns the source spelling of the operator, or its name in CPython's ast module.
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
  const Expr *index = nullptr; // a Tuple if there is a comma
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
  bool isMapping = false; // "**value" in a call; host code
};

} // namespace tile::frontend
