// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: "#:" directives. The tokens of a directive (one line, or several while a bracket is open) go through the
// expression parser of the language; the expressions are then checked against what the runtime can evaluate.

#include "Directives/Functions.h"
#include "Frontend/Syntax/ParserImpl.h"
#include "Frontend/Syntax/Unparse.h"

#include <algorithm>

namespace tile::frontend {

namespace {

enum class Dialect { Integer, Tensor, Value };

bool isIntegerOperator(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
  case BinaryOp::Mult:
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
  case BinaryOp::Pow:
    return true;
  default:
    return false;
  }
}

/// Names of "#: let" that stand for each other double an expression again and again.
constexpr size_t mostNodes = 10000;

/// Takes the nodes from what is left; false if there are more. Stops there, whatever the tree would unfold to.
bool isShort(const Expr &expr, size_t &left) {
  if (left == 0)
    return false;
  --left;
  auto all = [&](std::initializer_list<const Expr *> parts) {
    return std::all_of(parts.begin(), parts.end(), [&](const Expr *part) { return isShort(*part, left); });
  };
  if (const auto *node = as<UnaryExpr>(&expr))
    return all({node->operand});
  if (const auto *node = as<BinaryExpr>(&expr))
    return all({node->left, node->right});
  if (const auto *node = as<CompareExpr>(&expr))
    return all({node->left, node->right});
  if (const auto *node = as<ConditionalExpr>(&expr))
    return all({node->condition, node->thenValue, node->elseValue});
  if (const auto *node = as<BoolOpExpr>(&expr))
    return std::all_of(node->values.begin(), node->values.end(),
                       [&](const Expr *part) { return isShort(*part, left); });
  if (const auto *node = as<CallExpr>(&expr))
    return std::all_of(node->arguments.begin(), node->arguments.end(),
                       [&](const Argument &argument) { return isShort(*argument.value, left); });
  return true;
}

} // namespace

/// Parses one directive, whose tokens are in 'parser'.
class DirectiveParser {
public:
  DirectiveParser(Parser &parser, DirectiveSet *set, SourceRange range) : p(parser), set(set), range(range) {}
  void run();

private:
  bool parse();
  bool parseGrid(std::vector<DirectiveExpr> &grid);
  bool parseBuffer();
  bool parseDefault();
  bool parseExpect();
  bool parseLet();
  bool parseInstance();
  bool parseInstanceOptions(InstanceDirective &instance);
  bool parseOption(std::optional<int> &option, std::string_view name);
  bool parseCluster(std::optional<ClusterShape> &cluster);
  bool parseSchedule(std::optional<Schedule> &schedule);
  bool parseName(std::string &name, SourceRange &nameRange, std::string_view what);
  bool parseList(std::vector<DirectiveExpr> &list, Tok close, Dialect dialect);
  bool parseExpr(DirectiveExpr &out, Dialect dialect);
  bool check(const Expr &expr, Dialect dialect);
  bool reject(const Expr &expr, Dialect dialect);
  bool acceptWord(std::string_view word) {
    bool isWord = p.at(Tok::Name) && p.text(p.peek()) == word;
    if (isWord)
      p.advance();
    return isWord;
  }

  Parser &p;
  DirectiveSet *set;
  SourceRange range;
};

void DirectiveParser::run() {
  if (parse() && !p.at(Tok::End))
    p.unexpected("the end of the directive");
}

bool DirectiveParser::parse() {
  std::string keyword = p.at(Tok::Name) ? p.text(p.peek()) : "";
  if (keyword == "instance") {
    p.advance();
    return parseInstance();
  }
  constexpr std::string_view known[] = {"grid", "buffer",    "default",    "expect",  "require",
                                        "let",  "num_warps", "num_stages", "cluster", "schedule"};
  if (std::find(std::begin(known), std::end(known), keyword) == std::end(known)) {
    p.error(Diag::unknown_directive, p.peek().range, {p.text(p.peek())});
    return false;
  }
  if (!set) {
    p.error(Diag::misplaced_directive, range);
    return false;
  }
  SourceRange keywordRange = p.advance().range;
  if (keyword == "grid") {
    if (!set->grid.empty()) {
      p.error(Diag::duplicate_directive, keywordRange, {keyword});
      return false;
    }
    return parseGrid(set->grid);
  }
  if (keyword == "buffer")
    return parseBuffer();
  if (keyword == "default")
    return parseDefault();
  if (keyword == "expect")
    return parseExpect();
  if (keyword == "let")
    return parseLet();
  if (keyword == "require")
    return parseExpr(set->requirements.emplace_back(), Dialect::Integer);
  if (keyword == "cluster")
    return parseCluster(set->cluster);
  if (keyword == "schedule")
    return parseSchedule(set->schedule);
  return parseOption(keyword == "num_warps" ? set->numWarps : set->numStages, keyword);
}

bool DirectiveParser::parseName(std::string &name, SourceRange &nameRange, std::string_view what) {
  if (!p.at(Tok::Name)) {
    p.unexpected(what);
    return false;
  }
  nameRange = p.peek().range;
  name = p.text(p.advance());
  return true;
}

bool DirectiveParser::parseExpr(DirectiveExpr &out, Dialect dialect) {
  const SourceRange begin = p.peek().range;
  p.allowMatMul = dialect == Dialect::Tensor;
  out.expr = p.parseExpression();
  p.allowMatMul = false;
  if (!out.expr)
    return false;
  if (size_t left = mostNodes; !isShort(*out.expr, left)) {
    p.error(Diag::directive_length, p.rangeFrom(begin), {std::to_string(mostNodes)});
    return false;
  }
  if (!check(*out.expr, dialect))
    return false;
  out.range = p.rangeFrom(begin);
  out.text = unparse(*out.expr);
  return true;
}

/// Expressions up to and including the closing bracket.
bool DirectiveParser::parseList(std::vector<DirectiveExpr> &list, Tok close, Dialect dialect) {
  while (!p.at(close)) {
    DirectiveExpr expr;
    if (!parseExpr(expr, dialect))
      return false;
    list.push_back(std::move(expr));
    if (!p.accept(Tok::Comma))
      break;
  }
  return p.expect(close, "or ',' in the directive");
}

bool DirectiveParser::parseGrid(std::vector<DirectiveExpr> &grid) {
  SourceRange begin = p.peek().range;
  if (!p.expect(Tok::LeftParen, "after 'grid'") || !parseList(grid, Tok::RightParen, Dialect::Integer))
    return false;
  if (grid.size() >= 1 && grid.size() <= 3)
    return true;
  p.error(Diag::grid_rank, p.rangeFrom(begin), {std::to_string(grid.size())});
  return false;
}

/// buffer NAME [shape] [strides(...)] = role
bool DirectiveParser::parseBuffer() {
  BufferDirective buffer;
  buffer.range = range;
  if (!parseName(buffer.parameter, buffer.nameRange, "a pointer parameter after 'buffer'") ||
      !p.expect(Tok::LeftBracket, "before the shape of the buffer") ||
      !parseList(buffer.shape, Tok::RightBracket, Dialect::Integer))
    return false;
  if (acceptWord("strides") &&
      (!p.expect(Tok::LeftParen, "after 'strides'") || !parseList(buffer.strides, Tok::RightParen, Dialect::Integer)))
    return false;
  SourceRange roleRange;
  if (!p.expect(Tok::Equal, "before the role of the buffer") || !parseName(buffer.role, roleRange, "a role"))
    return false;
  bool isFill = p.at(Tok::LeftParen); // random(seed=3), which a default may say
  constexpr std::string_view roles[] = {"random", "output", "inout", "zeros"};
  bool isRole = std::find(std::begin(roles), std::end(roles), buffer.role) != std::end(roles);
  if (isFill || !isRole) {
    p.error(Diag::unknown_role, roleRange, {buffer.role + (isFill ? "(...)" : ""), buffer.parameter});
    return false;
  }
  if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size()) {
    p.error(Diag::strides_rank, buffer.nameRange,
            {buffer.parameter, std::to_string(buffer.shape.size()), std::to_string(buffer.strides.size())});
    return false;
  }
  for (const BufferDirective &other : set->buffers)
    if (other.parameter == buffer.parameter) {
      p.error(Diag::duplicate_directive, buffer.nameRange, {"buffer " + buffer.parameter});
      return false;
    }
  set->buffers.push_back(std::move(buffer));
  return true;
}

bool DirectiveParser::parseDefault() {
  DefaultDirective directive;
  directive.range = range;
  if (!parseName(directive.parameter, directive.nameRange, "a parameter after 'default'") ||
      !p.expect(Tok::Equal, "after the parameter") || !parseExpr(directive.value, Dialect::Value))
    return false;
  for (const DefaultDirective &other : set->defaults)
    if (other.parameter == directive.parameter) {
      p.error(Diag::duplicate_directive, directive.nameRange, {"default " + directive.parameter});
      return false;
    }
  set->defaults.push_back(std::move(directive));
  return true;
}

/// expect NAME == tensor-expression [within number]
bool DirectiveParser::parseExpect() {
  ExpectDirective directive;
  directive.range = range;
  if (!parseName(directive.buffer, directive.nameRange, "a buffer after 'expect'") ||
      !p.expect(Tok::EqualEqual, "after the buffer") || !parseExpr(directive.value, Dialect::Tensor))
    return false;
  if (acceptWord("within") && !parseExpr(directive.tolerance.emplace(), Dialect::Value))
    return false;
  set->expects.push_back(std::move(directive));
  return true;
}

/// let NAME = expression: text of the manifest repeats it wherever the name is used.
bool DirectiveParser::parseLet() {
  std::string name;
  SourceRange nameRange;
  if (!parseName(name, nameRange, "a name after 'let'") || !p.expect(Tok::Equal, "after the name"))
    return false;
  p.allowMatMul = true;
  const Expr *value = p.parseExpression();
  p.allowMatMul = false;
  if (!value)
    return false;
  if (set->bindings.try_emplace(name, value).second)
    return true;
  p.error(Diag::duplicate_directive, nameRange, {"let " + name});
  return false;
}

bool DirectiveParser::parseOption(std::optional<int> &option, std::string_view name) {
  if (!p.expect(Tok::Equal, "after '" + std::string(name) + "'"))
    return false;
  const Expr *value = p.parseExpression();
  const auto *integer = as<IntExpr>(value);
  const auto *word = as<NameExpr>(value);
  constexpr int largest = 1024;
  bool isOpen = word && word->id == "auto", isCount = integer && integer->value >= 1 && integer->value <= largest;
  if (!isOpen && !isCount) {
    if (value)
      p.error(Diag::directive_integer, value->range, {std::string(name)});
    return false;
  }
  if (option) {
    p.error(Diag::duplicate_directive, value->range, {std::string(name)});
    return false;
  }
  option = isOpen ? leftOpen : static_cast<int>(integer->value);
  return true;
}

/// cluster = (M, N), (M, N, K) or auto
bool DirectiveParser::parseCluster(std::optional<ClusterShape> &cluster) {
  if (!p.expect(Tok::Equal, "after 'cluster'"))
    return false;
  const Expr *value = p.parseExpression();
  const auto *tuple = as<TupleExpr>(value);
  const auto *word = as<NameExpr>(value);
  ClusterShape shape = {1, 1, 1};
  bool isShape = tuple && (tuple->elements.size() == 2 || tuple->elements.size() == 3);
  for (size_t i = 0; isShape && i < tuple->elements.size(); ++i) {
    const auto *extent = as<IntExpr>(tuple->elements[i]);
    constexpr int largest = 1024;
    isShape = extent && extent->value >= 1 && extent->value <= largest;
    if (isShape)
      shape[i] = static_cast<int>(extent->value);
  }
  bool isOpen = word && word->id == "auto";
  if (!isOpen && !isShape) {
    if (value)
      p.error(Diag::directive_cluster, value->range);
    return false;
  }
  if (cluster) {
    p.error(Diag::duplicate_directive, value->range, {"cluster"});
    return false;
  }
  cluster = isOpen ? openCluster : shape;
  return true;
}

/// schedule = cooperative, pingpong or auto
bool DirectiveParser::parseSchedule(std::optional<Schedule> &schedule) {
  if (!p.expect(Tok::Equal, "after 'schedule'"))
    return false;
  const Expr *value = p.parseExpression();
  const auto *word = as<NameExpr>(value);
  std::optional<Schedule> named = word ? frontend::parseSchedule(word->id) : std::nullopt;
  if (!named) {
    if (value)
      p.error(Diag::directive_schedule, value->range);
    return false;
  }
  if (schedule) {
    p.error(Diag::duplicate_directive, value->range, {"schedule"});
    return false;
  }
  schedule = named;
  return true;
}

/// instance NAME = kernel(name=value, ...) num_warps=8 num_stages=3 cluster=(2, 1) schedule=pingpong grid=(...)
bool DirectiveParser::parseInstance() {
  InstanceDirective instance;
  instance.range = range;
  SourceRange nameRange;
  if (!parseName(instance.name, nameRange, "a name after 'instance'") || !p.expect(Tok::Equal, "after the name") ||
      !parseName(instance.kernel, instance.kernelRange, "the kernel of the instance") ||
      !p.expect(Tok::LeftParen, "after the kernel"))
    return false;
  while (!p.at(Tok::RightParen)) {
    InstanceDirective::Argument argument;
    if (!parseName(argument.name, argument.range, "a parameter name") || !p.expect(Tok::Equal, "after the parameter") ||
        !parseExpr(argument.value, Dialect::Value))
      return false;
    instance.arguments.push_back(std::move(argument));
    if (!p.accept(Tok::Comma))
      break;
  }
  if (!p.expect(Tok::RightParen, "after the arguments") || !parseInstanceOptions(instance))
    return false;
  for (const InstanceDirective &other : p.module.instances)
    if (other.name == instance.name) {
      p.error(Diag::duplicate_directive, nameRange, {"instance " + instance.name});
      return false;
    }
  p.module.instances.push_back(std::move(instance));
  return true;
}

bool DirectiveParser::parseInstanceOptions(InstanceDirective &instance) {
  while (p.at(Tok::Name)) {
    std::string option = p.text(p.peek());
    SourceRange place = p.advance().range;
    bool ok = false;
    if (option == "num_warps")
      ok = parseOption(instance.numWarps, option);
    else if (option == "num_stages")
      ok = parseOption(instance.numStages, option);
    else if (option == "cluster")
      ok = parseCluster(instance.cluster);
    else if (option == "schedule")
      ok = parseSchedule(instance.schedule);
    else if (option == "grid")
      ok = p.expect(Tok::Equal, "after 'grid'") && parseGrid(instance.grid);
    else
      p.error(Diag::unknown_directive, place, {option});
    if (!ok)
      return false;
  }
  return true;
}

bool DirectiveParser::reject(const Expr &expr, Dialect dialect) {
  std::string allowed = dialect == Dialect::Integer
                            ? "it takes names, integers, + - * / // % **, comparisons, and, or, not, conditionals, "
                              "cdiv, min, max, next_power_of_2"
                            : "it takes buffers, numbers, + - * / @ **, comparisons and the functions of the reference";
  p.error(Diag::directive_expression, expr.range, {"'" + unparse(expr).substr(0, 60) + "'", allowed});
  return false;
}

/// Is the expression one that the runtime can evaluate?
bool DirectiveParser::check(const Expr &expr, Dialect dialect) {
  if (dialect == Dialect::Value)
    return true;
  bool isInteger = dialect == Dialect::Integer;
  switch (expr.kind) {
  case ExprKind::Name:
  case ExprKind::Int:
    return true;
  case ExprKind::Float:
    return !isInteger || reject(expr, dialect);
  case ExprKind::Unary: {
    const auto &node = *as<UnaryExpr>(&expr);
    bool isSign = node.op == UnaryOp::Minus || node.op == UnaryOp::Plus;
    bool isKnown = isSign || (isInteger && node.op == UnaryOp::Not);
    return isKnown ? check(*node.operand, dialect) : reject(expr, dialect);
  }
  case ExprKind::Binary: {
    const auto &node = *as<BinaryExpr>(&expr);
    bool isTensorOperator = isIntegerOperator(node.op) && node.op != BinaryOp::FloorDiv && node.op != BinaryOp::Mod;
    bool isKnown = isInteger ? isIntegerOperator(node.op) : isTensorOperator || node.op == BinaryOp::MatMult;
    return isKnown ? check(*node.left, dialect) && check(*node.right, dialect) : reject(expr, dialect);
  }
  case ExprKind::BoolOp: {
    const auto &node = *as<BoolOpExpr>(&expr);
    if (!isInteger)
      return reject(expr, dialect);
    return std::all_of(node.values.begin(), node.values.end(),
                       [&](const Expr *value) { return check(*value, dialect); });
  }
  case ExprKind::Compare: {
    const auto &node = *as<CompareExpr>(&expr);
    bool isIdentity = node.op == CompareOp::Is || node.op == CompareOp::IsNot;
    return isIdentity ? reject(expr, dialect) : check(*node.left, dialect) && check(*node.right, dialect);
  }
  case ExprKind::Conditional: {
    const auto &node = *as<ConditionalExpr>(&expr);
    if (!isInteger)
      return reject(expr, dialect);
    return check(*node.condition, dialect) && check(*node.thenValue, dialect) && check(*node.elseValue, dialect);
  }
  case ExprKind::Call: {
    const auto &node = *as<CallExpr>(&expr);
    const auto *name = as<NameExpr>(node.callee);
    if (!name || !(isInteger ? directives::contains(directives::integerFunctions, name->id)
                             : directives::contains(directives::tensorFunctions, name->id)))
      return reject(expr, dialect);
    return std::all_of(node.arguments.begin(), node.arguments.end(), [&](const Argument &argument) {
      bool isPlain = argument.value->kind != ExprKind::Starred && (argument.name.empty() || argument.name == "axis");
      return isPlain ? check(*argument.value, dialect) : reject(*argument.value, dialect);
    });
  }
  default:
    return reject(expr, dialect);
  }
}

void parseDirectives(Parser &parser, size_t begin, size_t end, DirectiveSet *set) {
  for (size_t index = begin; index < end;) {
    TokenStream tokens;
    SourceRange range = parser.stream.directives[index].range;
    int depth = 0;
    do {
      const DirectiveLine &line = parser.stream.directives[index++];
      range = join(range, line.range);
      std::vector<Token> lineTokens = lexExpression(parser.source, line.range);
      lineTokens.pop_back();
      for (Token &token : lineTokens) {
        bool opens = token.kind == Tok::LeftParen || token.kind == Tok::LeftBracket;
        bool closes = token.kind == Tok::RightParen || token.kind == Tok::RightBracket;
        depth += opens ? 1 : closes ? -1 : 0;
        // A bracket that the next line closes is not an error here.
        if (token.kind != Tok::Error || token.error != Diag::unclosed_bracket)
          tokens.tokens.push_back(std::move(token));
      }
    } while (depth > 0 && index < end);
    tokens.tokens.push_back({Tok::End, {range.end, range.end, range.file}});
    Parser inner(parser.source, std::move(tokens), parser.module, parser.diagnostics);
    inner.bindings = set ? &set->bindings : nullptr;
    DirectiveParser(inner, set, range).run();
  }
}

} // namespace tile::frontend
