// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operator spellings, and classification of classes.

#include "Frontend/Syntax/Ast.h"

namespace tile::frontend {

namespace {

struct OperatorNames {
  std::string_view text;
  std::string_view className;
};

constexpr OperatorNames unaryNames[] = {{"-", "USub"}, {"+", "UAdd"}, {"~", "Invert"}, {"not", "Not"}};
constexpr OperatorNames binaryNames[] = {
    {"+", "Add"},   {"-", "Sub"},    {"*", "Mult"},    {"/", "Div"},     {"//", "FloorDiv"},
    {"%", "Mod"},   {"**", "Pow"},   {"<<", "LShift"}, {">>", "RShift"}, {"&", "BitAnd"},
    {"|", "BitOr"}, {"^", "BitXor"}, {"@", "MatMult"},
};
constexpr OperatorNames boolNames[] = {{"and", "And"}, {"or", "Or"}};
constexpr OperatorNames compareNames[] = {{"<", "Lt"},  {">", "Gt"},        {"<=", "LtE"}, {">=", "GtE"},
                                          {"==", "Eq"}, {"!=", "NotEq"},    {"is", "Is"},  {"is not", "IsNot"},
                                          {"in", "In"}, {"not in", "NotIn"}};

} // namespace

std::string_view spelling(UnaryOp op) {
  return unaryNames[static_cast<size_t>(op)].text;
}
std::string_view spelling(BinaryOp op) {
  return binaryNames[static_cast<size_t>(op)].text;
}
std::string_view spelling(BoolOperator op) {
  return boolNames[static_cast<size_t>(op)].text;
}
std::string_view spelling(CompareOp op) {
  return compareNames[static_cast<size_t>(op)].text;
}
std::string_view className(UnaryOp op) {
  return unaryNames[static_cast<size_t>(op)].className;
}
std::string_view className(BinaryOp op) {
  return binaryNames[static_cast<size_t>(op)].className;
}
std::string_view className(BoolOperator op) {
  return boolNames[static_cast<size_t>(op)].className;
}
std::string_view className(CompareOp op) {
  return compareNames[static_cast<size_t>(op)].className;
}

/// Returns the last part of a dotted name, without leading underscores.
static std::string_view plainName(std::string_view name) {
  name = name.substr(name.rfind('.') + 1);
  return name.substr(std::min(name.find_first_not_of('_'), name.size()));
}

/// Returns the last parts of the names of the bases; "" for other expressions.
static std::vector<std::string_view> namesOfBases(const ClassStmt &type) {
  std::vector<std::string_view> names;
  for (const Expr *base : type.bases) {
    const auto *name = as<NameExpr>(base);
    const auto *member = as<AttributeExpr>(base);
    names.push_back(name ? std::string_view(name->id) : member ? std::string_view(member->attribute) : "");
  }
  return names;
}

bool ClassStmt::isNamedTuple() const {
  for (std::string_view base : namesOfBases(*this))
    if (base == "NamedTuple")
      return true;
  return false;
}

bool ClassStmt::isEnumeration() const {
  for (std::string_view base : namesOfBases(*this))
    if (base == "Enum" || base == "IntEnum" || base == "StrEnum" || base == "Flag" || base == "IntFlag")
      return true;
  return false;
}

bool ClassStmt::isAggregate() const {
  for (const Decorator &decorator : decorators)
    if (plainName(decorator.name) == "aggregate")
      return true;
  return false;
}

void Module::adopt(Module other) {
  std::move(other.arena.begin(), other.arena.end(), std::back_inserter(arena));
  instances.insert(instances.end(), other.instances.begin(), other.instances.end());
}

} // namespace tile::frontend
