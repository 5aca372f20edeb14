// The kernel: which function it is, its warps and stages, and its tile.kernel operation.

#include "Frontend/Builtins.h"
#include "Frontend/Literals.h"
#include "Frontend/Sema.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

void collectNames(const Block &block, std::set<std::string> &names) {
  for (const Stmt *stmt : block) {
    if (const auto *node = as<ExprStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AssignStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AugAssignStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<AnnAssignStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<ReturnStmt>(stmt))
      collectNames(node->value, names);
    else if (const auto *node = as<ForStmt>(stmt))
      collectNames(node->iterator, names), collectNames(node->body, names);
    else if (const auto *node = as<WhileStmt>(stmt))
      collectNames(node->condition, names), collectNames(node->body, names);
    else if (const auto *node = as<IfStmt>(stmt)) {
      for (const IfStmt::Branch &branch : node->branches)
        collectNames(branch.condition, names), collectNames(branch.body, names);
      collectNames(node->elseBody, names);
    }
  }
}

void collectNames(const Expr *expr, std::set<std::string> &names) {
  if (!expr)
    return;
  auto all = [&](const auto &list) {
    for (const Expr *child : list)
      collectNames(child, names);
  };
  if (const auto *node = as<NameExpr>(expr))
    names.insert(node->id);
  else if (const auto *node = as<UnaryExpr>(expr))
    all(std::array{node->operand});
  else if (const auto *node = as<BinaryExpr>(expr))
    all(std::array{node->left, node->right});
  else if (const auto *node = as<CompareExpr>(expr))
    all(std::array{node->left, node->right});
  else if (const auto *node = as<ConditionalExpr>(expr))
    all(std::array{node->condition, node->thenValue, node->elseValue});
  else if (const auto *node = as<BoolOpExpr>(expr))
    all(node->values);
  else if (const auto *node = as<TupleExpr>(expr))
    all(node->elements);
  else if (const auto *node = as<ListExpr>(expr))
    all(node->elements);
  else if (const auto *node = as<StarredExpr>(expr))
    all(std::array{node->value});
  else if (const auto *node = as<ComprehensionExpr>(expr)) {
    collectNames(node->element, names);
    for (const ComprehensionExpr::Clause &clause : node->clauses) {
      collectNames(clause.iterable, names);
      all(clause.conditions);
    }
  } else if (const auto *node = as<AttributeExpr>(expr))
    all(std::array{node->value});
  else if (const auto *node = as<SubscriptExpr>(expr))
    all(std::array{node->value, node->index});
  else if (const auto *node = as<CallExpr>(expr)) {
    collectNames(node->callee, names);
    for (const Argument &argument : node->arguments)
      collectNames(argument.value, names);
  }
}

namespace {

void collectClasses(const Block &block, std::vector<const ClassStmt *> &classes) {
  for (const Stmt *stmt : block) {
    if (const auto *type = as<ClassStmt>(stmt))
      classes.push_back(type);
    if (const auto *conditional = as<IfStmt>(stmt)) {
      for (const IfStmt::Branch &branch : conditional->branches)
        collectClasses(branch.body, classes);
      collectClasses(conditional->elseBody, classes);
    }
  }
}

void collectFunctions(const Block &block, std::vector<const FunctionStmt *> &functions) {
  for (const Stmt *stmt : block) {
    if (const auto *function = as<FunctionStmt>(stmt); function && !function->isConstexpr)
      functions.push_back(function);
    if (const auto *conditional = as<IfStmt>(stmt)) {
      for (const IfStmt::Branch &branch : conditional->branches)
        collectFunctions(branch.body, functions);
      collectFunctions(conditional->elseBody, functions);
    }
  }
}

} // namespace

Sema::Sema(MLIRContext &context, const Module &module, const CompileRequest &request, DiagnosticEngine &diagnostics)
    : context(context), builder(&context, &counter), request(request), module(module), diagnostics(diagnostics) {
  const std::string &path = diagnostics.file(module.file).name;
  std::unique_ptr<ModuleScope> &main = modules[path];
  main = std::make_unique<ModuleScope>();
  main->module = &module;
  main->path = path;
  current = main.get();
}

OwningOpRef<ModuleOp> Sema::run() {
  // Options and defaults are evaluated outside of any kernel; what they should not emit lands here and is dropped.
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(&context));
  builder.setInsertionPointToEnd(scratch->getBody());
  declare(module.body);
  const InstanceDirective *instance = nullptr;
  const FunctionStmt *kernel = selectKernel(instance);
  std::vector<KernelParameter> parameters;
  if (!kernel || !resolveParameters(*kernel, instance, parameters))
    return {};
  OwningOpRef<ModuleOp> emitted = emitKernel(*kernel, instance, parameters);
  if (emitted && diagnostics.isEnabled(Diag::dead_branch))
    warnDeadBranches();
  return emitted;
}

/// The kernel that the request names, or the only one. Functions that others call are helpers, not kernels, unless
/// they carry directives.
const FunctionStmt *Sema::selectKernel(const InstanceDirective *&instance) {
  std::vector<const FunctionStmt *> functions, entries;
  collectFunctions(module.body, functions);
  SourceRange top{0, 0, module.file};
  std::string wanted = request.kernelName;
  for (const InstanceDirective &candidate : module.instances)
    if (candidate.name == wanted) {
      instance = &candidate;
      wanted = candidate.kernel;
      top = candidate.kernelRange;
    }
  std::set<std::string> called;
  std::vector<std::string> names;
  for (const FunctionStmt *function : functions) {
    std::set<std::string> mentioned;
    collectNames(function->body, mentioned);
    // Its own variables are no functions, nor does it make itself a helper.
    mentioned.erase(function->name);
    for (const Parameter &parameter : function->parameters)
      mentioned.erase(parameter.name);
    for (const std::string &name : assignedNames(function->body))
      mentioned.erase(name);
    called.merge(mentioned);
  }
  // What methods call is no kernel either.
  std::vector<const ClassStmt *> classes;
  collectClasses(module.body, classes);
  for (const ClassStmt *type : classes)
    for (const FunctionStmt *method : type->methods)
      collectNames(method->body, called);
  for (const FunctionStmt *function : functions) {
    bool hasDirectives = !function->directives.grid.empty() || !function->directives.buffers.empty();
    if (wanted == function->name || (wanted.empty() && (hasDirectives || !called.contains(function->name))))
      entries.push_back(function);
    if (hasDirectives || !called.contains(function->name))
      names.push_back(function->name);
  }
  // A name may be defined in several branches of a top-level 'if'; the one that was declared counts.
  if (entries.size() > 1 && !wanted.empty())
    if (const auto *chosen = std::get_if<const FunctionStmt *>(&current->globals[wanted].constant))
      return *chosen;
  if (entries.size() == 1)
    return entries.front();
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  if (functions.empty() || (wanted.empty() && entries.empty()))
    error(Diag::no_kernel, top);
  else if (!wanted.empty())
    error(Diag::unknown_kernel, top, {wanted, list});
  else
    error(Diag::several_kernels, top, {std::to_string(entries.size()), list});
  return nullptr;
}

/// The command line wins over the instance, the instance over the kernel.
void Sema::selectOptions(const FunctionStmt &kernel, const InstanceDirective *instance) {
  auto select = [](auto option, auto ofInstance, auto ofKernel) {
    return option ? option : ofInstance ? ofInstance : ofKernel;
  };
  const InstanceDirective none, &chosen = instance ? *instance : none;
  numWarps = select(request.numWarps, chosen.numWarps, kernel.directives.numWarps);
  numStages = select(request.numStages, chosen.numStages, kernel.directives.numStages);
  cluster = select(request.cluster, chosen.cluster, kernel.directives.cluster);
  schedule = select(request.schedule, chosen.schedule, kernel.directives.schedule);
  if (!numWarps)
    numWarps = tunedWarps;
  if (!numStages)
    numStages = tunedStages;
}

} // namespace tile::frontend
