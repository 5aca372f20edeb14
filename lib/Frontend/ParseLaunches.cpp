// Parser: where the host program launches kernels. Functions around a launch need not be in the language; what is read
// of them is the launch itself and the plain assignments before it (SemaLaunch.cpp makes the kernel's grid of them).
//
//   M, K = a.shape
//   grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]),)
//   matmul[grid](a, b, c, M, N, K)
#include "Frontend/ParserImpl.h"

#include <algorithm>
#include <utility>

namespace tile::frontend {

namespace {

bool startsLine(const std::vector<Token> &tokens, size_t index) {
  Tok before = index == 0 ? Tok::Newline : tokens[index - 1].kind;
  return before == Tok::Newline || before == Tok::Indent || before == Tok::Dedent || before == Tok::Semicolon ||
         before == Tok::Colon;
}

/// Behind the bracket that is opened at `index`; 0 if it stays open.
size_t findClosing(const std::vector<Token> &tokens, size_t index) {
  for (int depth = 0; index < tokens.size(); ++index)
    if (depth += nestingOf(tokens[index].kind); depth == 0)
      return index + 1;
  return 0;
}

/// Behind the function whose "def" stands at `begin`.
size_t endOfFunction(const std::vector<Token> &tokens, size_t begin) {
  size_t end = begin;
  while (end < tokens.size() && !endsLine(tokens[end].kind))
    ++end;
  if (end + 1 < tokens.size() && tokens[end].kind == Tok::Newline && tokens[end + 1].kind == Tok::Indent)
    ++end;
  int depth = 0;
  do {
    if (end == tokens.size())
      break;
    depth += tokens[end].kind == Tok::Indent ? 1 : tokens[end].kind == Tok::Dedent ? -1 : 0;
    ++end;
  } while (depth > 0);
  return end;
}

} // namespace

/// An expression at a place of the stream; null if it is none.
const Expr *Parser::parseQuietly(size_t begin) {
  size_t back = std::exchange(position, begin);
  SourceRange previous = previousRange;
  ++quiet, ++hostSyntax;
  const Expr *expr = parseExpressions();
  --quiet, --hostSyntax;
  position = back;
  previousRange = previous;
  return expr;
}

/// "def grid(META): return (META["N"],)" as the lambda that it could be; null if it returns in several places.
const Expr *Parser::parseAsLambda(size_t begin) {
  const std::vector<Token> &tokens = stream.tokens;
  auto first = tokens.begin() + ptrdiff_t(begin), last = tokens.begin() + ptrdiff_t(endOfFunction(tokens, begin));
  auto isReturn = [](const Token &token) { return token.kind == Tok::KwReturn; };
  bool hasOneName = last - first > 4 && first[3].kind == Tok::Name && first[4].kind == Tok::RightParen;
  auto result = std::find_if(first, last, isReturn);
  if (!hasOneName || std::count_if(first, last, isReturn) != 1)
    return nullptr;
  auto *lambda = make<LambdaExpr>(tokens[begin].range);
  lambda->parameters.push_back(text(first[3]));
  lambda->body = parseQuietly(size_t(result - tokens.begin()) + 1);
  return lambda->body ? lambda : nullptr;
}

/// "name = value", "a, b = value" and whatever else gives a name another value, in [begin, end).
std::vector<HostLaunch::Binding> Parser::findBindings(size_t begin, size_t end) {
  const std::vector<Token> &tokens = stream.tokens;
  std::vector<HostLaunch::Binding> bindings;
  for (size_t i = begin; i < end; ++i) {
    if (!startsLine(tokens, i))
      continue;
    bool isLoop = tokens[i].kind == Tok::KwFor, isNested = tokens[i].kind == Tok::KwDef && i != begin;
    size_t stop = i;
    int depth = 0;
    auto isBindingToken = [&](Tok kind) { return isLoop ? kind == Tok::KwIn : isAssignment(kind); };
    while (stop < end && !endsLine(tokens[stop].kind) && !(depth == 0 && isBindingToken(tokens[stop].kind)))
      depth += nestingOf(tokens[stop++].kind);
    if (isNested && tokens[i + 1].kind == Tok::Name) {
      bindings.push_back({text(tokens[i + 1]), tokens[i].range.begin, parseAsLambda(i)});
      continue;
    }
    if (stop >= end || endsLine(tokens[stop].kind))
      continue;
    bool isPlain = tokens[stop].kind == Tok::Equal;
    const Expr *value = isPlain ? parseQuietly(stop + 1) : nullptr;
    size_t count = 0;
    bool isList = true; // of names
    for (size_t k = i; k < stop; ++k) {
      count += tokens[k].kind == Tok::Name;
      isList &= tokens[k].kind == Tok::Name || tokens[k].kind == Tok::Comma;
    }
    int element = 0;
    for (size_t k = i; k < stop; ++k)
      if (tokens[k].kind == Tok::Name)
        bindings.push_back({text(tokens[k]), tokens[i].range.begin, isList ? value : nullptr,
                            count > 1 ? element++ : HostLaunch::whole});
  }
  return bindings;
}

/// "kernel[grid](arguments)", wherever it stands in a function.
void Parser::collectLaunches() {
  const std::vector<Token> &tokens = stream.tokens;
  struct TokenRange {
    size_t begin, end;
  };
  std::vector<TokenRange> functions; // the innermost comes last
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == Tok::KwDef)
      functions.push_back({i, endOfFunction(tokens, i)});
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Tok::Name || tokens[i + 1].kind != Tok::LeftBracket)
      continue;
    size_t closing = findClosing(tokens, i + 1);
    if (!closing || closing >= tokens.size() || tokens[closing].kind != Tok::LeftParen)
      continue;
    const auto *call = as<CallExpr>(parseQuietly(i));
    const auto *subscript = call ? as<SubscriptExpr>(call->callee) : nullptr;
    const auto *name = subscript ? as<NameExpr>(subscript->value) : nullptr;
    if (!name)
      continue;
    TokenRange around{0, tokens.size()};
    for (const TokenRange &function : functions)
      if (function.begin < i && i < function.end)
        around = function;
    module.launches.push_back({name->id, call, subscript, findBindings(around.begin, around.end)});
  }
}

} // namespace tile::frontend
