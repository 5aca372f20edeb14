// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Frontend/Sema/DirectiveDefaults.h"

#include "Directives/Functions.h"
#include "Frontend/Syntax/DirectiveExpressions.h"
#include "Frontend/Syntax/Unparse.h"
#include "Frontend/Syntax/Walk.h"

namespace tile::frontend {
namespace {

class FillChecker {
public:
  FillChecker(DiagnosticEngine &diagnostics, const DefaultDirective &directive, bool hasFloats,
              const CheckName &checkName)
      : diagnostics(diagnostics), directive(directive), hasFloats(hasFloats), checkName(checkName) {}

  void check() {
    const Expr &expr = *directive.value.expr;
    if (expr.kind == ExprKind::List)
      return checkElement(expr, hasFloats);
    const auto *call = as<CallExpr>(&expr);
    const auto *name = as<NameExpr>(call ? call->callee : &expr);
    const directives::FillForm *form = name ? directives::find(directives::fillings, name->id) : nullptr;
    if (!form)
      return reject(expr, listForms(name ? name->id : ""));
    size_t count = 0;
    for (const Argument &argument : call ? call->arguments : std::vector<Argument>()) {
      const bool isSeed = argument.name.empty() ? call->arguments.size() == 1 && form->takesPlainSeed()
                                                : argument.name == "seed" && form->takesSeed;
      if (!isSeed && !argument.name.empty()) {
        diagnostics.report(Diag::directive_keyword, argument.nameRange,
                           {std::string(form->name), argument.name, "; expected " + std::string(form->spelling)});
        return;
      }
      if (isSeed && argument.value->kind != ExprKind::Int)
        return reject(*argument.value, "a non-negative integer as the seed");
      count += !isSeed;
    }
    if (!form->accepts(count))
      return reject(expr, std::string(form->spelling));
    const bool takesFloats = hasFloats && (form->name == "full" || form->name == "uniform");
    for (const Argument &argument : call ? call->arguments : std::vector<Argument>())
      checkElement(*argument.value, takesFloats);
  }

private:
  void reject(const Expr &expr, const std::string &expected) {
    diagnostics.report(Diag::directive_fill, expr.range, {unparse(expr).substr(0, 60), directive.parameter, expected});
  }

  static std::string listForms(const std::string &name) {
    constexpr auto known = directives::namesOf(directives::fillings);
    const std::optional<std::string> guess = didYouMean(name, {known.begin(), known.end()});
    if (guess)
      return "a list or a fill function; did you mean '" + *guess + "'?";
    std::string text = "a list, or one of the fill functions ";
    for (std::string_view form : known)
      text += (form == known.front() ? "" : ", ") + std::string(form);
    return text;
  }

  /// Checks an element of a list, or an argument of a fill function.
  void checkElement(const Expr &expr, bool takesFloats) {
    if (expr.kind == ExprKind::List) {
      forEachChild(expr, [&](const Expr &child) { checkElement(child, takesFloats); });
      return;
    }
    if (expr.kind == ExprKind::Bool ||
        checkExpression(diagnostics, expr, takesFloats ? DirectiveDialect::Tensor : DirectiveDialect::Integer,
                        expr.range))
      checkNames(expr, takesFloats);
  }

  void checkNames(const Expr &expr, bool takesFloats) {
    if (const auto *name = as<NameExpr>(&expr)) {
      if (!takesFloats || (name->id != "inf" && name->id != "nan"))
        checkName(name->id, name->range);
      return;
    }
    const auto *call = as<CallExpr>(&expr);
    forEachChild(expr, [&](const Expr &child) {
      if (!call || &child != call->callee)
        checkNames(child, takesFloats);
    });
  }

  DiagnosticEngine &diagnostics;
  const DefaultDirective &directive;
  const bool hasFloats;
  const CheckName &checkName;
};

} // namespace

void checkFill(DiagnosticEngine &diagnostics, const DefaultDirective &directive, bool hasFloats,
               const CheckName &checkName) {
  FillChecker(diagnostics, directive, hasFloats, checkName).check();
}

} // namespace tile::frontend
