// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lexer, recursive-descent parser and printer of expressions. The parser limits nesting, and so its recursion, and the
// number of nodes, and so the depth of trees: operators of one precedence nest to the left.
#include "Directives/ExpressionTree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <span>

namespace tile::directives {
namespace {

constexpr unsigned maxNesting = 64; // far above any handwritten expression

bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}
bool isNameStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool isNameChar(char c) {
  return isNameStart(c) || isDigit(c);
}

using Tree = ExpressionTree;
using Signs = std::initializer_list<std::string_view>;

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) { next(); }

  ParsedExpression run() {
    Tree tree = parseConditional();
    if (error.empty() && !token.empty())
      failUnexpected();
    return error.empty() ? ParsedExpression{std::move(tree), {}} : ParsedExpression{{}, std::move(error)};
  }

private:
  Tree fail(std::string_view message) {
    if (error.empty())
      error = expressionError(text, start, message);
    token = {}; // ends all loops of the parser
    position = text.size();
    return {};
  }
  Tree failUnexpected() {
    return fail(fmt::format("unexpected '{}'{}", token, token == "^" ? "; write ** for powers" : ""));
  }

  void next() {
    lastEnd = position;
    while (position < text.size() && std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
    start = position;
    position = tokenEnd();
    token = text.substr(start, position - start);
  }

  char at(size_t place) const { return place < text.size() ? text[place] : '\0'; }

  size_t tokenEnd() const {
    if (start == text.size())
      return start;
    size_t end = start + 1;
    if (isDigit(at(start)) || (at(start) == '.' && isDigit(at(end)))) {
      const auto isExponent = [&](size_t place) { return (at(place) | 0x20) == 'e'; };
      while (isNameChar(at(end)) || at(end) == '.' || ((at(end) == '-' || at(end) == '+') && isExponent(end - 1)))
        ++end;
      return end;
    }
    if (isNameStart(at(start)))
      while (isNameChar(at(end)))
        ++end;
    constexpr std::array<std::string_view, 6> pairs = {"**", "//", "<=", ">=", "==", "!="};
    return std::find(pairs.begin(), pairs.end(), text.substr(start, 2)) != pairs.end() ? start + 2 : end;
  }

  bool accept(std::string_view expected) {
    if (token != expected)
      return false;
    next();
    return true;
  }

  void expect(std::string_view expected) {
    if (!accept(expected))
      fail(token.empty() ? fmt::format("expected '{}' before the end", expected)
                         : fmt::format("expected '{}', found '{}'", expected, token));
  }

  Tree make(Tree::Kind kind, std::string_view spelling, size_t place, std::vector<Tree> operands = {}) {
    if (++numNodes > mostNodes)
      return fail(fmt::format("more than {} operations", mostNodes));
    const size_t first = operands.empty() ? place : std::min(place, operands.front().extent[0]);
    return {kind, std::string(spelling), std::move(operands), {}, place, {first, lastEnd}};
  }

  /// Parses operators of one precedence, from left to right.
  template <typename Parse> Tree parseChain(Signs signs, size_t most, Parse parseOperand) {
    Tree left = parseOperand();
    for (size_t count = 0; count < most && std::find(signs.begin(), signs.end(), token) != signs.end(); ++count) {
      const std::string_view sign = token;
      const size_t place = start;
      next();
      std::vector<Tree> operands;
      operands.push_back(std::move(left));
      operands.push_back(parseOperand());
      left = make(Tree::Kind::Operator, sign, place, std::move(operands));
    }
    return left;
  }

  /// Parses an expression that may contain itself, and limits the depth of the recursion.
  template <typename Parse> Tree nested(Parse parse) {
    if (++nesting > maxNesting)
      return fail(fmt::format("nested deeper than {} levels", maxNesting));
    Tree tree = parse();
    --nesting;
    return tree;
  }

  Tree parseConditional() {
    return nested([&] {
      Tree value = parseOr();
      const size_t place = start;
      if (!accept("if"))
        return value;
      std::vector<Tree> operands;
      operands.push_back(parseOr());
      expect("else");
      const size_t first = value.extent[0];
      operands.push_back(std::move(value));
      operands.push_back(parseConditional());
      Tree tree = make(Tree::Kind::Operator, "if", place, std::move(operands));
      tree.extent[0] = first;
      return tree;
    });
  }

  Tree parseOr() {
    return parseChain({"or"}, mostNodes, [&] { return parseAnd(); });
  }
  Tree parseAnd() {
    return parseChain({"and"}, mostNodes, [&] { return parseNot(); });
  }

  Tree parseNot() {
    const size_t place = start;
    unsigned count = 0;
    while (accept("not"))
      ++count;
    Tree tree = parseComparison();
    // "not not x" is 0 or 1; more of them are the same.
    for (count = count > 2 ? 2 - count % 2 : count; count > 0; --count)
      tree = parsePrefix("not", place, std::move(tree));
    return tree;
  }

  Tree parsePrefix(std::string_view sign, size_t place, Tree operand) {
    std::vector<Tree> operands;
    operands.push_back(std::move(operand));
    return make(Tree::Kind::Operator, sign, place, std::move(operands));
  }

  Tree parseComparison() {
    return parseChain({"<", "<=", ">", ">=", "==", "!="}, 1, [&] { return parseSum(); });
  }
  Tree parseSum() {
    return parseChain({"+", "-"}, mostNodes, [&] { return parseTerm(); });
  }
  Tree parseTerm() {
    return parseChain({"*", "/", "//", "%", "@"}, mostNodes, [&] { return parseUnary(); });
  }

  Tree parseUnary() {
    const size_t place = start;
    bool isNegative = false;
    for (; token == "-" || token == "+"; next())
      isNegative ^= token == "-";
    Tree operand = parsePrimary();
    if (const size_t powerPlace = start;
        accept("**")) { // binds tighter than a preceding sign, but not than a following one
      std::vector<Tree> operands;
      operands.push_back(std::move(operand));
      operands.push_back(nested([&] { return parseUnary(); }));
      operand = make(Tree::Kind::Operator, "**", powerPlace, std::move(operands));
    }
    return isNegative ? parsePrefix("-", place, std::move(operand)) : operand;
  }

  /// Elements of a list: expressions only, also "name=expression", or also ":".
  enum class Elements { Plain, Arguments, Indices };

  Tree parseElement(Elements elements) {
    if (const size_t place = start; elements == Elements::Indices && accept(":"))
      return make(Tree::Kind::Slice, ":", place);
    Tree element = parseConditional();
    if (elements != Elements::Arguments || !element.isName() || !accept("="))
      return element;
    std::string keyword = std::move(element.text);
    element = parseConditional();
    element.keyword = std::move(keyword);
    return element;
  }

  /// Checks that the last argument is not given twice, and that no argument without a name follows one with a name.
  void checkKeyword(std::span<const Tree> list, size_t place) {
    const std::string &keyword = list.back().keyword;
    const bool isRepeated = !keyword.empty() && std::any_of(list.begin(), list.end() - 1, [&](const Tree &other) {
      return other.keyword == keyword;
    });
    const bool isMisplaced = keyword.empty() && list.size() > 1 && !list[list.size() - 2].keyword.empty();
    if (!isRepeated && !isMisplaced)
      return;
    start = place;
    fail(isRepeated ? fmt::format("argument '{}' is given twice", keyword)
                    : fmt::format("an argument without a name after '{}='", list[list.size() - 2].keyword));
  }

  /// Parses elements up to the closing bracket.
  std::vector<Tree> parseList(std::string_view closing, Elements elements, bool *hasComma = nullptr) {
    std::vector<Tree> list;
    while (error.empty() && token != closing) {
      const size_t place = start;
      list.push_back(parseElement(elements));
      checkKeyword(list, place);
      const bool isFollowed = accept(",");
      if (hasComma)
        *hasComma |= isFollowed;
      if (!isFollowed)
        break;
    }
    expect(closing);
    return list;
  }

  Tree parsePrimary() {
    Tree tree = parseAtom();
    while (error.empty() && token == "[") {
      const size_t place = start;
      next();
      std::vector<Tree> operands;
      operands.push_back(std::move(tree));
      for (Tree &index : parseList("]", Elements::Indices))
        operands.push_back(std::move(index));
      tree = make(Tree::Kind::Element, "", place, std::move(operands));
    }
    return tree;
  }

  Tree parseAtom() {
    if (token.empty())
      return fail("expected a value before the end");
    const std::string_view spelling = token;
    const size_t place = start;
    if (accept("("))
      return parseParentheses(place);
    if (accept("[")) {
      std::vector<Tree> elements = parseList("]", Elements::Plain);
      return make(Tree::Kind::List, "", place, std::move(elements));
    }
    if (isDigit(spelling[0]) || spelling[0] == '.') {
      if (!isNumber(spelling))
        return spelling == "." ? failUnexpected() : fail(fmt::format("'{}' is not a number", spelling));
      next();
      return make(Tree::Kind::Number, spelling, place);
    }
    if (!isNameStart(spelling[0]) || isKeyword(spelling))
      return failUnexpected();
    next();
    if (!accept("("))
      return make(Tree::Kind::Name, spelling, place);
    std::vector<Tree> arguments = parseList(")", Elements::Arguments);
    return make(Tree::Kind::Call, spelling, place, std::move(arguments));
  }

  Tree parseParentheses(size_t place) {
    bool hasComma = false;
    std::vector<Tree> elements = parseList(")", Elements::Plain, &hasComma);
    if (hasComma || elements.size() != 1)
      return make(Tree::Kind::Tuple, "", place, std::move(elements));
    elements.front().extent[0] = place;
    elements.front().extent[1] = lastEnd;
    return std::move(elements.front());
  }

  static bool isKeyword(std::string_view word) {
    constexpr std::array<std::string_view, 5> keywords = {"if", "else", "and", "or", "not"};
    return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
  }

  /// digits ['.' digits] [('e' | 'E') ['+' | '-'] digits], with digits on at least one side of the point
  static bool isNumber(std::string_view spelling) {
    const auto skipDigits = [&] {
      const size_t count = std::find_if_not(spelling.begin(), spelling.end(), isDigit) - spelling.begin();
      spelling.remove_prefix(count);
      return count;
    };
    size_t digits = skipDigits();
    if (spelling.starts_with('.')) {
      spelling.remove_prefix(1);
      digits += skipDigits();
    }
    if (digits > 0 && (spelling.starts_with('e') || spelling.starts_with('E'))) {
      spelling.remove_prefix(1);
      if (spelling.starts_with('+') || spelling.starts_with('-'))
        spelling.remove_prefix(1);
      digits = skipDigits();
    }
    return digits > 0 && spelling.empty();
  }

  std::string_view text, token;
  std::string error;
  size_t position = 0, start = 0; ///< end and start of the token
  size_t lastEnd = 0;             ///< end of the preceding token
  size_t numNodes = 0;
  unsigned nesting = 0;
};

} // namespace

ParsedExpression parseExpression(std::string_view text) {
  return Parser(text).run();
}

std::string expressionError(std::string_view text, size_t place, std::string_view message) {
  constexpr size_t longest = 200;
  return fmt::format("in expression '{}', column {}: {}", text.substr(0, longest), place + 1, message);
}

bool isIdentifier(std::string_view text) {
  return !text.empty() && isNameStart(text[0]) && std::all_of(text.begin(), text.end(), isNameChar);
}

namespace {

/// Precedence of the outermost operator.
enum Precedence { Conditional, Or, And, Not, Comparison, Sum, Product, Sign, Power, Atom };

Precedence precedenceOf(const ExpressionTree &tree) {
  static constexpr std::pair<std::string_view, Precedence> table[] = {
      {"if", Conditional}, {"or", Or},     {"and", And},    {"not", Not},   {"+", Sum},     {"-", Sum},
      {"*", Product},      {"/", Product}, {"//", Product}, {"%", Product}, {"@", Product}, {"**", Power}};
  if (tree.kind != ExpressionTree::Kind::Operator)
    return Atom;
  if (tree.operands.size() == 1 && tree.text == "-")
    return Sign;
  const auto *row =
      std::find_if(std::begin(table), std::end(table), [&](const auto &known) { return known.first == tree.text; });
  return row == std::end(table) ? Comparison : row->second;
}

/// Prints an operand, in parentheses if its operator binds looser.
std::string printOperand(const ExpressionTree &operand, int least) {
  return precedenceOf(operand) < least ? "(" + operand.print() + ")" : operand.print();
}

std::string printList(std::span<const ExpressionTree> list) {
  std::string text;
  for (const ExpressionTree &element : list)
    text += (&element == list.data() ? "" : ", ") + (element.keyword.empty() ? "" : element.keyword + "=") +
            element.print();
  return text;
}

} // namespace

std::string ExpressionTree::print() const {
  const std::span<const ExpressionTree> list(operands);
  switch (kind) {
  case Kind::Number:
  case Kind::Name:
  case Kind::Slice:
    return text;
  case Kind::Call:
    return text + "(" + printList(list) + ")";
  case Kind::List:
    return "[" + printList(list) + "]";
  case Kind::Tuple:
    return "(" + printList(list) + (list.size() == 1 ? ",)" : ")");
  case Kind::Element:
    return printOperand(list[0], Atom) + "[" + printList(list.subspan(1)) + "]";
  case Kind::Operator:
    break;
  }
  const Precedence own = precedenceOf(*this);
  if (own == Conditional)
    return printOperand(list[1], own + 1) + " if " + printOperand(list[0], own + 1) + " else " +
           printOperand(list[2], own);
  if (list.size() == 1)
    return text + (own == Not ? " " : "") + printOperand(list[0], own);
  // Chains go to the left, but "**" to the right, where it binds looser than a sign.
  const int left = own == Comparison || own == Power ? own + 1 : own, right = own == Power ? int(Sign) : own + 1;
  return printOperand(list[0], left) + " " + text + " " + printOperand(list[1], right);
}

} // namespace tile::directives
