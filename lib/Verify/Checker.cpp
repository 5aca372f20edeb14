// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A condition that guards an access may be used as a hypothesis only if its values do not overflow. This must be proven
// from the enclosing conditions. Conditions for which it cannot be proven are dropped: with fewer hypotheses, the
// prover may prove less, but never something false.
#include "Verify/Checker.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::verify {

Checker::Checker(KernelOp kernel, const runtime::Manifest &manifest, Solver &solver, const Options &options)
    : kernel(kernel), manifest(manifest), launch(kernel, manifest, symbols, options), budget(options.seconds),
      prover(symbols, solver, budget), replay(kernel, manifest), main(kernel, symbols, launch) {
  for (const Formula &fact : launch.facts())
    prover.assume(fact);
}

Finding Checker::describe(Operation *op, const char *kind) const {
  Finding finding;
  finding.position = interp::positionOf(op->getLoc());
  finding.kind = kind;
  return finding;
}

std::optional<Gap> Checker::findGap(const Needs &needs, Evaluator &evaluator, const std::vector<Formula> &hypotheses) {
  Formula all;
  for (unsigned index : needs)
    all = all && evaluator.need(index).condition;
  if (prover.proves(hypotheses, all, /*withProducts=*/needs.size() < 2))
    return std::nullopt;
  for (unsigned index : needs)
    if (const Need &need = evaluator.need(index); !prover.proves(hypotheses, need.condition))
      return Gap{hypotheses, need.condition, need.text + " (" + lineOf(need.location) + ")"};
  return std::nullopt;
}

void Checker::addPath(Operation *op, Evaluator &evaluator, Hypotheses &known) {
  for (const PathStep &step : evaluator.pathTo(op)) {
    std::optional<Gap> gap = findGap(step.needs, evaluator, known.formulas);
    if (!gap)
      known.formulas.push_back(step.condition);
    else if (!step.isAssumption)
      known.gaps.push_back(std::move(*gap));
  }
}

void Checker::addMask(llvm::ArrayRef<TruthTerm> mask, Evaluator &evaluator, Hypotheses &known) {
  std::vector<TruthTerm> left(mask.begin(), mask.end());
  // A conjunct may exclude the values for which another one overflows, so unproven conjuncts are tried again.
  for (bool hasChanged = true; hasChanged && !left.empty();) {
    hasChanged = false;
    std::vector<TruthTerm> next;
    for (TruthTerm &part : left) {
      std::optional<Gap> gap = findGap(part.needs, evaluator, known.formulas);
      if (!gap) {
        known.formulas.push_back(part.truth);
        hasChanged = true;
      } else {
        next.push_back(std::move(part));
      }
    }
    left = std::move(next);
  }
  for (const TruthTerm &part : left)
    if (std::optional<Gap> gap = findGap(part.needs, evaluator, known.formulas))
      known.gaps.push_back(std::move(*gap));
}

bool Checker::proveInside(const BufferTerms &buffer, const Poly &offset, llvm::ArrayRef<Formula> hypotheses) {
  return prover.proves(hypotheses, findPosition(buffer, offset).isInside) ||
         prover.proves(hypotheses, isWithin(buffer, offset));
}

std::set<Symbol> Checker::closureOf(std::set<Symbol> next) const {
  std::set<Symbol> known;
  while (!next.empty()) {
    const Symbol symbol = *next.begin();
    next.erase(next.begin());
    if (!known.insert(symbol).second)
      continue;
    for (const Formula &fact : symbols[symbol].facts)
      fact.addTo(next);
  }
  return known;
}

std::set<Symbol> Checker::closureOf(const Poly &poly) const {
  std::set<Symbol> start;
  poly.addTo(start);
  return closureOf(std::move(start));
}

std::set<Symbol> Checker::loadedIn(const Poly &poly) const {
  std::set<Symbol> found;
  for (Symbol symbol : closureOf(poly))
    if (symbols[symbol].kind == SymbolKind::Loaded)
      found.insert(symbol);
  return found;
}

std::string Checker::explainUnknowns(const Poly &poly) const {
  std::set<std::string> texts;
  for (Symbol symbol : closureOf(poly))
    if (const SymbolInfo &info = symbols[symbol];
        (info.kind == SymbolKind::Opaque && !info.isFlag) || info.kind == SymbolKind::Loaded)
      texts.insert(info.text);
  return texts.empty() ? "" : "; it depends on " + llvm::join(texts, ", ");
}

std::optional<std::string> Checker::findCondition(const Access &access, const BufferTerms &buffer,
                                                  const Hypotheses &known) {
  const std::set<Symbol> loaded = loadedIn(access.pointer.offset);
  if (loaded.empty())
    return std::nullopt;
  std::set<std::string> texts;
  for (Symbol symbol : loaded)
    texts.insert(symbols[symbol].text);
  const std::string values = llvm::join(texts, " and ");
  auto holdsIf = [&](const Poly &bound) {
    std::vector<Formula> hypotheses = known.formulas;
    for (Symbol symbol : loaded) {
      hypotheses.push_back(Formula::lessEqual(0, Poly::symbol(symbol)));
      hypotheses.push_back(Formula::less(Poly::symbol(symbol), bound));
    }
    return !findGap(access.pointer.needs, main, hypotheses) && proveInside(buffer, access.pointer.offset, hypotheses);
  };
  for (auto [axis, size] : llvm::enumerate(buffer.shape))
    if (holdsIf(size))
      return "in bounds if 0 <= v < " + buffer.shapeTexts[axis] + " for " + values;
  // If no such condition is found, the offset as a whole must be proven to be in bounds.
  return std::nullopt;
}

Finding Checker::checkAccess(Operation *op) {
  Access access = evaluateAccess(op, main);
  Finding finding = describe(op, access.kind);
  if (access.isDescribed) {
    finding.answer = Answer::Proven;
    return finding;
  }
  if (!access.pointer.parameter) {
    finding.reason = access.pointer.unknown;
    return finding;
  }
  finding.subject = launch.nameOf(*access.pointer.parameter);
  const std::optional<BufferTerms> &buffer = launch.buffer(*access.pointer.parameter);
  if (!buffer) {
    checkUndeclared(access, finding);
    return finding;
  }
  Hypotheses known;
  addPath(op, main, known);
  addMask(access.mask, main, known);
  const Poly &offset = access.pointer.offset;
  std::optional<Gap> overflow = findGap(access.pointer.needs, main, known.formulas);
  const bool isInside = proveInside(*buffer, offset, known.formulas);
  if (!overflow && isInside) {
    finding.answer = Answer::Proven;
    if (prover.isContradiction(known.formulas))
      finding.reason = "it is never executed";
    return finding;
  }
  if (std::optional<std::string> condition = findCondition(access, *buffer, known)) {
    finding.answer = Answer::Conditional;
    finding.reason = *condition;
    return finding;
  }
  std::vector<Gap> gaps;
  if (!isInside)
    gaps.push_back({known.formulas, isWithin(*buffer, offset), "the offset is in the buffer"});
  if (overflow)
    gaps.push_back(*overflow);
  gaps.insert(gaps.end(), known.gaps.begin(), known.gaps.end());
  if (refute(gaps, op, main, finding))
    return finding;
  // States the fact that could not be proven: usually that an operation does not overflow, if one might.
  const Gap &gap = overflow ? *overflow : !known.gaps.empty() ? known.gaps.front() : gaps.front();
  finding.reason = (budget.isOver() ? "the time limit was reached; not proven: " : "not proven: ") + gap.text +
                   explainUnknowns(offset);
  return finding;
}

std::vector<std::vector<Formula>> Checker::listWishes(const Gap &gap, Scope scope) const {
  constexpr int64_t small = 300, fewPrograms = 12;
  using Wishes = std::vector<Formula>;
  auto join = [](std::initializer_list<Wishes> parts) {
    Wishes all;
    for (const Wishes &part : parts)
      all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  std::set<Symbol> concerned, parameters;
  gap.goal.addTo(concerned);
  concerned = closureOf(std::move(concerned));
  Wishes quiet, few;
  for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) {
    const SymbolInfo &info = symbols[symbol];
    if (info.kind == SymbolKind::Parameter && info.range.high > 0)
      parameters.insert(symbol);
    else if (info.kind == SymbolKind::Loaded) // integers in the buffers of a replay are zero
      quiet.push_back(info.isFlag ? !Formula::flag(symbol) : Formula::equal(Poly::symbol(symbol), 0));
  }
  auto smallExcept = [&](std::optional<Symbol> large) {
    Wishes all;
    for (Symbol symbol : parameters)
      if (symbol != large)
        all.push_back(Formula::lessEqual(Poly::symbol(symbol), small) &&
                      Formula::lessEqual(-small, Poly::symbol(symbol)));
    return all;
  };
  for (unsigned axis = 0; axis < 3; ++axis)
    few.push_back(Formula::lessEqual(launch.programs(axis), fewPrograms));
  if (scope == Scope::Grid)
    return {join({smallExcept({}), launch.defaults(), quiet, few}), join({smallExcept({}), quiet, few})};
  std::vector<Wishes> list = {join({smallExcept({}), launch.defaults(), quiet}), join({smallExcept({}), quiet})};
  for (Symbol symbol : parameters)
    if (concerned.contains(symbol))
      list.push_back(join({smallExcept(symbol), quiet}));
  list.push_back(join({launch.defaults(), quiet}));
  list.push_back(quiet);
  return list;
}

bool Checker::refute(llvm::ArrayRef<Gap> gaps, Operation *op, Evaluator &evaluator, Finding &finding, Scope scope) {
  constexpr size_t maxGaps = 4;
  for (const Gap &gap : gaps.take_front(maxGaps))
    for (const std::vector<Formula> &wishes : listWishes(gap, scope))
      if (std::optional<Model> model = prover.refute(gap.hypotheses, gap.goal, wishes))
        if (replayModel(*model, op, evaluator, finding, scope))
          return true;
  return false;
}

bool Checker::replayModel(const Model &model, Operation *op, Evaluator &evaluator, Finding &finding, Scope scope) {
  Example example;
  for (const auto &[symbol, value] : model) {
    const SymbolInfo &info = symbols[symbol];
    if (info.kind == SymbolKind::Parameter)
      example.arguments[info.text] = int64_t(value);
    else if (info.kind == SymbolKind::Sms)
      example.sms = int(value);
    else if (info.kind == SymbolKind::Programs)
      example.grid[info.index] = int64_t(value);
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    if (auto id = model.find(*evaluator.programId(axis).getSymbol()); id != model.end())
      example.program[axis] = uint32_t(id->second);
  std::optional<interp::Error> error =
      scope == Scope::Program ? replay.runProgram(example, op) : replay.runGrid(example);
  if (!error || error->location != op->getLoc() || !error->program)
    return false;
  std::string text;
  for (const runtime::Parameter &parameter : manifest.parameters)
    if (auto value = example.arguments.find(parameter.name); value != example.arguments.end())
      text += parameter.name + "=" + std::to_string(value->second) + " ";
  const auto &program = *error->program;
  text += llvm::formatv("program=({0}, {1}, {2})", program[0], program[1], program[2]).str();
  for (const auto &[loop, number] : replay.lastIterations())
    text += llvm::formatv(" iteration={0} of the loop at {1}", number, lineOf(loop->getLoc())).str();
  if (error->index)
    text += llvm::formatv(" element=[{0:$[, ]}]", llvm::make_range(error->index->begin(), error->index->end())).str();
  finding.answer = Answer::Refuted;
  finding.reason = error->message;
  finding.counterexample = text;
  return true;
}

} // namespace tile::verify
