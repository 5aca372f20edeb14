// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dumpAst: prints the tree like Python's ast.dump(tree, indent=2) (without empty lists and absent fields, as since
// Python 3.13), so that the parser can be compared with CPython's on any source.

#include "Frontend/Syntax/Literals.h"
#include "Frontend/Syntax/Unparse.h"

#include <functional>

namespace tile::frontend {

namespace {

class AstPrinter {
public:
  std::string out;

  void module(const Module &module) {
    open("Module");
    block("body", module.body);
    close();
  }

private:
  // A node prints as Class(field=..., field=...) with one field per line.
  void open(std::string_view name) {
    (out += name) += '(';
    ++indent;
    firstField = true;
  }
  void close() {
    out += ')';
    --indent;
    firstField = false;
  }
  void newline() { (out += '\n').append(2 * indent, ' '); }
  void field(std::string_view name) {
    if (!firstField)
      out += ',';
    firstField = false;
    newline();
    (out += name) += '=';
  }
  template <typename Range, typename Print> void list(std::string_view name, const Range &range, Print print) {
    if (std::empty(range))
      return;
    field(name);
    out += '[';
    ++indent;
    bool first = true;
    for (const auto &element : range) {
      out += first ? "" : ",";
      first = false;
      newline();
      print(element);
    }
    out += ']';
    --indent;
    firstField = false;
  }
  void leaf(std::string_view name) { (out += name) += "()"; }

  void expr(const Expr &expr, bool isTarget = false);
  void optional(std::string_view name, const Expr *value, bool isTarget = false) {
    if (!value)
      return;
    field(name);
    expr(*value, isTarget);
  }
  void exprs(std::string_view name, const std::vector<const Expr *> &values, bool isTarget = false) {
    list(name, values, [&](const Expr *value) {
      if (value)
        expr(*value, isTarget);
      else
        out += "None"; // the key of "**value"
    });
  }
  void constant(const std::string &text) { out += "Constant(value=" + text + ")"; }
  void text(std::string_view name, const std::string &value) {
    field(name);
    out += stringRepr(value);
  }
  void context(bool isTarget) {
    field("ctx");
    out += isTarget ? "Store()" : "Load()";
  }
  void fstring(const FStringExpr &node);
  void call(const CallExpr &node);
  void compound(const Expr &expr, bool isTarget);

  void stmt(const Stmt &stmt);
  void block(std::string_view name, const Block &body) {
    Block read;
    std::copy_if(body.begin(), body.end(), std::back_inserter(read),
                 [](const Stmt *child) { return child->kind != StmtKind::Skipped; });
    list(name, read, [&](const Stmt *child) { stmt(*child); });
  }
  void ifStmt(const IfStmt &node, size_t branch);
  void import(const ImportStmt &node);
  void function(const FunctionStmt &node);
  void parameter(const Parameter &parameter);
  void simple(const Stmt &stmt);
  void classDef(const ClassStmt &node);
  void comprehension(const ComprehensionExpr &node);

  size_t indent = 0;
  bool firstField = true;
};

void AstPrinter::fstring(const FStringExpr &node) {
  open("JoinedStr");
  list("values", node.parts, [&](const FStringPart &part) {
    if (!part.value)
      return constant(stringRepr(part.text));
    open("FormattedValue");
    optional("value", part.value);
    field("conversion");
    out += part.conversion ? std::to_string(static_cast<int>(part.conversion)) : "-1";
    if (part.hasFormat) {
      field("format_spec");
      open("JoinedStr");
      std::vector<std::string> pieces;
      if (!part.format.empty())
        pieces.push_back(part.format);
      list("values", pieces, [&](const std::string &piece) { constant(stringRepr(piece)); });
      close();
    }
    close();
  });
  close();
}

void AstPrinter::call(const CallExpr &node) {
  open("Call");
  optional("func", node.callee);
  std::vector<const Expr *> positional;
  std::vector<const Argument *> keywords;
  for (const Argument &argument : node.arguments) {
    const auto *starred = as<StarredExpr>(argument.value);
    if (argument.name.empty() && !(starred && starred->isMapping))
      positional.push_back(argument.value);
    else
      keywords.push_back(&argument);
  }
  exprs("args", positional);
  list("keywords", keywords, [&](const Argument *argument) {
    open("keyword");
    if (!argument->name.empty())
      text("arg", argument->name);
    const auto *mapping = argument->name.empty() ? as<StarredExpr>(argument->value) : nullptr;
    optional("value", mapping ? mapping->value : argument->value);
    close();
  });
  close();
}

void AstPrinter::expr(const Expr &expr, bool isTarget) {
  switch (expr.kind) {
  case ExprKind::Name:
    out += "Name(id=" + stringRepr(as<NameExpr>(&expr)->id) + ", ctx=" + (isTarget ? "Store())" : "Load())");
    return;
  case ExprKind::Int:
    return constant(toString(as<IntExpr>(&expr)->value));
  case ExprKind::Float: {
    std::string value = floatRepr(as<FloatExpr>(&expr)->value);
    return constant(value == "inf" ? "1e309" : value);
  }
  case ExprKind::String:
    return constant(stringRepr(as<StringExpr>(&expr)->value));
  case ExprKind::Bool:
    return constant(as<BoolExpr>(&expr)->value ? "True" : "False");
  case ExprKind::None:
    return constant("None");
  case ExprKind::Ellipsis:
    return constant("Ellipsis");
  case ExprKind::FString:
    return fstring(*as<FStringExpr>(&expr));
  case ExprKind::Call:
    return call(*as<CallExpr>(&expr));
  default:
    compound(expr, isTarget);
  }
}

void AstPrinter::compound(const Expr &expr, bool isTarget) {
  if (const auto *unary = as<UnaryExpr>(&expr)) {
    open("UnaryOp");
    field("op");
    leaf(className(unary->op));
    optional("operand", unary->operand);
  } else if (const auto *binary = as<BinaryExpr>(&expr)) {
    open("BinOp");
    optional("left", binary->left);
    field("op");
    leaf(className(binary->op));
    optional("right", binary->right);
  } else if (const auto *boolOp = as<BoolOpExpr>(&expr)) {
    open("BoolOp");
    field("op");
    leaf(className(boolOp->op));
    exprs("values", boolOp->values);
  } else if (const auto *compare = as<CompareExpr>(&expr)) {
    open("Compare");
    optional("left", compare->left);
    list("ops", std::array{compare->op}, [&](CompareOp op) { leaf(className(op)); });
    exprs("comparators", {compare->right});
  } else if (const auto *conditional = as<ConditionalExpr>(&expr)) {
    open("IfExp");
    optional("test", conditional->condition);
    optional("body", conditional->thenValue);
    optional("orelse", conditional->elseValue);
  } else if (const auto *attribute = as<AttributeExpr>(&expr)) {
    open("Attribute");
    optional("value", attribute->value);
    text("attr", attribute->attribute);
    context(isTarget);
  } else if (const auto *subscript = as<SubscriptExpr>(&expr)) {
    open("Subscript");
    optional("value", subscript->value);
    optional("slice", subscript->index);
    context(isTarget);
  } else if (const auto *slice = as<SliceExpr>(&expr)) {
    open("Slice");
    optional("lower", slice->lower);
    optional("upper", slice->upper);
    optional("step", slice->step);
  } else if (const auto *tuple = as<TupleExpr>(&expr)) {
    open("Tuple");
    exprs("elts", tuple->elements, isTarget);
    context(isTarget);
  } else if (const auto *list = as<ListExpr>(&expr)) {
    open("List");
    exprs("elts", list->elements, isTarget);
    context(isTarget);
  } else if (const auto *node = as<ComprehensionExpr>(&expr)) {
    open(node->isDictionary ? "DictComp" : "ListComp");
    comprehension(*node);
  } else if (const auto *dict = as<DictExpr>(&expr)) {
    open("Dict");
    exprs("keys", dict->keys);
    exprs("values", dict->values);
  } else if (const auto *starred = as<StarredExpr>(&expr)) {
    open("Starred");
    optional("value", starred->value);
    context(isTarget);
  }
  close();
}

void AstPrinter::comprehension(const ComprehensionExpr &node) {
  if (const auto *entry = node.isDictionary ? as<TupleExpr>(node.element) : nullptr) {
    optional("key", entry->elements[0]);
    optional("value", entry->elements[1]);
  } else {
    optional("elt", node.element);
  }
  list("generators", node.clauses, [&](const ComprehensionExpr::Clause &clause) {
    auto target = [&](const std::string &name) { out += "Name(id=" + stringRepr(name) + ", ctx=Store())"; };
    open("comprehension");
    field("target");
    if (clause.targets.size() == 1) {
      target(clause.targets.front());
    } else {
      open("Tuple");
      list("elts", clause.targets, target);
      context(true);
      close();
    }
    optional("iter", clause.iterable);
    exprs("ifs", clause.conditions);
    field("is_async");
    out += "0";
    close();
  });
}

/// Prints a class without its skipped members.
void AstPrinter::classDef(const ClassStmt &node) {
  open("ClassDef");
  text("name", node.name);
  exprs("bases", node.bases);
  Block members(node.fields.begin(), node.fields.end());
  members.insert(members.end(), node.constants.begin(), node.constants.end());
  members.insert(members.end(), node.methods.begin(), node.methods.end());
  block("body", members);
  close();
}

void AstPrinter::ifStmt(const IfStmt &node, size_t branch) {
  open("If");
  optional("test", node.branches[branch].condition);
  block("body", node.branches[branch].body);
  if (branch + 1 < node.branches.size())
    list("orelse", std::array{branch + 1}, [&](size_t next) { ifStmt(node, next); });
  else
    block("orelse", node.elseBody);
  close();
}

void AstPrinter::import(const ImportStmt &node) {
  open(node.isFrom ? "ImportFrom" : "Import");
  if (node.isFrom && !node.module.empty())
    text("module", node.module);
  list("names", node.names, [&](const ImportStmt::Alias &alias) {
    open("alias");
    text("name", alias.name);
    if (!alias.asName.empty())
      text("asname", alias.asName);
    close();
  });
  if (node.isFrom) {
    field("level");
    out += std::to_string(node.level);
  }
  close();
}

void AstPrinter::parameter(const Parameter &parameter) {
  open("arg");
  text("arg", parameter.name);
  optional("annotation", parameter.annotation);
  close();
}

void AstPrinter::function(const FunctionStmt &node) {
  open("FunctionDef");
  text("name", node.name);
  field("args");
  open("arguments");
  std::vector<const Parameter *> positional, keywordOnly;
  std::vector<const Expr *> defaults, keywordDefaults;
  const Parameter *varArgs = nullptr, *keywords = nullptr;
  for (const Parameter &parameter : node.parameters) {
    if (parameter.isVarArgs || parameter.isKeywords) {
      (parameter.isVarArgs ? varArgs : keywords) = &parameter;
      continue;
    }
    (parameter.keywordOnly ? keywordOnly : positional).push_back(&parameter);
    if (parameter.keywordOnly)
      keywordDefaults.push_back(parameter.defaultValue);
    else if (parameter.defaultValue)
      defaults.push_back(parameter.defaultValue);
  }
  list("args", positional, [&](const Parameter *p) { parameter(*p); });
  if (varArgs) {
    field("vararg");
    parameter(*varArgs);
  }
  list("kwonlyargs", keywordOnly, [&](const Parameter *p) { parameter(*p); });
  list("kw_defaults", keywordDefaults, [&](const Expr *value) {
    if (value)
      expr(*value);
    else
      out += "None";
  });
  if (keywords) {
    field("kwarg");
    parameter(*keywords);
  }
  exprs("defaults", defaults);
  close();
  block("body", node.body);
  list("decorator_list", node.decorators, [&](const Decorator &decorator) {
    if (decorator.value)
      expr(*decorator.value);
    else
      out += "Opaque(name=" + stringRepr(decorator.name) + ")";
  });
  optional("returns", node.returns);
  close();
}

void AstPrinter::simple(const Stmt &stmt) {
  const auto *assign = as<AssignStmt>(&stmt);
  if (assign && assign->isHost) {
    open("Opaque");
    exprs("targets", {assign->target}, true);
  } else if (assign) {
    open("Assign");
    exprs("targets", {assign->target}, true);
    optional("value", assign->value);
  } else if (const auto *augmented = as<AugAssignStmt>(&stmt)) {
    open("AugAssign");
    optional("target", augmented->target, true);
    field("op");
    leaf(className(augmented->op));
    optional("value", augmented->value);
  } else if (const auto *annotated = as<AnnAssignStmt>(&stmt)) {
    open("AnnAssign");
    optional("target", annotated->target, true);
    optional("annotation", annotated->annotation);
    optional("value", annotated->value);
    field("simple");
    out += annotated->target->parenthesized ? "0" : "1";
  } else if (const auto *expression = as<ExprStmt>(&stmt)) {
    open("Expr");
    optional("value", expression->value);
  } else if (const auto *returned = as<ReturnStmt>(&stmt)) {
    open("Return");
    optional("value", returned->value);
  } else if (const auto *assertion = as<AssertStmt>(&stmt)) {
    open("Assert");
    optional("test", assertion->condition);
    optional("msg", assertion->message);
  } else if (const auto *raised = as<RaiseStmt>(&stmt)) {
    open("Raise");
    optional("exc", raised->value);
  } else {
    open(stmt.kind == StmtKind::Pass ? "Pass" : stmt.kind == StmtKind::Break ? "Break" : "Continue");
  }
  close();
}

void AstPrinter::stmt(const Stmt &stmt) {
  if (const auto *node = as<IfStmt>(&stmt))
    return ifStmt(*node, 0);
  if (const auto *node = as<ImportStmt>(&stmt))
    return import(*node);
  if (const auto *node = as<FunctionStmt>(&stmt))
    return function(*node);
  if (const auto *node = as<ClassStmt>(&stmt))
    return classDef(*node);
  if (const auto *node = as<HostStmt>(&stmt)) {
    open("HostFunction");
    text("name", node->name);
    block("body", node->body);
    return close();
  }
  if (const auto *node = as<ForStmt>(&stmt)) {
    open("For");
    optional("target", node->target, true);
    optional("iter", node->iterator);
    block("body", node->body);
    return close();
  }
  if (const auto *node = as<WhileStmt>(&stmt)) {
    open("While");
    optional("test", node->condition);
    block("body", node->body);
    return close();
  }
  if (const auto *node = as<WithStmt>(&stmt)) {
    open("With");
    list("items", node->items, [&](const WithStmt::Item &item) {
      open("withitem");
      optional("context_expr", item.context);
      optional("optional_vars", item.target, true);
      close();
    });
    block("body", node->body);
    return close();
  }
  simple(stmt);
}

} // namespace

std::string dumpAst(const Module &module) {
  AstPrinter printer;
  printer.module(module);
  return printer.out + "\n";
}

} // namespace tile::frontend
