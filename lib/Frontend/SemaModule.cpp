// Names outside of functions: imports, constants, functions, and the members of the modules "tl", "triton", "math".
//
// Constants are evaluated when a kernel first uses them, so that host code which tilec cannot evaluate costs nothing.

#include "Frontend/Builtins.h"
#include "Frontend/Sema.h"

#include <cmath>
#include <filesystem>
#include <numbers>

using namespace mlir;

namespace tile::frontend {

namespace {

constexpr unsigned maxRecursion = 100;

/// Module paths -> the namespaces that they denote here.
std::string namespaceOf(std::string_view path) {
  if (path == "triton.language" || path == "tl" || path == "tile" || path == "tile.language")
    return "tl";
  if (path == "triton")
    return "triton";
  if (path == "math")
    return "math";
  if (path.ends_with("libdevice") || path.ends_with("tldevice"))
    return "libdevice";
  if (path.starts_with("triton.language."))
    return "tl." + std::string(path.substr(16));
  return std::string(path);
}

bool isLanguageNamespace(std::string_view space) {
  return space == "tl" || space == "triton" || space == "tl.math" || space == "tl.standard" || space == "tl.core";
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

std::optional<Value> typeName(std::string_view name) {
  for (std::string_view known : {"constexpr", "tensor", "tensor_descriptor", "dtype", "tuple", "pointer_type", "ptr",
                                 "const", "block_type", "int", "float", "bool", "str", "list"})
    if (known == name)
      return Value(TypeNameValue{std::string(name)});
  return std::nullopt;
}

} // namespace

SymValue Sema::error(Diag id, SourceRange range, const std::vector<std::string> &arguments,
                     std::optional<std::pair<SourceRange, std::string>> note) {
  auto builder = diagnostics.report(id, range, arguments);
  if (note)
    builder.note(note->first, note->second);
  for (const auto &[call, function] : callsAround())
    builder.note(call, "in '" + function + "' called here");
  return {};
}

DiagnosticEngine::Builder Sema::warn(Diag id, SourceRange range, const std::vector<std::string> &arguments) {
  auto builder = diagnostics.report(id, range, arguments);
  for (const auto &[call, function] : callsAround())
    builder.note(call, "in '" + function + "' called here");
  return builder;
}

mlir::Location Sema::location(SourceRange range) {
  LineColumn place = diagnostics.locate(range);
  const std::string &name = diagnostics.file(range.file).name;
  // Debuggers resolve the line table of a cubin from another working directory: paths are absolute.
  std::error_code failed;
  std::filesystem::path path =
      name.starts_with('<') ? std::filesystem::path(name) : std::filesystem::absolute(name, failed);
  mlir::Location here =
      FileLineColLoc::get(&context, failed ? name : path.lexically_normal().string(), place.line, place.column);
  return frames.empty() ? here : mlir::Location(CallSiteLoc::get(here, frames.back().caller));
}

void Sema::declareImport(const ImportStmt &import) {
  for (const ImportStmt::Alias &alias : import.names) {
    if (alias.name == "*")
      continue;
    std::string bound = alias.asName.empty() ? alias.name : alias.asName;
    if (!import.isFrom) {
      // "import a.b" binds "a".
      bool bindsRoot = alias.asName.empty() && alias.name.find('.') != std::string::npos;
      std::string root = alias.name.substr(0, alias.name.find('.'));
      globals[bindsRoot ? root : bound] =
          SymValue::makeConstant(NamespaceValue{namespaceOf(bindsRoot ? root : alias.name)});
      continue;
    }
    // Projects re-export the language under its usual names.
    bool isAlias =
        alias.name == "tl" || alias.name == "triton" || alias.name == "libdevice" || alias.name == "tldevice";
    std::string space = namespaceOf(import.module);
    std::optional<Value> member = namespaceMember(space, alias.name);
    if (isAlias)
      globals[bound] = SymValue::makeConstant(NamespaceValue{namespaceOf(alias.name)});
    else if (member)
      globals[bound] = SymValue::makeConstant(*member);
    else
      globals[bound] = SymValue::makeConstant(NamespaceValue{namespaceOf(import.module + "." + alias.name)});
  }
}

void Sema::declare(const Block &block) {
  for (const Stmt *stmt : block) {
    if (const auto *import = as<ImportStmt>(stmt)) {
      declareImport(*import);
    } else if (const auto *function = as<FunctionStmt>(stmt)) {
      globals[function->name] = SymValue::makeConstant(function);
    } else if (const auto *assignment = as<AssignStmt>(stmt)) {
      if (const auto *name = as<NameExpr>(assignment->target)) {
        globals.erase(name->id);
        globalExpressions[name->id] = assignment->value;
      }
    } else if (const auto *annotated = as<AnnAssignStmt>(stmt)) {
      if (annotated->value) {
        globals.erase(annotated->target->id);
        globalExpressions[annotated->target->id] = annotated->value;
      }
    } else if (const auto *conditional = as<IfStmt>(stmt)) {
      // Probes of versions and architectures: taken when constant, else the last branch counts.
      const Block *chosen = &conditional->elseBody;
      for (const IfStmt::Branch &branch : conditional->branches) {
        const auto *flag = as<BoolExpr>(branch.condition);
        bool decides = flag && flag->value;
        bool isLast = &branch == &conditional->branches.back() && conditional->elseBody.empty() && !flag;
        if (decides || isLast) {
          chosen = &branch.body;
          break;
        }
      }
      declare(*chosen);
    }
  }
}

std::optional<Value> Sema::namespaceMember(const std::string &space, const std::string &name) {
  if (space == "math" || space == "tl.math" || space == "tl") {
    if (std::optional<Value> constant = mathConstant(name); constant && space != "tl")
      return constant;
  }
  if (space == "libdevice" || space == "math" || space == "target_info") {
    const BuiltinInfo *info = findBuiltin(space == "libdevice" ? name : space + "." + name);
    return info ? std::optional<Value>(info) : std::nullopt;
  }
  if (!isLanguageNamespace(space))
    return std::nullopt;
  for (std::string_view child : {"math", "extra", "standard", "core", "language"})
    if (name == child)
      return Value(NamespaceValue{name == "language" ? "tl" : "tl." + name});
  if (name == "target_info" || name == "libdevice")
    return Value(NamespaceValue{name});
  if (std::optional<DType> type = dtypeByName(name))
    return Value(*type);
  if (const BuiltinInfo *info = findBuiltin(name))
    return Value(info);
  if (std::optional<Value> type = typeName(name))
    return type;
  if (name == "TRITON_MAX_TENSOR_NUMEL")
    return Value(Int128(1 << 20));
  return std::nullopt;
}

SymValue Sema::lookupAttribute(const NamespaceValue &space, const std::string &name, SourceRange range) {
  if (std::optional<Value> member = namespaceMember(space.name, name))
    return SymValue::makeConstant(*member);
  if (isLanguageNamespace(space.name) || space.name == "math" || space.name == "libdevice" ||
      space.name == "target_info") {
    std::optional<std::string> guess = didYouMean(name, builtinNames());
    return error(Diag::unknown_member, range,
                 {space.name, name, guess ? "; did you mean '" + space.name + "." + *guess + "'?" : ""});
  }
  // A module that is not read: its members are only an error when they are used.
  return SymValue::makeConstant(NamespaceValue{space.name + "." + name});
}

SymValue Sema::evaluateGlobal(const std::string &name) {
  const Expr *expr = globalExpressions[name];
  if (!pendingGlobals.insert(name).second || pendingGlobals.size() > maxRecursion)
    return error(Diag::circular_constant, expr->range, {name});
  // Constants see the module only, not the names of the kernel that uses them.
  Environment saved;
  std::swap(saved, scope);
  SymValue value = evaluate(*expr);
  std::swap(saved, scope);
  pendingGlobals.erase(name);
  return value;
}

std::optional<SymValue> Sema::lookupGlobal(const std::string &name, SourceRange range) {
  if (auto found = globals.find(name); found != globals.end())
    return found->second;
  if (globalExpressions.contains(name)) {
    size_t errorsBefore = diagnostics.numErrors();
    SymValue value = evaluateGlobal(name);
    SmallVector<mlir::Value> leaves;
    flatten(value, leaves);
    if (!leaves.empty())
      value = error(Diag::constant_needed, globalExpressions[name]->range,
                    {"the constant '" + name + "'", describe(value)});
    if (diagnostics.numErrors() != errorsBefore)
      value = {};
    globals[name] = value;
    return value;
  }
  return std::nullopt;
}

SymValue Sema::unknownName(const std::string &name, SourceRange range) {
  for (const SkippedName &skipped : module.skipped)
    if (skipped.name == name)
      return error(Diag::host_name, range, {name, skipped.what},
                   std::pair{skipped.range, std::string("it is defined here, outside of the language")});
  std::vector<std::string> candidates = builtinNames();
  for (const auto &[known, binding] : scope)
    candidates.push_back(known);
  for (const auto &[known, value] : globals)
    candidates.push_back(known);
  for (const auto &[known, expr] : globalExpressions)
    candidates.push_back(known);
  std::optional<std::string> guess = didYouMean(name, candidates);
  return error(Diag::unknown_name, range, {name, guess ? "; did you mean '" + *guess + "'?" : ""});
}

} // namespace tile::frontend
