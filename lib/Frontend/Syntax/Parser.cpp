// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: token handling and the module level.
//
// A file may be a whole Python module: imports, constants, jit functions and top-level 'if's are kept; other blocks are
// skipped by their indentation. Skipped names are recorded, so that their use in a kernel gives a clear error.

#include "Frontend/Syntax/ParserImpl.h"

#include <algorithm>
#include <unordered_map>

namespace tile::frontend {

namespace {

// Deep enough for any hand-written program, shallow enough for the stack of all visitors.
constexpr unsigned maxNesting = 200;

} // namespace

bool isJitDecorator(std::string_view name) {
  for (std::string_view known : {"triton.jit", "tile.kernel", "tile.jit", "kernel", "jit", "tl.jit"})
    if (name == known)
      return true;
  return name.ends_with(".jit");
}

bool isConstexprDecorator(std::string_view name) {
  return name == "constexpr" || name == "tl.constexpr" || name == "constexpr_function" ||
         name.ends_with(".constexpr_function") || name == "tl.core.builtin" || name == "core.builtin";
}

TokenCursor::TokenCursor(std::string_view text, TokenStream tokens, Module &module, DiagnosticEngine &diagnostics)
    : source(text), stream(std::move(tokens)), module(module), diagnostics(diagnostics) {}

const Token &TokenCursor::peek(size_t ahead) const {
  return stream.tokens[std::min(position + ahead, stream.tokens.size() - 1)];
}

const Token &TokenCursor::advance() {
  const Token &token = peek();
  if (position + 1 < stream.tokens.size())
    ++position;
  previousRange = token.range;
  return token;
}

bool TokenCursor::accept(Tok kind) {
  if (!at(kind))
    return false;
  advance();
  return true;
}

bool TokenCursor::expect(Tok kind, std::string_view context) {
  if (accept(kind))
    return true;
  unexpected("'" + std::string(spelling(kind)) + "' " + std::string(context));
  return false;
}

DiagnosticEngine::Builder TokenCursor::error(Diag id, SourceRange range, const std::vector<std::string> &arguments) {
  failedQuietly = true;
  if (quiet > 0)
    return {nullptr, 0};
  return diagnostics.report(id, range, arguments);
}

/// Reports the current token: its error, or that something else was expected.
void TokenCursor::unexpected(std::string_view expected) {
  const Token &token = peek();
  if (token.kind == Tok::Error) {
    error(token.error, token.range, token.arguments);
    return;
  }
  // "a && b" is lexed as '&' '&'.
  for (Tok half : {Tok::Ampersand, Tok::Pipe}) {
    bool isDoubled = position > 0 && token.kind == half && stream.tokens[position - 1].kind == half;
    if (isDoubled && stream.tokens[position - 1].range.end == token.range.begin) {
      std::string word = half == Tok::Ampersand ? "and" : "or";
      SourceRange both{token.range.begin - 1, token.range.end, token.range.file};
      error(Diag::foreign_operator, both, {text(token) + text(token), word}).fixIt(both, word);
      return;
    }
  }
  bool isLayout = token.kind == Tok::Newline || token.kind == Tok::Indent || token.kind == Tok::Dedent;
  std::string found = token.kind == Tok::End ? std::string(endName)
                      : isLayout             ? std::string(spelling(token.kind))
                                             : "'" + text(token).substr(0, 40) + "'";
  if (token.kind == Tok::Indent)
    error(Diag::unexpected_indent, token.range);
  else
    error(Diag::unexpected_token, token.range, {std::string(expected), found});
}

/// Skips the remainder of the current logical line.
void TokenCursor::skipLine() {
  while (!at(Tok::Newline) && !at(Tok::End) && !at(Tok::Dedent) && !at(Tok::Indent))
    advance();
  accept(Tok::Newline);
}

/// Skips an indented block, if one starts here.
void TokenCursor::skipBlock() {
  if (!at(Tok::Indent))
    return;
  size_t depth = 0;
  do {
    if (at(Tok::Indent))
      ++depth;
    else if (at(Tok::Dedent))
      --depth;
    advance();
  } while (depth > 0 && !at(Tok::End));
}

bool TokenCursor::tooDeep() {
  if (nesting <= maxNesting)
    return false;
  error(Diag::too_deep, peek().range, {"expressions and blocks", std::to_string(maxNesting)});
  return true;
}

void Parser::parseModule() {
  while (!at(Tok::End))
    parseTopLevel(module.body);
  collectLaunches();
  // The remaining directives are after the last kernel.
  parseDirectives(*this, nextDirective, stream.directives.size(), nullptr);
}

void Parser::parseTopLevel(Block &out) {
  switch (peek().kind) {
  case Tok::Newline:
  case Tok::Indent:
  case Tok::Dedent:
    advance();
    return;
  case Tok::KwImport:
  case Tok::KwFrom:
    if (!parseImport(out))
      skipLine();
    return;
  case Tok::At:
    parseDecorated(out);
    return;
  case Tok::KwIf:
    if (!parseTopLevelIf(out))
      skipTopLevel("block", out);
    return;
  case Tok::Name: {
    Tok next = peek(1).kind;
    bool isAssignment = next == Tok::Equal || next == Tok::Colon;
    if (parseApplication(out) || parseTopLevelAssignment(out))
      return;
    skipTopLevel(isAssignment ? "constant" : "statement", out);
    return;
  }
  case Tok::KwFor:
  case Tok::KwWhile:
    if (!parseTopLevelLoop(out))
      skipTopLevel("statement", out);
    return;
  case Tok::KwWith:
    if (!parseTopLevelWith(out))
      skipTopLevel("statement", out);
    return;
  case Tok::KwTry:
    parseTopLevelTry(out);
    return;
  case Tok::KwDef:
    parseHostFunction(out, {});
    return;
  case Tok::KwClass:
    parseClass({}, peek().range, out);
    return;
  default:
    skipTopLevel("statement", out);
  }
}

/// Skips a host statement with its block, and records the name that it defines.
void Parser::skipTopLevel(std::string what) {
  const Token &name = at(Tok::KwDef) || at(Tok::KwClass) ? peek(1) : peek();
  if (name.kind == Tok::Name && what != "statement")
    module.skipped.push_back({text(name), name.range, std::move(what)});
  do {
    skipLine();
    skipBlock();
  } while (at(Tok::KwElse) || at(Tok::KwElif) || at(Tok::KwExcept) || at(Tok::KwFinally));
}

void Parser::skipTopLevel(std::string what, Block &out) {
  size_t begin = position;
  skipTopLevel(std::move(what));
  noteChanges(begin, position, out);
}

/// Parses "with" around definitions: its body is part of the module.
bool Parser::parseTopLevelWith(Block &out) {
  size_t begin = position;
  skipLine();
  noteChanges(begin, position, out);
  if (!accept(Tok::Indent)) {
    position = begin;
    return false;
  }
  while (!at(Tok::Dedent) && !at(Tok::End))
    parseTopLevel(out);
  accept(Tok::Dedent);
  return true;
}

/// Parses "if" around definitions. Fails (with the position restored) if a condition is not in the language.
bool Parser::parseTopLevelIf(Block &out) {
  size_t start = position;
  SourceRange begin = peek().range;
  auto *stmt = make<IfStmt>(begin);
  auto parseBody = [&](Block &body) {
    if (!accept(Tok::Colon) || !accept(Tok::Newline) || !accept(Tok::Indent))
      return false;
    while (!at(Tok::Dedent) && !at(Tok::End))
      parseTopLevel(body);
    accept(Tok::Dedent);
    return true;
  };
  do {
    IfStmt::Branch branch;
    branch.keyword = advance().range;
    ++quiet, ++hostSyntax;
    branch.condition = parseExpression();
    --quiet, --hostSyntax;
    if (!branch.condition || !parseBody(branch.body)) {
      position = start;
      return false;
    }
    stmt->branches.push_back(std::move(branch));
  } while (at(Tok::KwElif));
  if (accept(Tok::KwElse) && !parseBody(stmt->elseBody)) {
    position = start;
    return false;
  }
  stmt->range = rangeFrom(begin);
  out.push_back(stmt);
  return true;
}

/// Parses "try" around imports and definitions: its body is part of the module, exception handlers are not.
void Parser::parseTopLevelTry(Block &out) {
  skipLine();
  if (accept(Tok::Indent)) {
    ++tries;
    while (!at(Tok::Dedent) && !at(Tok::End))
      parseTopLevel(out);
    --tries;
    accept(Tok::Dedent);
  }
  while (at(Tok::KwElse) || at(Tok::KwExcept) || at(Tok::KwFinally)) {
    skipLine();
    skipBlock();
  }
}

std::string Parser::parseDottedName() {
  std::string name;
  if (at(Tok::Name))
    name = text(advance());
  while (!name.empty() && at(Tok::Dot) && peek(1).kind == Tok::Name) {
    advance();
    name += "." + text(advance());
  }
  return name;
}

bool Parser::parseImportedNames(ImportStmt &import) {
  bool parenthesized = accept(Tok::LeftParen);
  if (accept(Tok::Star)) {
    import.names.push_back({"*", ""});
    return true;
  }
  do {
    if (parenthesized && at(Tok::RightParen))
      break;
    ImportStmt::Alias alias{import.isFrom && at(Tok::Name) ? text(advance()) : parseDottedName(), ""};
    if (alias.name.empty()) {
      unexpected("a name to import");
      return false;
    }
    if (accept(Tok::KwAs)) {
      if (!at(Tok::Name)) {
        unexpected("a name after 'as'");
        return false;
      }
      alias.asName = text(advance());
    }
    import.names.push_back(std::move(alias));
  } while (accept(Tok::Comma));
  return !parenthesized || expect(Tok::RightParen, "after the imported names");
}

bool Parser::parseImport(Block &out) {
  SourceRange begin = peek().range;
  auto *stmt = make<ImportStmt>(begin);
  stmt->isFrom = advance().kind == Tok::KwFrom;
  stmt->isOptional = tries > 0;
  if (stmt->isFrom) {
    for (; at(Tok::Dot) || at(Tok::Ellipsis); advance())
      stmt->level += at(Tok::Dot) ? 1 : 3;
    stmt->module = parseDottedName();
    if (stmt->module.empty() && stmt->level == 0) {
      unexpected("a module name after 'from'");
      return false;
    }
    if (!expect(Tok::KwImport, "after the module name"))
      return false;
  }
  if (!parseImportedNames(*stmt))
    return false;
  stmt->range = rangeFrom(begin);
  out.push_back(stmt);
  if (accept(Tok::Semicolon))
    return true;
  if (!at(Tok::End) && !accept(Tok::Newline)) {
    unexpected("end of line after the import");
    return false;
  }
  return true;
}

/// Parses one "@..." line. If its argument is Python that is not in the language, only the name is kept.
Decorator Parser::parseDecorator() {
  Decorator decorator;
  SourceRange begin = advance().range;
  size_t start = position;
  decorator.name = parseDottedName();
  position = start;
  ++quiet;
  decorator.value = parseExpression();
  --quiet;
  if (!at(Tok::Newline))
    decorator.value = nullptr;
  if (!decorator.value) {
    position = start;
    ++quiet, ++hostSyntax;
    decorator.hostValue = parseExpression();
    --quiet, --hostSyntax;
    if (!at(Tok::Newline))
      decorator.hostValue = nullptr;
  }
  while (!at(Tok::Newline) && !at(Tok::End))
    advance();
  decorator.range = rangeFrom(begin);
  accept(Tok::Newline);
  return decorator;
}

void Parser::parseDecorated(Block &out) {
  SourceRange begin = peek().range;
  std::vector<Decorator> decorators;
  while (at(Tok::At))
    decorators.push_back(parseDecorator());
  if (at(Tok::KwClass))
    return parseClass(std::move(decorators), begin, out);
  if (!at(Tok::KwDef)) {
    skipTopLevel("statement");
    return;
  }
  bool isJit = std::any_of(decorators.begin(), decorators.end(),
                           [](const Decorator &decorator) { return isJitDecorator(decorator.name); });
  bool isConstexpr = std::any_of(decorators.begin(), decorators.end(),
                                 [](const Decorator &decorator) { return isConstexprDecorator(decorator.name); });
  if (!isJit && !isConstexpr) {
    for (const Decorator &decorator : decorators)
      if (std::optional<std::string> guess = didYouMean(decorator.name, {"tile.kernel", "tile.jit", "triton.jit"}))
        module.misspelled = {decorator.range, *guess};
    parseHostFunction(out, decorators);
    return;
  }
  // Functions that run at compile time may be any Python, which is only an error if a kernel uses it.
  bool deferred = module.defersErrors;
  module.defersErrors |= isConstexpr;
  hostSyntax += isConstexpr ? 1 : 0;
  FunctionStmt *function = parseFunction(std::move(decorators), begin);
  hostSyntax -= isConstexpr ? 1 : 0;
  module.defersErrors = deferred;
  if (!function)
    return;
  function->isConstexpr = isConstexpr;
  out.push_back(function);
}

void Parser::attachDirectives(FunctionStmt &function, uint32_t begin) {
  size_t first = nextDirective, last = first;
  while (last < stream.directives.size() && stream.directives[last].range.begin < begin)
    ++last;
  nextDirective = last;
  parseDirectives(*this, first, last, &function.directives);
}

FunctionStmt *Parser::parseFunction(std::vector<Decorator> decorators, SourceRange begin, bool hasDirectives) {
  auto *function = make<FunctionStmt>(begin);
  size_t reported = diagnostics.all().size();
  if (hasDirectives)
    attachDirectives(*function, begin.begin);
  advance();
  function->decorators = std::move(decorators);
  function->nameRange = peek().range;
  bool headerOk = at(Tok::Name);
  if (headerOk) {
    function->name = text(advance());
    headerOk = expect(Tok::LeftParen, "after the function name") && parseParameters(*function) &&
               expect(Tok::RightParen, "after the parameters");
    if (headerOk && accept(Tok::Arrow))
      headerOk = (function->returns = parseExpression()) != nullptr;
    headerOk = headerOk && expect(Tok::Colon, "after the function header");
  } else {
    unexpected("a function name");
  }
  bool bodyOk = headerOk && parseBlock(function->body);
  if (!headerOk)
    recover();
  function->range = rangeFrom(begin);
  if (!module.defersErrors)
    return bodyOk ? function : nullptr;
  function->errors = diagnostics.takeSince(reported);
  return bodyOk || !function->errors.empty() ? function : nullptr;
}

bool Parser::parseParameters(FunctionStmt &function) {
  bool keywordOnly = false;
  while (!at(Tok::RightParen)) {
    if (!parseParameter(function, keywordOnly))
      return false;
    if (!accept(Tok::Comma))
      break;
  }
  std::unordered_map<std::string_view, SourceRange> seen;
  for (const Parameter &parameter : function.parameters)
    if (auto [first, isNew] = seen.try_emplace(parameter.name, parameter.range); !isNew)
      error(Diag::duplicate_parameter, parameter.range, {parameter.name}).note(first->second, "the first one is here");
  return true;
}

bool Parser::parseParameter(FunctionStmt &function, bool &keywordOnly) {
  SourceRange begin = peek().range;
  bool isKeywords = at(Tok::DoubleStar) && hostSyntax > 0;
  if ((at(Tok::DoubleStar) && !isKeywords) || at(Tok::Slash)) {
    error(Diag::unsupported_parameter, begin, {text(advance())});
    return false;
  }
  Parameter parameter;
  parameter.isKeywords = isKeywords;
  if (isKeywords) {
    advance();
    keywordOnly = true;
  } else if (accept(Tok::Star)) {
    keywordOnly = true;
    if (at(Tok::Comma))
      return true;
    parameter.isVarArgs = true;
  }
  if (!at(Tok::Name)) {
    unexpected("a parameter name");
    return false;
  }
  parameter.range = peek().range;
  parameter.name = text(advance());
  parameter.keywordOnly = keywordOnly && !parameter.isVarArgs;
  if (accept(Tok::Colon) && !(parameter.annotation = parseExpression()))
    return false;
  if (accept(Tok::Equal) && !(parameter.defaultValue = parseExpression()))
    return false;
  bool needsDefault = !function.parameters.empty() && function.parameters.back().defaultValue;
  if (needsDefault && !parameter.defaultValue && !keywordOnly)
    error(Diag::default_order, parameter.range, {parameter.name, function.parameters.back().name});
  function.parameters.push_back(std::move(parameter));
  return true;
}

Module parse(const SourceFile &file, DiagnosticEngine &diagnostics, bool defersErrors) {
  Module module;
  module.defersErrors = defersErrors;
  module.file = diagnostics.addFile(file);
  if (!diagnostics.checkText(module.file))
    return module;
  const std::string &text = diagnostics.file(module.file).text;
  Parser(text, lexFile(text, module.file), module, diagnostics).parseModule();
  return module;
}

const Expr *parseExpression(const SourceFile &text, Module &module, DiagnosticEngine &diagnostics) {
  uint32_t file = diagnostics.addFile(text);
  const std::string &source = diagnostics.file(file).text;
  Parser parser(source, {lexExpression(source, {0, uint32_t(source.size()), file}), {}}, module, diagnostics);
  parser.endName = "end of text";
  return parser.parseWholeExpression();
}

} // namespace tile::frontend
