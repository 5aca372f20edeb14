// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parser: top-level classes.
//
// A file may have any classes; kernels use named tuples, aggregates, and namespaces of constants and functions. So
// nothing in a class is an error by itself: errors in a method are kept with the method, and members other than fields,
// constants and methods are skipped.

#include "Frontend/Syntax/ParserImpl.h"

#include <algorithm>

namespace tile::frontend {

/// "class" NAME ["(" bases ")"] ":" NEWLINE INDENT members DEDENT; anything else is skipped.
void Parser::parseClass(std::vector<Decorator> decorators, SourceRange begin, Block &out) {
  size_t start = position;
  auto *node = make<ClassStmt>(begin);
  node->decorators = std::move(decorators);
  ++quiet;
  bool isClass = parseClassHeader(*node);
  --quiet;
  if (!isClass) {
    position = start;
    return skipTopLevel("class");
  }
  Block hosts;
  while (!at(Tok::Dedent) && !at(Tok::End))
    parseMember(*node, hosts);
  accept(Tok::Dedent);
  node->range = rangeFrom(begin);
  out.push_back(node);
  out.insert(out.end(), hosts.begin(), hosts.end());
}

bool Parser::parseClassHeader(ClassStmt &node) {
  advance();
  if (!at(Tok::Name))
    return false;
  node.nameRange = peek().range;
  node.name = text(advance());
  if (accept(Tok::LeftParen)) {
    while (!at(Tok::RightParen)) {
      bool isKeyword = at(Tok::Name) && peek(1).kind == Tok::Equal;
      position += isKeyword ? 2 : 0;
      const Expr *base = parseExpression();
      if (!base)
        return false;
      if (!isKeyword)
        node.bases.push_back(base);
      if (!accept(Tok::Comma))
        break;
    }
    if (!accept(Tok::RightParen))
      return false;
  }
  return accept(Tok::Colon) && accept(Tok::Newline) && accept(Tok::Indent);
}

/// Parses a field, constant or method; `hosts` receives methods that contain kernels, such as those of unit tests.
void Parser::parseMember(ClassStmt &node, Block &hosts) {
  auto skipMember = [&] {
    do {
      skipLine();
      skipBlock();
    } while (at(Tok::KwElse) || at(Tok::KwElif) || at(Tok::KwExcept) || at(Tok::KwFinally));
  };
  if (accept(Tok::Newline))
    return;
  SourceRange begin = peek().range;
  std::vector<Decorator> decorators;
  while (at(Tok::At))
    decorators.push_back(parseDecorator());
  if (at(Tok::KwDef)) {
    size_t start = position;
    parseMethod(node, std::move(decorators), begin);
    size_t end = position;
    if (hasKernelInside(start, end)) {
      parseHostScope(hosts, start, node.name + ".");
      position = end;
    }
    return;
  }
  if (!at(Tok::Name) || (peek(1).kind != Tok::Colon && peek(1).kind != Tok::Equal))
    return skipMember();
  size_t start = position;
  Block line;
  ++quiet;
  bool parsed = parseSimpleLine(line);
  --quiet;
  if (!parsed) {
    position = start;
    return skipMember();
  }
  for (const Stmt *stmt : line) {
    if (const auto *field = as<AnnAssignStmt>(stmt))
      node.fields.push_back(field);
    else if (const auto *constant = as<AssignStmt>(stmt))
      node.constants.push_back(constant);
  }
}

void Parser::parseMethod(ClassStmt &node, std::vector<Decorator> decorators, SourceRange begin) {
  bool isJit = std::any_of(decorators.begin(), decorators.end(),
                           [](const Decorator &decorator) { return isJitDecorator(decorator.name); });
  bool deferred = module.defersErrors;
  module.defersErrors = true;
  hostSyntax += isJit ? 0 : 1;
  attributeTargets += isJit ? 0 : 1;
  FunctionStmt *method = parseFunction(std::move(decorators), begin);
  hostSyntax -= isJit ? 0 : 1;
  attributeTargets -= isJit ? 0 : 1;
  module.defersErrors = deferred;
  if (!method)
    return;
  method->isConstexpr = !isJit;
  node.methods.push_back(method);
}

} // namespace tile::frontend
