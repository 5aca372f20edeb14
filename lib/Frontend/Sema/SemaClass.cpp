// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes: named tuples, aggregates, and class members.
//
//   class Tensor(NamedTuple):            Tensor(ptr, (m, n)) is a tuple whose elements also have names
//       ptr: tl.tensor
//       shape: tl.tuple
//   @tl.core._aggregate
//   class Pair:                          Pair(a, b) runs __init__ at compile time, which assigns each field a value of
//       first: tl.tensor                 the annotated type
//       ...
//
// An object is a value, like a tuple: its fields cannot be assigned after the constructor. Its run-time values flow
// individually through branches, loops and calls. Methods are emitted at each call; those without @triton.jit run at
// compile time. From other classes, kernels can use constants and functions without 'self'. An enumeration constant
// acts as its value, but keeps its name until it is used in a computation.

#include "Frontend/Sema/Calls.h"
#include "Frontend/Sema/Classes.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/ModuleNames.h"

using namespace mlir;

namespace tile::frontend {

namespace {

constexpr unsigned maxBases = 16;

bool hasDecorator(const FunctionStmt &function, StringRef name) {
  return llvm::any_of(function.decorators, [&](const Decorator &decorator) { return decorator.name == name; });
}

/// Returns the name of Python's special method for an operator, without the leading "__" or "__r".
StringRef specialName(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "add__";
  case BinaryOp::Sub:
    return "sub__";
  case BinaryOp::Mult:
    return "mul__";
  case BinaryOp::Div:
    return "truediv__";
  case BinaryOp::FloorDiv:
    return "floordiv__";
  case BinaryOp::Mod:
    return "mod__";
  case BinaryOp::Pow:
    return "pow__";
  case BinaryOp::LShift:
    return "lshift__";
  case BinaryOp::RShift:
    return "rshift__";
  case BinaryOp::BitAnd:
    return "and__";
  case BinaryOp::BitOr:
    return "or__";
  case BinaryOp::BitXor:
    return "xor__";
  case BinaryOp::MatMult:
    return "matmul__";
  }
  return {};
}

/// Returns `name` or `value` of an enumeration member.
std::optional<SymValue> attributeOfMember(const SymValue &member, StringRef attribute) {
  if (attribute == "name" || attribute == "_name_")
    return SymValue::makeConstant(member.names.front());
  if (attribute == "value" || attribute == "_value_")
    return SymValue::makeConstant(member.constant);
  return std::nullopt;
}

SymValue methodOf(const SymValue &value, const FunctionStmt *function) {
  SymValue method;
  method.kind = SymValue::Kind::Method;
  method.constant = function;
  method.elements = {value};
  return method;
}

} // namespace

/// Returns those base classes that are part of the project.
std::vector<const ClassStmt *> Classes::basesOf(const ClassStmt &type, unsigned depth) {
  std::vector<const ClassStmt *> bases;
  if (depth == maxBases)
    return bases;
  InModule inside(sema, sema.names.classOwners.at(&type));
  for (const Expr *base : type.bases) {
    std::optional<SymValue> value = sema.evaluator.evaluateQuietly(*base);
    if (value && value->isConstant())
      if (const auto *found = std::get_if<const ClassStmt *>(&value->constant))
        bases.push_back(*found);
  }
  return bases;
}

const FunctionStmt *Classes::findMethod(const ClassStmt &type, const std::string &name, unsigned depth) {
  for (const FunctionStmt *method : llvm::reverse(type.methods))
    if (method->name == name)
      return method;
  for (const ClassStmt *base : basesOf(type, depth))
    if (const FunctionStmt *found = findMethod(*base, name, depth + 1))
      return found;
  return nullptr;
}

std::optional<SymValue> Classes::classConstant(const ClassStmt &type, const std::string &name, unsigned depth) {
  ModuleScope *module = sema.names.classOwners.at(&type);
  std::string path = type.name + "." + name;
  // The expression may refer to other constants of the class, and through them to this constant.
  if (!module->pending.insert(path).second)
    return error(Diag::circular_constant, type.nameRange, {path});
  std::optional<SymValue> value = evaluateConstant(type, name, depth);
  module->pending.erase(path);
  return value;
}

/// Evaluates "NAME = value" or "name: type = value" of a class, which may refer to earlier constants.
std::optional<SymValue> Classes::evaluateConstant(const ClassStmt &type, const std::string &name, unsigned depth) {
  for (const AnnAssignStmt *field : type.fields)
    if (field->target->id == name && field->value) {
      InModule inside(sema, sema.names.classOwners.at(&type));
      return sema.evaluator.evaluate(*field->value);
    }
  auto isWanted = [&](const AssignStmt *constant) {
    const auto *target = as<NameExpr>(constant->target);
    return target && target->id == name;
  };
  if (llvm::none_of(type.constants, isWanted)) {
    for (const ClassStmt *base : basesOf(type, depth))
      if (std::optional<SymValue> value = classConstant(*base, name, depth + 1))
        return value;
    return std::nullopt;
  }
  InModule inside(sema, sema.names.classOwners.at(&type));
  for (const AssignStmt *constant : type.constants) {
    if (isWanted(constant))
      return sema.evaluator.evaluate(*constant->value);
    const auto *target = as<NameExpr>(constant->target);
    std::optional<SymValue> value = target ? sema.evaluator.evaluateQuietly(*constant->value) : std::nullopt;
    if (value)
      scope[target->id] = Binding{*value, constant->range};
  }
  return std::nullopt;
}

/// Returns a field, method, property or constant of an object, a named tuple or a class; nullopt if there is none.
std::optional<SymValue> Classes::memberOf(const SymValue &value, const std::string &name, SourceRange range) {
  for (auto [field, element] : llvm::zip(value.names, value.elements))
    if (field == name)
      return element;
  const auto *constant = value.isConstant() ? std::get_if<const ClassStmt *>(&value.constant) : nullptr;
  const ClassStmt *type = constant ? *constant : value.record;
  if (!type)
    return std::nullopt;
  if (value.isConstant() && value.record)
    if (std::optional<SymValue> attribute = attributeOfMember(value, name))
      return attribute;
  const FunctionStmt *method = findMethod(*type, name);
  if (!method) {
    std::optional<SymValue> found = classConstant(*type, name);
    if (found && found->isConstant() && constant && type->isEnumeration()) {
      found->record = type;
      found->names = {name};
    }
    return found;
  }
  if (hasDecorator(*method, "classmethod"))
    return methodOf(SymValue::makeConstant(type), method);
  if (constant || hasDecorator(*method, "staticmethod"))
    return SymValue::makeConstant(method);
  if (hasDecorator(*method, "property"))
    return sema.calls.callHelper(*method, {{"", value, range}}, range);
  return methodOf(value, method);
}

SymValue Classes::instantiate(const ClassStmt &type, std::vector<BoundArgument> arguments, SourceRange range) {
  if (type.isNamedTuple())
    return makeNamedTuple(type, arguments, range);
  if (type.isAggregate())
    return makeObject(type, std::move(arguments), range);
  return error(
      Diag::host_name, range, {type.name, "class"},
      std::pair{type.nameRange, std::string("it is defined here, and is neither a NamedTuple nor an aggregate")});
}

SymValue Classes::makeNamedTuple(const ClassStmt &type, const std::vector<BoundArgument> &arguments,
                                 SourceRange range) {
  SymValue tuple = SymValue::makeTuple({});
  tuple.record = &type;
  for (const AnnAssignStmt *field : type.fields)
    tuple.names.push_back(field->target->id);
  std::vector<std::optional<SymValue>> values(tuple.names.size());
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    size_t place = argument.name.empty()
                       ? index
                       : static_cast<size_t>(llvm::find(tuple.names, argument.name) - tuple.names.begin());
    if (place >= values.size() && argument.name.empty())
      return error(Diag::argument_count, range,
                   {type.name, std::to_string(values.size()), std::to_string(arguments.size())});
    if (place >= values.size())
      return error(Diag::unknown_argument, argument.range, {type.name, argument.name, ""});
    if (values[place])
      return error(Diag::duplicate_argument, argument.range, {tuple.names[place]});
    values[place] = argument.value;
  }
  for (auto [field, value] : llvm::zip(type.fields, values)) {
    if (!value)
      value = classConstant(type, field->target->id);
    if (!value)
      return error(Diag::missing_argument, range, {type.name, field->target->id},
                   std::pair{field->range, std::string("the field is declared here")});
    tuple.elements.push_back(*value);
  }
  return limitSize(std::move(tuple), range);
}

SymValue Classes::makeObject(const ClassStmt &type, std::vector<BoundArgument> arguments, SourceRange range) {
  SymValue object;
  object.kind = SymValue::Kind::Object;
  object.record = &type;
  if (const FunctionStmt *constructor = findMethod(type, "__init__")) {
    arguments.insert(arguments.begin(), {"", object, range});
    if (sema.calls.callHelper(*constructor, arguments, range, &object).isError() || object.record != &type)
      return {};
  } else if (!arguments.empty()) {
    return error(Diag::argument_count, range, {type.name, "0", std::to_string(arguments.size())});
  }
  SymValue result = object;
  result.names.clear();
  result.elements.clear();
  for (const AnnAssignStmt *field : type.fields) {
    auto place = llvm::find(object.names, field->target->id);
    if (place == object.names.end())
      return error(Diag::no_fields, range, {type.name, field->target->id},
                   std::pair{field->range, std::string("the field is declared here")});
    result.names.push_back(*place);
    result.elements.push_back(object.elements[static_cast<size_t>(place - object.names.begin())]);
  }
  return limitSize(std::move(result), range);
}

/// Evaluates collections.namedtuple("Name", ["field", ...]) or with "field, ...".
std::optional<SymValue> Classes::declareNamedTuple(const std::vector<BoundArgument> &arguments) {
  auto textOf = [](const SymValue &value) {
    return value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr;
  };
  const std::string *name = arguments.size() == 2 ? textOf(arguments[0].value) : nullptr;
  if (!name)
    return std::nullopt;
  std::vector<std::string> fields;
  if (const std::string *list = textOf(arguments[1].value)) {
    SmallVector<StringRef> parts;
    StringRef(*list).split(parts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      for (StringRef field : llvm::split(part, ','))
        if (!field.empty())
          fields.push_back(field.str());
  }
  for (const SymValue &element : arguments[1].value.elements) {
    if (!textOf(element))
      return std::nullopt;
    fields.push_back(*textOf(element));
  }
  Module &nodes = sema.session.scratchModules.emplace_back();
  auto makeName = [&](const std::string &id) {
    auto *node = nodes.make<NameExpr>(arguments[0].range);
    node->id = id;
    return node;
  };
  auto *type = nodes.make<ClassStmt>(arguments[0].range);
  type->name = *name;
  type->nameRange = arguments[0].range;
  type->bases.push_back(makeName("NamedTuple"));
  for (const std::string &field : fields) {
    auto *declaration = nodes.make<AnnAssignStmt>(arguments[1].range);
    declaration->target = makeName(field);
    declaration->annotation = makeName("object");
    type->fields.push_back(declaration);
  }
  sema.names.classOwners[type] = sema.names.current;
  return SymValue::makeConstant(static_cast<const ClassStmt *>(type));
}

/// Executes "self.field = value" in a constructor.
void Classes::assignAttribute(const AttributeExpr &target, const SymValue &value, SourceRange range) {
  const auto *name = as<NameExpr>(target.value);
  const FunctionStmt *function = frames.empty() ? nullptr : frames.back().function;
  auto self = name ? scope.find(name->id) : scope.end();
  bool isConstructor = function && function->name == "__init__" && !function->parameters.empty() &&
                       self != scope.end() && function->parameters.front().name == name->id &&
                       self->second.value.kind == SymValue::Kind::Object;
  if (!isConstructor) {
    error(Diag::attribute_assignment, target.range);
    return;
  }
  SymValue &object = self->second.value;
  const AnnAssignStmt *field = nullptr;
  for (const AnnAssignStmt *declared : object.record->fields)
    if (declared->target->id == target.attribute)
      field = declared;
  if (!field) {
    error(Diag::no_attribute, target.attributeRange, {describe(object), target.attribute},
          std::pair{object.record->nameRange, std::string("its fields are the annotated attributes of the class")});
    return;
  }
  std::optional<SymValue> wanted;
  {
    InModule inside(sema, sema.names.classOwners.at(object.record));
    wanted = sema.evaluator.evaluateQuietly(*field->annotation);
  }
  if (wanted && !value.isError() && emitter.isInstance(value, *wanted) == false) {
    error(Diag::field_type, range,
          {target.attribute, object.record->name, describe(value), unparse(*field->annotation)},
          std::pair{field->range, std::string("the field is declared here")});
    return;
  }
  auto place = llvm::find(object.names, target.attribute);
  if (place != object.names.end()) {
    object.elements[static_cast<size_t>(place - object.names.begin())] = value;
    return;
  }
  object.names.push_back(target.attribute);
  object.elements.push_back(value);
}

/// Calls a special method of Python, such as "__getitem__"; returns nullopt if the object's class does not have it.
std::optional<SymValue> Classes::callSpecial(const SymValue &object, const std::string &name,
                                             const std::vector<SymValue> &arguments, SourceRange range) {
  const FunctionStmt *method = object.kind == SymValue::Kind::Object ? findMethod(*object.record, name) : nullptr;
  if (!method)
    return std::nullopt;
  std::vector<BoundArgument> bound{{"", object, range}};
  for (const SymValue &argument : arguments)
    bound.push_back({"", argument, range});
  return sema.calls.callHelper(*method, bound, range);
}

/// Evaluates an operator with an object as one of its operands.
std::optional<SymValue> Classes::objectOperator(BinaryOp op, const SymValue &left, const SymValue &right,
                                                SourceRange range) {
  if (std::optional<SymValue> result = callSpecial(left, "__" + specialName(op).str(), {right}, range))
    return result;
  return callSpecial(right, "__r" + specialName(op).str(), {left}, range);
}

std::optional<SymValue> Classes::callOperator(const SymValue &receiver, StringRef name, const CallExpr &expr) {
  if (!name.consume_front("__"))
    return std::nullopt;
  for (int i = 0; i <= static_cast<int>(BinaryOp::MatMult); ++i) {
    auto op = static_cast<BinaryOp>(i);
    bool isReflected = name == "r" + specialName(op).str();
    if (!isReflected && name != specialName(op))
      continue;
    std::vector<BoundArgument> arguments;
    if (!sema.calls.evaluateArguments(expr, arguments))
      return SymValue();
    if (arguments.size() != 1)
      return error(Diag::argument_count, expr.range, {"__" + name.str(), "1", std::to_string(arguments.size())});
    const SymValue &other = arguments.front().value;
    return isReflected ? sema.evaluator.applyBinary(op, other, receiver, expr.range)
                       : sema.evaluator.applyBinary(op, receiver, other, expr.range);
  }
  return std::nullopt;
}

} // namespace tile::frontend
