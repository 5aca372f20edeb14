// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses the operands of instructions. PTX ISA chapter 6 and, for calls, 9.7.12.5.
#include "Simulator/Ptx/ParserImpl.h"

namespace tile::sim {

bool PtxParser::parseOperands(Instruction &instruction) {
  isVideo = instruction.name.starts_with('v') && instruction.name != "vote";
  if (instruction.name == "call")
    return parseCall(instruction);
  if (instruction.name == "bra" || instruction.name == "brx")
    return parseBranch(instruction);
  if (token().is(";"))
    return true;
  do
    if (!parseOperand(instruction.operands.emplace_back()))
      return false;
  while (take(","));
  return true;
}

/// Parses a simple operand, or a pair of two: d|p.
bool PtxParser::parseOperand(Operand &operand) {
  if (!parseSimpleOperand(operand))
    return false;
  if (!token().is("|"))
    return true;
  auto canPair = [](const Operand &part) {
    return part.kind == Operand::Kind::Register || part.kind == Operand::Kind::Sink;
  };
  ++at;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements = {std::move(operand), {}};
  if (!parseSimpleOperand(pair.elements[1]))
    return false;
  if (!canPair(pair.elements[0]) || !canPair(pair.elements[1]))
    return fail("a pair 'a|b' needs two registers");
  operand = std::move(pair);
  return true;
}

bool PtxParser::parseSimpleOperand(Operand &operand) {
  if (token().is("{"))
    return parseVector(operand);
  if (token().is("["))
    return parseAddress(operand);
  if (token().is("!") && token(1).kind == TokenKind::Name && token(1).text != "WARP_SZ") {
    ++at;
    if (!parseNamedOperand(operand))
      return false;
    if (operand.kind != Operand::Kind::Register || function->registers[operand.index].type != Type::Pred)
      return fail("'!' needs a predicate register");
    operand.negated = true;
    return true;
  }
  if (isVideo && token().is("-") && token(1).kind == TokenKind::Name && token(1).text != "WARP_SZ") {
    ++at;
    if (!parseNamedOperand(operand))
      return false;
    operand.negated = true;
    return operand.kind == Operand::Kind::Register || fail("'-' needs a register or a constant");
  }
  if (atConstant()) {
    Constant value;
    if (!parseConstant(value))
      return false;
    operand.kind = Operand::Kind::Immediate;
    operand.bits = value.bits;
    operand.floatBits = value.floatBits;
    return true;
  }
  if (token().kind == TokenKind::Name)
    return parseNamedOperand(operand);
  return fail("expected an operand, found {}", quoted(token()));
}

bool PtxParser::parseNamedOperand(Operand &operand) {
  Token name = token();
  if (name.kind != TokenKind::Name)
    return fail("expected a name, found {}", quoted(name));
  ++at;
  if (name.text == "_") {
    operand.kind = Operand::Kind::Sink;
    return true;
  }
  if (lookUpRegister(name.text, operand.index)) {
    operand.kind = Operand::Kind::Register;
    if (token().kind == TokenKind::Directive && isVideo) {
      operand.part = token().text;
      ++at;
    }
    if (token().kind == TokenKind::Directive)
      return fail("elements of vector registers ('{}.{}') are not supported", name.text, token().text);
    return true;
  }
  if (std::optional<Symbol> symbol = lookUp(name.text)) {
    operand.kind = Operand::Kind::Symbol;
    operand.index = symbol->index;
    operand.space = module.variables[symbol->index].space;
    return parseOffset(operand.offset);
  }
  if (name.text[0] == '%')
    return parseSpecialRegister(name.text, name.line, operand);
  if (findFunction(name.text)) {
    operand.kind = Operand::Kind::Function;
    operand.name = name.text;
    return true;
  }
  return failAt(name.line, "'{}' is not declared", name.text);
}

bool PtxParser::parseSpecialRegister(std::string_view name, uint32_t line, Operand &operand) {
  std::string full(name);
  if (token().kind == TokenKind::Directive) {
    full += fmt::format(".{}", token().text);
    ++at;
  }
  if (std::optional<SpecialRegister> special = parseSpecialRegisterName(full)) {
    operand.kind = Operand::Kind::Special;
    operand.special = *special;
    return true;
  }
  // Without a suffix, a register of three dimensions is a vector of four elements, the last of which is 0.
  if (std::optional<SpecialRegister> first = parseSpecialRegisterName(full + ".x")) {
    operand.kind = Operand::Kind::Vector;
    operand.elements.resize(4);
    for (unsigned axis = 0; axis < 3; ++axis) {
      operand.elements[axis].kind = Operand::Kind::Special;
      operand.elements[axis].special = SpecialRegister(unsigned(*first) + axis);
    }
    operand.elements[3].kind = Operand::Kind::Immediate;
    return true;
  }
  for (std::string_view known : {"%envreg", "%pm", "%reserved_smem_offset", "%current_graph_exec", "%tid", "%ntid",
                                 "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_"})
    if (name.starts_with(known))
      return failAt(line, "the special register '{}' is not supported", full);
  return failAt(line, "'{}' is not declared", full);
}

bool PtxParser::parseVector(Operand &operand) {
  uint32_t line = token().line;
  ++at;
  operand.kind = Operand::Kind::Vector;
  do {
    if (token().is("{") || token().is("["))
      return fail("{} cannot be an element of a vector", quoted(token()));
    if (!parseSimpleOperand(operand.elements.emplace_back()))
      return false;
  } while (take(","));
  return take("}") || failAt(line, "the vector that begins here has no '}}' before {}", quoted(token()));
}

/// Parses "+8", "+-8", "-8" or nothing.
bool PtxParser::parseOffset(int64_t &offset) {
  if (!token().is("+") && !token().is("-"))
    return true;
  Constant value;
  // In "+-8" and "-8" the minus sign belongs to the constant expression.
  if (!parseConstant(value))
    return false;
  offset = int64_t(value.bits);
  return value.floatBits == 0 || fail("an offset must be an integer");
}

/// Parses [base], [base+offset], [base, {x, y}] or [base, {x, y}, …].
bool PtxParser::parseAddress(Operand &operand) {
  uint32_t line = token().line;
  ++at;
  operand.kind = Operand::Kind::Address;
  Operand &base = operand.elements.emplace_back();
  if (token().is("{") || token().is("["))
    return fail("{} cannot be the base of an address", quoted(token()));
  if (!parseSimpleOperand(base))
    return false;
  switch (base.kind) {
  case Operand::Kind::Register:
    if (base.negated || !parseOffset(operand.offset))
      return fail("a predicate cannot be an address");
    break;
  case Operand::Kind::Symbol:
    operand.offset = std::exchange(base.offset, 0);
    break;
  case Operand::Kind::Immediate:
    if (base.floatBits == 0)
      break;
    [[fallthrough]];
  default:
    return failAt(line, "an address needs a register, a variable or an integer");
  }
  while (take(",")) {
    if (token().is("["))
      return fail("'[' within an address");
    if (!parseSimpleOperand(operand.elements.emplace_back()))
      return false;
  }
  return take("]") || failAt(line, "the address that begins here has no ']' before {}", quoted(token()));
}

bool PtxParser::parseArguments(Operand &operand) {
  operand.kind = Operand::Kind::Arguments;
  ++at;
  if (take(")"))
    return true;
  do {
    if (token().is("{") || token().is("["))
      return fail("{} cannot be an argument", quoted(token()));
    if (!parseSimpleOperand(operand.elements.emplace_back()))
      return false;
  } while (take(","));
  return expect(")", "at the end of the arguments");
}

/// Parses   call (results), callee, (arguments), prototype   and normalizes it to (results), callee, (arguments), with
/// omitted parts added.
bool PtxParser::parseCall(Instruction &instruction) {
  instruction.operands.resize(3);
  for (size_t i : {0, 2})
    instruction.operands[i].kind = Operand::Kind::Arguments;
  if (token().is("(") && (!parseArguments(instruction.operands[0]) || !expect(",", "after the results of a call")))
    return false;
  Operand &callee = instruction.operands[1];
  uint32_t line = token().line;
  if (!parseNamedOperand(callee))
    return false;
  if (callee.kind != Operand::Kind::Function && callee.kind != Operand::Kind::Register)
    return failAt(line, "a call needs a function");
  bool hasPrototype = callee.kind == Operand::Kind::Register;
  if (!take(","))
    return !hasPrototype || fail("an indirect call needs a prototype");
  if (token().is("(")) {
    if (!parseArguments(instruction.operands[2]))
      return false;
    if (!take(","))
      return !hasPrototype || fail("an indirect call needs a prototype");
  }
  // Skips a prototype or a list of targets, neither of which adds information to the arguments.
  std::string_view prototype;
  return takeName(prototype, "the prototype of a call");
}

bool PtxParser::parseBranch(Instruction &instruction) {
  bool isIndexed = instruction.name == "brx";
  if (isIndexed && (!parseOperand(instruction.operands.emplace_back()) || !expect(",", "after the index of a branch")))
    return false;
  uint32_t line = token().line;
  std::string_view name;
  if (!takeName(name, "a label"))
    return false;
  uint32_t operand = uint32_t(instruction.operands.size());
  Operand &label = instruction.operands.emplace_back();
  label.kind = Operand::Kind::Label;
  label.name = name;
  scopes.back().uses.push_back({uint32_t(function->instructions.size()), operand, name, line});
  return true;
}

std::optional<PtxParser::Symbol> PtxParser::lookUp(std::string_view name) const {
  for (size_t i = scopes.size(); i-- > 0;)
    if (auto found = scopes[i].names.find(name); found != scopes[i].names.end())
      return found->second;
  return std::nullopt;
}

/// Finds a register by its declared name, or %r12 through the range %r<30> of the innermost scope that declares one.
bool PtxParser::lookUpRegister(std::string_view name, uint32_t &index) const {
  size_t digits = name.find_last_not_of("0123456789") + 1;
  std::string_view prefix = name.substr(0, digits), number = name.substr(digits);
  bool isNumbered = !number.empty() && number.size() < 9 && (number.size() == 1 || number[0] != '0');
  uint32_t value = 0;
  if (isNumbered)
    for (char c : number)
      value = 10 * value + uint32_t(c - '0');
  for (size_t i = scopes.size(); i-- > 0;) {
    if (auto found = scopes[i].names.find(name); found != scopes[i].names.end()) {
      index = found->second.index;
      return found->second.kind == Symbol::Kind::Register;
    }
    if (!isNumbered)
      continue;
    auto found = scopes[i].ranges.find(prefix);
    if (found != scopes[i].ranges.end() && value < found->second.count) {
      index = found->second.index + value;
      return true;
    }
  }
  return false;
}

} // namespace tile::sim
