// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters of a kernel: their types, constants and assumptions.
//
// A parameter's type comes from, in this order: -D (a constant), --signature, the instance directive, the annotation,
// the default. All missing types are reported in one error.
//
// Spellings: "*fp16:16" pointer, aligned to 16 bytes (the default; ":1" assumes nothing), "*kfp16" pointer to const,
// "i32", "i32:16" multiple of 16, "i32:1" or "1" the constant 1, "constexpr". As annotations: ptr[f16], ptr[f16, 2],
// i32, i32[16], constexpr, or Triton's strings. Tuples of these are handled in SemaTupleParameters.cpp.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Sema/Choices.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/Launch.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Sema/Tuner.h"
#include "Frontend/Syntax/Literals.h"
#include "tile/tilert.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

namespace {

// cudaMalloc and the allocators of all frameworks guarantee this alignment; Triton assumes it, too. Launches check it.
constexpr int defaultAlignment = 16;

bool isPowerOfTwo(Int128 value) {
  return value > 0 && (value & (value - 1)) == 0;
}

/// Returns true for tensordesc<fp16[BLOCK_M, 64]>, a type that depends on other parameters.
bool hasNamedBlock(const Parameter &parameter,
                   const std::map<std::string, std::pair<std::string, SourceRange>> &specifications) {
  auto given = specifications.find(parameter.name);
  const auto *annotation = as<StringExpr>(parameter.annotation);
  StringRef text = given != specifications.end() ? StringRef(given->second.first)
                   : annotation                  ? StringRef(annotation->value)
                                                 : StringRef();
  return text.trim().starts_with("tensordesc<") && llvm::any_of(text.split('[').second.split(']').first, llvm::isAlpha);
}

/// Returns true if the name cannot be a kernel's symbol: it is not a PTX identifier, is a PTX constant, or conflicts
/// with symbols that kernels define or call.
bool isTakenInPtx(StringRef name) {
  return name == "_" || name == "WARP_SZ" || name == "tile_shared" || name == "vprintf" || name == "__assertfail" ||
         name.starts_with("__nv_");
}

} // namespace

/// Parses and evaluates the text of an option in the scope of the module.
std::optional<SymValue> Signature::evaluateText(const std::string &text, const std::string &description) {
  const Expr *expr = parseExpression({description, text}, sema.session.scratchModules.emplace_back(), diagnostics);
  if (!expr)
    return std::nullopt;
  // An unknown identifier is a string: -D ACTIVATION=relu.
  if (const auto *name = as<NameExpr>(expr)) {
    bool isKnown = scope.contains(name->id) || sema.names.lookupGlobal(name->id, expr->range) ||
                   sema.names.namespaceMember("tl", name->id);
    if (!isKnown)
      return SymValue::makeConstant(name->id);
  }
  return constantOnly(sema.evaluator.evaluate(*expr), description, expr->range);
}

/// Returns the value. Reports an error and returns nullopt if it contains run-time values.
std::optional<SymValue> Signature::constantOnly(const SymValue &value, const std::string &what, SourceRange range) {
  SmallVector<mlir::Value> leaves;
  flatten(value, leaves);
  if (!leaves.empty())
    error(Diag::constant_needed, range, {what, describe(value)});
  return value.isError() || !leaves.empty() ? std::nullopt : std::optional(value);
}

std::optional<KernelParameter> Signature::fromValue(const SymValue &value, SourceRange range) {
  KernelParameter parameter;
  if (const auto *type = value.isConstant() ? std::get_if<DType>(&value.constant) : nullptr) {
    parameter.type = *type;
    parameter.divisibility = type->isPointer ? defaultAlignment : 1;
    return parameter;
  }
  if (const auto *text = value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr)
    return parseSpecification(*text, range);
  if (const auto *name = value.isConstant() ? std::get_if<TypeNameValue>(&value.constant) : nullptr) {
    if (name->name == "int")
      parameter.type = Scalar::Int32;
    else if (name->name == "float")
      parameter.type = Scalar::Float32;
    else if (name->name == "bool")
      parameter.type = Scalar::Int1;
    else
      return std::nullopt;
    return parameter;
  }
  return std::nullopt;
}

/// Evaluates an expression in an annotation. When Python evaluates the annotation, the function itself is not defined
/// yet, so a kernel may have the same name as a type.
SymValue Signature::evaluateType(const Expr &expr) {
  SymValue value = sema.evaluator.evaluate(expr);
  const auto *name = as<NameExpr>(&expr);
  if (name && value.isConstant() && std::holds_alternative<const FunctionStmt *>(value.constant))
    if (std::optional<Value> type = sema.names.namespaceMember("tl", name->id))
      return SymValue::makeConstant(*type);
  return value;
}

/// Evaluates ptr[f16], ptr[f16, 2], i32[16], and any other expression whose value is a type.
std::optional<KernelParameter> Signature::fromAnnotation(const Expr &annotation) {
  const auto *subscript = as<SubscriptExpr>(&annotation);
  if (!subscript)
    return fromValue(evaluateType(annotation), annotation.range);
  SymValue base = evaluateType(*subscript->value);
  if (base.isError())
    return std::nullopt;
  std::vector<const Expr *> items{subscript->index};
  if (const auto *tuple = as<TupleExpr>(subscript->index))
    items = tuple->elements;
  KernelParameter parameter;
  const auto *name = base.isConstant() ? std::get_if<TypeNameValue>(&base.constant) : nullptr;
  const auto *scalar = base.isConstant() ? std::get_if<DType>(&base.constant) : nullptr;
  const Expr *divisor = nullptr;
  if (name && (name->name == "ptr" || name->name == "pointer_type")) {
    SymValue element = evaluateType(*items[0]);
    const auto *type = element.isConstant() ? std::get_if<DType>(&element.constant) : nullptr;
    if (!type || type->isPointer || items.size() > 2) {
      if (!element.isError())
        error(Diag::bad_parameter_type, annotation.range, {unparse(annotation), ""});
      return std::nullopt;
    }
    parameter.type = DType(type->scalar, /*isPointer=*/true);
    parameter.divisibility = defaultAlignment;
    divisor = items.size() == 2 ? items[1] : nullptr;
  } else if (scalar && !scalar->isPointer && items.size() == 1) {
    parameter.type = *scalar;
    divisor = items[0];
  } else {
    error(Diag::bad_parameter_type, annotation.range, {unparse(annotation), ""});
    return std::nullopt;
  }
  if (!divisor)
    return parameter;
  SymValue value = sema.evaluator.evaluate(*divisor);
  std::optional<Int128> number = value.isConstant() ? asInteger(value.constant) : std::nullopt;
  constexpr Int128 largest = 1 << 30;
  if (!number || !isPowerOfTwo(*number) || *number > largest) {
    error(Diag::bad_divisor, divisor->range, {unparse(*divisor)});
    return std::nullopt;
  }
  parameter.divisibility = static_cast<int>(*number);
  return parameter;
}

/// Parses one entry of a signature: "*fp16:16", "i32", "1", "None", "constexpr" (without a value).
std::optional<KernelParameter> Signature::parseSpecification(const std::string &text, SourceRange range) {
  StringRef remaining = StringRef(text).trim();
  auto bad = [&]() -> std::optional<KernelParameter> {
    // Recognize C syntax.
    StringRef pointee = StringRef(text).trim();
    const bool isTurned = pointee.consume_back("*");
    error(Diag::bad_parameter_type, range, {text, isTurned ? "; write '*" + pointee.trim().str() + "'" : ""});
    return std::nullopt;
  };
  if (remaining.ends_with("*"))
    return bad();
  if (remaining.starts_with("tensordesc<"))
    return parseDescriptor(remaining, range);
  KernelParameter parameter;
  auto [typeName, hint] = remaining.rsplit(':');
  bool isPointer = typeName.consume_front("*");
  bool isConst = isPointer && typeName.consume_front("k");
  std::optional<DType> type = dtypeByName(typeName.trim());
  if (!type) {
    if (isPointer)
      return bad();
    std::optional<SymValue> value = evaluateText(remaining.str(), "<signature>");
    if (!value)
      return std::nullopt;
    if (const auto *scalar = value->isConstant() ? std::get_if<DType>(&value->constant) : nullptr)
      return fromValue(SymValue::makeConstant(*scalar), range);
    if (const auto *name = value->isConstant() ? std::get_if<TypeNameValue>(&value->constant) : nullptr)
      return name->name == "constexpr" ? std::nullopt : fromValue(*value, range);
    parameter.constant = *value;
    return parameter;
  }
  parameter.type = DType(type->scalar, isPointer, isConst);
  parameter.divisibility = isPointer ? defaultAlignment : 1;
  if (hint.empty())
    return parameter;
  int divisor = 0;
  if (hint.trim().getAsInteger(10, divisor) || !isPowerOfTwo(divisor)) {
    error(Diag::bad_divisor, range, {hint.str()});
    return std::nullopt;
  }
  parameter.divisibility = divisor;
  // Triton's "i32:1": specialized to the value 1.
  if (divisor == 1 && !isPointer)
    parameter.constant = SymValue::makeConstant(Int128(1));
  return parameter;
}

/// Fills 'specifications' from the instance and then from --signature, which takes precedence.
void Signature::collectSignature(const FunctionStmt &kernel, const InstanceDirective *instance) {
  auto isParameter = [&](const std::string &name) {
    return llvm::any_of(kernel.parameters, [&](const Parameter &parameter) { return parameter.name == name; });
  };
  if (instance)
    for (const InstanceDirective::Argument &argument : instance->arguments) {
      if (!isParameter(argument.name))
        error(Diag::unknown_parameter, argument.range, {kernel.name, argument.name});
      // A string is a type, as in a signature; anything else is a value.
      const auto *text = as<StringExpr>(argument.value.expr);
      specifications[argument.name] = {text ? text->value : argument.value.text, argument.value.range};
    }
  std::vector<std::string> names;
  for (const Parameter &parameter : kernel.parameters)
    names.push_back(parameter.name);
  auto isName = [](StringRef text) {
    return !text.empty() && !llvm::isDigit(text.front()) &&
           llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  };
  SmallVector<std::string> entries = splitTopLevel(request.signature);
  std::map<std::string, std::string> given;
  for (auto [index, entry] : llvm::enumerate(entries)) {
    size_t mark = entry.find_first_of(":=");
    std::string name = StringRef(entry).substr(0, mark).trim().str();
    bool isNamed = mark != std::string::npos && isParameter(name);
    if (!isNamed && isName(name) && mark != std::string::npos && !dtypeByName(name)) {
      std::optional<std::string> guess = didYouMean(name, names);
      error(Diag::unknown_option_name, kernel.nameRange,
            {kernel.name, "'" + name + "' (in the signature)", guess ? "; did you mean '" + *guess + "'?" : ""});
      return;
    }
    if (!isNamed && index >= kernel.parameters.size()) {
      error(Diag::signature_count, kernel.nameRange,
            {std::to_string(entries.size()), kernel.name, std::to_string(kernel.parameters.size())});
      return;
    }
    std::string target = isNamed ? name : kernel.parameters[index].name;
    std::string text = isNamed ? StringRef(entry).substr(mark + 1).trim().str() : entry;
    if (auto [first, isNew] = given.try_emplace(target, text); !isNew) {
      error(Diag::signature_twice, kernel.nameRange, {target, first->second, text});
      return;
    }
    if (!text.empty())
      specifications[target] = {text, kernel.nameRange};
  }
}

/// Returns the type or constant of one parameter; nullopt if it is missing or invalid.
std::optional<KernelParameter> Signature::resolveParameter(const Parameter &parameter) {
  KernelParameter open;
  open.constant = SymValue::makeConstant(NoneValue{});
  open.isOpen = true;
  if (sema.choices.isLeftOpen(parameter))
    return open;
  if (auto defined = request.definitions.find(parameter.name); defined != request.definitions.end()) {
    KernelParameter constant;
    constant.constant = evaluateText(defined->second, "<-D " + parameter.name + ">");
    return constant.constant ? std::optional(constant) : std::nullopt;
  }
  if (auto found = specifications.find(parameter.name); found != specifications.end()) {
    size_t errorsBefore = diagnostics.numErrors();
    // For a compile-time parameter, a type is the value, not the parameter's type.
    bool isConstexpr = parameter.annotation && StringRef(unparse(*parameter.annotation)).contains("constexpr");
    auto [text, range] = found->second;
    if (!isConstexpr && isTupleText(text))
      return tupleFromText(parameter.name, StringRef(text).trim(), recordOf(parameter.annotation), range);
    std::optional<KernelParameter> resolved = parseSpecification(text, range);
    if (resolved && isConstexpr && !resolved->constant)
      resolved->constant = SymValue::makeConstant(resolved->type);
    if (resolved || diagnostics.numErrors() != errorsBefore)
      return resolved;
  }
  if (parameter.annotation && isTupleAnnotation(*parameter.annotation))
    return elementFromAnnotation(parameter.name, *parameter.annotation);
  if (parameter.annotation) {
    size_t errorsBefore = diagnostics.numErrors();
    std::optional<KernelParameter> resolved = fromAnnotation(*parameter.annotation);
    if (resolved || diagnostics.numErrors() != errorsBefore)
      return resolved;
  }
  // A constexpr, or a parameter without a type: use the default.
  if (!parameter.defaultValue)
    return std::nullopt;
  // If the module defines the name 'auto', it is not the keyword.
  const auto *name = as<NameExpr>(parameter.defaultValue);
  if (name && name->id == "auto" && !sema.names.lookupGlobal(name->id, name->range))
    return open;
  KernelParameter constant;
  constant.isDefault = true;
  constant.constant = constantOnly(sema.evaluator.evaluate(*parameter.defaultValue),
                                   "the default of '" + parameter.name + "'", parameter.defaultValue->range);
  return constant.constant ? std::optional(constant) : std::nullopt;
}

bool Signature::applyAssumption(const std::string &name, SourceRange range, KernelParameter &resolved) {
  if (resolved.isTuple) {
    bool ok = true;
    for (auto [index, element] : llvm::enumerate(resolved.elements))
      ok &= applyAssumption(elementName(name, index, resolved.fields), range, element);
    return ok;
  }
  if (!resolved.block.empty()) {
    for (const KernelArgument &argument : argumentsOf(name, resolved))
      if (auto found = request.assumptions.find(argument.name); found != request.assumptions.end()) {
        if (!isPowerOfTwo(found->second)) {
          error(Diag::bad_divisor, range, {std::to_string(found->second)});
          return false;
        }
        resolved.assumptions[argument.name] = found->second;
      }
    return true;
  }
  auto found = request.assumptions.find(name);
  if (found == request.assumptions.end())
    return true;
  bool isInteger =
      !resolved.constant && (resolved.type.isPointer || (resolved.type.isInt() && !resolved.type.isBool()));
  if (!isInteger || !isPowerOfTwo(found->second)) {
    error(isInteger ? Diag::bad_divisor : Diag::assume_constant, range,
          {isInteger ? std::to_string(found->second) : name});
    return false;
  }
  resolved.divisibility = found->second;
  return true;
}

/// Resolves parameters, including values from decorators. Returns the names of parameters without a type or value; for
/// tuples, with their missing elements.
std::map<std::string, std::string> Signature::resolveDeclared(const FunctionStmt &kernel,
                                                              const InstanceDirective *instance,
                                                              ResolvedParameters &resolved) {
  collectSignature(kernel, instance);
  std::map<std::string, std::string> missing;
  auto resolve = [&](const Parameter &parameter) {
    size_t errorsHere = diagnostics.numErrors();
    missingElements.clear();
    resolved[parameter.name] = resolveParameter(parameter);
    if (diagnostics.numErrors() == errorsHere)
      missing[parameter.name] = missingElements;
  };
  std::vector<const Parameter *> dependent;
  for (const Parameter &parameter : kernel.parameters) {
    bool isUsable = !parameter.isVarArgs || request.isDraft; // *args of a helper, when all functions are checked
    if (!isUsable)
      error(Diag::not_supported, parameter.range, {"'*" + parameter.name + "' in the parameters of a kernel"});
    else if (hasNamedBlock(parameter, specifications))
      dependent.push_back(&parameter);
    else
      resolve(parameter);
  }
  sema.choices.selectOptions(kernel, instance);
  sema.tuner.applyDecorators(kernel, resolved);
  Environment outside = scope;
  for (const auto &[name, parameter] : resolved)
    if (parameter && parameter->constant && !parameter->isOpen)
      scope[name] = Binding{*parameter->constant, kernel.nameRange};
  for (const Parameter *parameter : dependent)
    resolve(*parameter);
  scope = std::move(outside);
  return missing;
}

/// Gives parameters without a type an error value, so no further errors are reported about them.
bool Signature::assumeNothing(const FunctionStmt &kernel, ResolvedParameters &resolved,
                              std::vector<KernelParameter> &parameters) {
  parameters.clear();
  for (const Parameter &formal : kernel.parameters) {
    std::optional<KernelParameter> &known = resolved[formal.name];
    KernelParameter unknown;
    unknown.constant = SymValue();
    parameters.push_back(known && !known->isOpen ? std::move(*known) : unknown);
  }
  return true;
}

bool Signature::resolveParameters(const FunctionStmt &kernel, const InstanceDirective *instance,
                                  std::vector<KernelParameter> &parameters) {
  size_t errorsBefore = diagnostics.numErrors();
  ResolvedParameters resolved;
  auto isArgument = [&](const Parameter &parameter, const std::string &name) {
    const std::optional<KernelParameter> &value = resolved[parameter.name];
    bool isKnown = !value; // the elements of an unresolved tuple are unknown
    if (value)
      forEachLeaf(parameter.name, *value, [&](const std::string &leaf, const KernelParameter &element) {
        isKnown |= leaf == name;
        isKnown |= llvm::any_of(argumentsOf(leaf, element), [&](const auto &a) { return a.name == name; });
      });
    return isKnown;
  };
  auto checkNames = [&](const auto &map, std::string_view option) {
    for (const auto &[name, value] : map) {
      bool isKnown =
          llvm::any_of(kernel.parameters, [&](const Parameter &p) { return p.name == name || isArgument(p, name); });
      if (!isKnown)
        error(Diag::unknown_option_name, kernel.nameRange, {kernel.name, name + std::string(option), ""});
    }
  };
  std::map<std::string, std::string> missingOf = resolveDeclared(kernel, instance, resolved);
  checkNames(request.definitions, " (given with -D)");
  checkNames(request.assumptions, " (given with --assume)");
  checkNames(request.sizes, " (given with --size)");
  std::string missing;
  for (const Parameter &parameter : kernel.parameters) {
    std::optional<KernelParameter> &value = resolved[parameter.name];
    if (auto found = missingOf.find(parameter.name); !value && found != missingOf.end()) {
      bool isConstexpr = parameter.annotation && StringRef(unparse(*parameter.annotation)).contains("constexpr");
      const std::string &elements = found->second;
      missing += (missing.empty() ? "" : ", ") +
                 (elements.empty() ? parameter.name + (isConstexpr ? " (needs a value, by -D)" : " (needs a type)")
                                   : elements);
    }
    if (value && applyAssumption(parameter.name, parameter.range, *value))
      parameters.push_back(std::move(*value));
  }
  if (!missing.empty() && request.isDraft)
    return assumeNothing(kernel, resolved, parameters);
  if (!missing.empty())
    error(Diag::missing_types, kernel.nameRange, {kernel.name, missing});
  if (diagnostics.numErrors() != errorsBefore)
    return false;
  size_t atRunTime = 0;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters)) {
    std::set<std::string> names;
    forEachLeaf(formal.name, parameter, [&](const std::string &name, const auto &) { names.insert(name); });
    for (const KernelArgument &argument : argumentsOf(formal.name, parameter)) {
      names.insert(argument.name);
      ++atRunTime;
    }
    for (const std::string &name : names)
      if (auto [other, isNew] = argumentRanges.try_emplace(name, formal.range); !isNew)
        error(Diag::duplicate_parameter, formal.range, {name},
              std::pair(other->second, std::string("the other parameter is here")));
  }
  if (isTakenInPtx(kernel.name))
    error(Diag::kernel_name, kernel.nameRange, {kernel.name});
  if (atRunTime > TILE_MAX_PARAMETERS)
    error(Diag::too_many_parameters, kernel.nameRange,
          {kernel.name, std::to_string(atRunTime), std::to_string(TILE_MAX_PARAMETERS)});
  if (diagnostics.numErrors() != errorsBefore || !sema.launch.checkDirectives(kernel, parameters))
    return false;
  if (!sema.choices.numWarps)
    sema.choices.numWarps = sema.choices.tunedWarps;
  if (!sema.choices.numStages)
    sema.choices.numStages = sema.choices.tunedStages;
  if (!sema.choices.chooseOpen(kernel, parameters))
    return false;
  sema.choices.allowOpenSizes(kernel, parameters);
  return true;
}

} // namespace tile::frontend
