// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: kernel launches in the host program. Functions around a launch need not be in the language; only the launch
// itself and the plain assignments before it are parsed (SemaLaunch.cpp derives the kernel's grid from them).
//
//   M, K = a.shape
//   grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]),)
//   matmul[grid](a, b, c, M, N, K)
#include "Frontend/Syntax/Names.h"
#include "Frontend/Syntax/ParserImpl.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tile::frontend {

namespace {

bool startsLine(const std::vector<Token> &tokens, size_t index) {
  Tok before = index == 0 ? Tok::Newline : tokens[index - 1].kind;
  return before == Tok::Newline || before == Tok::Indent || before == Tok::Dedent || before == Tok::Semicolon ||
         before == Tok::Colon;
}

/// Returns, for each opening bracket, the index after the closing one; 0 for other tokens.
std::vector<size_t> findClosings(const std::vector<Token> &tokens) {
  std::vector<size_t> closings(tokens.size(), 0), open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    int change = nestingOf(tokens[i].kind);
    if (change > 0)
      open.push_back(i);
    if (change >= 0 || open.empty())
      continue;
    closings[open.back()] = i + 1;
    open.pop_back();
  }
  return closings;
}

/// For each kernel name, the classes that have a kernel of that name; "" stands for the module level.
using KernelClasses = std::map<std::string, std::set<std::string>>;

void collectKernels(const Block &block, KernelClasses &kernels) {
  for (const Stmt *stmt : block) {
    if (const auto *function = as<FunctionStmt>(stmt); function && !function->isConstexpr)
      kernels[function->name].insert("");
    if (const auto *type = as<ClassStmt>(stmt))
      for (const FunctionStmt *method : type->methods)
        if (isKernelOfClass(*method))
          kernels[method->name].insert(type->name);
    if (const auto *host = as<HostStmt>(stmt))
      collectKernels(host->body, kernels);
    if (const auto *conditional = as<IfStmt>(stmt)) {
      for (const IfStmt::Branch &branch : conditional->branches)
        collectKernels(branch.body, kernels);
      collectKernels(conditional->elseBody, kernels);
    }
  }
}

/// Returns the index after the function whose "def" is at `begin`.
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

/// Returns the range of tokens of the innermost function around a token, or of all tokens if there is none.
std::pair<size_t, size_t> functionAround(const std::vector<Token> &tokens, size_t index) {
  for (size_t begin = index; begin-- > 0;) {
    if (tokens[begin].kind != Tok::KwDef)
      continue;
    if (size_t end = endOfFunction(tokens, begin); index < end)
      return {begin, end};
  }
  return {0, tokens.size()};
}

} // namespace

/// Parses an expression at an index of the stream without reporting errors; null if there is none.
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

/// Parses "def grid(META): return (META["N"],)" as the equivalent lambda; null if the function has several returns.
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

/// Finds "name = value", "a, b = value" and all other statements that rebind a name, in [begin, end).
std::vector<HostLaunch::Binding> Parser::findBindings(size_t begin, size_t end) {
  const std::vector<Token> &tokens = stream.tokens;
  std::vector<HostLaunch::Binding> bindings;
  int nesting = 0;
  for (size_t i = begin; i < end; ++i) {
    bool isInside = nesting > 0;
    nesting += nestingOf(tokens[i].kind);
    if (isInside || !startsLine(tokens, i))
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
    bool isList = true; // only names
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

/// Finds all launches "kernel[grid](arguments)" in functions.
void Parser::collectLaunches() {
  // If a kernel has more launches than this, they usually differ, and parsing each launch takes time.
  constexpr size_t most = 32, mostOfAll = 256;
  const std::vector<Token> &tokens = stream.tokens;
  KernelClasses kernels;
  // "kernel[grid](...)", or "Class.kernel[grid](...)": if several classes have a kernel of that name, launches are
  // ambiguous and are ignored.
  auto isLaunched = [&](size_t i) {
    auto kernel = kernels.find(text(tokens[i]));
    if (kernel == kernels.end())
      return false;
    const std::set<std::string> &classes = kernel->second;
    bool isOfClass = classes.size() == 1 && i > 1 && tokens[i - 1].kind == Tok::Dot;
    return classes.contains("") || (isOfClass && classes.contains(text(tokens[i - 2])));
  };
  collectKernels(module.body, kernels);
  std::vector<size_t> closings;
  std::map<std::string, size_t> counts;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Tok::Name || tokens[i + 1].kind != Tok::LeftBracket || !isLaunched(i))
      continue;
    if (closings.empty())
      closings = findClosings(tokens);
    size_t closing = closings[i + 1];
    if (!closing || closing >= tokens.size() || tokens[closing].kind != Tok::LeftParen)
      continue;
    if (++counts[text(tokens[i])] > most)
      continue;
    const auto *call = as<CallExpr>(parseQuietly(i));
    const auto *subscript = call ? as<SubscriptExpr>(call->callee) : nullptr;
    HostLaunch launch{text(tokens[i]), call, subscript, {}};
    if (subscript) {
      auto [begin, end] = functionAround(tokens, i);
      launch.bindings = findBindings(begin, end);
    }
    module.launches.push_back(std::move(launch));
    if (module.launches.size() > mostOfAll)
      return module.launches.clear();
  }
  std::erase_if(module.launches, [&](const HostLaunch &launch) { return counts[launch.kernel] > most; });
}

} // namespace tile::frontend
