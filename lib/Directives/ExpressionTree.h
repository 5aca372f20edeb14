// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expressions that users write in directives, arguments, fill functions and breakpoints, and that manifests hold:
// one grammar, a subset of Python's. The evaluators define the meaning of names and functions, and the values on which
// they operate.
//
//   expression = or ['if' or 'else' expression]        or = and {'or' and}          and = not {'and' not}
//   not = 'not' not | sum [('<'|'<='|'>'|'>='|'=='|'!=') sum]                        sum = term {('+'|'-') term}
//   term = unary {('*'|'/'|'//'|'%'|'@') unary}        unary = ('-'|'+') unary | primary ['**' unary]
//   primary = atom {'[' index {',' index} [','] ']'}   index = ':' | expression
//   atom = number | name | '(' [list] ')' | '[' [list] ']' | name '(' [argument {',' argument} [',']] ')'
//   argument = [name '='] expression                   list = expression {',' expression} [',']
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tile::directives {

/// Limit for the size of an expression, and so for the depth of its tree: a longer sum is an error.
inline constexpr size_t mostNodes = 10000;

/// A node with its operands.
struct ExpressionTree {
  enum class Kind : uint8_t {
    Number,   ///< `text` is the spelling: 128, 1e-3
    Name,     ///< also True and False
    Operator, ///< `text` is the spelling; the operands of `if` are the condition and both values
    Call,     ///< `text` is the function
    List,     ///< [a, b]
    Tuple,    ///< (a, b)
    Element,  ///< a[i, :]: the array and its indices
    Slice,    ///< ':', as an index
  };

  Kind kind = Kind::Number;
  std::string text;
  std::vector<ExpressionTree> operands = {};
  std::string keyword = {}; ///< keyword of an argument: "seed" of seed=3
  size_t begin = 0;         ///< position in the source: of an operator, its spelling; of a call, the name
  size_t extent[2] = {};    ///< start and end of the whole expression

  static ExpressionTree name(std::string text) { return {Kind::Name, std::move(text)}; }
  static ExpressionTree number(int64_t value) { return {Kind::Number, std::to_string(value)}; }
  static ExpressionTree apply(std::string sign, std::vector<ExpressionTree> operands) {
    return {Kind::Operator, std::move(sign), std::move(operands)};
  }
  static ExpressionTree call(std::string function, std::vector<ExpressionTree> arguments) {
    return {Kind::Call, std::move(function), std::move(arguments)};
  }

  bool isName() const { return kind == Kind::Name; }
  bool isNumber() const { return kind == Kind::Number; }
  bool isOperator(std::string_view sign) const { return kind == Kind::Operator && text == sign; }
  bool isCall(std::string_view function) const { return kind == Kind::Call && text == function; }
  /// Returns the text of the expression in the source that it was parsed from.
  std::string_view textIn(std::string_view source) const { return source.substr(extent[0], extent[1] - extent[0]); }
  /// Prints the expression with as few parentheses as possible.
  std::string print() const;
};

/// A parsed expression, or a description of the error in the text.
struct ParsedExpression {
  ExpressionTree tree;
  std::string error;

  explicit operator bool() const { return error.empty(); }
};

ParsedExpression parseExpression(std::string_view text);

/// Returns the message for an error at a position of an expression: "in expression 'M + Q', column 5: ...".
std::string expressionError(std::string_view text, size_t place, std::string_view message);

/// Returns true for a Python identifier in ASCII: letters, digits and '_', not starting with a digit.
bool isIdentifier(std::string_view text);

} // namespace tile::directives
