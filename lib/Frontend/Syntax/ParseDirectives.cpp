// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: "#:" directives. The expression parser of the language handles the tokens of a directive (one line, or
// several while a bracket is open).

#include "Frontend/Syntax/DirectiveExpressions.h"
#include "Frontend/Syntax/ParserImpl.h"
#include "Frontend/Syntax/Unparse.h"

#include <algorithm>

namespace tile::frontend {

/// Parses one directive, whose tokens are in 'parser'.
class DirectiveParser {
public:
  DirectiveParser(Parser &parser, DirectiveSet *set, SourceRange range) : p(parser), set(set), range(range) {}
  void run();

private:
  bool parse();
  bool parseGrid(std::vector<DirectiveExpr> &grid);
  bool parseBuffer();
  bool parseConfig();
  bool parseDefault();
  bool parseExpect();
  bool parseLet();
  bool checkRequirement();
  bool parseInstance();
  bool parseInstanceOptions(InstanceDirective &instance);
  bool parseOption(std::optional<int> &option, std::string_view name);
  bool parseCluster(std::optional<ClusterShape> &cluster);
  bool parseSchedule(std::optional<Schedule> &schedule);
  bool parseName(std::string &name, SourceRange &nameRange, std::string_view what);
  bool parseList(std::vector<DirectiveExpr> &list, Tok close, DirectiveDialect dialect);
  bool parseExpr(DirectiveExpr &out, DirectiveDialect dialect);
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
  constexpr std::string_view known[] = {"grid",  "buffer", "default",   "expect",     "require", "let",
                                        "after", "config", "num_warps", "num_stages", "cluster", "schedule"};
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
  if (keyword == "after") {
    if (!set->after.empty()) {
      p.error(Diag::duplicate_directive, keywordRange, {keyword});
      return false;
    }
    return parseName(set->after, set->afterRange, "a kernel after 'after'");
  }
  if (keyword == "config")
    return parseConfig();
  if (keyword == "default")
    return parseDefault();
  if (keyword == "expect")
    return parseExpect();
  if (keyword == "let")
    return parseLet();
  if (keyword == "require")
    return parseExpr(set->requirements.emplace_back(), DirectiveDialect::Integer) && checkRequirement();
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

bool DirectiveParser::parseExpr(DirectiveExpr &out, DirectiveDialect dialect) {
  const SourceRange begin = p.peek().range;
  p.allowMatMul = dialect == DirectiveDialect::Tensor;
  out.expr = p.parseExpression();
  p.allowMatMul = false;
  if (!out.expr)
    return false;
  if (!checkExpression(p.diagnostics, *out.expr, dialect, p.rangeFrom(begin)))
    return false;
  out.range = p.rangeFrom(begin);
  out.text = unparse(*out.expr);
  return true;
}

/// Parses expressions up to and including the closing bracket.
bool DirectiveParser::parseList(std::vector<DirectiveExpr> &list, Tok close, DirectiveDialect dialect) {
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
  if (!p.expect(Tok::LeftParen, "after 'grid'") || !parseList(grid, Tok::RightParen, DirectiveDialect::Integer))
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
      !parseList(buffer.shape, Tok::RightBracket, DirectiveDialect::Integer))
    return false;
  if (acceptWord("strides") && (!p.expect(Tok::LeftParen, "after 'strides'") ||
                                !parseList(buffer.strides, Tok::RightParen, DirectiveDialect::Integer)))
    return false;
  SourceRange roleRange;
  if (!p.expect(Tok::Equal, "before the role of the buffer") || !parseName(buffer.role, roleRange, "a role"))
    return false;
  bool isFill = p.at(Tok::LeftParen); // random(seed=3), which is allowed in defaults
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

/// config NAME=value {, NAME=value} when condition
bool DirectiveParser::parseConfig() {
  ConfigDirective config;
  config.range = range;
  do {
    ConfigDirective::Constant constant;
    if (!parseName(constant.name, constant.range, "a constant of the configuration") ||
        !p.expect(Tok::Equal, "after the constant") || !parseExpr(constant.value, DirectiveDialect::Value))
      return false;
    config.constants.push_back(std::move(constant));
  } while (p.accept(Tok::Comma));
  if (!acceptWord("when")) {
    p.unexpected("'when' and a condition");
    return false;
  }
  if (!parseExpr(config.condition, DirectiveDialect::Integer))
    return false;
  set->configs.push_back(std::move(config));
  return true;
}

bool DirectiveParser::parseDefault() {
  DefaultDirective directive;
  directive.range = range;
  if (!parseName(directive.parameter, directive.nameRange, "a parameter after 'default'") ||
      !p.expect(Tok::Equal, "after the parameter") || !parseExpr(directive.value, DirectiveDialect::Default))
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
      !p.expect(Tok::EqualEqual, "after the buffer") || !parseExpr(directive.value, DirectiveDialect::Tensor))
    return false;
  if (acceptWord("within") && !parseExpr(directive.tolerance.emplace(), DirectiveDialect::Value))
    return false;
  set->expects.push_back(std::move(directive));
  return true;
}

/// let NAME = expression: the manifest repeats the expression wherever the name is used.
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

/// Reports an error if the last requirement is false in every call.
bool DirectiveParser::checkRequirement() {
  const DirectiveExpr &requirement = set->requirements.back();
  if (constantOf(*requirement.expr) != std::optional<int64_t>(0))
    return true;
  p.error(Diag::false_requirement, requirement.range, {requirement.text});
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
        !parseExpr(argument.value, DirectiveDialect::Value))
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

void parseDirectives(Parser &parser, size_t begin, size_t end, DirectiveSet *set) {
  for (size_t index = begin; index < end;) {
    TokenStream tokens;
    SourceRange range = parser.stream.directives[index].range;
    std::vector<SourceRange> open; // brackets
    do {
      const DirectiveLine &line = parser.stream.directives[index++];
      range = join(range, line.range);
      std::vector<Token> lineTokens = lexExpression(parser.source, line.range);
      lineTokens.pop_back();
      for (Token &token : lineTokens) {
        bool opens = token.kind == Tok::LeftParen || token.kind == Tok::LeftBracket;
        bool closes = token.kind == Tok::RightParen || token.kind == Tok::RightBracket;
        if (opens)
          open.push_back(token.range);
        else if (closes && !open.empty())
          open.pop_back();
        // A bracket that the next line closes is not an error here.
        if (token.kind != Tok::Error || token.error != Diag::unclosed_bracket)
          tokens.tokens.push_back(std::move(token));
      }
    } while (!open.empty() && index < end);
    if (!open.empty()) {
      parser.error(Diag::unclosed_bracket, open.back(), {std::string(parser.source.substr(open.back().begin, 1))});
      continue;
    }
    tokens.tokens.push_back({Tok::End, {range.end, range.end, range.file}});
    Parser inner(parser.source, std::move(tokens), parser.module, parser.diagnostics);
    inner.endName = "end of line";
    inner.bindings = set ? &set->bindings : nullptr;
    DirectiveParser(inner, set, range).run();
  }
}

} // namespace tile::frontend
