// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warnings about code that does not mean what it seems to, and records of the source text of operations, for the
// warnings of lib/Lint on the finished kernel.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Sema/Records.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::frontend {

/// Warns about a constant operand with which an integer operation has no defined result, such as a zero divisor.
void Records::warnConstantOperand(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range) {
  if (!left.isTensor() || !left.type.isInt() || !right.isConstant())
    return;
  std::optional<Int128> number = asInteger(right.constant);
  if (!number)
    return;
  if (*number == 0 && (op == BinaryOp::FloorDiv || op == BinaryOp::Mod))
    warn(Diag::zero_divisor, range, {std::string(spelling(op))});
  const bool isShift = op == BinaryOp::LShift || op == BinaryOp::RShift;
  if (isShift && (*number < 0 || *number >= left.type.bits()))
    warn(Diag::shift_width, range, {toString(left.type), str(right.constant), std::to_string(left.type.bits() - 1)});
}

static bool isPrimary(const Expr &expr) {
  return expr.parenthesized || expr.kind == ExprKind::Name || expr.kind == ExprKind::Call ||
         expr.kind == ExprKind::Attribute || expr.kind == ExprKind::Subscript;
}

void Records::rememberMultiplication(const SymValue &value, const BinaryExpr &expr) {
  if (!request.inspect || !value.isTensor() || !value.value.getDefiningOp<arith::MulIOp>())
    return;
  // "x *= y": the left operand is the target.
  SourceRange between{expr.left->range.end, expr.right->range.begin, expr.range.file};
  bool isAssignment = diagnostics.text(between).find('=') != std::string_view::npos;
  text.operations[value.value.getDefiningOp()] = {expr.range,
                                                  expr.left->fullRange(),
                                                  expr.right->fullRange(),
                                                  isPrimary(*expr.left) && !isAssignment,
                                                  isPrimary(*expr.right),
                                                  sema.session.callsAround()};
}

/// Records the load or store of a builtin that has just been emitted.
void Records::rememberAccess(const SymValue &result, SourceRange range) {
  if (!request.inspect)
    return;
  Operation *op = result.isTensor() ? result.value.getDefiningOp() : nullptr;
  mlir::Block *block = builder.getInsertionBlock();
  if (!op && block && builder.getInsertionPoint() != block->begin())
    op = &*std::prev(builder.getInsertionPoint());
  while (op && !isa<LoadOp, StoreOp>(op) && op->getNumOperands() == 1) // skip conversions
    op = op->getOperand(0).getDefiningOp();
  if (isa_and_present<LoadOp, StoreOp>(op) && !text.operations.contains(op))
    text.operations[op] = {range, {}, {}, false, false, sema.session.callsAround()};
}

/// Warns if a name to which a number was assigned promotes a tensor of a narrower type. The assignment made the number
/// a typed scalar; the number itself would not have promoted the tensor.
void Records::warnLostWeakness(const SymValue &left, const SymValue &right, DType common, bool isDivision,
                               SourceRange range) {
  const SymValue *operands[2] = {&left, &right};
  for (int i = 0; i < 2; ++i) {
    const SymValue &scalar = *operands[i], &tensor = *operands[1 - i];
    if (!scalar.isScalar() || !tensor.isTensor() || tensor.type == common)
      continue;
    auto named = namedLiterals.find(scalar.value);
    if (named == namedLiterals.end() || namedLiterals.contains(tensor.value))
      continue;
    std::string reason;
    OperandType weak{scalar.type, /*isWeak=*/true}, strong{tensor.type, /*isWeak=*/false};
    std::optional<DType> kept = promote(i == 0 ? weak : strong, i == 0 ? strong : weak, isDivision, reason);
    if (!kept || *kept != tensor.type)
      continue;
    const NamedLiteral &literal = named->second;
    SourceRange behindName{literal.definition.end, literal.definition.end, literal.definition.file};
    warn(Diag::lost_weakness, range, {literal.name, toString(scalar.type), toString(common), toString(tensor.type)})
        .note(literal.definition, "'" + literal.name + "' is defined here")
        .fixItOfNote(behindName, ": tl.constexpr");
  }
}

void Records::warnUnusedAdvance(const Expr &expr) {
  const auto *call = as<CallExpr>(&expr);
  if (!call)
    return;
  const auto *attribute = as<AttributeExpr>(call->callee);
  const auto *name = as<NameExpr>(call->callee);
  if ((attribute ? attribute->attribute : name ? name->id : "") != "advance")
    return;
  // tl.advance(p, ...), or p.advance(...).
  const auto *receiver = attribute ? as<NameExpr>(attribute->value) : nullptr;
  bool isMethod = receiver && scope.contains(receiver->id);
  const NameExpr *pointer = isMethod                  ? receiver
                            : call->arguments.empty() ? nullptr
                                                      : as<NameExpr>(call->arguments[0].value);
  auto warning = warn(Diag::unused_advance, expr.range);
  if (pointer)
    warning.fixIt({expr.range.begin, expr.range.begin, expr.range.file}, pointer->id + " = ");
}

/// Warns about an annotation that does not fit the value: for local names, Triton ignores annotations except
/// "constexpr".
void Records::warnIgnoredAnnotation(const AnnAssignStmt &stmt, const SymValue &annotation, const SymValue &value) {
  if (annotation.isError() || value.isError())
    return;
  const auto *type = annotation.isConstant() ? std::get_if<DType>(&annotation.constant) : nullptr;
  const auto *name = annotation.isConstant() ? std::get_if<TypeNameValue>(&annotation.constant) : nullptr;
  bool holds = value.isTensor() && ((type && *type == value.type) || (name && name->name == "tensor"));
  if (holds)
    return;
  auto warning = warn(Diag::ignored_annotation, stmt.annotation->range, {stmt.target->id, describe(value)});
  if (type && value.isTensor())
    warning.fixIt({stmt.target->range.begin, stmt.value->fullRange().end, stmt.range.file},
                  stmt.target->id + " = tl.cast(" + std::string(diagnostics.text(stmt.value->fullRange())) + ", " +
                      std::string(diagnostics.text(stmt.annotation->range)) + ")");
}

} // namespace tile::frontend
