// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts tokens to scopes and uses. Lines are parsed according to Python's grammar, but only to the extent needed to
// find names. Incomplete code yields fewer names, not errors. Private to ScopeReader.cpp and ScopeExpressions.cpp.
#pragma once

#include "LanguageServer/Scopes.h"

#include "Frontend/Syntax/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"

namespace tile::lsp {

/// Reads the tokens of a file. Token ranges are half-open: [i, end).
class ScopeReader {
public:
  ScopeReader(std::string_view text, ScopeTree &tree);
  void run();

private:
  using Tok = frontend::Tok;

  Tok kindAt(size_t i) const { return i < tokens->size() ? (*tokens)[i].kind : Tok::End; }
  frontend::SourceRange rangeAt(size_t i) const { return (*tokens)[i].range; }
  std::string textAt(size_t i) const {
    frontend::SourceRange range = rangeAt(i);
    return std::string(text.substr(range.begin, range.end - range.begin));
  }

  /// Returns the first token outside brackets that satisfies the predicate, or `end` if there is none.
  template <typename Predicate> size_t find(size_t i, size_t end, Predicate isWanted) const {
    for (; i < end; ++i) {
      int nesting = frontend::nestingOf(kindAt(i));
      if (nesting < 0)
        return end;
      if (isWanted(kindAt(i)))
        return i;
      if (nesting > 0)
        i = matching(i, end);
    }
    return end;
  }
  size_t find(size_t i, size_t end, Tok kind) const {
    return find(i, end, [kind](Tok other) { return other == kind; });
  }
  /// Returns the position of the ":" that ends a statement's head. Ignores the ":" of lambdas.
  size_t findColon(size_t i, size_t end) const {
    unsigned lambdas = 0;
    return find(i, end, [&](Tok kind) {
      lambdas += kind == Tok::KwLambda;
      return kind == Tok::Colon && (lambdas == 0 || lambdas-- == 0);
    });
  }
  size_t matching(size_t open, size_t end) const { return std::min(closing[open], end); }
  /// Returns, for each opening bracket, the index of the closing bracket, or the number of tokens if there is none.
  static std::vector<size_t> findClosing(const std::vector<frontend::Token> &tokens);

  Scope &scopeAt(size_t index) { return tree.scopeList[index]; }
  NameUse &add(size_t i, size_t scope, NameUse::Role role);
  void addText(frontend::SourceRange range, std::string name, size_t scope);
  void bind(size_t i, size_t scope, NameUse::Role role = NameUse::Role::Binding);
  size_t open(Scope::Kind kind, size_t parent);

  // Defined in ScopeReader.cpp.
  void readLines(size_t i, size_t end, size_t scope);
  /// Reads a definition and returns the index of the next line. `head` is the first of its decorators.
  size_t readDefinition(size_t keyword, size_t lineEnd, size_t end, size_t outer, std::optional<size_t> head);
  void readParameters(size_t i, size_t end, size_t outer, size_t scope);
  void readTexts(size_t i, size_t end, size_t scope);
  void readStatements(size_t i, size_t end, size_t scope);
  void readHead(size_t i, size_t end, size_t scope);
  void readSimple(size_t i, size_t end, size_t scope);
  size_t findAssignment(size_t i, size_t end) const;
  void readTargets(size_t i, size_t end, size_t scope);
  void readImport(size_t i, size_t end, size_t scope);
  void readDirectives();
  void readDirective(size_t next, std::vector<size_t> &earlier);

  // Defined in ScopeExpressions.cpp.
  void readExpression(size_t i, size_t end, size_t scope);
  void readName(size_t i, size_t end, size_t scope);
  void readArguments(size_t i, size_t end, size_t scope, const std::string &callee);
  size_t endOfLambdaParameters(size_t i, size_t comma, size_t end) const;
  /// Reads a lambda and returns its end.
  size_t readLambda(size_t lambda, size_t end, size_t outer);
  void readComprehension(size_t i, size_t end, size_t outer);
  void readFString(frontend::SourceRange range, size_t scope);

  std::string_view text;
  ScopeTree &tree;
  frontend::TokenStream stream;
  const std::vector<frontend::Token> *tokens; // tokens of the file, of an f-string field, or of a directive
  // Closing brackets of `tokens`, computed once, so that nested brackets are not searched again at each level.
  std::vector<size_t> closing;
};

} // namespace tile::lsp
