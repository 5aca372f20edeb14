// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parser class, private to Parse*.cpp: Parser.cpp handles tokens and the module level, ParseStatements.cpp
// statements, ParseExpressions.cpp expressions, ParseDirectives.cpp "#:" lines.

#pragma once

#include "Frontend/Syntax/Lexer.h"
#include "Frontend/Syntax/Literals.h"
#include "Frontend/Syntax/Parser.h"

namespace tile::frontend {

/// Reads tokens, and reports unexpected tokens.
class TokenCursor {
public:
  TokenCursor(std::string_view text, TokenStream stream, Module &module, DiagnosticEngine &diagnostics);

  std::string_view endName = "end of file"; ///< what the last token ends, for messages

protected:
  const Token &peek(size_t ahead = 0) const;
  const Token &advance();
  bool at(Tok kind) const { return peek().kind == kind; }
  bool accept(Tok kind);
  bool expect(Tok kind, std::string_view context);
  std::string_view text(SourceRange range) const { return source.substr(range.begin, range.end - range.begin); }
  std::string text(const Token &token) const { return std::string(text(token.range)); }
  SourceRange rangeFrom(SourceRange begin) const { return join(begin, previousRange); }
  DiagnosticEngine::Builder error(Diag id, SourceRange range, const std::vector<std::string> &arguments = {});
  void unexpected(std::string_view expected);
  void skipLine();
  void skipBlock();
  template <typename T> T *make(SourceRange range) { return module.make<T>(range); }
  const Expr *finish(Expr *expr, std::initializer_list<const Expr *> children);
  const Expr *finishList(Expr *expr, const std::vector<const Expr *> &children);

  /// Counts recursion; parsing fails cleanly instead of running out of stack.
  struct Nesting {
    explicit Nesting(TokenCursor &parser) : parser(parser) { ++parser.nesting; }
    ~Nesting() { --parser.nesting; }
    TokenCursor &parser;
  };
  bool tooDeep();

  std::string_view source;
  TokenStream stream;
  Module &module;
  DiagnosticEngine &diagnostics;
  size_t position = 0;
  SourceRange previousRange;
  size_t nextDirective = 0;
  unsigned nesting = 0;
  unsigned quiet = 0;            // > 0: speculative parsing, without reports
  unsigned hostSyntax = 0;       // > 0: lambdas, dictionaries, all comprehensions, "in", chained comparisons, "**"
  unsigned attributeTargets = 0; // > 0: attributes are assignable
  unsigned tries = 0;            // nesting of "try" statements
  bool failedQuietly = false;    // a speculative parse has failed
  bool allowMatMul = false;      // "@" is an operator in "expect" directives only
  const std::map<std::string, const Expr *> *bindings = nullptr; // names of "#: let", with their expressions
};

/// Parses expressions (ParseExpressions.cpp, ParseAtoms.cpp; those of the host program: ParseHost.cpp).
class ExpressionParser : public TokenCursor {
public:
  using TokenCursor::TokenCursor;

protected:
  const Expr *parseExpressions();
  const Expr *parseExpression();
  const Expr *parseOr();
  const Expr *parseAnd();
  const Expr *parseNot();
  const Expr *parseComparison();
  const Expr *parseChain(const Expr *first, CompareOp op);
  const Expr *parseBinary(int level);
  const Expr *parseUnary();
  const Expr *parsePower();
  const Expr *parsePostfix();
  const Expr *parseCall(const Expr *callee);
  bool parseArgument(CallExpr &call);
  const Expr *parseSubscript(const Expr *value);
  const Expr *parseSubscriptItem();
  const Expr *parseAtom();
  const Expr *parseParenthesized();
  const Expr *parseList();
  const Expr *parseNumber();
  const Expr *parseStrings();
  bool parseFString(const Token &token, std::vector<FStringPart> &parts);
  const Expr *parseFStringField(std::string_view body, size_t offset, size_t &position, FStringPart &part);
  const Expr *parseLambda();
  const Expr *parseDict();
  const Expr *parseDictComprehension(const Expr *key, const Expr *value);
  const Expr *parseStarred();
  const Expr *parseComprehension(const Expr *element);
  bool rejectComprehension();
  bool rejectWalrus();
  std::optional<CompareOp> acceptComparison(bool &rejected);
};

/// Parses statements in functions.
class StatementParser : public ExpressionParser {
public:
  using ExpressionParser::ExpressionParser;

protected:
  bool parseBlock(Block &out);
  void parseStatement(Block &out);
  bool parseSimpleLine(Block &out);
  void recover();
  const Stmt *parseSimple();
  const Stmt *parseExpressionStatement();
  const Stmt *parseAssignment(const Expr *target, SourceRange begin);
  const Stmt *parseAugmented(const Expr *target, SourceRange begin);
  const Stmt *parseAugmentedAttribute(const Expr *target, SourceRange begin);
  const Stmt *parseAnnotated(const Expr *target, SourceRange begin);
  bool isItemTarget(const Expr *target) const;
  bool checkTarget(const Expr *target);
  void parseIf(Block &out);
  void parseFor(Block &out);
  bool parseFurtherTargets(ForStmt &loop);
  void parseWhile(Block &out);
  void parseWith(Block &out);
  bool rejectStatement();
  void rejectElseOfLoop(std::string_view loop);
};

/// Parses a file: definitions, and the host program around them.
class Parser : public StatementParser {
public:
  using StatementParser::StatementParser;

  void parseModule();
  void parseSidecar(); // ParseSidecar.cpp
  const Expr *parseWholeExpression();

private:
  friend class DirectiveParser;
  friend void parseDirectives(Parser &parser, size_t begin, size_t end, DirectiveSet *set);

  // Parser.cpp: module level
  void parseTopLevel(Block &out);
  bool parseTopLevelIf(Block &out);
  void parseTopLevelTry(Block &out);
  bool parseImport(Block &out);
  bool parseImportedNames(ImportStmt &import);
  std::string parseDottedName();
  void parseDecorated(Block &out);
  Decorator parseDecorator();
  FunctionStmt *parseFunction(std::vector<Decorator> decorators, SourceRange begin, bool hasDirectives = true);
  bool parseParameters(FunctionStmt &function);
  bool parseParameter(FunctionStmt &function, bool &keywordOnly);
  void skipTopLevel(std::string what, Block &out);
  void skipTopLevel(std::string what);
  bool parseTopLevelWith(Block &out);

  // ParseSkipped.cpp
  void noteChanges(size_t begin, size_t end, Block &out);
  void attachDirectives(FunctionStmt &function, uint32_t begin);

  // ParseClass.cpp
  void parseClass(std::vector<Decorator> decorators, SourceRange begin, Block &out);
  bool parseClassHeader(ClassStmt &node);
  void parseMember(ClassStmt &node, Block &hosts);
  void parseMethod(ClassStmt &node, std::vector<Decorator> decorators, SourceRange begin);
  // ParseHost.cpp
  bool parseTopLevelAssignment(Block &out);
  bool parseTopLevelLoop(Block &out);
  void parseHostFunction(Block &out, const std::vector<Decorator> &decorators);
  bool hasKernelInside(size_t begin, size_t end) const;
  const FunctionStmt *parseEvaluable(size_t begin);
  void parseHostScope(Block &out, size_t begin, const std::string &prefix = "");
  bool parseApplication(Block &out);

  // ParseLaunches.cpp
  void collectLaunches();
  const Expr *parseQuietly(size_t begin);
  const Expr *parseAsLambda(size_t begin);
  std::vector<HostLaunch::Binding> findBindings(size_t begin, size_t end);
};

/// "=", "+=" and so on.
bool isAssignment(Tok kind);
/// Returns the change in bracket depth after the token: 1, 0 or -1.
int nestingOf(Tok kind);
/// Returns true for tokens at which a logical line, or a statement in it, ends.
bool endsLine(Tok kind);

/// Returns true for decorators that make a function part of the language.
bool isJitDecorator(std::string_view name);
/// Returns true for decorators of functions that run at compile time. Projects used "@tl.constexpr" before Triton had a
/// decorator for it.
bool isConstexprDecorator(std::string_view name);

/// Parses the directives in [begin, end) of the stream into 'set' and module.instances.
void parseDirectives(Parser &parser, size_t begin, size_t end, DirectiveSet *set);

} // namespace tile::frontend
