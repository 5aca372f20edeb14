// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Ptx/Module.h"

#include <algorithm>
#include <iterator>

namespace tile::sim {

namespace {

struct TypeInfo {
  std::string_view name;
  uint8_t bits;
};

// The entries are in the order of the enum Type. A packed type is as wide as the register that holds it.
constexpr TypeInfo types[] = {
    {"", 0},        {"pred", 1},    {"b8", 8},       {"b16", 16},   {"b32", 32},    {"b64", 64},    {"b128", 128},
    {"u8", 8},      {"u16", 16},    {"u32", 32},     {"u64", 64},   {"s8", 8},      {"s16", 16},    {"s32", 32},
    {"s64", 64},    {"f16", 16},    {"f16x2", 32},   {"bf16", 16},  {"bf16x2", 32}, {"tf32", 32},   {"f32", 32},
    {"f32x2", 64},  {"f64", 64},    {"e4m3", 8},     {"e5m2", 8},   {"e4m3x2", 16}, {"e5m2x2", 16}, {"e2m1x2", 8},
    {"e2m3x2", 16}, {"e3m2x2", 16}, {"ue8m0x2", 16}, {"u16x2", 32}, {"s16x2", 32}};
static_assert(std::size(types) == size_t(Type::S16x2) + 1);

} // namespace

unsigned bitWidth(Type type) {
  return types[size_t(type)].bits;
}

std::string_view typeName(Type type) {
  return types[size_t(type)].name;
}

std::optional<Type> parseType(std::string_view name) {
  for (size_t i = 1; i < std::size(types); ++i)
    if (types[i].name == name)
      return Type(i);
  return std::nullopt;
}

std::string_view spaceName(Space space) {
  constexpr std::string_view names[] = {"generic", "global", "shared", "local", "const", "param", "tensor"};
  return names[size_t(space)];
}

bool Instruction::has(std::string_view suffix) const {
  return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

std::string Instruction::text() const {
  std::string text = name;
  for (const std::string &suffix : suffixes)
    text += '.' + suffix;
  return text;
}

const Function *Module::findEntry(std::string_view name) const {
  for (const Function &function : functions)
    if (function.isEntry && !function.isDeclaration && function.name == name)
      return &function;
  return nullptr;
}

} // namespace tile::sim
