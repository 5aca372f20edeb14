// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints expressions as source text.

#include "Frontend/Syntax/Unparse.h"

#include "Frontend/Syntax/Literals.h"

namespace tile::frontend {

namespace {

enum Precedence {
  Lowest,
  Conditional,
  Or,
  And,
  Not,
  Comparison,
  BitOr,
  BitXor,
  BitAnd,
  Shift,
  Sum,
  Product,
  Sign,
  Power,
  Postfix
};

Precedence precedence(BinaryOp op) {
  switch (op) {
  case BinaryOp::BitOr:
    return BitOr;
  case BinaryOp::BitXor:
    return BitXor;
  case BinaryOp::BitAnd:
    return BitAnd;
  case BinaryOp::LShift:
  case BinaryOp::RShift:
    return Shift;
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return Sum;
  case BinaryOp::Pow:
    return Power;
  default:
    return Product;
  }
}

Precedence next(Precedence level) {
  return static_cast<Precedence>(level + 1);
}

class Unparser {
public:
  void print(const Expr &expr, Precedence minimum);
  std::string out;

private:
  void printList(const std::vector<const Expr *> &elements) {
    for (size_t i = 0; i < elements.size(); ++i) {
      out += i == 0 ? "" : ", ";
      print(*elements[i], Conditional);
    }
  }
  void printOptional(const Expr *expr) {
    if (expr)
      print(*expr, Conditional);
  }
  void printUnary(const UnaryExpr &expr);
  void printBinary(const BinaryExpr &expr);
  void printBoolOp(const BoolOpExpr &expr);
  void printCompare(const CompareExpr &expr);
  void printConditional(const ConditionalExpr &expr);
  void printSubscript(const SubscriptExpr &expr);
  void printSlice(const SliceExpr &expr);
  void printDict(const DictExpr &expr);
  void printCall(const CallExpr &expr);
  void printFString(const FStringExpr &expr);
  void printComprehension(const ComprehensionExpr &expr);
  bool printLeaf(const Expr &expr);
  void printBody(const Expr &expr);
  static Precedence levelOf(const Expr &expr);
};

Precedence Unparser::levelOf(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Unary:
    return as<UnaryExpr>(&expr)->op == UnaryOp::Not ? Not : Sign;
  case ExprKind::Binary:
    return precedence(as<BinaryExpr>(&expr)->op);
  case ExprKind::BoolOp:
    return as<BoolOpExpr>(&expr)->op == BoolOperator::Or ? Or : And;
  case ExprKind::Compare:
    return Comparison;
  case ExprKind::Conditional:
    return Conditional;
  case ExprKind::Slice:
  case ExprKind::Starred:
    return Lowest;
  default:
    return Postfix;
  }
}

void Unparser::print(const Expr &expr, Precedence minimum) {
  bool isEnclosed = levelOf(expr) < minimum && levelOf(expr) != Lowest;
  out += isEnclosed ? "(" : "";
  printBody(expr);
  out += isEnclosed ? ")" : "";
}

void Unparser::printUnary(const UnaryExpr &expr) {
  out += spelling(expr.op);
  if (expr.op == UnaryOp::Not)
    out += ' ';
  print(*expr.operand, levelOf(expr));
}

void Unparser::printBinary(const BinaryExpr &expr) {
  Precedence level = precedence(expr.op);
  bool isPower = expr.op == BinaryOp::Pow;
  print(*expr.left, isPower ? next(level) : level);
  out += ' ';
  out += spelling(expr.op);
  out += ' ';
  print(*expr.right, isPower ? Sign : next(level));
}

void Unparser::printBoolOp(const BoolOpExpr &expr) {
  for (size_t i = 0; i < expr.values.size(); ++i) {
    out += i == 0 ? "" : " " + std::string(spelling(expr.op)) + " ";
    print(*expr.values[i], next(levelOf(expr)));
  }
}

void Unparser::printCompare(const CompareExpr &expr) {
  print(*expr.left, BitOr);
  out += " " + std::string(spelling(expr.op)) + " ";
  print(*expr.right, BitOr);
}

void Unparser::printConditional(const ConditionalExpr &expr) {
  print(*expr.thenValue, Or);
  out += " if ";
  print(*expr.condition, Or);
  out += " else ";
  print(*expr.elseValue, Conditional);
}

void Unparser::printSubscript(const SubscriptExpr &expr) {
  print(*expr.value, Postfix);
  out += '[';
  if (const auto *tuple = as<TupleExpr>(expr.index); tuple && !tuple->parenthesized && !tuple->elements.empty())
    printList(tuple->elements);
  else
    print(*expr.index, Conditional);
  out += ']';
}

void Unparser::printSlice(const SliceExpr &expr) {
  printOptional(expr.lower);
  out += ':';
  printOptional(expr.upper);
  out += expr.step ? ":" : "";
  printOptional(expr.step);
}

void Unparser::printDict(const DictExpr &expr) {
  out += '{';
  for (size_t i = 0; i < expr.keys.size(); ++i) {
    out += i == 0 ? "" : ", ";
    if (expr.keys[i])
      print(*expr.keys[i], Conditional);
    out += expr.keys[i] ? ": " : "**";
    print(*expr.values[i], Conditional);
  }
  out += '}';
}

void Unparser::printCall(const CallExpr &expr) {
  print(*expr.callee, Postfix);
  out += '(';
  for (size_t i = 0; i < expr.arguments.size(); ++i) {
    const Argument &argument = expr.arguments[i];
    out += i == 0 ? "" : ", ";
    out += argument.name.empty() ? "" : argument.name + "=";
    print(*argument.value, Conditional);
  }
  out += ')';
}

void Unparser::printFString(const FStringExpr &expr) {
  out += "f'";
  for (const FStringPart &part : expr.parts) {
    if (!part.value) {
      out += part.text;
      continue;
    }
    out += '{';
    print(*part.value, Conditional);
    out += part.conversion ? std::string("!") + part.conversion : "";
    out += part.hasFormat ? ":" + part.format : "";
    out += '}';
  }
  out += '\'';
}

void Unparser::printComprehension(const ComprehensionExpr &expr) {
  out += expr.isDictionary ? '{' : '[';
  if (const auto *entry = expr.isDictionary ? as<TupleExpr>(expr.element) : nullptr) {
    print(*entry->elements[0], Conditional);
    out += ": ";
    print(*entry->elements[1], Conditional);
  } else {
    print(*expr.element, Conditional);
  }
  for (const ComprehensionExpr::Clause &clause : expr.clauses) {
    out += " for ";
    for (size_t i = 0; i < clause.targets.size(); ++i)
      out += (i == 0 ? "" : ", ") + clause.targets[i];
    out += " in ";
    print(*clause.iterable, Or);
    for (const Expr *condition : clause.conditions) {
      out += " if ";
      print(*condition, Or);
    }
  }
  out += expr.isDictionary ? '}' : ']';
}

/// Prints names and literals. Returns false for other expressions.
bool Unparser::printLeaf(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Name:
    out += as<NameExpr>(&expr)->id;
    return true;
  case ExprKind::Int:
    out += toString(as<IntExpr>(&expr)->value);
    return true;
  case ExprKind::Float:
    out += floatRepr(as<FloatExpr>(&expr)->value);
    return true;
  case ExprKind::String:
    out += stringRepr(as<StringExpr>(&expr)->value);
    return true;
  case ExprKind::Bool:
    out += as<BoolExpr>(&expr)->value ? "True" : "False";
    return true;
  case ExprKind::None:
    out += "None";
    return true;
  case ExprKind::Ellipsis:
    out += "...";
    return true;
  default:
    return false;
  }
}

void Unparser::printBody(const Expr &expr) {
  if (printLeaf(expr))
    return;
  switch (expr.kind) {
  case ExprKind::FString:
    return printFString(*as<FStringExpr>(&expr));
  case ExprKind::Unary:
    return printUnary(*as<UnaryExpr>(&expr));
  case ExprKind::Binary:
    return printBinary(*as<BinaryExpr>(&expr));
  case ExprKind::BoolOp:
    return printBoolOp(*as<BoolOpExpr>(&expr));
  case ExprKind::Compare:
    return printCompare(*as<CompareExpr>(&expr));
  case ExprKind::Conditional:
    return printConditional(*as<ConditionalExpr>(&expr));
  case ExprKind::Call:
    return printCall(*as<CallExpr>(&expr));
  case ExprKind::Attribute:
    print(*as<AttributeExpr>(&expr)->value, Postfix);
    out += "." + as<AttributeExpr>(&expr)->attribute;
    return;
  case ExprKind::Subscript:
    return printSubscript(*as<SubscriptExpr>(&expr));
  case ExprKind::Slice:
    return printSlice(*as<SliceExpr>(&expr));
  case ExprKind::Tuple: {
    const auto &elements = as<TupleExpr>(&expr)->elements;
    out += '(';
    printList(elements);
    out += elements.size() == 1 ? ",)" : ")";
    return;
  }
  case ExprKind::List:
    out += '[';
    printList(as<ListExpr>(&expr)->elements);
    out += ']';
    return;
  case ExprKind::Comprehension:
    return printComprehension(*as<ComprehensionExpr>(&expr));
  case ExprKind::Dict:
    return printDict(*as<DictExpr>(&expr));
  case ExprKind::Starred:
    out += as<StarredExpr>(&expr)->isMapping ? "**" : "*";
    print(*as<StarredExpr>(&expr)->value, Conditional);
    return;
  default:
    return;
  }
}

} // namespace

std::string unparse(const Expr &expr) {
  Unparser unparser;
  unparser.print(expr, Lowest);
  return std::move(unparser.out);
}

} // namespace tile::frontend
