// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses declarations of registers and variables, and initialisers. PTX ISA 5.1 to 5.4.
#include "Simulator/Ptx/ParserImpl.h"

#include <bit>
#include <cmath>

namespace tile::sim {

bool PtxParser::declare(std::string_view name, Symbol symbol, uint32_t line) {
  return scopes.back().names.emplace(name, symbol).second || failAt(line, "'{}' is declared twice", name);
}

/// Limits the memory for the names of a range, which is short in the text but declares many names.
bool PtxParser::checkNames(std::string_view name, uint64_t count, uint32_t line) {
  return name.size() <= limits::names / std::max<uint64_t>(count, 1) ||
         failAt(line, "{} names of {} bytes are too many", count, name.size());
}

/// Parses   .reg .b32 %r<30>, x, y;
bool PtxParser::parseRegisters() {
  if (token().kind == TokenKind::Directive && (token().text == "v2" || token().text == "v4"))
    return fail("vector registers are not supported");
  std::optional<Type> type = token().kind == TokenKind::Directive ? parseType(token().text) : std::nullopt;
  if (!type)
    return fail("expected the type of a register, found {}", quoted(token()));
  ++at;
  do {
    uint32_t line = token().line;
    std::string_view name;
    if (!takeName(name, "the name of a register"))
      return false;
    uint64_t count = 1;
    bool isRange = take("<");
    if (isRange && (!takeInteger(count, "a number of registers") || !expect(">", "after a number of registers")))
      return false;
    registerCount += std::min<uint64_t>(count, limits::registers + 1);
    if (registerCount > limits::registers)
      return failAt(line, "more than {} registers", limits::registers);
    if (!checkNames(name, count, line))
      return false;
    std::vector<Register> &registers = function->registers;
    Symbol symbol{Symbol::Kind::Register, uint32_t(registers.size()), uint32_t(count)};
    if (!isRange && !declare(name, symbol, line))
      return false;
    if (isRange && !scopes.back().ranges.emplace(name, symbol).second)
      return failAt(line, "'{}' is declared twice", name);
    for (uint64_t i = 0; i < count; ++i)
      registers.push_back({isRange ? fmt::format("{}{}", name, i) : std::string(name), *type});
  } while (take(","));
  return expect(";", "after registers");
}

/// Parses   [.align N] [.v4] .b32 [.ptr [.space] [.align N]]   in any order, up to the name.
bool PtxParser::parseVariableHead(VariableHead &head) {
  Variable &variable = head.variable;
  uint64_t vectorSize = 1, alignment = 0;
  bool isPointer = false;
  while (token().kind == TokenKind::Directive) {
    std::string_view word = token().text;
    uint32_t line = token().line;
    ++at;
    if (word == "align") {
      uint64_t value = 0;
      if (!takeInteger(value, "an alignment"))
        return false;
      if (!std::has_single_bit(value) || value > limits::bytes)
        return failAt(line, "the alignment {} is not a power of two", value);
      // After .ptr, the alignment is the pointee's.
      if (!isPointer)
        alignment = value;
    } else if (word == "ptr") {
      isPointer = true;
    } else if (word == "attribute") {
      if (!expect("(", "after .attribute"))
        return false;
      while (!atEnd() && !token().is(")"))
        ++at;
      ++at;
    } else if (word == "v2" || word == "v4" || word == "v8") {
      vectorSize = uint64_t(word[1] - '0');
    } else if (std::optional<Type> type = parseType(word)) {
      variable.type = *type;
      head.scalarBytes = bitWidth(*type) / 8;
      if (*type == Type::Pred)
        return failAt(line, "a variable cannot be a predicate");
    } else if (!isPointer || (word != "global" && word != "shared" && word != "local" && word != "const" &&
                              word != "param" && word != "generic")) {
      return failAt(line, "unknown directive '.{}' in a declaration", word);
    }
  }
  if (head.scalarBytes == 0)
    return fail("expected the type of a variable, found {}", quoted(token()));
  head.elementBytes = vectorSize * head.scalarBytes;
  variable.alignment = alignment ? alignment : head.elementBytes;
  return true;
}

/// Parses [4][2], [] or nothing.
bool PtxParser::parseArraySizes(uint64_t &count, bool &isOpen) {
  while (take("[")) {
    if (take("]")) {
      if (isOpen || count != 1)
        return fail("only the first size of an array may be omitted");
      isOpen = true;
      continue;
    }
    Constant size;
    if (!parseConstant(size) || !expect("]", "after the size of an array"))
      return false;
    if (size.floatBits || size.bits > limits::bytes || __builtin_mul_overflow(count, size.bits, &count) ||
        count > limits::bytes)
      return fail("an array of this size is not supported");
  }
  return true;
}

/// Parses   .shared .align 16 .b8 a[64], b[64];
bool PtxParser::parseVariables(Space space, bool isExtern) {
  VariableHead common;
  common.variable.space = space;
  common.variable.isExtern = isExtern;
  if (!parseVariableHead(common))
    return false;
  do {
    VariableHead head = common;
    head.variable.loc = location;
    head.variable.loc.ptxLine = token().line;
    uint32_t line = token().line;
    std::string_view name;
    uint64_t count = 1, repeats = 1;
    bool isOpen = false, isRange = false;
    if (!takeName(name, "the name of a variable"))
      return false;
    if ((isRange = take("<")))
      if (!takeInteger(repeats, "a number of variables") || !expect(">", "after a number of variables"))
        return false;
    if (repeats > limits::variables || module.variables.size() + repeats > limits::variables)
      return failAt(line, "more than {} variables", limits::variables);
    if (!checkNames(name, repeats, line))
      return false;
    if (!parseArraySizes(count, isOpen))
      return false;
    head.variable.size = isOpen ? 0 : count * head.elementBytes;
    if (head.variable.size > limits::bytes)
      return failAt(line, "'{}' is larger than {} bytes", name, limits::bytes);
    if (!isRange && take("=") && !parseInitializer(head, count, isOpen))
      return false;
    if (isOpen && head.variable.initial.empty() && !(isExtern && space == Space::Shared))
      return failAt(line, "'{}' has no size", name);
    for (uint64_t i = 0; i < repeats; ++i) {
      head.variable.name = isRange ? fmt::format("{}{}", name, i) : std::string(name);
      // The text contains only the common prefix of the names of a range, so the complete names are stored here.
      if (isRange)
        names.push_back(std::make_unique<std::string>(head.variable.name));
      if (!declare(isRange ? std::string_view(*names.back()) : name,
                   {Symbol::Kind::Variable, uint32_t(module.variables.size())}, line))
        return false;
      module.variables.push_back(head.variable);
    }
  } while (take(","));
  return expect(";", "after a variable");
}

/// Parses   = 5   or   = {1, 2, {3, 4}}   or   = "text"   or   = {generic(x), y+4}. Missing elements are zero.
bool PtxParser::parseInitializer(VariableHead &head, uint64_t count, bool isOpen) {
  Variable &variable = head.variable;
  uint32_t line = token().line;
  if (variable.space != Space::Global && variable.space != Space::Const)
    return fail("only variables in .global and .const may be initialized");
  size_t depth = 0;
  bool needsComma = false;
  do {
    if (token().is("}")) {
      if (depth == 0)
        return fail("'}}' in an initializer that has no '{{'");
      ++at;
      --depth;
      needsComma = true;
    } else if (needsComma) {
      if (!expect(",", "in an initializer"))
        return false;
      needsComma = false;
    } else if (take("{")) {
      if (++depth > limits::depth)
        return fail("this initializer is nested too deeply");
    } else {
      if (!parseInitializerElement(head))
        return false;
      needsComma = true;
    }
    if (!isOpen && variable.initial.size() > count * head.elementBytes)
      return fail("'{}' values for {} bytes", variable.initial.size() / head.scalarBytes, count * head.elementBytes);
  } while (depth);
  if (isOpen)
    variable.size = variable.initial.size();
  return variable.initial.size() <= variable.size || failAt(line, "too many values");
}

bool PtxParser::parseInitializerElement(VariableHead &head) {
  std::vector<uint8_t> &bytes = head.variable.initial;
  if (token().kind == TokenKind::String) {
    if (head.scalarBytes != 1)
      return fail("a string needs elements of 8 bits");
    std::string_view text = token().text;
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c == '\\' && i + 1 < text.size()) {
        c = text[++i];
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
      }
      bytes.push_back(uint8_t(c));
    }
    ++at;
    return true;
  }
  if (token().kind == TokenKind::Name && token().text != "WARP_SZ")
    return parseAddressInitializer(head);
  Constant value;
  if (!parseConstant(value))
    return false;
  if (value.floatBits == 64 && head.scalarBytes == 4)
    value.bits = std::bit_cast<uint32_t>(float(std::bit_cast<double>(value.bits)));
  else if (value.floatBits && value.floatBits != 8 * head.scalarBytes)
    return fail("a float of {} bits for a variable of type .{}", value.floatBits, typeName(head.variable.type));
  else if (!value.floatBits && (head.variable.type == Type::F32 || head.variable.type == Type::F64))
    value.bits = head.scalarBytes == 4 ? std::bit_cast<uint32_t>(float(int64_t(value.bits)))
                                       : std::bit_cast<uint64_t>(double(int64_t(value.bits)));
  for (uint64_t i = 0; i < head.scalarBytes; ++i)
    bytes.push_back(i < 8 ? uint8_t(value.bits >> (8 * i)) : 0);
  return true;
}

/// Parses x, x+8, generic(x) or generic(x)+8. The offset is stored in the initial bytes, to which the address is added
/// later.
bool PtxParser::parseAddressInitializer(VariableHead &head) {
  std::vector<uint8_t> &bytes = head.variable.initial;
  bool isGeneric = token().text == "generic" && token(1).is("(");
  if (isGeneric)
    at += 2;
  uint32_t line = token().line;
  std::string_view name;
  if (!takeName(name, "a variable"))
    return false;
  std::optional<Symbol> symbol = lookUp(name);
  if (!symbol && findFunction(name))
    return failAt(line, "the address of the function '{}' is not supported as an initializer", name);
  if (!symbol || symbol->kind != Symbol::Kind::Variable)
    return failAt(line, "'{}' is not declared as a variable", name);
  if (isGeneric && !expect(")", "after a generic address"))
    return false;
  int64_t offset = 0;
  if (!parseOffset(offset))
    return false;
  if (head.scalarBytes != 8)
    return failAt(line, "the address of '{}' needs an element of 64 bits", name);
  if (module.variables[symbol->index].space != Space::Global)
    return failAt(line, "the address of '{}', which is not in .global, is not supported as an initializer", name);
  head.variable.relocations.push_back({bytes.size(), symbol->index});
  for (unsigned i = 0; i < 8; ++i)
    bytes.push_back(uint8_t(uint64_t(offset) >> (8 * i)));
  return true;
}

} // namespace tile::sim
