// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives of the chosen kernel: checks that every name in them is a parameter, and builds the launch attribute that
// passes them to the manifest.

#include "Directives/Functions.h"
#include "Frontend/Sema/DirectiveDefaults.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/ExpectedShapes.h"
#include "Frontend/Sema/Launch.h"
#include "Frontend/Sema/Records.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Sema/Tuner.h"
#include "Frontend/Syntax/DirectiveExpressions.h"
#include "Frontend/Syntax/Walk.h"

#include <functional>

using namespace mlir;

namespace tile::frontend {

namespace {

/// Checks the names of directive expressions against the parameters of the kernel.
class NameChecker {
public:
  NameChecker(Emitter &sema, const FunctionStmt &kernel, std::vector<std::string> names)
      : sema(sema), kernel(kernel), names(std::move(names)) {}

  /// Also called for names that are parameters.
  std::function<void(const std::string &, SourceRange)> visit = [](const std::string &, SourceRange) {};

  void checkName(const std::string &name, SourceRange range) {
    visit(name, range);
    if (llvm::is_contained(names, name) || directives::contains(directives::integerNames, name))
      return;
    std::optional<std::string> guess = didYouMean(name, names);
    sema.error(Diag::directive_name, range, {name, kernel.name, guess ? "; did you mean '" + *guess + "'?" : ""});
  }
  void check(const DirectiveExpr &expr) { check(*expr.expr); }
  void check(const Expr &expr) {
    if (const auto *name = as<NameExpr>(&expr))
      return checkName(name->id, name->range);
    const auto *call = as<CallExpr>(&expr);
    forEachChild(expr, [&](const Expr &child) {
      if (!call || &child != call->callee)
        check(child);
    });
  }

private:
  Emitter &sema;
  const FunctionStmt &kernel;
  std::vector<std::string> names;
};

/// Checks the value of a parameter. The contents of a buffer are checked also if the parameter has become a constant.
void checkDefault(DiagnosticEngine &diagnostics, const DefaultDirective &directive, const FunctionStmt &kernel,
                  const std::vector<KernelParameter> &parameters, NameChecker &checker) {
  checker.checkName(directive.parameter, directive.nameRange);
  const bool isBuffer = llvm::any_of(kernel.directives.buffers, [&](const BufferDirective &buffer) {
    return buffer.parameter == directive.parameter;
  });
  std::optional<DType> element, scalar;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters))
    Signature::forEachLeaf(formal.name, parameter, [&](const std::string &name, const KernelParameter &leaf) {
      if (name != directive.parameter || leaf.constant || leaf.isOpen)
        return;
      if (leaf.type.isPointer || !leaf.block.empty())
        element = DType(leaf.type.scalar);
      else
        scalar = leaf.type;
    });
  if (isBuffer || element) {
    const bool hasFloats = !element || element->isFloat();
    return checkFill(diagnostics, directive, hasFloats,
                     [&](const std::string &name, SourceRange range) { checker.checkName(name, range); });
  }
  // A parameter that has become a constant may have had any type.
  const Expr &expr = *directive.value.expr;
  const DirectiveDialect dialect = scalar && scalar->isFloat() ? DirectiveDialect::Tensor : DirectiveDialect::Integer;
  if (!scalar || expr.kind == ExprKind::Bool || checkExpression(diagnostics, expr, dialect, directive.value.range))
    checker.check(expr);
}

SmallVector<StringAttr> textsOf(OpBuilder &builder, const std::vector<DirectiveExpr> &expressions) {
  return llvm::map_to_vector(expressions, [&](const DirectiveExpr &expr) { return builder.getStringAttr(expr.text); });
}

using AddDefault = llvm::function_ref<void(const std::string &parameter, const std::string &value)>;

/// Gives a descriptor's size and stride arguments the values of its buffer.
void describeDescriptor(const BufferDirective &buffer, AddDefault addDefault) {
  auto add = [&](const char *what, size_t index, const std::string &text) {
    addDefault(buffer.parameter + what + std::to_string(index), text);
  };
  for (size_t i = 0; i < buffer.shape.size(); ++i)
    add("_shape", i, buffer.shape[i].text);
  std::string pitch = "1";
  for (size_t i = buffer.shape.size(); i-- > 1;) {
    pitch = "(" + buffer.shape[i].text + ") * " + pitch;
    add("_stride", i - 1, buffer.strides.empty() ? pitch : buffer.strides[i - 1].text);
  }
}

} // namespace

bool Launch::checkDirectives(const FunctionStmt &kernel, const std::vector<KernelParameter> &parameters) {
  size_t errorsBefore = diagnostics.numErrors();
  std::vector<std::string> names;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters))
    sema.signature.forEachLeaf(formal.name, parameter,
                               [&](const std::string &name, const auto &) { names.push_back(name); });
  for (const auto &[name, value] : kernel.directives.bindings)
    if (llvm::is_contained(names, name))
      error(Diag::let_parameter, value->range, {name, kernel.name});
  // Expectations may also name what earlier kernels read.
  std::vector<std::string> expected = names;
  std::vector<const FunctionStmt *> before = functionsBefore(module, kernel);
  if (!kernel.directives.after.empty() && before.empty()) {
    std::vector<std::string> others = listLaunchedKernels(module);
    llvm::erase(others, kernel.name);
    std::optional<std::string> guess = didYouMean(kernel.directives.after, others);
    error(Diag::after_kernel, kernel.directives.afterRange,
          {kernel.directives.after, kernel.name, guess ? "; did you mean '" + *guess + "'?" : ""});
  }
  for (const FunctionStmt *function : before)
    for (const Parameter &parameter : function->parameters)
      expected.push_back(parameter.name);
  const std::map<std::string, std::string> others = namesOtherThanIntegers(kernel, parameters);
  ExpectedNames readable;
  const auto addBuffers = [&](const FunctionStmt &function) {
    for (const BufferDirective &buffer : function.directives.buffers)
      readable.buffers[buffer.parameter] = &buffer;
  };
  for (const FunctionStmt *function : before)
    addBuffers(*function);
  addBuffers(kernel);
  for (const std::string &name : names)
    if (auto other = others.find(name); other == others.end() || other->second != "a pointer")
      readable.scalars.insert(name);
  readable.scalars.insert(std::begin(directives::integerNames), std::end(directives::integerNames));
  const auto checkInteger = [&](const std::string &name, SourceRange range) {
    if (auto other = others.find(name); other != others.end())
      error(Diag::directive_integer_name, range, {name, other->second});
  };
  // The caller of an artifact with alternatives does not know which one a launch takes, so buffers and expectations
  // must not depend on it.
  std::set<std::string> refused;
  const auto refuseAlternatives = [&](const std::string &place) {
    return [this, &refused, place](const std::string &name, SourceRange range) {
      if (llvm::is_contained(request.alternatives, name) && refused.insert(name).second)
        error(Diag::varied_constant, range, {name, place});
    };
  };
  NameChecker integerChecker(emitter, kernel, names);
  integerChecker.visit = checkInteger;
  NameChecker checker(emitter, kernel, std::move(names)), expectChecker(emitter, kernel, std::move(expected));
  for (const DirectiveExpr &expr : kernel.directives.grid)
    integerChecker.check(expr);
  for (const DirectiveExpr &expr : kernel.directives.requirements)
    integerChecker.check(expr);
  for (const BufferDirective &buffer : kernel.directives.buffers) {
    checker.checkName(buffer.parameter, buffer.nameRange);
    for (const auto &[what, sizes] : {std::pair("the shape", &buffer.shape), {"the strides", &buffer.strides}}) {
      integerChecker.visit = [&, refuse = refuseAlternatives(what + (" of buffer '" + buffer.parameter + "'"))](
                                 const std::string &name, SourceRange range) {
        checkInteger(name, range);
        refuse(name, range);
      };
      llvm::for_each(*sizes, [&](const DirectiveExpr &expr) { integerChecker.check(expr); });
    }
  }
  for (const ConfigDirective &config : kernel.directives.configs)
    checkConfig(config, kernel, parameters);
  for (const DefaultDirective &directive : kernel.directives.defaults)
    checkDefault(diagnostics, directive, kernel, parameters, checker);
  for (const ExpectDirective &directive : kernel.directives.expects) {
    checker.checkName(directive.buffer, directive.nameRange);
    const size_t before = diagnostics.numErrors();
    expectChecker.visit = refuseAlternatives("the expected '" + directive.buffer + "'");
    expectChecker.check(directive.value);
    if (diagnostics.numErrors() == before)
      checkExpectation(diagnostics, directive, readable);
    for (const BufferDirective &buffer : kernel.directives.buffers)
      if (buffer.parameter == directive.buffer && buffer.role == "random")
        error(Diag::expected_input, directive.nameRange, {directive.buffer},
              std::pair{buffer.range, std::string("it is declared as an input here")});
  }
  return diagnostics.numErrors() == errorsBefore;
}

/// Returns the parameters that integer expressions cannot use, with a description of each.
std::map<std::string, std::string> Launch::namesOtherThanIntegers(const FunctionStmt &kernel,
                                                                  const std::vector<KernelParameter> &parameters) {
  std::map<std::string, std::string> others;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters))
    sema.signature.forEachLeaf(formal.name, parameter, [&](const std::string &name, const KernelParameter &leaf) {
      if (leaf.constant || leaf.isOpen)
        return;
      if (leaf.type.isPointer || !leaf.block.empty())
        others[name] = "a pointer";
      else if (leaf.type.isFloat())
        others[name] = "a floating-point parameter";
    });
  return others;
}

/// Checks a config directive: constants are compile-time parameters, and names in the condition are integers.
void Launch::checkConfig(const ConfigDirective &config, const FunctionStmt &kernel,
                         const std::vector<KernelParameter> &parameters) {
  std::vector<std::string> names, constants = {"num_warps", "num_stages"};
  const std::map<std::string, std::string> others = namesOtherThanIntegers(kernel, parameters);
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters))
    sema.signature.forEachLeaf(formal.name, parameter, [&](const std::string &name, const KernelParameter &leaf) {
      names.push_back(name);
      if (leaf.constant || leaf.isOpen)
        constants.push_back(name);
    });
  for (const ConfigDirective::Constant &constant : config.constants)
    if (!llvm::is_contained(constants, constant.name))
      error(Diag::config_constant, constant.range, {constant.name, kernel.name});
  checkConfigExists(config);
  NameChecker checker(emitter, kernel, std::move(names));
  checker.visit = [&](const std::string &name, SourceRange range) {
    if (auto other = others.find(name); other != others.end())
      error(Diag::config_condition, range, {name, other->second});
  };
  checker.check(config.condition);
}

/// Checks that the artifact has a configuration with the constants of the directive. Constants that are the same in all
/// configurations, because an option fixes them, are not compared.
void Launch::checkConfigExists(const ConfigDirective &config) {
  auto print = [](const auto &constants) {
    std::string text;
    for (const auto &[name, value] : constants)
      text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
  };
  std::map<std::string, std::string> sought;
  for (const ConfigDirective::Constant &constant : config.constants)
    sought[constant.name] = sema.tuner.definitionOf(sema.evaluator.evaluate(*constant.value.expr)).value_or("");
  std::vector<std::string> others;
  for (const std::map<std::string, std::string> &known : request.configurations) {
    std::map<std::string, std::string> same;
    for (const auto &[name, value] : sought)
      if (auto found = known.find(name); found != known.end())
        same.insert(*found);
    if (same.size() < sought.size() || same == sought)
      return;
    if (std::string text = print(same); !llvm::is_contained(others, text))
      others.push_back(std::move(text));
  }
  constexpr size_t most = 8;
  if (others.size() > most) {
    others.resize(most);
    others.push_back("...");
  }
  if (!others.empty())
    error(Diag::config_unmatched, join(config.constants.front().range, config.constants.back().value.expr->range),
          {print(sought), llvm::join(others, ", ")});
}

/// Evaluates "within", which may depend on element types: 1e-2 if c.dtype.element_ty == bf16 else 1e-3.
double Launch::evaluateTolerance(const ExpectDirective &directive) {
  if (!directive.tolerance)
    return 0;
  SymValue value = sema.evaluator.evaluate(*directive.tolerance->expr);
  std::optional<double> number = value.isConstant() ? asDouble(value.constant) : std::nullopt;
  bool isBound = number && *number >= 0 && *number <= 1;
  if (!value.isError() && !isBound)
    error(Diag::directive_tolerance, directive.tolerance->range, {describe(value)});
  return isBound ? *number : 0;
}

Grid Launch::gridOf(const FunctionStmt &kernel, const InstanceDirective *instance) {
  Grid grid;
  for (const DirectiveExpr &axis : instance && !instance->grid.empty() ? instance->grid : kernel.directives.grid)
    grid.push_back(treeOf(*axis.expr));
  return grid.empty() ? gridOfHost(kernel) : grid;
}

LaunchAttr Launch::launchAttribute(const FunctionStmt &kernel, const InstanceDirective *instance) {
  const DirectiveSet &directives = kernel.directives;
  sema.records.text.grid = gridOf(kernel, instance);
  auto grid = llvm::map_to_vector(sema.records.text.grid, [&](const directives::ExpressionTree &axis) {
    return builder.getStringAttr(axis.print());
  });
  // A parameter that has become a constant needs neither memory nor a default.
  auto valueOf = [&](const std::string &name) {
    auto leaf = sema.signature.tupleLeaves.find(name);
    auto found = scope.find(name);
    return leaf != sema.signature.tupleLeaves.end() ? leaf->second
           : found != scope.end()                   ? found->second.value
                                                    : SymValue();
  };
  auto isRuntime = [&](const std::string &name) {
    SymValue value = valueOf(name);
    return !value.isError() && !value.isConstant();
  };
  MLIRContext *context = builder.getContext();
  SmallVector<DefaultAttr> defaults;
  auto addDefault = [&](const std::string &parameter, const std::string &value) {
    auto name = builder.getStringAttr(parameter);
    // A name clash of a descriptor's sizes with parameters is an error of the manifest.
    if (llvm::none_of(defaults, [&](DefaultAttr other) { return other.getParameter() == name; }))
      defaults.push_back(DefaultAttr::get(context, name, builder.getStringAttr(value)));
  };
  SmallVector<BufferAttr> buffers;
  for (const BufferDirective &buffer : directives.buffers) {
    if (!isRuntime(buffer.parameter))
      continue;
    if (valueOf(buffer.parameter).kind == SymValue::Kind::Descriptor)
      describeDescriptor(buffer, addDefault);
    buffers.push_back(BufferAttr::get(context, builder.getStringAttr(buffer.parameter), textsOf(builder, buffer.shape),
                                      textsOf(builder, buffer.strides), *symbolizeBufferRole(buffer.role)));
  }
  for (const DefaultDirective &directive : directives.defaults)
    if (isRuntime(directive.parameter))
      addDefault(directive.parameter, directive.value.text);
  // A numeric default of the parameter itself; the kernel may be compiled with a pointer or an integer instead.
  for (const Parameter &parameter : kernel.parameters) {
    bool isStated = llvm::any_of(
        directives.defaults, [&](const DefaultDirective &directive) { return directive.parameter == parameter.name; });
    if (isStated || !parameter.defaultValue || !isRuntime(parameter.name))
      continue;
    DType type = scope.find(parameter.name)->second.value.type;
    if (type.isPointer)
      continue;
    SymValue value = sema.evaluator.evaluate(*parameter.defaultValue);
    bool isNumeric = value.isConstant() && isNumber(value.constant) && !std::holds_alternative<bool>(value.constant);
    if (isNumeric && (type.isFloat() || asInteger(value.constant)))
      addDefault(parameter.name, str(value.constant));
  }
  SmallVector<ExpectAttr> expects;
  for (const ExpectDirective &expect : directives.expects)
    expects.push_back(ExpectAttr::get(context, builder.getStringAttr(expect.buffer),
                                      builder.getStringAttr(expect.value.text),
                                      builder.getF64FloatAttr(evaluateTolerance(expect))));
  return LaunchAttr::get(context, grid, textsOf(builder, directives.requirements), buffers, defaults, expects);
}

} // namespace tile::frontend
