// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names outside functions: constants, functions, and the members of the modules "tl", "triton", "math".
//
// Constants are evaluated when a kernel first uses them, so host code that tilec cannot evaluate does no harm.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Host/HostFacts.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Statements.h"

#include <cmath>
#include <filesystem>
#include <numbers>

using namespace mlir;

namespace tile::frontend {

namespace {

constexpr unsigned maxRecursion = 100;

bool isLanguageNamespace(std::string_view space) {
  return space == "tl" || space == "triton" || space == "tl.math" || space == "tl.standard" || space == "tl.core" ||
         space == "tl.random" || space.starts_with("tl.extra");
}

std::optional<Value> mathConstant(std::string_view name) {
  if (name == "pi")
    return Value(std::numbers::pi);
  if (name == "e")
    return Value(std::numbers::e);
  if (name == "tau")
    return Value(2 * std::numbers::pi);
  if (name == "inf")
    return Value(HUGE_VAL);
  if (name == "nan")
    return Value(std::nan(""));
  return std::nullopt;
}

/// Returns a member of torch that kernels use: a type or its limits, or the tensor class for heuristics.
std::optional<Value> torchMember(std::string_view name) {
  if (name == "Tensor")
    return Value(TypeNameValue{"torch.Tensor"});
  if (name == "finfo" || name == "iinfo")
    return Value(findBuiltin("torch." + std::string(name)));
  for (auto [known, alias] : {std::pair<std::string_view, std::string_view>{"float8_e4m3fn", "float8e4nv"},
                              {"float8_e5m2", "float8e5"},
                              {"float", "float32"},
                              {"long", "int64"},
                              {"int", "int32"},
                              {"bool", "int1"}})
    if (known == name)
      name = alias;
  std::optional<DType> type = dtypeByName(name);
  return type ? std::optional<Value>(*type) : std::nullopt;
}

std::optional<Value> typeName(std::string_view name) {
  for (std::string_view known :
       {"constexpr", "tensor", "tensor_descriptor", "dtype", "tuple", "pointer_type", "ptr", "const", "block_type",
        "int", "float", "bool", "str", "list", "constexpr_type", "tuple_type",
        // Formats of other vendors' GPUs, with which portable kernels compare their types.
        "float8e4b8", "float8e5b16"})
    if (known == name)
      return Value(TypeNameValue{std::string(name)});
  // Constants need no unwrapping here, and host functions that run at compile time are called like other functions.
  for (std::string_view identity : {"unwrap_if_constexpr", "_unwrap_if_constexpr", "constexpr_function"})
    if (identity == name)
      return Value(TypeNameValue{"constexpr"});
  return std::nullopt;
}

} // namespace

std::optional<Value> ModuleNames::namespaceMember(const std::string &space, const std::string &name) {
  if (space == "math" || space == "tl.math" || space == "tl") {
    if (std::optional<Value> constant = mathConstant(name); constant && space != "tl")
      return constant;
  }
  if (isPythonModule(space) && space != "math") {
    const BuiltinInfo *function = findBuiltin(space + "." + name);
    return function ? std::optional<Value>(function) : std::nullopt;
  }
  // These are binary functions, as in libdevice until Triton 2.1; tl.max and tl.min reduce a block.
  if ((space == "libdevice" || space == "tl.math") && (name == "max" || name == "min"))
    return Value(findBuiltin(name + "imum"));
  if (space == "libdevice" || space == "math" || space == "target_info") {
    const BuiltinInfo *info = findBuiltin(space + "." + name);
    if (!info && space == "libdevice")
      info = findBuiltin(name);
    // Functions that query the GPU are evaluated when they are called.
    std::string question = space + "." + name;
    if (!info && space == "target_info" && hostAnswer(question, {}, request.targetCapability))
      return Value(NamespaceValue{question});
    return info ? std::optional<Value>(info) : std::nullopt;
  }
  if (space == "tl.PropagateNan" && (name == "ALL" || name == "NONE"))
    return Value(name == "ALL");
  if (space == "tl.ReductionOrdering" && name == "UNORDERED")
    return Value(std::string("unordered"));
  if (space == "tl.ReductionOrdering" && name == "INNER_TREE")
    return Value(std::string("inner_tree"));
  if (space == "torch")
    return torchMember(name);
  if (!isLanguageNamespace(space))
    return std::nullopt;
  if (StringRef(space).starts_with("tl.extra") && (name == "cuda" || name == "hip"))
    return Value(NamespaceValue{space + "." + name});
  for (std::string_view child : {"math", "extra", "standard", "core", "random", "language"})
    if (name == child)
      return Value(NamespaceValue{name == "language" ? "tl" : "tl." + name});
  if (name == "target_info" || name == "libdevice")
    return Value(NamespaceValue{name});
  if (name == "PropagateNan" || name == "ReductionOrdering")
    return Value(NamespaceValue{"tl." + name});
  if (std::optional<DType> type = dtypeByName(name))
    return Value(*type);
  if (const BuiltinInfo *info = findBuiltin(name))
    return Value(info);
  if (std::optional<Value> type = typeName(name))
    return type;
  // Earlier versions of Triton had the libdevice functions here.
  if (const BuiltinInfo *info = findBuiltin("libdevice." + name))
    return Value(info);
  if (space == "tl.core" && name == "CONSTEXPR_0")
    return Value(Int128(0));
  if (name == "TRITON_MAX_TENSOR_NUMEL")
    return Value(Int128(1 << 20));
  return std::nullopt;
}

SymValue ModuleNames::lookupAttribute(const NamespaceValue &space, const std::string &name, SourceRange range) {
  if (std::optional<Value> member = namespaceMember(space.name, name))
    return SymValue::makeConstant(*member);
  // Parts of Triton that only host programs use.
  if (space.name == "triton" && (name == "runtime" || name == "backends" || name == "tools" || name == "testing"))
    return SymValue::makeConstant(NamespaceValue{"triton." + name});
  if (isLanguageNamespace(space.name) || space.name == "math" || space.name == "libdevice" ||
      space.name == "target_info") {
    std::optional<std::string> guess = didYouMean(name, builtinNames());
    return error(Diag::unknown_member, range,
                 {space.name, name, guess ? "; did you mean '" + space.name + "." + *guess + "'?" : ""});
  }
  if (!space.path.empty())
    if (ModuleScope *loaded = loadModule(space.path))
      if (std::optional<SymValue> member = lookupIn(*loaded, name, range))
        return *member;
  // A member of a module that is not read is an error only if it is used.
  std::string dotted = space.name + "." + name;
  if (name == "constexpr") // in Gluon, and in projects that wrap Triton
    return SymValue::makeConstant(TypeNameValue{name});
  if (std::optional<Value> fact = hostFact(dotted, request.targetCapability, /*isVariable=*/false))
    return SymValue::makeConstant(*fact);
  return SymValue::makeConstant(NamespaceValue{dotted, findModule(0, dotted)});
}

SymValue ModuleNames::evaluateGlobal(const std::string &name) {
  auto host = current->hostValues.find(name);
  const Expr *expr = host != current->hostValues.end() ? host->second : current->expressions[name];
  if (!current->pending.insert(name).second || current->pending.size() > maxRecursion)
    return error(Diag::circular_constant, expr->range, {name});
  // Constants are evaluated in the module, without the names of the kernel that uses them.
  SymValue value;
  ++hostDepth;
  {
    InModule inside(sema, current);
    value = needsRun(name) ? sema.statements.runStatements(name, current->statements[name])
                           : sema.evaluator.evaluate(*expr);
  }
  --hostDepth;
  current->pending.erase(name);
  return value;
}

/// Returns true for True, False, an integer literal, or one of them in tl.constexpr().
static bool isStated(const Expr &expr) {
  const auto *call = as<CallExpr>(&expr);
  const Expr *value = call && call->arguments.size() == 1 ? call->arguments[0].value : &expr;
  return as<BoolExpr>(value) || value->kind == ExprKind::Int;
}

std::optional<SymValue> ModuleNames::lookupGlobal(const std::string &name, SourceRange range) {
  if (host)
    if (std::optional<SymValue> value = host->lookup(name))
      return value;
  if (auto changed = current->changed.find(name); changed != current->changed.end())
    return changedName(name, changed->second, range);
  if (auto found = current->globals.find(name); found != current->globals.end())
    return found->second;
  // Host code may also use values that are otherwise read only by decorators.
  if (auto value = current->hostValues.find(name);
      value != current->hostValues.end() && value->second->kind != ExprKind::Lambda && isHostCode() && !host)
    return evaluateGlobal(name);
  if (current->expressions.contains(name)) {
    // The name of a flag determines its value, however the host program computes it, unless a literal is assigned to
    // it.
    if (!isStated(*current->expressions[name]))
      if (std::optional<Value> fact = hostFact(name, request.targetCapability, /*isVariable=*/true))
        return current->globals[name] = SymValue::makeConstant(*fact);
    if (auto guess = current->guessed.find(name); guess != current->guessed.end() && quietDepth == 0 && !host)
      warn(Diag::guessed_constant, range, {name}).note(guess->second, "the value of this condition is unknown");
    size_t errorsBefore = diagnostics.numErrors();
    SymValue value = evaluateGlobal(name);
    SmallVector<mlir::Value> leaves;
    flatten(value, leaves);
    if (!leaves.empty())
      value = error(Diag::constant_needed, current->expressions[name]->range,
                    {"the constant '" + name + "'", describe(value)});
    // In the host reader, the value may have unknown parts, or be a list of configurations, so it is not stored for
    // others.
    if (host)
      return value;
    if (diagnostics.numErrors() != errorsBefore)
      value = {};
    // A failure during a quiet evaluation is not stored: it must be reported when the value is needed.
    if (!value.isError() || quietDepth == 0)
      current->globals[name] = value;
    return value;
  }
  if (std::optional<SymValue> imported = lookupImport(name, range))
    return imported;
  if (std::optional<SymValue> function = hostFunction(name))
    return function;
  bool isHidden = llvm::any_of(*current->skipped, [&](const SkippedName &skipped) { return skipped.name == name; });
  if (!current->parent || isHidden)
    return std::nullopt;
  InModule outside(sema, current->parent);
  return lookupGlobal(name, range);
}

/// Returns true for a name of host code that is not parsed.
bool ModuleNames::isSkipped(const std::string &name) const {
  for (const ModuleScope *module = current; module; module = module->parent)
    if (llvm::any_of(*module->skipped, [&](const SkippedName &skipped) { return skipped.name == name; }))
      return true;
  return false;
}

/// Reports a name whose value depends on a statement that is not parsed.
SymValue ModuleNames::changedName(const std::string &name, SourceRange change, SourceRange range) {
  if (llvm::any_of(*current->skipped, [&](const SkippedName &skipped) { return skipped.name == name; }))
    return unknownName(name, range);
  return error(Diag::changed_name, range, {name}, std::pair{change, std::string("the statement is here")});
}

SymValue ModuleNames::unknownName(const std::string &name, SourceRange range) {
  for (const ModuleScope *module = current; module; module = module->parent)
    for (const SkippedName &skipped : llvm::reverse(*module->skipped)) { // the last one wins
      if (skipped.name != name)
        continue;
      if (skipped.what == "host function")
        if (hostAnswer(name, {}, request.targetCapability))
          return SymValue::makeConstant(NamespaceValue{name});
      if (std::optional<Value> fact = hostFact(name, request.targetCapability, /*isVariable=*/true);
          fact && skipped.what == "constant")
        return SymValue::makeConstant(*fact);
      return error(Diag::host_name, range, {name, skipped.what},
                   std::pair{skipped.range, std::string("it is defined here, in the host program")});
    }
  if (quietDepth > 0)
    return error(Diag::unknown_name, range, {name, ""});
  std::vector<std::string> candidates = builtinNames();
  for (const auto &[known, binding] : scope)
    candidates.push_back(known);
  for (const auto &[known, value] : current->globals)
    candidates.push_back(known);
  for (const auto &[known, expr] : current->expressions)
    candidates.push_back(known);
  for (const auto &[known, import] : current->imports)
    candidates.push_back(known);
  std::optional<std::string> guess = didYouMean(name, candidates);
  return error(Diag::unknown_name, range, {name, guess ? "; did you mean '" + *guess + "'?" : ""});
}

} // namespace tile::frontend
