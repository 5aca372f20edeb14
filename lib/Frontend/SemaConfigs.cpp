// The first configuration of an autotuner. A list of them may be written out, made by a comprehension, by a function of
// the host program that fills it in loops, or stand under a name, also in another file:
//
//   def configs():                                   for size: 64, for warps: 2 -> skipped; 4 -> the first
//     out = []
//     for size in [64, 128]:
//       for warps in [2, 4]:
//         if size // warps > 16: continue
//         out.append(triton.Config({"BLOCK": size}, num_warps=warps))
//     return out
//
// What is found is the call of triton.Config; the names in it are left in scope with the values that they have there.

#include "Frontend/Builtins.h"
#include "Frontend/HostFacts.h"
#include "Frontend/Sema.h"

using namespace mlir;

namespace tile::frontend {

static StringRef lastName(const Expr &expr) {
  if (const auto *name = as<NameExpr>(&expr))
    return name->id;
  if (const auto *attribute = as<AttributeExpr>(&expr))
    return attribute->attribute;
  return {};
}

/// What a loop of the host program runs over; empty where that is not known.
std::vector<SymValue> Sema::hostItems(const Expr &iterable) {
  std::optional<SymValue> items = evaluateQuietly(iterable);
  if (!items || !items->isTuple())
    return {};
  const auto *call = as<CallExpr>(&iterable);
  if (!call || lastName(*call->callee) != "range")
    return items->elements;
  Int128 bounds[3] = {0, 0, 0};
  for (auto [bound, value] : llvm::zip(bounds, items->elements)) {
    std::optional<Int128> number = value.isConstant() ? asInteger(value.constant) : std::nullopt;
    if (!number)
      return {};
    bound = *number;
  }
  std::vector<SymValue> numbers;
  constexpr size_t most = 4096; // no list of configurations is longer
  for (Int128 i = bounds[0]; (bounds[2] > 0 ? i < bounds[1] : i > bounds[1]) && numbers.size() < most; i += bounds[2])
    numbers.push_back(SymValue::makeConstant(i));
  return numbers;
}

/// Names that get no value are as good as unknown.
void Sema::bindQuietly(const Expr &target, const SymValue &value) {
  size_t reported = diagnostics.all().size();
  assign(target, value, target.range);
  (void)diagnostics.takeSince(reported);
}

/// Nothing where it is not known.
std::optional<bool> Sema::hostTruth(const Expr &condition) {
  if (std::optional<bool> fact = hostCondition(condition, request.targetCapability))
    return fact;
  std::optional<SymValue> value = evaluateQuietly(condition);
  return value ? constantTruth(*value) : std::nullopt;
}

const CallExpr *Sema::firstConfigOfComprehension(const ComprehensionExpr &node, size_t index) {
  if (index == node.clauses.size())
    return firstConfig(*node.element);
  const ComprehensionExpr::Clause &clause = node.clauses[index];
  // [config for config in configs if ...]: what the condition asks of a configuration is not known.
  const auto *element = as<NameExpr>(node.element);
  if (element && clause.targets.size() == 1 && clause.targets[0] == element->id)
    return firstConfig(*clause.iterable);
  for (const SymValue &item : hostItems(*clause.iterable)) {
    bool unpacks = clause.targets.size() > 1;
    if (!charge(1, node.range) || (unpacks && item.elements.size() != clause.targets.size()))
      return nullptr;
    for (auto [place, target] : llvm::enumerate(clause.targets))
      scope[target] = Binding{unpacks ? SymValue(item.elements[place]) : item, clause.iterable->range};
    bool holds =
        llvm::all_of(clause.conditions, [&](const Expr *condition) { return hostTruth(*condition).value_or(true); });
    if (!holds)
      continue;
    if (const CallExpr *found = firstConfigOfComprehension(node, index + 1))
      return found;
  }
  return nullptr;
}

/// The first of the list under a name: of the function that is walked, of the module, or of one that it imports from.
const CallExpr *Sema::firstConfigNamed(const std::string &name) {
  if (auto local = localConfigs.find(name); local != localConfigs.end())
    return local->second;
  const FunctionStmt *reader = std::exchange(decorated, nullptr); // names in the value itself are not the decorator's
  if (auto known = decoratorValues.find(reader); known != decoratorValues.end())
    if (auto value = known->second.find(name); value != known->second.end())
      return firstConfig(*value->second);
  for (ModuleScope *module = current; module; module = module->parent) {
    const Expr *value = nullptr;
    if (auto found = module->expressions.find(name); found != module->expressions.end())
      value = found->second;
    else if (auto host = module->hostValues.find(name); host != module->hostValues.end())
      value = host->second;
    auto [import, isImported] = std::pair{module->imports.find(name), module->imports.contains(name)};
    if (!value && !isImported)
      continue;
    std::string guard = "configurations " + name; // lists that are made of each other
    if (!module->pending.insert(guard).second)
      return nullptr;
    ModuleScope *before = std::exchange(current, module);
    const CallExpr *found = value ? firstConfig(*value) : nullptr;
    if (isImported && !value) {
      std::string path = findModule(import->second.level, import->second.module);
      if (ModuleScope *loaded = path.empty() ? nullptr : loadModule(path)) {
        current = loaded;
        found = firstConfigNamed(import->second.name);
      }
    }
    module->pending.erase(guard);
    if (!found)
      current = before;
    return found;
  }
  return nullptr;
}

/// triton.Config(...) itself; a list of what a function keeps or puts in order; or what a host function returns.
const CallExpr *Sema::firstConfigOfCall(const CallExpr &call) {
  StringRef name = lastName(*call.callee);
  if (name == "Config")
    return &call;
  if (name == "list" || name == "tuple" || name == "filter" || name == "sorted" || name == "copy" || name == "deepcopy")
    return call.arguments.empty() ? nullptr : firstConfig(*call.arguments.back().value);
  ++hostDepth;
  std::optional<SymValue> callee = evaluateQuietly(*call.callee);
  --hostDepth;
  const auto *function =
      callee && callee->isConstant() ? std::get_if<const FunctionStmt *>(&callee->constant) : nullptr;
  if (!function || !(*function)->isHost || !(*function)->errors.empty() || frames.size() > 50)
    return nullptr;
  size_t reported = diagnostics.all().size();
  std::vector<BoundArgument> arguments;
  Environment inner;
  bool isBound = evaluateArguments(call, arguments) && bindParameters(**function, arguments, call.range, inner);
  (void)diagnostics.takeSince(reported);
  if (!isBound)
    return nullptr;
  // Scopes stay as they are where the configuration is found.
  std::swap(scope, inner);
  ModuleScope *caller = std::exchange(current, ownerOf(**function));
  std::map<std::string, const CallExpr *> outerConfigs = std::exchange(localConfigs, {});
  const CallExpr *found = nullptr;
  frames.push_back({*function, call.range, location(call.range)});
  walkForConfig((*function)->body, found);
  frames.pop_back();
  if (!found) {
    std::swap(scope, inner);
    current = caller;
    localConfigs = std::move(outerConfigs);
  }
  return found;
}

const CallExpr *Sema::firstConfig(const Expr &expr) {
  if (!charge(1, expr.range))
    return nullptr;
  if (const auto *list = as<ListExpr>(&expr))
    return list->elements.empty() ? nullptr : firstConfig(*list->elements.front());
  if (const auto *node = as<ComprehensionExpr>(&expr))
    return firstConfigOfComprehension(*node, 0);
  if (const auto *sum = as<BinaryExpr>(&expr)) {
    const CallExpr *left = firstConfig(*sum->left);
    return left ? left : firstConfig(*sum->right);
  }
  if (const auto *choice = as<ConditionalExpr>(&expr))
    return firstConfig(hostTruth(*choice->condition).value_or(true) ? *choice->thenValue : *choice->elseValue);
  if (const auto *starred = as<StarredExpr>(&expr))
    return firstConfig(*starred->value);
  if (const auto *name = as<NameExpr>(&expr))
    return firstConfigNamed(name->id);
  const auto *call = as<CallExpr>(&expr);
  return call ? firstConfigOfCall(*call) : nullptr;
}

Sema::ConfigWalk Sema::walkIfForConfig(const IfStmt &stmt, const CallExpr *&found) {
  for (const IfStmt::Branch &branch : stmt.branches)
    if (hostTruth(*branch.condition).value_or(false))
      return walkForConfig(branch.body, found);
  return walkForConfig(stmt.elseBody, found);
}

Sema::ConfigWalk Sema::walkLoopForConfig(const ForStmt &stmt, const CallExpr *&found) {
  for (const SymValue &item : hostItems(*stmt.iterator)) {
    if (!charge(1, stmt.range))
      return ConfigWalk::Done;
    scope[stmt.target->id] = Binding{item, stmt.target->range};
    ConfigWalk walk = walkForConfig(stmt.body, found);
    if (walk == ConfigWalk::Done)
      return walk;
    if (walk == ConfigWalk::Break)
      break;
  }
  return ConfigWalk::GoesOn;
}

/// Goes through a host function until a list has its first configuration, or one is returned.
Sema::ConfigWalk Sema::walkForConfig(const Block &block, const CallExpr *&found) {
  auto isFound = [&](const Expr &value) { return (found = firstConfig(value)) != nullptr; };
  for (const Stmt *stmt : block) {
    ConfigWalk walk = ConfigWalk::GoesOn;
    if (const auto *assignment = as<AssignStmt>(stmt)) {
      const auto *name = as<NameExpr>(assignment->target);
      const auto *call = as<CallExpr>(assignment->value);
      if (name && call && lastName(*call->callee) == "Config")
        localConfigs[name->id] = call;
      else if (isFound(*assignment->value))
        return ConfigWalk::Done;
      else
        bindQuietly(*assignment->target, evaluateQuietly(*assignment->value).value_or(SymValue()));
    } else if (const auto *augmented = as<AugAssignStmt>(stmt)) {
      if (isFound(*augmented->value))
        return ConfigWalk::Done;
    } else if (const auto *expression = as<ExprStmt>(stmt)) {
      const auto *call = as<CallExpr>(expression->value);
      bool isAdded = call && !call->arguments.empty() && call->callee->kind == ExprKind::Attribute &&
                     (lastName(*call->callee) == "append" || lastName(*call->callee) == "extend");
      if (isAdded && isFound(*call->arguments.front().value))
        return ConfigWalk::Done;
    } else if (const auto *branches = as<IfStmt>(stmt)) {
      walk = walkIfForConfig(*branches, found);
    } else if (const auto *loop = as<ForStmt>(stmt)) {
      walk = walkLoopForConfig(*loop, found);
    } else if (const auto *result = as<ReturnStmt>(stmt)) {
      if (result->value)
        found = firstConfig(*result->value);
      return ConfigWalk::Done;
    } else if (stmt->kind == StmtKind::Continue || stmt->kind == StmtKind::Break) {
      return stmt->kind == StmtKind::Break ? ConfigWalk::Break : ConfigWalk::Continue;
    }
    if (walk != ConfigWalk::GoesOn)
      return walk;
  }
  return ConfigWalk::GoesOn;
}

} // namespace tile::frontend
