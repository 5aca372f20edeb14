// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: builtins, helpers (emitted inline), types as casts, and methods of tensors, descriptors and types.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Host/HostFacts.h"
#include "Frontend/Sema/Calls.h"
#include "Frontend/Sema/Classes.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Records.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Values/Collections.h"

using namespace mlir;

namespace tile::frontend {

namespace {

// Python's limit is 1000; here each level is a copy of the helper's code.
constexpr size_t maxCallDepth = 100;
constexpr size_t maxHostDepth = 50; // each level may recurse into expressions of any height
constexpr unsigned maxInlinedCalls = 10000;

std::optional<bool> typePredicate(DType type, bool isBlock, std::string_view name) {
  if (name == "is_ptr")
    return type.isPointer && !isBlock;
  if (name == "is_block")
    return isBlock;
  if (name == "is_floating")
    return type.isFloat();
  if (name == "is_standard_floating")
    return type.isFloat() && !type.isFp8();
  if (name == "is_int")
    return type.isInt();
  if (name == "is_int_signed")
    return type.isInt() && !type.isUnsigned();
  if (name == "is_int_unsigned")
    return type.isInt() && type.isUnsigned();
  if (name == "is_bool" || name == "is_int1")
    return type.isBool();
  if (name == "is_fp8")
    return type.isFp8();
  static constexpr std::pair<std::string_view, Scalar> exact[] = {
      {"is_fp16", Scalar::Float16},       {"is_bf16", Scalar::BFloat16},    {"is_fp32", Scalar::Float32},
      {"is_fp64", Scalar::Float64},       {"is_int8", Scalar::Int8},        {"is_int16", Scalar::Int16},
      {"is_int32", Scalar::Int32},        {"is_int64", Scalar::Int64},      {"is_uint8", Scalar::UInt8},
      {"is_fp8e4nv", Scalar::Float8E4M3}, {"is_fp8e5", Scalar::Float8E5M2}, {"is_fp8e4b15", Scalar::Float8E4B15},
      {"is_uint32", Scalar::UInt32},      {"is_uint16", Scalar::UInt16},    {"is_uint64", Scalar::UInt64}};
  for (auto [known, scalar] : exact)
    if (known == name)
      return type.is(scalar);
  return std::nullopt;
}

/// Returns true if the value or one of its elements is invalid.
bool hasError(const SymValue &value) {
  return value.isError() || llvm::any_of(value.elements, hasError);
}

} // namespace

bool Calls::evaluateArguments(const CallExpr &expr, std::vector<BoundArgument> &arguments) {
  bool ok = true;
  for (const Argument &argument : expr.arguments) {
    // Arguments that Triton passes to Python functions that emit code.
    if (argument.name == "_semantic" || argument.name == "_generator" || argument.name == "_builder")
      continue;
    const auto *starred = as<StarredExpr>(argument.value);
    SymValue value = sema.evaluator.evaluate(starred ? *starred->value : *argument.value);
    ok &= !value.isError();
    if (!starred) {
      arguments.push_back({argument.name, std::move(value), argument.value->range});
      continue;
    }
    if (host && value.isError()) {
      arguments.push_back({starred->isMapping ? "**" : "", SymValue(), argument.value->range});
      continue;
    }
    if (starred->isMapping) {
      ok &= unpackMapping(value, *starred, arguments);
      continue;
    }
    if (ok && !value.isTuple())
      error(Diag::unpack_tuple, argument.value->range, {describe(value)}, sema.signature.tupleHint(value)), ok = false;
    for (const SymValue &element : value.elements)
      arguments.push_back({"", element, argument.value->range});
  }
  return ok;
}

/// "**value": adds an argument for each key.
bool Calls::unpackMapping(const SymValue &value, const StarredExpr &expr, std::vector<BoundArgument> &arguments) {
  bool isMapping = value.kind == SymValue::Kind::Dictionary;
  for (size_t i = 0; isMapping && i < value.elements.size(); i += 2) {
    const SymValue &key = value.elements[i];
    const auto *name = key.isConstant() ? std::get_if<std::string>(&key.constant) : nullptr;
    isMapping = name != nullptr;
    if (name)
      arguments.push_back({*name, value.elements[i + 1], expr.range});
  }
  if (!isMapping && !value.isError())
    error(Diag::mapping_needed, expr.range, {describe(value)});
  return isMapping;
}

SymValue Calls::evaluateCall(const CallExpr &expr) {
  std::vector<BoundArgument> arguments;
  SymValue callee;
  const auto *method = as<AttributeExpr>(expr.callee);
  if (method) {
    SymValue receiver = sema.evaluator.evaluate(*method->value);
    if (receiver.isError())
      return {};
    const auto *type = receiver.isConstant() ? std::get_if<DType>(&receiver.constant) : nullptr;
    bool isType = type || receiver.kind == SymValue::Kind::BlockType;
    if (isType) {
      std::optional<bool> answer = typePredicate(type ? *type : receiver.type, !type, method->attribute);
      if (answer)
        return SymValue::makeConstant(*answer);
    }
    // In earlier versions of Triton, block types have methods in addition to these predicates.
    if (receiver.kind == SymValue::Kind::BlockType &&
        (method->attribute == "get_block_shapes" || method->attribute == "get_block_shape")) {
      std::vector<SymValue> sizes;
      for (int64_t size : receiver.dims)
        sizes.push_back(SymValue::makeConstant(Int128(size)));
      return SymValue::makeTuple(std::move(sizes));
    }
    bool isBlockPointer = receiver.kind == SymValue::Kind::BlockPointer;
    bool isCast = method->attribute == "dtype" || method->attribute == "type"; // x.dtype(0)
    if (isCast) {
      callee = sema.evaluator.attributeOf(receiver, *method);
    } else if (receiver.isTensor() || isBlockPointer || receiver.kind == SymValue::Kind::Descriptor) {
      std::string prefix = receiver.kind == SymValue::Kind::Descriptor ? "desc." : "";
      const BuiltinInfo *info = findBuiltin(prefix + method->attribute);
      if (!info && receiver.isTensor())
        if (std::optional<SymValue> result = sema.classes.callOperator(receiver, method->attribute, expr))
          return *result;
      if (!info || !(info->flags & Method))
        return error(Diag::no_attribute, method->attributeRange, {describe(receiver), method->attribute});
      arguments.push_back({"", receiver, method->value->range});
      return evaluateArguments(expr, arguments) ? callBuiltin(*info, arguments, expr.range) : SymValue();
    } else {
      callee = sema.evaluator.attributeOf(receiver, *method);
    }
  } else {
    callee = sema.evaluator.evaluate(*expr.callee);
  }
  if (callee.isError())
    return {};
  const auto *builtin = callee.isConstant() ? std::get_if<const BuiltinInfo *>(&callee.constant) : nullptr;
  if (builtin && (*builtin)->emit == emitStaticAssert)
    if (std::optional<SymValue> result = sema.evaluator.staticAssert(expr))
      return *result;
  bool hasMessage = builtin && (*builtin)->emit == emitDeviceAssert;
  sema.session.messageDepth += hasMessage;
  bool isEvaluated = evaluateArguments(expr, arguments);
  sema.session.messageDepth -= hasMessage;
  const auto *function = callee.isConstant() ? std::get_if<const FunctionStmt *>(&callee.constant) : nullptr;
  bool isKnown = callee.isConstant() || callee.kind == SymValue::Kind::Method;
  builtin = isKnown ? std::get_if<const BuiltinInfo *>(&callee.constant) : nullptr;
  bool takesUnknown = host && ((function && (*function)->isHost) || (builtin && (*builtin)->rule));
  if (!isEvaluated && !takesUnknown)
    return {};
  return callValue(callee, std::move(arguments), expr.range, expr.callee->range);
}

/// Calls a function, method, class or object; nullopt for other callees.
std::optional<SymValue> Calls::callDefinition(const SymValue &callee, std::vector<BoundArgument> &arguments,
                                              SourceRange range) {
  if (callee.kind == SymValue::Kind::Method)
    arguments.insert(arguments.begin(), {"", callee.elements.front(), range});
  if (callee.isConstant() || callee.kind == SymValue::Kind::Method) {
    if (const auto *builtin = std::get_if<const BuiltinInfo *>(&callee.constant))
      return callBuiltin(**builtin, arguments, range);
    if (const auto *function = std::get_if<const FunctionStmt *>(&callee.constant))
      return callHelper(**function, arguments, range);
    if (const auto *type = std::get_if<const ClassStmt *>(&callee.constant))
      return sema.classes.instantiate(**type, std::move(arguments), range);
  }
  const FunctionStmt *method =
      callee.kind == SymValue::Kind::Object ? sema.classes.findMethod(*callee.record, "__call__") : nullptr;
  if (!method)
    return std::nullopt;
  arguments.insert(arguments.begin(), {"", callee, range});
  return callHelper(*method, arguments, range);
}

SymValue Calls::callValue(const SymValue &callee, std::vector<BoundArgument> arguments, SourceRange range,
                          SourceRange calleeRange) {
  if (std::optional<SymValue> result = callDefinition(callee, arguments, range))
    return *result;
  if (callee.isConstant()) {
    if (const auto *space = std::get_if<NamespaceValue>(&callee.constant)) {
      SmallVector<SymValue> values;
      if (StringRef(space->name).ends_with("namedtuple"))
        if (std::optional<SymValue> type = sema.classes.declareNamedTuple(arguments))
          return *type;
      for (const BoundArgument &argument : arguments)
        values.push_back(argument.value);
      if (std::optional<SymValue> answer = hostAnswer(space->name, values, request.targetCapability))
        return *answer;
      return sema.names.unknownImport(space->name, calleeRange);
    }
    if (std::holds_alternative<DType>(callee.constant) || std::holds_alternative<TypeNameValue>(callee.constant))
      return callType(callee, arguments, range);
  }
  return error(Diag::not_callable, calleeRange, {describe(callee)});
}

/// tl.float32(x) casts; int(), float(), bool() and str() convert constants; constexpr() is the identity.
SymValue Calls::callType(const SymValue &callee, const std::vector<BoundArgument> &arguments, SourceRange range) {
  const auto *type = std::get_if<DType>(&callee.constant);
  std::string name = type ? toString(*type) : std::get<TypeNameValue>(callee.constant).name;
  SmallVector<mlir::Value> leaves;
  if (!arguments.empty())
    flatten(arguments[0].value, leaves);
  bool isSequence = name == "tuple" || name == "list";
  if (const BuiltinInfo *info = leaves.empty() || isSequence ? findBuiltin("types." + name) : nullptr)
    return callBuiltin(*info, arguments, range);
  // A pointer type may specify an address space after the element type.
  bool isPointerType = name == "pointer_type" && arguments.size() > 1;
  if ((arguments.size() != 1 && !isPointerType) || !arguments[0].name.empty())
    return error(Diag::argument_count, range, {name, "1", std::to_string(arguments.size())});
  const SymValue &value = arguments[0].value;
  if (type)
    return emitter.cast(emitter.toTensor(value, arguments[0].range), *type, range);
  if (name == "constexpr")
    return value;
  if (name == "constexpr_type")
    if (std::optional<SymValue> type = sema.evaluator.typeOf(value))
      return *type;
  if (name == "tuple_type" && value.isTuple())
    return sema.evaluator.typeOfTuple(value.elements, arguments[0].range);
  if (name == "pointer_type") {
    const auto *pointee = value.isConstant() ? std::get_if<DType>(&value.constant) : nullptr;
    if (!pointee || pointee->isPointer)
      return error(Diag::type_needed, arguments[0].range, {"element type", describe(value)});
    return SymValue::makeConstant(DType(pointee->scalar, /*isPointer=*/true));
  }
  const auto *spelling = value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr;
  if (std::optional<DType> named = name == "dtype" && spelling ? dtypeByName(*spelling) : std::nullopt)
    return SymValue::makeConstant(*named);
  return error(Diag::constant_needed, arguments[0].range, {"the argument of " + name + "()", describe(value)});
}

SymValue Calls::callBuiltin(const BuiltinInfo &info, const std::vector<BoundArgument> &arguments, SourceRange range) {
  llvm::StringRef name = info.name;
  name = name.substr(name.rfind('.') + 1);
  BuiltinCall call{emitter, info, range, {}};
  std::vector<FormalParameter> formal = parseFormals(info.parameters);
  size_t next = 0;
  std::vector<bool> used(arguments.size());
  for (const FormalParameter &parameter : formal) {
    BuiltinCall::Argument bound{{}, {}, range, false};
    if (parameter.isVarArgs)
      bound.value = SymValue::makeTuple({});
    if (parameter.isKeywords)
      bound.value = SymValue::makeDictionary();
    for (size_t i = 0; parameter.isKeywords && i < arguments.size(); ++i)
      if (!used[i] && !arguments[i].name.empty()) {
        used[i] = true;
        bound.value.elements.insert(bound.value.elements.end(),
                                    {SymValue::makeConstant(arguments[i].name), arguments[i].value});
      }
    for (; !parameter.isKeywords && next < arguments.size() && arguments[next].name.empty(); ++next) {
      used[next] = bound.given = true;
      bound.range = arguments[next].range;
      if (!parameter.isVarArgs) {
        bound.value = arguments[next++].value;
        break;
      }
      bound.value.elements.push_back(arguments[next].value);
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      // "shape=(2, 3)" names a parameter that otherwise collects the remaining arguments.
      if (arguments[i].name != parameter.name || (bound.given && !parameter.isVarArgs))
        continue;
      used[i] = bound.given = true;
      bound.range = arguments[i].range;
      bound.value = parameter.isVarArgs ? SymValue::makeTuple({arguments[i].value}) : arguments[i].value;
    }
    if (!bound.given && parameter.defaultValue)
      bound.value = *parameter.defaultValue;
    else if (!bound.given && !parameter.isVarArgs && !parameter.isKeywords)
      return error(Diag::missing_argument, range, {name.str(), parameter.name});
    call.arguments.push_back(std::move(bound));
  }
  for (size_t i = 0; i < formal.size(); ++i)
    call.arguments[i].name = formal[i].name;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (used[i])
      continue;
    if (arguments[i].name.empty())
      return error(Diag::argument_count, range,
                   {name.str(), std::to_string(formal.size()), std::to_string(arguments.size())});
    // Forks extend tl.range with scheduling hints; only hints may be ignored.
    if (info.emit == emitRange) {
      warn(Diag::ignored_hint, arguments[i].range, {arguments[i].name});
      continue;
    }
    std::vector<std::string> names;
    for (const FormalParameter &parameter : formal)
      names.push_back(parameter.name);
    if (llvm::is_contained(names, arguments[i].name)) {
      const bool isOffset = arguments[i].name == "mask" && arguments[0].value.type.isPointer;
      return error(
          Diag::argument_twice, arguments[i].range,
          {name.str(), arguments[i].name,
           isOffset ? "; offsets are added to the pointer: tl." + name.str() + "(p + offsets, mask=...)" : ""});
    }
    std::optional<std::string> guess = didYouMean(arguments[i].name, names);
    return error(Diag::unknown_argument, arguments[i].range,
                 {name.str(), arguments[i].name, guess ? "; did you mean '" + *guess + "'?" : ""});
  }
  if (std::optional<SymValue> result =
          info.rule ? info.rule({sema.python, std::string_view(name), call.arguments, range}) : std::nullopt)
    return !host && hasError(*result) ? SymValue() : limitSize(std::move(*result), range);
  if (!info.emit)
    return unknownCall(call);
  SymValue result = info.emit(emitter, call);
  sema.records.rememberAccess(result, range);
  return result;
}

/// Reports a call of a function of compile-time values whose result is not known.
SymValue Calls::unknownCall(const BuiltinCall &call) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    SmallVector<mlir::Value> leaves;
    flatten(call[i], leaves);
    if (!leaves.empty())
      return call.constantNeeded(i);
  }
  return error(Diag::not_supported, call.range,
               {"'" + std::string(diagnostics.text(call.range)) + "' at compile time"});
}

bool Calls::bindParameters(const FunctionStmt &function, const std::vector<BoundArgument> &arguments, SourceRange range,
                           Environment &inner) {
  size_t next = 0;
  std::vector<bool> used(arguments.size());
  for (const Parameter &parameter : function.parameters) {
    std::optional<SymValue> value;
    if (parameter.isVarArgs) {
      std::vector<SymValue> remaining;
      for (; next < arguments.size() && arguments[next].name.empty(); ++next) {
        used[next] = true;
        remaining.push_back(arguments[next].value);
      }
      value = limitSize(SymValue::makeTuple(std::move(remaining)), range);
      if (value->isError())
        return false;
    } else if (parameter.isKeywords) {
      value.emplace().kind = SymValue::Kind::Dictionary;
      for (size_t i = 0; i < arguments.size(); ++i) {
        if (used[i] || arguments[i].name.empty())
          continue;
        used[i] = true;
        value->elements.push_back(SymValue::makeConstant(arguments[i].name));
        value->elements.push_back(arguments[i].value);
      }
    } else if (!parameter.keywordOnly && next < arguments.size() && arguments[next].name.empty()) {
      used[next] = true;
      value = arguments[next++].value;
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].name != parameter.name || used[i])
        continue;
      if (value) {
        error(Diag::duplicate_argument, arguments[i].range, {parameter.name});
        return false;
      }
      used[i] = true;
      value = arguments[i].value;
    }
    if (!value && parameter.defaultValue) {
      // Defaults are evaluated in the module, not in the caller.
      InModule inside(sema, sema.names.ownerOf(function));
      value = sema.evaluator.evaluate(*parameter.defaultValue);
    }
    if (!value) {
      error(Diag::missing_argument, range, {function.name, parameter.name},
            std::pair{parameter.range, std::string("the parameter is declared here")});
      return false;
    }
    inner[parameter.name] = Binding{*value, parameter.range};
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (used[i])
      continue;
    if (arguments[i].name.empty())
      error(Diag::argument_count, range,
            {function.name, std::to_string(function.parameters.size()), std::to_string(arguments.size())},
            std::pair{function.nameRange, std::string("the function is defined here")});
    else
      error(Diag::unknown_argument, arguments[i].range, {function.name, arguments[i].name, ""});
    return false;
  }
  return true;
}

SymValue Calls::callHelper(const FunctionStmt &function, const std::vector<BoundArgument> &arguments, SourceRange range,
                           SymValue *self) {
  if (function.isHost) {
    std::vector<SymValue> values;
    for (const BoundArgument &argument : arguments)
      values.push_back(argument.value);
    if (std::optional<SymValue> result = sema.names.callHostFunction(function, values, range))
      return *result;
  }
  if (host && (!function.isConstexpr || self))
    return {};
  return callFunction(function, arguments, range, self);
}

SymValue Calls::callFunction(const FunctionStmt &function, const std::vector<BoundArgument> &arguments,
                             SourceRange range, SymValue *self) {
  const size_t maxDepth = host ? maxHostDepth : maxCallDepth;
  if (frames.size() >= maxDepth)
    return error(Diag::call_depth, range, {function.name, std::to_string(maxDepth)});
  if (!host && ++inlinedCalls > maxInlinedCalls)
    return error(Diag::too_many_calls, range, {std::to_string(maxInlinedCalls)});
  Environment inner;
  if (function.name.empty()) // a lambda
    inner = scope;
  if (!bindParameters(function, arguments, range, inner))
    return {};
  if (sema.names.reportBroken(function, range))
    return {};
  frames.push_back({&function, range, location(range)});
  InModule inside(sema, sema.names.ownerOf(function));
  std::swap(scope, inner);
  if (host) {
    SymValue result = host->run(function);
    frames.pop_back();
    return result;
  }
  if (request.recordVariables)
    sema.records.text.functions[frames.back().caller] = function.name;
  for (const auto &[name, binding] : scope) {
    sema.records.recordVariable(name, binding);
    sema.records.observe(binding.defined, binding.value, /*isName=*/true);
  }
  unsigned outerLoops = sema.statements.loopDepth, outerFolds = sema.statements.foldDepth;
  sema.statements.loopDepth = sema.statements.foldDepth = 0;
  size_t errorsBefore = diagnostics.numErrors();
  BlockResult result = sema.statements.emitBlock({&function.body, 0, nullptr});
  sema.statements.loopDepth = outerLoops;
  sema.statements.foldDepth = outerFolds;
  if (self)
    *self = scope[function.parameters.front().name].value;
  frames.pop_back();
  return diagnostics.numErrors() == errorsBefore ? result.value : SymValue();
}

SymValue Calls::callValue(const SymValue &callee, const std::vector<SymValue> &arguments, SourceRange range) {
  std::vector<BoundArgument> bound;
  for (const SymValue &argument : arguments)
    bound.push_back({"", argument, range});
  return callValue(callee, std::move(bound), range, range);
}

std::optional<bool> Calls::callCondition(const SymValue &condition, SymValue &item, SourceRange range) {
  if (host)
    return host->callCondition(condition, item, range);
  return truthOf(callValue(condition, {item}, range));
}

} // namespace tile::frontend
