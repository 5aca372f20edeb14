// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects types and constants. In an unrolled loop, or in a helper with several callers, an expression may have
// several types; up to three are shown.
#include "LanguageServer/Values.h"

#include "LanguageServer/Document.h"

#include "Frontend/Syntax/Lexer.h"
#include "Frontend/Syntax/ParserImpl.h"

namespace tile::lsp {

using namespace frontend;

static constexpr size_t maxFacts = 4;

void ValueTable::add(const ObservedValue &value) {
  if (value.type == "None" && !value.isName) // a statement has no value to show
    return;
  Facts &facts = (value.isName ? names : expressions)[{value.range.begin, value.range.end}];
  Fact fact{value.type, value.constant};
  if (facts.size() < maxFacts && !llvm::is_contained(facts, fact))
    facts.push_back(std::move(fact));
}

std::string ValueTable::describe(const Facts &facts) {
  const std::string &type = facts.front().type;
  const bool hasOneType = llvm::all_of(facts, [&](const Fact &fact) { return fact.type == type; });
  const bool areKnown = llvm::none_of(facts, [&](const Fact &fact) { return fact.constant.empty(); });
  // Omit constants if there are too many, as for the variable of an unrolled loop, or if the type has only one value
  // (None).
  if (hasOneType && (!areKnown || facts.size() == maxFacts || facts.front().constant == type))
    return type;
  std::string text;
  for (auto [index, fact] : llvm::enumerate(facts)) {
    if (index + 1 == maxFacts)
      return text + " or more";
    text += index == 0 ? "" : " or ";
    text += hasOneType && index > 0 ? fact.constant : fact.type + (areKnown ? " = " + fact.constant : "");
  }
  return text;
}

std::string ValueTable::ofName(SourceRange name) const {
  auto found = names.find({name.begin, name.end});
  return found == names.end() ? "" : describe(found->second);
}

std::string ValueTable::ofExpression(uint32_t offset) const {
  auto best = expressions.end();
  // Among the expressions around the offset, later ones are nested in earlier ones.
  for (auto at = expressions.begin(); at != expressions.end() && at->first.first <= offset; ++at)
    if (at->first.second >= offset &&
        (best == expressions.end() || at->first.second - at->first.first <= best->first.second - best->first.first))
      best = at;
  return best == expressions.end() ? "" : describe(best->second);
}

bool ValueTable::reaches(SourceRange range) const {
  auto isInside = [&](const std::map<Place, Facts> &table) {
    auto at = table.lower_bound({range.begin, 0});
    return at != table.end() && at->first.first < range.end;
  };
  return isInside(names) || isInside(expressions);
}

namespace {

/// Returns the end of the part that begins at a token. It ends before the next comma, closing bracket or line end
/// outside nested brackets.
size_t endOfPart(const std::vector<Token> &tokens, size_t i) {
  int depth = 0;
  for (; tokens[i].kind != Tok::End; ++i) {
    int nesting = nestingOf(tokens[i].kind);
    bool ends = tokens[i].kind == Tok::Comma || tokens[i].kind == Tok::Newline || nesting < 0;
    if (depth == 0 && ends)
      break;
    depth += nesting;
  }
  return i;
}

/// Returns true if the value is a literal, which does not need a hint.
bool isLiteral(llvm::ArrayRef<Token> value) {
  return llvm::all_of(value, [](const Token &token) {
    switch (token.kind) {
    case Tok::Minus:
    case Tok::Int:
    case Tok::Float:
    case Tok::String:
    case Tok::KwTrue:
    case Tok::KwFalse:
    case Tok::KwNone:
      return true;
    default:
      return false;
    }
  });
}

} // namespace

/// Returns hints: "name: type" after names without an annotation, and " = value" after constants that are not literals.
llvm::json::Array ValueTable::hints(const Document &document, uint32_t begin, uint32_t limit) const {
  constexpr int isType = 1;
  llvm::json::Array hints;
  auto add = [&](uint32_t offset, std::string label) {
    hints.push_back(
        llvm::json::Object{{"position", document.position(offset)}, {"label", std::move(label)}, {"kind", isType}});
  };
  const std::vector<Token> tokens = lexFile(document.file().text, 0).tokens;
  size_t i = 0;
  for (auto at = names.lower_bound({begin, 0}); at != names.end() && at->first.first <= limit; ++at) {
    while (tokens[i].kind != Tok::End &&
           tokens[i].range.end <= at->first.first) // tokens that mark blocks have empty ranges
      ++i;
    if (tokens[i].kind != Tok::Name)
      continue;
    const Tok next = tokens[i + 1].kind;
    if (next != Tok::Colon) {
      if (next == Tok::Equal || !isAssignment(next))
        add(at->first.second, ": " + describe(at->second));
      continue;
    }
    const std::string &constant = at->second.front().constant;
    const size_t end = endOfPart(tokens, i);
    size_t value = i;
    while (value < end && tokens[value].kind != Tok::Equal)
      ++value;
    const bool isConstantName = value + 1 < end && isLiteral(llvm::ArrayRef(tokens).slice(value + 1, end - value - 1));
    if (at->second.size() == 1 && !constant.empty() && !isConstantName)
      add(tokens[end - 1].range.end, " = " + constant);
  }
  return hints;
}

} // namespace tile::lsp
