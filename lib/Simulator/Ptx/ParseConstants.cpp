// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses constant expressions: 64-bit integers with C's operators, and floats with a sign. PTX ISA 4.5.4 and 4.5.5.
#include "Simulator/Ptx/ParserImpl.h"

#include <cstdint>

namespace tile::sim {

namespace {

struct BinaryOperator {
  std::string_view text;
  int precedence;
};

// Binary operators with C's precedences. The caller handles `?:`, which has the lowest one.
constexpr BinaryOperator binaryOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                                              {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                                              {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};

int precedenceOf(const Token &token) {
  if (token.kind == TokenKind::Punctuation)
    for (const BinaryOperator &op : binaryOperators)
      if (op.text == token.text)
        return op.precedence;
  return 0;
}

} // namespace

bool PtxParser::atConstant() const {
  const Token &next = token();
  return next.kind == TokenKind::Integer || next.kind == TokenKind::Float || next.is("-") || next.is("+") ||
         next.is("~") || next.is("!") || next.is("(") || (next.kind == TokenKind::Name && next.text == "WARP_SZ");
}

bool PtxParser::parseConstant(Constant &value) {
  return parseBinary(value, 0, 0);
}

bool PtxParser::parseUnary(Constant &value, size_t depth) {
  if (depth > limits::depth)
    return fail("this constant expression is nested too deeply");
  Token next = token();
  if (next.kind == TokenKind::Integer || next.kind == TokenKind::Float) {
    ++at;
    value = {next.bits, next.floatBits, next.isUnsigned};
    return true;
  }
  if (next.kind == TokenKind::Name && next.text == "WARP_SZ") {
    ++at;
    value = {32, 0, false};
    return true;
  }
  if (take("(")) {
    // A cast: (.s64) or (.u64).
    bool isUnsigned = token().kind == TokenKind::Directive && token().text == "u64";
    if (takeDirective("s64") || takeDirective("u64")) {
      if (!expect(")", "after the type of a cast") || !parseUnary(value, depth + 1))
        return false;
      value.isUnsigned = isUnsigned;
      return value.floatBits == 0 || fail("a float cannot be cast here");
    }
    return parseBinary(value, 0, depth + 1) && expect(")", "at the end of a constant expression");
  }
  if (!next.is("-") && !next.is("+") && !next.is("~") && !next.is("!"))
    return fail("expected a constant, found {}", quoted(next));
  ++at;
  if (!parseUnary(value, depth + 1))
    return false;
  if (next.is("-"))
    value.bits = value.floatBits ? value.bits ^ uint64_t(1) << (value.floatBits - 1) : 0 - value.bits;
  else if (!next.is("+") && value.floatBits)
    return failAt(next.line, "'{}' of a float", next.text);
  else if (next.is("~"))
    value.bits = ~value.bits;
  else if (next.is("!"))
    value.bits = value.bits == 0;
  return true;
}

bool PtxParser::parseBinary(Constant &value, int least, size_t depth) {
  if (!parseUnary(value, depth))
    return false;
  while (int precedence = precedenceOf(token())) {
    if (precedence <= least)
      break;
    std::string_view op = token().text;
    ++at;
    Constant right;
    if (!parseBinary(right, precedence, depth + 1) || !applyBinary(op, value, right))
      return false;
  }
  if (least == 0 && take("?")) {
    Constant yes, no;
    if (!parseBinary(yes, 0, depth + 1) || !expect(":", "in a conditional constant") || !parseBinary(no, 0, depth + 1))
      return false;
    value = value.bits ? yes : no;
  }
  return true;
}

bool PtxParser::applyBinary(std::string_view op, Constant &left, const Constant &right) {
  if (left.floatBits || right.floatBits)
    return fail("'{}' of floats", op);
  bool isUnsigned = left.isUnsigned || right.isUnsigned;
  uint64_t a = left.bits, b = right.bits;
  int64_t signedA = int64_t(a), signedB = int64_t(b);
  bool isLess = isUnsigned ? a < b : signedA < signedB;
  left.isUnsigned = isUnsigned;
  if (op == "/" || op == "%") {
    if (b == 0)
      return fail("division by zero");
    bool isDivision = op == "/";
    if (isUnsigned)
      left.bits = isDivision ? a / b : a % b;
    else if (signedB == -1) // INT64_MIN / -1 overflows
      left.bits = isDivision ? 0 - a : 0;
    else
      left.bits = uint64_t(isDivision ? signedA / signedB : signedA % signedB);
    return true;
  }
  left.bits = op == "+"    ? a + b
              : op == "-"  ? a - b
              : op == "*"  ? a * b
              : op == "&"  ? (a & b)
              : op == "|"  ? (a | b)
              : op == "^"  ? (a ^ b)
              : op == "<<" ? (b < 64 ? a << b : 0)
              : op == ">>" ? (isUnsigned ? (b < 64 ? a >> b : 0) : uint64_t(signedA >> (b < 64 ? b : 63)))
              : op == "==" ? a == b
              : op == "!=" ? a != b
              : op == "<"  ? isLess
              : op == ">"  ? !isLess && a != b
              : op == "<=" ? isLess || a == b
              : op == ">=" ? !isLess
              : op == "&&" ? a && b
                           : a || b;
  return true;
}

} // namespace tile::sim
