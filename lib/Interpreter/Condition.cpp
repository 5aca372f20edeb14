// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses and evaluates breakpoint conditions.
#include "Interpreter/Condition.h"

using namespace mlir;
using tile::directives::ExpressionTree;

namespace tile::interp {

/// Calls the function for a node and all below it, until it returns false.
static bool walk(const ExpressionTree &tree, llvm::function_ref<bool(const ExpressionTree &)> visit) {
  return visit(tree) &&
         llvm::all_of(tree.operands, [&](const ExpressionTree &operand) { return walk(operand, visit); });
}

/// Makes the program's coordinates comparable: pid==1 becomes pid==(1,). Returns false for other uses of pid.
static bool preparePrograms(ExpressionTree &tree) {
  const bool isComparison = tree.isOperator("==") || tree.isOperator("!=");
  if (isComparison && tree.operands[0].isName() && tree.operands[0].text == "pid") {
    constexpr size_t maxAxes = 3;
    ExpressionTree &right = tree.operands[1];
    if (right.kind != ExpressionTree::Kind::Tuple)
      right = {ExpressionTree::Kind::Tuple, "", {right}};
    return right.operands.size() <= maxAxes;
  }
  if (tree.kind == ExpressionTree::Kind::Element && tree.operands[0].isName()) // pid[0] is a scalar
    return true;
  return !(tree.isName() && tree.text == "pid") && llvm::all_of(tree.operands, preparePrograms);
}

llvm::Expected<Condition> Condition::parse(StringRef text) {
  Condition condition;
  condition.text = text.trim().str();
  directives::ParsedExpression parsed = directives::parseExpression(condition.text);
  if (!parsed)
    return llvm::createStringError(parsed.error);
  condition.tree = std::move(parsed.tree);
  if (!preparePrograms(condition.tree))
    return llvm::createStringError("in expression '" + condition.text +
                                   "': pid is compared with == or != to at most 3 coordinates, as in pid==(1,0)");
  return condition;
}

bool Condition::namesLine() const {
  return !walk(tree, [](const ExpressionTree &node) { return !node.isName() || node.text != "line"; });
}

/// Explains why no variable of this name can be a number; empty if one may be. Several variables may have the same name
/// and different types, in helpers or after further assignments.
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
  std::string mistake;
  walk(tree, [&](const ExpressionTree &node) {
    unsigned line = 0;
    const bool isLine = node.isOperator("==") && node.operands[0].isName() && node.operands[0].text == "line";
    if (isLine && node.operands[1].isNumber() && !StringRef(node.operands[1].text).getAsInteger(10, line))
      mistake = info.explainMissing(line);
    else if (node.isName() && node.text != "line" && node.text != "pid")
      mistake = explainNoNumber(info, node.text);
    else if (node.kind == ExpressionTree::Kind::Call)
      mistake = explainUnknownFunction(node.text);
    return mistake.empty();
  });
  return mistake;
}

std::optional<bool> Condition::holds(const Machine &machine, const DebugInfo &info, Operation *op,
                                     const StackFrame &frame, bool isAfter) const {
  llvm::Expected<ValueArray> value = evaluateExpression(tree, [&](StringRef name) -> std::optional<ValueArray> {
    if (name == "pid")
      return ValueArray{{3}, std::vector<double>(machine.program.begin(), machine.program.end())};
    if (name == "line")
      return ValueArray{{}, {double(frame.line)}};
    const Variable *variable = info.find(op, frame.key, name, isAfter);
    std::optional<double> number = variable ? numberOf(machine, *variable) : std::nullopt;
    return number ? std::optional(ValueArray{{}, {*number}}) : std::nullopt;
  });
  if (value && value->shape.empty())
    return value->values[0] != 0;
  if (!value)
    llvm::consumeError(value.takeError());
  return std::nullopt;
}

} // namespace tile::interp
