// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Decoding.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace tile::sim {

std::string_view Decoding::peek() const {
  return nextSuffix < instruction.suffixes.size() ? std::string_view(instruction.suffixes[nextSuffix])
                                                  : std::string_view();
}

bool Decoding::take(std::string_view suffix) {
  if (peek() != suffix)
    return false;
  ++nextSuffix;
  return true;
}

int Decoding::takeOne(std::initializer_list<std::string_view> names) {
  auto found = std::find(names.begin(), names.end(), peek());
  if (found == names.end() || found->empty())
    return -1;
  ++nextSuffix;
  return found - names.begin();
}

std::optional<Type> Decoding::takeType() {
  std::optional<Type> type = parseType(peek());
  if (type)
    ++nextSuffix;
  return type;
}

Error Decoding::unsupported() const {
  return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "line {}: unsupported instruction '{}' with {} operands",
                            instruction.loc.ptxLine, instruction.text(), instruction.operands.size());
}

Error Decoding::error(std::string message) const {
  return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "line {}: {}: {}", instruction.loc.ptxLine, instruction.text(),
                            message);
}

Decoding::Readable Decoding::readable(const Operand &operand, unsigned bits, bool isFloat) {
  Readable result;
  auto fail = [&](std::string message) {
    failed = true;
    failure = std::move(message);
    return result;
  };
  switch (operand.kind) {
  case Operand::Kind::Register: {
    const Register &reg = program.function.registers[operand.index];
    unsigned width = bitWidth(reg.type);
    if (reg.type == Type::Pred || width < bits)
      return fail(fmt::format("register {} has {} bits, {} are read", reg.name, width, bits));
    result.isConstant = false;
    result.registerBytes = width / 8;
    result.offset = program.registerOffset(operand.index);
    return result;
  }
  case Operand::Kind::Immediate:
    result.constant = operand.bits;
    // Literals 0d… of single precision, and decimals, are narrowed; literals 0f… of double precision are widened.
    if (isFloat && operand.floatBits == 64 && bits == 32)
      result.constant = std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.bits)));
    else if (isFloat && operand.floatBits == 32 && bits == 64)
      result.constant = std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(operand.bits))));
    return result;
  case Operand::Kind::Symbol:
    result.constant = program.variableAddress(operand.index) + operand.offset;
    result.isSharedAddress = program.module.variables[operand.index].space == Space::Shared;
    return result;
  case Operand::Kind::Special:
    if (isClock(operand.special))
      return fail("a clock can only be read by mov");
    result.isConstant = false;
    result.registerBytes = 4;
    result.offset = program.specialOffset(operand.special);
    if (bits > 32)
      return fail("the special register has 32 bits, but the instruction reads more");
    return result;
  default:
    return fail("an operand is neither a register nor a constant");
  }
}

Decoding::Readable Decoding::writable(const Operand &operand, unsigned bits) {
  Readable result;
  if (operand.kind == Operand::Kind::Sink)
    return result;
  if (operand.kind != Operand::Kind::Register) {
    failed = true;
    failure = "the destination is not a register";
    return result;
  }
  const Register &reg = program.function.registers[operand.index];
  if (reg.type == Type::Pred || bitWidth(reg.type) < bits) {
    failed = true;
    failure = fmt::format("register {} has {} bits, {} are written", reg.name, bitWidth(reg.type), bits);
    return result;
  }
  result.isConstant = false;
  result.registerBytes = bitWidth(reg.type) / 8;
  result.offset = program.registerOffset(operand.index);
  written.push_back(result.offset);
  return result;
}

PredicateSource Decoding::predicateSource(const Operand &operand) {
  PredicateSource source;
  source.negated = operand.negated;
  if (operand.kind == Operand::Kind::Immediate) {
    source.constant = operand.bits ? allLanes : 0;
    return source;
  }
  if (operand.kind != Operand::Kind::Register || program.function.registers[operand.index].type != Type::Pred) {
    failed = true;
    failure = "an operand is not a predicate";
    return source;
  }
  source.isConstant = false;
  source.offset = program.registerOffset(operand.index);
  return source;
}

PredicateDest Decoding::predicateDest(const Operand &operand) {
  PredicateDest dest;
  if (operand.kind == Operand::Kind::Sink)
    return dest;
  if (operand.kind != Operand::Kind::Register || program.function.registers[operand.index].type != Type::Pred) {
    failed = true;
    failure = "the destination is not a predicate";
    return dest;
  }
  dest.isSink = false;
  dest.offset = program.registerOffset(operand.index);
  return dest;
}

AddressSource Decoding::address(const Operand &operand) {
  AddressSource address;
  const Operand *base = &operand;
  if (operand.kind == Operand::Kind::Address) {
    if (operand.elements.empty()) {
      failed = true;
      failure = "the address has no base";
      return address;
    }
    base = &operand.elements.front();
    address.offset = operand.offset;
  }
  bool isNarrow = base->kind == Operand::Kind::Register && bitWidth(program.function.registers[base->index].type) == 32;
  address.is32 = isNarrow;
  if (isNarrow)
    address.narrow = source<uint32_t>(*base);
  else
    address.base = source<uint64_t>(*base);
  return address;
}

} // namespace tile::sim
