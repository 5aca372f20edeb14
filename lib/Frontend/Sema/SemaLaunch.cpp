// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives the grid of a kernel without a grid directive from its launch in the host program. The grid may only depend
// on values that are also passed to the kernel.
//
//   M, K = a.shape
//   grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]),)
//   matmul[grid](a, b, c, M, N, K, ...)                        grid(cdiv(M, BLOCK_M))
//
// Other uses of these names in between are detected. In that case, or if two launches differ, the caller has to provide
// the grid.

#include "Directives/Functions.h"
#include "Frontend/Sema/Launch.h"
#include "Frontend/Syntax/DirectiveExpressions.h"

using namespace mlir;

namespace tile::frontend {

using directives::ExpressionTree;

namespace {

/// Translates the grid of one launch to an expression of the kernel's parameters.
class LaunchReader {
public:
  LaunchReader(const HostLaunch &launch, const FunctionStmt &kernel,
               llvm::function_ref<bool(const std::string &)> isInteger)
      : launch(launch), isInteger(isInteger) {
    size_t position = 0;
    bool knowsPosition = true;
    for (const Argument &argument : launch.call->arguments) {
      knowsPosition &= argument.value->kind != ExprKind::Starred;
      bool isKnown = !argument.name.empty() || (knowsPosition && position < kernel.parameters.size());
      if (isKnown)
        passed.emplace_back(argument.value, argument.name.empty() ? kernel.parameters[position].name : argument.name);
      position += argument.name.empty();
    }
    for (const Parameter &parameter : kernel.parameters)
      formals.insert(parameter.name);
  }

  Grid read() { return readGrid(*launch.launcher->index, callPlace()); }

private:
  uint32_t callPlace() const { return launch.call->range.begin; }

  /// Returns the bindings before the call, and later ones in a loop around it.
  std::vector<const HostLaunch::Binding *> bindingsOf(const std::string &name) const {
    std::vector<const HostLaunch::Binding *> found;
    for (const HostLaunch::Binding &binding : launch.bindings)
      if (binding.name == name)
        found.push_back(&binding);
    return found;
  }

  /// Returns true if the name still has the value at the call that it had at `place`.
  bool isUnchangedSince(const std::string &name, uint32_t place) const {
    return place == callPlace() ||
           llvm::none_of(bindingsOf(name), [&](const HostLaunch::Binding *binding) { return binding->place > place; });
  }

  /// Returns the value of a name that is bound once, before `place`.
  const HostLaunch::Binding *valueOf(const std::string &name, uint32_t place) const {
    std::vector<const HostLaunch::Binding *> bindings = bindingsOf(name);
    bool isClear = bindings.size() == 1 && bindings.front()->value && bindings.front()->place < place;
    return isClear ? bindings.front() : nullptr;
  }

  Grid readGrid(const Expr &expr, uint32_t place) {
    if (const auto *name = as<NameExpr>(&expr)) {
      const HostLaunch::Binding *binding = valueOf(name->id, place);
      bool isWhole = binding && binding->element == HostLaunch::whole;
      // The launch evaluates a function.
      bool isLate = isWhole && binding->value->kind == ExprKind::Lambda;
      return isWhole ? readGrid(*binding->value, isLate ? callPlace() : binding->place) : Grid();
    }
    if (const auto *lambda = as<LambdaExpr>(&expr)) {
      if (lambda->parameters.size() != 1)
        return {};
      meta = lambda->parameters.front();
      return readGrid(*lambda->body, place);
    }
    std::vector<const Expr *> dimensions{&expr};
    if (const auto *tuple = as<TupleExpr>(&expr))
      dimensions = tuple->elements;
    else if (const auto *list = as<ListExpr>(&expr))
      dimensions = list->elements;
    constexpr size_t most = 3;
    std::optional<Grid> grid = readAll(dimensions, place);
    return grid && grid->size() <= most ? std::move(*grid) : Grid();
  }

  /// Returns other spellings of a name that are equivalent at the call: "x.shape[0]".
  std::optional<std::string> spellingOf(const NameExpr &name) const {
    const HostLaunch::Binding *binding = valueOf(name.id, callPlace());
    if (!binding)
      return std::nullopt;
    std::string text = unparse(*binding->value);
    return binding->element == HostLaunch::whole ? text : text + "[" + std::to_string(binding->element) + "]";
  }

  static const NameExpr *rootOf(const Expr *expr) {
    while (expr && expr->kind != ExprKind::Name) {
      if (const auto *attribute = as<AttributeExpr>(expr))
        expr = attribute->value;
      else if (const auto *subscript = as<SubscriptExpr>(expr))
        expr = subscript->value;
      else if (const auto *call = as<CallExpr>(expr))
        expr = call->callee;
      else
        return nullptr;
    }
    return as<NameExpr>(expr);
  }

  /// Returns the parameter that receives this value.
  std::optional<std::string> parameterOf(const Expr &expr, uint32_t place) const {
    const NameExpr *root = rootOf(&expr);
    if (!root || !isUnchangedSince(root->id, place))
      return std::nullopt;
    const auto *itself = as<NameExpr>(&expr);
    std::string text = unparse(expr), other = itself ? spellingOf(*itself).value_or(text) : text;
    for (const auto &[value, parameter] : passed) {
      const auto *name = as<NameExpr>(value);
      std::string argument = unparse(*value), meaning = name ? spellingOf(*name).value_or(argument) : argument;
      if ((text == argument || other == meaning) && isInteger(parameter))
        return parameter;
    }
    return std::nullopt;
  }

  /// Reads META["BLOCK_M"].
  std::optional<std::string> metaOf(const SubscriptExpr &expr) const {
    const auto *name = as<NameExpr>(expr.value);
    const auto *key = as<StringExpr>(expr.index);
    bool isMeta = name && key && !meta.empty() && name->id == meta && formals.contains(key->value);
    return isMeta && isInteger(key->value) ? std::optional(key->value) : std::nullopt;
  }

  std::optional<ExpressionTree> read(const Expr &expr, uint32_t place) {
    constexpr int deepest = 32; // limit for chains of names
    if (depth > deepest)
      return std::nullopt;
    ++depth;
    std::optional<ExpressionTree> tree = readAt(expr, place);
    --depth;
    return tree;
  }

  std::optional<ExpressionTree> readAt(const Expr &expr, uint32_t place) {
    if (expr.kind == ExprKind::Int)
      return treeOf(expr);
    const auto *item = as<SubscriptExpr>(&expr);
    std::optional<std::string> parameter = parameterOf(expr, place);
    if (!parameter && item)
      parameter = metaOf(*item);
    if (parameter)
      return ExpressionTree::name(*parameter);
    if (const auto *node = as<NameExpr>(&expr)) {
      const HostLaunch::Binding *binding = valueOf(node->id, place);
      bool isWhole = binding && binding->element == HostLaunch::whole;
      return isWhole ? read(*binding->value, binding->place) : std::nullopt;
    }
    if (const auto *node = as<BinaryExpr>(&expr))
      return readBinary(*node, place);
    if (const auto *node = as<CallExpr>(&expr))
      return readCall(*node, place);
    return std::nullopt;
  }

  std::optional<ExpressionTree> readBinary(const BinaryExpr &node, uint32_t place) {
    const bool isKnown =
        llvm::is_contained({BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mult, BinaryOp::FloorDiv, BinaryOp::Mod}, node.op);
    std::optional<Grid> operands = isKnown ? readAll({node.left, node.right}, place) : std::nullopt;
    return operands ? std::optional(ExpressionTree::apply(std::string(spelling(node.op)), std::move(*operands)))
                    : std::nullopt;
  }

  /// Reads cdiv, min and similar functions of any module; int(x); math.ceil(a / b).
  std::optional<ExpressionTree> readCall(const CallExpr &call, uint32_t place) {
    const auto *attribute = as<AttributeExpr>(call.callee);
    const auto *plain = as<NameExpr>(call.callee);
    std::string name = attribute ? attribute->attribute : plain ? plain->id : "";
    if (name == "int" && call.arguments.size() == 1)
      return read(*call.arguments.front().value, place);
    if (name == "ceil" && call.arguments.size() == 1) {
      const auto *quotient = as<BinaryExpr>(call.arguments.front().value);
      if (!quotient || quotient->op != BinaryOp::Div)
        return std::nullopt;
      return readFunction("cdiv", {quotient->left, quotient->right}, place);
    }
    bool isKnown = directives::find(directives::integerFunctions, name) != nullptr;
    std::vector<const Expr *> arguments;
    for (const Argument &argument : call.arguments) {
      isKnown &= argument.name.empty();
      arguments.push_back(argument.value);
    }
    return isKnown ? readFunction(name, arguments, place) : std::nullopt;
  }

  std::optional<ExpressionTree> readFunction(const std::string &name, const std::vector<const Expr *> &arguments,
                                             uint32_t place) {
    std::optional<Grid> values = readAll(arguments, place);
    return values ? std::optional(ExpressionTree::call(name, std::move(*values))) : std::nullopt;
  }

  std::optional<Grid> readAll(const std::vector<const Expr *> &expressions, uint32_t place) {
    Grid values;
    for (const Expr *expr : expressions) {
      std::optional<ExpressionTree> value = read(*expr, place);
      if (!value)
        return std::nullopt;
      values.push_back(std::move(*value));
    }
    return values;
  }

  const HostLaunch &launch;
  llvm::function_ref<bool(const std::string &)> isInteger;
  std::vector<std::pair<const Expr *, std::string>> passed;
  std::set<std::string> formals;
  std::string meta;
  int depth = 0;
};

} // namespace

/// Returns one to three expressions; none if the host program does not launch the kernel, or not in a supported way.
Grid Launch::gridOfHost(const FunctionStmt &kernel) {
  auto isInteger = [&](const std::string &name) {
    auto found = scope.find(name);
    if (found == scope.end())
      return false;
    const SymValue &value = found->second.value;
    if (value.isConstant())
      return asInteger(value.constant).has_value();
    return value.value && value.type.isInt() && !isa<RankedTensorType>(value.value.getType());
  };
  auto print = [](const ExpressionTree &axis) { return axis.print(); };
  Grid grid;
  for (const HostLaunch &launch : module.launches) {
    if (launch.kernel != kernel.name)
      continue;
    Grid one;
    if (launch.launcher)
      one = LaunchReader(launch, kernel, isInteger).read();
    if (one.empty() || (!grid.empty() && !llvm::equal(llvm::map_range(one, print), llvm::map_range(grid, print))))
      return {};
    grid = std::move(one);
  }
  return grid;
}

} // namespace tile::frontend
