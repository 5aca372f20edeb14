// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses and evaluates breakpoint conditions.
#include "Interpreter/Condition.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tile::interp {

std::optional<Condition::Term> Condition::parseTerm(StringRef text) {
  Term term;
  text = text.trim();
  term.name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str();
  if (term.name.empty() || llvm::isDigit(term.name.front()))
    return std::nullopt;
  StringRef remaining = text.drop_front(term.name.size()).ltrim();
  for (StringRef comparison : {"==", "!=", "<=", ">=", "<", ">"})
    if (term.comparison.empty() && remaining.consume_front(comparison))
      term.comparison = comparison.str();
  bool isProgram = term.name == "pid", isTuple = false;
  remaining = remaining.trim();
  if (isProgram && remaining.consume_front("("))
    isTuple = remaining.consume_back(")");
  SmallVector<StringRef> words;
  remaining.split(words, ',');
  if (words.size() > 1 && words.back().trim().empty()) // trailing comma: (1,)
    words.pop_back();
  for (StringRef word : words)
    if (word.trim().getAsDouble(term.values.emplace_back()))
      return std::nullopt;
  bool isKnown = !term.comparison.empty() && term.values.size() <= (isProgram && isTuple ? 3u : 1u);
  if (isProgram && term.comparison != "==" && term.comparison != "!=")
    return std::nullopt;
  return isKnown ? std::optional(term) : std::nullopt;
}

std::optional<Condition> Condition::parse(StringRef text) {
  Condition condition;
  condition.text = text.trim().str();
  for (StringRef remaining = text; !remaining.empty();) {
    auto [first, others] = remaining.split(" and ");
    std::optional<Term> term = parseTerm(first);
    if (!term)
      return std::nullopt;
    condition.terms.push_back(std::move(*term));
    remaining = others;
  }
  return condition.terms.empty() ? std::nullopt : std::optional(condition);
}

bool Condition::namesLine() const {
  return llvm::any_of(terms, [](const Term &term) { return term.name == "line"; });
}

/// Explains why no variable of this name is ever a number; empty if one may be. Variables of one name may have several
/// types, in helpers or after further assignments.
static std::string explainNoNumber(const DebugInfo &info, StringRef name) {
  const Variable *known = nullptr;
  for (const Variable &variable : info.variables) {
    if (variable.name != name)
      continue;
    if (!variable.value || variable.value.getType().isIntOrIndexOrFloat())
      return "";
    known = &variable;
  }
  if (!known)
    return ("there is no variable '" + name + "'").str();
  return ("'" + name + "' is " + typeOf(*known) + "; a condition can compare only scalars").str();
}

std::string Condition::findMistake(const DebugInfo &info) const {
  for (const Term &term : terms) {
    std::string mistake;
    if (term.name == "line" && term.comparison == "==")
      mistake = info.explainMissing(term.values.front());
    else if (term.name != "line" && term.name != "pid")
      mistake = explainNoNumber(info, term.name);
    if (!mistake.empty())
      return mistake;
  }
  return "";
}

static bool compare(double left, StringRef comparison, double right) {
  if (comparison == "==")
    return left == right;
  if (comparison == "!=")
    return left != right;
  if (comparison == "<")
    return left < right;
  if (comparison == "<=")
    return left <= right;
  return comparison == ">" ? left > right : left >= right;
}

std::optional<bool> Condition::holds(const Machine &machine, const DebugInfo &info, Operation *op,
                                     const StackFrame &frame, bool isAfter) const {
  bool holds = true;
  for (const Term &term : terms) {
    if (term.name == "pid") {
      bool isEqual = true;
      for (auto [axis, number] : llvm::enumerate(term.values))
        isEqual &= machine.program[axis] == number;
      holds &= isEqual == (term.comparison == "==");
      continue;
    }
    std::optional<double> value = frame.line;
    if (term.name != "line") {
      const Variable *variable = info.find(op, frame.key, term.name, isAfter);
      value = variable ? numberOf(machine, *variable) : std::nullopt;
    }
    if (!value)
      return std::nullopt;
    holds &= compare(*value, term.comparison, term.values.front());
  }
  return holds;
}

} // namespace tile::interp
