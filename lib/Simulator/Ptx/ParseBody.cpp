// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses function bodies: nested scopes, labels, declarations and instructions.
#include "Simulator/Ptx/ParserImpl.h"

#include <utility>

namespace tile::sim {

/// Parses the body of a function from after its `{` to its `}`. The scope of the function, with its parameters, is
/// already open.
bool PtxParser::parseBody() {
  size_t outermost = scopes.size();
  while (scopes.size() >= outermost) {
    if (atEnd())
      return failAt(function->loc.ptxLine, "the body of '{}' has no end", function->name);
    if (take("{")) {
      if (scopes.size() - outermost >= limits::scopes)
        return fail("more than {} nested scopes", limits::scopes);
      scopes.emplace_back();
    } else if (take("}")) {
      if (!closeScope())
        return false;
    } else if (!take(";") && !parseStatement()) {
      return false;
    }
  }
  endFunction();
  return true;
}

bool PtxParser::parseStatement() {
  if (token().kind == TokenKind::Directive)
    return parseBodyDirective();
  if (token().kind == TokenKind::Name && token(1).is(":"))
    return parseLabel();
  if (token().kind == TokenKind::Name || token().is("@"))
    return parseInstruction();
  return fail("expected an instruction, found {}", quoted(token()));
}

bool PtxParser::parseBodyDirective() {
  if (takeDirective("loc"))
    return parseLoc();
  if (takeDirective("reg"))
    return parseRegisters();
  if (takeDirective("file"))
    return parseFile();
  if (takeDirective("section"))
    return skipSection();
  if (takeDirective("pragma"))
    return parsePragma();
  bool isExtern = takeDirective("extern");
  for (Space space : {Space::Shared, Space::Local, Space::Param, Space::Global, Space::Const})
    if (takeDirective(spaceName(space)))
      return parseVariables(space, isExtern);
  return fail("unknown directive {}", quoted(token()));
}

/// Parses   name:   or   name: .branchtargets a, b;   or   name: .callprototype …;
bool PtxParser::parseLabel() {
  Token name = token();
  at += 2;
  if (takeDirective("branchtargets")) {
    std::vector<std::string_view> &targets = scopes.back().branchTargets[name.text];
    if (!targets.empty())
      return failAt(name.line, "duplicate label '{}'", name.text);
    do
      if (!takeName(targets.emplace_back(), "a label"))
        return false;
    while (take(","));
    return expect(";", "after '.branchtargets'");
  }
  if (takeDirective("callprototype") || takeDirective("calltargets"))
    return parsePrototype();
  uint32_t next = uint32_t(function->instructions.size());
  return scopes.back().labels.emplace(name.text, next).second || failAt(name.line, "duplicate label '{}'", name.text);
}

/// Skips a prototype, because the arguments of the call contain the same information.
bool PtxParser::parsePrototype() {
  uint32_t line = token().line;
  while (!atEnd() && !token().is(";") && !token().is("{") && !token().is("}"))
    ++at;
  return take(";") || failAt(line, "expected ';' after a prototype, found {}", quoted(token()));
}

/// Parses   .loc 1 18 5, function_name $L__info_string0+12, inlined_at 1 20 3   (PTX ISA 11.5.3). The directive has no
/// terminator.
bool PtxParser::parseLoc() {
  uint64_t file = 0, line = 0, column = 0, ignored = 0;
  if (!takeInteger(file, "the number of a file") || !takeInteger(line, "a line") || !takeInteger(column, "a column"))
    return false;
  if (file >= limits::files || line > UINT32_MAX || column > UINT32_MAX)
    return fail("malformed '.loc'");
  location.file = uint32_t(file);
  location.sourceLine = uint32_t(line);
  location.sourceColumn = uint32_t(column);
  while (take(",")) {
    std::string_view word, label;
    if (!takeName(word, "an attribute of '.loc'"))
      return false;
    if (word == "function_name") {
      if (!takeName(label, "a label") || (take("+") && !takeInteger(ignored, "an offset")))
        return false;
    } else if (word == "inlined_at") {
      for (std::string_view what : {"the number of a file", "a line", "a column"})
        if (!takeInteger(ignored, what))
          return false;
    } else {
      return fail("unknown attribute '{}' of '.loc'", word);
    }
  }
  return true;
}

/// Parses @p or @!p.
bool PtxParser::parseGuard(Instruction &instruction) {
  instruction.guardNegated = take("!");
  uint32_t line = token().line, index = 0;
  std::string_view name;
  if (!takeName(name, "a predicate"))
    return false;
  if (!lookUpRegister(name, index))
    return failAt(line, "'{}' is not declared", name);
  if (function->registers[index].type != Type::Pred)
    return failAt(line, "the guard '{}' is not a predicate", name);
  instruction.guard = int32_t(index);
  return true;
}

bool PtxParser::parseInstruction() {
  Instruction instruction;
  if (take("@") && !parseGuard(instruction))
    return false;
  instruction.loc = location;
  instruction.loc.ptxLine = token().line;
  std::string_view name;
  if (!takeName(name, "an instruction"))
    return false;
  if (name[0] == '%' || name[0] == '$' || name[0] == '_')
    return failAt(instruction.loc.ptxLine, "expected an instruction, found '{}'", name);
  instruction.name = name;
  for (; token().kind == TokenKind::Directive; ++at)
    instruction.suffixes.emplace_back(token().text);
  instruction.usedBytes = std::exchange(usedBytes, ~0u);
  if (!parseOperands(instruction) || !expect(";", "at the end of an instruction"))
    return false;
  function->instructions.push_back(std::move(instruction));
  return true;
}

bool PtxParser::resolveLabel(const Scope &scope, const LabelUse &use, bool &found) {
  Instruction &branch = function->instructions[use.instruction];
  Operand &operand = branch.operands[use.operand];
  if (branch.name == "bra") {
    auto label = scope.labels.find(use.name);
    found = label != scope.labels.end();
    if (found)
      operand.index = label->second;
    return true;
  }
  auto targets = scope.branchTargets.find(use.name);
  found = targets != scope.branchTargets.end();
  if (!found)
    return true;
  operand.kind = Operand::Kind::Vector;
  for (std::string_view name : targets->second) {
    auto label = scope.labels.find(name);
    if (label == scope.labels.end())
      return failAt(use.line, "the label '{}' in '{}' does not exist", name, use.name);
    if (++targetCount > limits::targets)
      return failAt(use.line, "more than {} branch targets", limits::targets);
    Operand &element = operand.elements.emplace_back();
    element.kind = Operand::Kind::Label;
    element.index = label->second;
    element.name = name;
  }
  return true;
}

/// Closes the scope at its `}` and resolves its labels. Unknown labels may still be defined in an outer scope.
bool PtxParser::closeScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  bool isOutermost = scopes.size() == 1;
  for (const LabelUse &use : scope.uses) {
    bool found = false;
    if (!resolveLabel(scope, use, found))
      return false;
    if (!found && isOutermost)
      return failAt(use.line, "the label '{}' does not exist", use.name);
    if (!found)
      scopes.back().uses.push_back(use);
  }
  return true;
}

/// Adds a `ret` at the end if control reaches it or a label marks it, so every label refers to an instruction.
void PtxParser::endFunction() {
  std::vector<Instruction> &instructions = function->instructions;
  uint32_t end = uint32_t(instructions.size());
  bool isReached = true;
  if (end) {
    const Instruction &last = instructions.back();
    isReached = last.guard >= 0 || (last.name != "ret" && last.name != "exit" && last.name != "bra");
  }
  auto isEnd = [&](const Operand &operand) { return operand.kind == Operand::Kind::Label && operand.index == end; };
  for (const Instruction &instruction : instructions)
    for (const Operand &operand : instruction.operands) {
      isReached |= isEnd(operand);
      for (const Operand &element : operand.elements)
        isReached |= isEnd(element);
    }
  if (!isReached)
    return;
  Instruction ret;
  ret.name = "ret";
  ret.loc = location;
  ret.loc.ptxLine = token().line;
  instructions.push_back(std::move(ret));
}

} // namespace tile::sim
