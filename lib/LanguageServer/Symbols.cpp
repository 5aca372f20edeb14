// The tree has the functions, also where their bodies do not parse; locals are found among the tokens.
#include "LanguageServer/Symbols.h"

#include "Frontend/Lexer.h"
#include "Frontend/Parser.h"

namespace tile::lsp {

using namespace frontend;

static void collect(const Block &block, std::vector<const FunctionStmt *> &functions) {
  for (const Stmt *stmt : block) {
    if (const auto *function = as<FunctionStmt>(stmt))
      functions.push_back(function);
    if (const auto *host = as<HostStmt>(stmt))
      collect(host->body, functions);
    if (const auto *skipped = as<SkippedStmt>(stmt); skipped && skipped->function)
      functions.push_back(skipped->function);
    if (const auto *type = as<ClassStmt>(stmt))
      functions.insert(functions.end(), type->methods.begin(), type->methods.end());
  }
}

/// The functions of the file, each with all of its text.
static std::vector<const FunctionStmt *> functionsOf(const Module &module) {
  std::vector<const FunctionStmt *> functions;
  collect(module.body, functions);
  return functions;
}

static SourceRange wholeOf(const FunctionStmt &function) {
  SourceRange whole = function.range;
  whole.begin = std::min(whole.begin, function.nameRange.begin);
  whole.end = std::max(whole.end, function.nameRange.end);
  for (const Stmt *stmt : function.body)
    whole.end = std::max(whole.end, stmt->range.end);
  return whole;
}

llvm::json::Array symbols(const Document &document) {
  constexpr int isFunction = 12, isVariable = 13;
  DiagnosticEngine engine;
  Module module = parse(document.file(), engine, /*defersErrors=*/true);
  llvm::json::Array found;
  for (const FunctionStmt *function : functionsOf(module)) {
    llvm::json::Array parameters;
    for (const Parameter &parameter : function->parameters)
      parameters.push_back(llvm::json::Object{{"name", parameter.name},
                                              {"kind", isVariable},
                                              {"range", document.range(parameter.range)},
                                              {"selectionRange", document.range(parameter.range)}});
    found.push_back(llvm::json::Object{{"name", function->name},
                                       {"kind", isFunction},
                                       {"range", document.range(wholeOf(*function))},
                                       {"selectionRange", document.range(function->nameRange)},
                                       {"children", std::move(parameters)}});
  }
  return found;
}

/// The first assignment of a name between two places, or the first loop over it.
static std::optional<SourceRange> findAssignment(const Document &document, llvm::StringRef name, SourceRange inside) {
  const std::vector<Token> tokens = lexFile(document.file().text, 0).tokens;
  int depth = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token &token = tokens[i];
    depth += token.kind == Tok::LeftParen || token.kind == Tok::LeftBracket;
    depth -= token.kind == Tok::RightParen || token.kind == Tok::RightBracket;
    if (token.kind != Tok::Name || token.range.begin < inside.begin || token.range.end > inside.end ||
        document.text().slice(token.range.begin, token.range.end) != name)
      continue;
    Tok next = tokens[i + 1].kind;
    bool isAssigned = depth == 0 && (next == Tok::Equal || next == Tok::Comma || next == Tok::Colon);
    if (isAssigned || (i > 0 && tokens[i - 1].kind == Tok::KwFor))
      return token.range;
  }
  return std::nullopt;
}

llvm::json::Value define(const Document &document, uint32_t offset) {
  llvm::StringRef name = document.wordAround(offset);
  if (name.empty() || name.contains('.'))
    return nullptr;
  DiagnosticEngine engine;
  Module module = parse(document.file(), engine, /*defersErrors=*/true);
  std::vector<const FunctionStmt *> functions = functionsOf(module);
  for (const FunctionStmt *function : functions) {
    SourceRange whole = wholeOf(*function);
    if (offset < whole.begin || offset > whole.end)
      continue;
    for (const Parameter &parameter : function->parameters)
      if (parameter.name == name)
        return document.range(parameter.range);
    SourceRange body{function->body.empty() ? whole.end : function->body.front()->range.begin, whole.end};
    if (std::optional<SourceRange> found = findAssignment(document, name, body))
      return document.range(*found);
  }
  for (const FunctionStmt *function : functions)
    if (function->name == name)
      return document.range(function->nameRange);
  const uint32_t end = document.text().size();
  if (std::optional<SourceRange> found = findAssignment(document, name, {0, end}))
    return document.range(*found);
  return nullptr;
}

} // namespace tile::lsp
