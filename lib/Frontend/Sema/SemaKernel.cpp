// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel: selects the function, its warps and stages, and emits its tile.kernel operation.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Sema/ModuleSema.h"
#include "Frontend/Syntax/Literals.h"
#include "Frontend/Syntax/Names.h"
#include "Frontend/Syntax/Walk.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

namespace {

void collectClasses(const Block &block, std::vector<const ClassStmt *> &classes) {
  for (const Stmt *stmt : block) {
    if (const auto *type = as<ClassStmt>(stmt))
      classes.push_back(type);
    if (const auto *host = as<HostStmt>(stmt))
      collectClasses(host->body, classes);
    if (stmt->kind == StmtKind::If)
      for (const Block *inner : blocksOf(*stmt))
        collectClasses(*inner, classes);
  }
}

struct Candidate {
  std::string name; // "host.kernel" in a function of the host program, "Class.kernel" in a class
  const FunctionStmt *function;
  const Block *block = nullptr; // block that contains the definition
};

void collectFunctions(const Block &block, const std::string &prefix, std::vector<Candidate> &functions) {
  for (const Stmt *stmt : block) {
    if (const auto *function = as<FunctionStmt>(stmt); function && !function->isConstexpr)
      functions.push_back({prefix + function->name, function, &block});
    if (const auto *type = as<ClassStmt>(stmt))
      for (const FunctionStmt *method : type->methods)
        if (isKernelOfClass(*method))
          functions.push_back({prefix + type->name + "." + method->name, method, &block});
    if (const auto *host = as<HostStmt>(stmt))
      collectFunctions(host->body, prefix + host->name + ".", functions);
    if (stmt->kind == StmtKind::If)
      for (const Block *inner : blocksOf(*stmt))
        collectFunctions(*inner, prefix, functions);
  }
}

/// Returns the functions of the file. If a block defines a name several times, only the last definition and its
/// directives count, as in Python. `redefined` is called with each earlier definition and the one that replaces it.
std::vector<Candidate>
collectLastFunctions(const Block &block,
                     llvm::function_ref<void(const Candidate &, const Candidate &)> redefined = nullptr) {
  std::vector<Candidate> functions;
  collectFunctions(block, "", functions);
  std::map<std::pair<std::string, const Block *>, Candidate> last;
  for (const Candidate &candidate : functions) {
    auto [known, isNew] = last.try_emplace({candidate.name, candidate.block}, candidate);
    if (!isNew && redefined)
      redefined(known->second, candidate);
    known->second = candidate;
  }
  llvm::erase_if(functions, [&](const Candidate &candidate) {
    return last.at({candidate.name, candidate.block}).function != candidate.function;
  });
  return functions;
}

/// Removes duplicates. Of several functions with the same name, for example in the branches of an 'if', keeps the one
/// that the module declares. In host functions, keeps the last one.
void keepDeclared(std::vector<Candidate> &functions,
                  llvm::function_ref<const FunctionStmt *(const std::string &)> declared) {
  std::map<std::string, const FunctionStmt *> kept;
  for (const Candidate &candidate : functions) {
    const FunctionStmt *&function = kept[candidate.name];
    if (!function || function != declared(candidate.name))
      function = candidate.function;
  }
  llvm::erase_if(functions, [&](const Candidate &candidate) { return candidate.function != kept[candidate.name]; });
}

bool returnsOtherThanNone(const Block &block) {
  return anyStatement(block, [](const Stmt &stmt) {
    const auto *node = as<ReturnStmt>(&stmt);
    return node && node->value && node->value->kind != ExprKind::None;
  });
}

bool hasDirectives(const FunctionStmt &function) {
  const DirectiveSet &set = function.directives;
  return !set.grid.empty() || !set.buffers.empty() || !set.defaults.empty() || !set.expects.empty() || set.numWarps ||
         set.numStages || set.cluster || set.schedule;
}

/// Returns the names that functions mention, except their own names, parameters and variables.
std::set<std::string> calledNames(const std::vector<Candidate> &functions) {
  std::set<std::string> called;
  for (const Candidate &candidate : functions) {
    std::set<std::string> mentioned;
    collectNames(candidate.function->body, mentioned);
    mentioned.erase(candidate.function->name);
    for (const Parameter &parameter : candidate.function->parameters)
      mentioned.erase(parameter.name);
    for (const std::string &name : assignedNames(candidate.function->body))
      mentioned.erase(name);
    called.merge(mentioned);
  }
  return called;
}

/// Finds the entry points heuristically. If exactly one function has directives, it is the kernel. Otherwise these are
/// all functions that have directives, or that no function calls and that return nothing. Functions nested in host
/// functions are considered only if there is no entry point at module level.
std::vector<Candidate> findEntries(const std::vector<Candidate> &functions, const std::set<std::string> &called) {
  for (bool isInside : {false, true}) {
    std::vector<Candidate> entries, uncalled;
    for (const Candidate &candidate : functions) {
      if ((candidate.name != candidate.function->name) != isInside)
        continue;
      bool isCalled = called.contains(candidate.function->name);
      if (!isCalled)
        uncalled.push_back(candidate);
      if (hasDirectives(*candidate.function) || (!isCalled && !returnsOtherThanNone(candidate.function->body)))
        entries.push_back(candidate);
    }
    // If exactly one function has launch directives, it is the kernel.
    auto isDescribed = [](const Candidate &candidate) { return hasDirectives(*candidate.function); };
    if (llvm::count_if(entries, isDescribed) == 1)
      return {*llvm::find_if(entries, isDescribed)};
    // If every uncalled function returns a value, select them anyway, so that the error about the value is reported.
    if (entries.empty() && !uncalled.empty())
      return uncalled;
    if (!entries.empty())
      return entries;
  }
  return {};
}

} // namespace

ModuleSema::ModuleSema(MLIRContext &context, const Module &module, const CompileRequest &request,
                       DiagnosticEngine &diagnostics)
    : Emitter(context, request), module(module), diagnostics(diagnostics), session(module, request, diagnostics, *this),
      sema{*this,      *this,   session,   names,   classes, evaluator, calls,
           statements, records, signature, choices, launch,  tuner},
      names(sema), classes(sema), evaluator(sema), calls(sema), statements(sema), records(sema), signature(sema),
      choices(sema), launch(sema), tuner(sema) {
  const std::string &path = diagnostics.file(module.file).name;
  std::unique_ptr<ModuleScope> &main = names.modules[path];
  main = std::make_unique<ModuleScope>();
  main->module = &module;
  main->skipped = &module.skipped;
  main->path = path;
  names.current = main.get();
}

void ModuleSema::rebind(mlir::Value from, mlir::Value to) {
  for (auto &[name, binding] : session.scope)
    if (binding.value.isTensor() && binding.value.value == from)
      binding.value.value = to;
}

/// Warns if the kernel, or a function that another one calls, is defined again: this is valid Python, but is rarely
/// intended.
void ModuleSema::warnOfRedefinitions(const FunctionStmt &kernel) {
  std::vector<std::pair<Candidate, Candidate>> redefined;
  const std::vector<Candidate> functions = collectLastFunctions(
      module.body, [&](const Candidate &first, const Candidate &next) { redefined.emplace_back(first, next); });
  const std::set<std::string> called = calledNames(functions);
  for (const auto &[first, next] : redefined) {
    const auto last = llvm::find_if(functions, [&](const Candidate &candidate) {
      return candidate.name == next.name && candidate.block == next.block;
    });
    if (next.function != last->function || (last->function != &kernel && !called.contains(next.function->name)))
      continue;
    const auto count = llvm::count_if(
        redefined, [&](const auto &pair) { return pair.second.name == next.name && pair.second.block == next.block; });
    const std::string times = count == 1 ? "twice" : std::to_string(count + 1) + " times";
    const bool losesDirectives = hasDirectives(*first.function) && !hasDirectives(*next.function);
    warn(Diag::redefined_function, next.function->nameRange,
         {next.name, times, losesDirectives ? ", without the directives of the previous definition" : ""})
        .note(first.function->nameRange, "the previous definition is here");
  }
}

OwningOpRef<ModuleOp> ModuleSema::run() {
  // Options and defaults are evaluated outside any kernel; operations that they emit are discarded with this module.
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(&context));
  builder.setInsertionPointToEnd(scratch->getBody());
  sema.names.declare(module.body);
  const InstanceDirective *instance = nullptr;
  const FunctionStmt *kernel = selectKernel(instance);
  if (!kernel)
    return {};
  warnOfRedefinitions(*kernel);
  // A kernel in a branch that is not taken is not declared, so it has no owner.
  auto owner = sema.names.owners.find(kernel);
  InModule inside(sema, owner == sema.names.owners.end() ? sema.names.current : owner->second);
  std::vector<KernelParameter> parameters;
  if (!sema.signature.resolveParameters(*kernel, instance, parameters))
    return {};
  OwningOpRef<ModuleOp> emitted = emitKernel(*kernel, instance, parameters);
  if (emitted && diagnostics.isEnabled(Diag::dead_branch))
    warnDeadBranches();
  return emitted;
}

std::vector<std::string> listLaunchedKernels(const Module &module) {
  std::vector<std::string> names;
  for (const Candidate &candidate : collectLastFunctions(module.body))
    if (!candidate.function->directives.grid.empty() && !llvm::is_contained(names, candidate.name))
      names.push_back(candidate.name);
  return names;
}

std::vector<std::string> listUnlaunchedKernels(const Module &module) {
  const std::vector<Candidate> functions = collectLastFunctions(module.body);
  const std::set<std::string> called = calledNames(functions);
  const std::vector<std::string> launched = listLaunchedKernels(module);
  std::vector<std::string> names;
  for (const Candidate &candidate : functions)
    if (candidate.name == candidate.function->name && !called.contains(candidate.name) &&
        !returnsOtherThanNone(candidate.function->body) && !llvm::is_contained(launched, candidate.name) &&
        !llvm::is_contained(names, candidate.name))
      names.push_back(candidate.name);
  return names;
}

std::vector<const FunctionStmt *> functionsBefore(const Module &module, const FunctionStmt &kernel) {
  const std::vector<Candidate> functions = collectLastFunctions(module.body);
  std::vector<const FunctionStmt *> before;
  for (const FunctionStmt *at = &kernel; !at->directives.after.empty();) {
    auto found = llvm::find_if(functions, [&](const Candidate &other) { return other.name == at->directives.after; });
    if (found == functions.end() || found->function == &kernel || llvm::is_contained(before, found->function))
      return {};
    at = found->function;
    before.insert(before.begin(), at);
  }
  return before;
}

std::vector<std::string> kernelsBefore(const Module &module, StringRef kernel) {
  std::vector<std::string> names;
  for (const Candidate &candidate : collectLastFunctions(module.body))
    if (candidate.name == kernel)
      for (const FunctionStmt *function : functionsBefore(module, *candidate.function))
        names.push_back(function->name);
  return names;
}

/// Selects the kernel that the request names, or the only one. Functions are helpers if other functions call them or if
/// they return a value, unless they have directives.
const FunctionStmt *ModuleSema::selectKernel(const InstanceDirective *&instance) {
  std::vector<Candidate> functions = collectLastFunctions(module.body);
  keepDeclared(functions, [&](const std::string &name) -> const FunctionStmt * {
    auto known = sema.names.current->globals.find(name);
    bool isFunction = known != sema.names.current->globals.end() && known->second.isConstant() &&
                      std::holds_alternative<const FunctionStmt *>(known->second.constant);
    return isFunction ? std::get<const FunctionStmt *>(known->second.constant) : nullptr;
  });
  SourceRange top{0, 0, module.file};
  std::string wanted = request.kernelName;
  for (const InstanceDirective &candidate : module.instances)
    if (candidate.name == wanted) {
      instance = &candidate;
      wanted = candidate.kernel;
      top = candidate.kernelRange;
    }
  std::set<std::string> called = calledNames(functions);
  // Functions that methods call are not kernels either; methods of the host program launch kernels.
  std::vector<const ClassStmt *> classes;
  collectClasses(module.body, classes);
  for (const ClassStmt *type : classes)
    for (const FunctionStmt *method : type->methods)
      if (!method->isConstexpr)
        collectNames(method->body, called);
  std::vector<Candidate> entries = findEntries(functions, called), chosen = entries;
  if (!wanted.empty()) {
    chosen.clear();
    for (bool isInside : {false, true})
      if (chosen.empty())
        llvm::copy_if(functions, std::back_inserter(chosen), [&](const Candidate &candidate) {
          return candidate.name == wanted || (isInside && candidate.function->name == wanted);
        });
  }
  if (chosen.size() == 1)
    return chosen.front().function;
  std::string list;
  for (const Candidate &candidate : chosen.empty() ? entries : chosen)
    list += (list.empty() ? "" : ", ") + candidate.name;
  if (functions.empty() || (wanted.empty() && entries.empty()))
    error(Diag::no_kernel, module.misspelled ? module.misspelled->first : top,
          {module.misspelled ? "; did you mean '@" + module.misspelled->second + "'?" : ""});
  else if (!wanted.empty() && chosen.empty())
    error(Diag::unknown_kernel, top, {wanted, list});
  else
    error(Diag::several_kernels, top, {std::to_string(chosen.size()), list});
  return nullptr;
}

/// Warns about branches that no instance takes, which it finds by emitting every instance of the file. Without
/// instances, the constants could have other values, so there are no warnings.
void ModuleSema::warnDeadBranches() {
  if (module.instances.empty() || module.file != 0)
    return;
  std::map<const IfStmt *, std::set<size_t>> live = records.liveBranches;
  for (const InstanceDirective &instance : module.instances) {
    // Messages about other instances are reported when they are compiled.
    DiagnosticEngine quiet;
    for (uint32_t file = 0; file < diagnostics.numFiles(); ++file) // including a sidecar
      quiet.addFile(diagnostics.file(file));
    WarningOptions none;
    none.silence();
    quiet.setWarnings(none);
    CompileRequest other;
    other.kernelName = instance.name;
    other.targetCapability = request.targetCapability;
    other.standard = request.standard;
    other.importPaths = request.importPaths;
    ModuleSema inner(context, module, other, quiet);
    inner.isTrial = true;
    if (!inner.run())
      return; // its branches are unknown
    for (const auto &[stmt, branches] : inner.records.liveBranches)
      live[stmt].insert(branches.begin(), branches.end());
  }
  for (const auto &[stmt, branches] : live) {
    for (size_t branch = 0; branch <= stmt->branches.size(); ++branch) {
      bool isElse = branch == stmt->branches.size();
      const Block &body = isElse ? stmt->elseBody : stmt->branches[branch].body;
      if (body.empty() || branches.contains(branch))
        continue;
      SourceRange place = isElse ? body.front()->range : stmt->branches[branch].keyword;
      auto warning = diagnostics.report(Diag::dead_branch, place, {std::to_string(module.instances.size())});
      // A lone if, or one after other branches, can be removed as it is.
      if (stmt->branches.size() == 1 && stmt->elseBody.empty())
        warning.fixIt(stmt->range, "pass");
      else if (!isElse && branch > 0)
        warning.fixIt({place.begin, body.back()->range.end, place.file}, "");
    }
  }
}

KernelConfigurations ModuleSema::listConfigurations() {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(&context));
  builder.setInsertionPointToEnd(scratch->getBody());
  // Errors in the kernel are reported when it is compiled.
  size_t reported = diagnostics.all().size();
  KernelConfigurations result;
  sema.names.declare(module.body);
  const InstanceDirective *instance = nullptr;
  if (const FunctionStmt *kernel = selectKernel(instance)) {
    auto owner = sema.names.owners.find(kernel);
    InModule inside(sema, owner == sema.names.owners.end() ? sema.names.current : owner->second);
    ResolvedParameters parameters;
    sema.signature.resolveDeclared(*kernel, instance, parameters);
    result = sema.tuner.listTuned();
    for (const ConfigDirective &directive : kernel->directives.configs) {
      ConfigurationCondition &condition = result.conditions.emplace_back();
      condition.condition = directive.condition.text;
      for (const ConfigDirective::Constant &constant : directive.constants)
        condition.definitions[constant.name] =
            sema.tuner.definitionOf(sema.evaluator.evaluate(*constant.value.expr)).value_or("");
    }
  }
  result.isComplete &= sema.tuner.unknownHosts.empty();
  (void)diagnostics.takeSince(reported);
  for (const UnknownHost &unknown : sema.tuner.unknownHosts)
    diagnostics.report(unknown.what, unknown.range, {unknown.reason});
  return result;
}

KernelConfigurations listConfigurations(const Module &module, const CompileRequest &request,
                                        DiagnosticEngine &diagnostics) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  return ModuleSema(context, module, request, diagnostics).listConfigurations();
}

} // namespace tile::frontend
