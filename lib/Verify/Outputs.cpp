// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proves that each element of an output is written. The program, the block element and the iterations that write an
// output element are computed from the output element's index, like digits:
//
//   y + pid * 64 + e0   writes index i   with   pid = i / 64,  e0 = i % 64
//
// It remains to prove that these values are in range, that the store is executed for them, and that they yield i.
#include "Verify/Checker.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::verify {
namespace {

/// A symbol that distinguishes the instances of a store, and its factor in an index.
struct Digit {
  Symbol symbol;
  Poly weight;
};

/// The symbols that distinguish the instances of a store. Program ids are mapped to their axis of the grid.
using Instances = std::map<Symbol, std::optional<unsigned>>;

/// Splits an index into digits, least significant first. Returns nullopt if it has other terms.
std::optional<std::vector<Digit>> findDigits(const Poly &index, const Instances &instances) {
  std::map<Symbol, Poly> weights;
  for (const auto &[monomial, coefficient] : index.getTerms()) {
    std::optional<Symbol> found;
    Poly::Monomial others;
    for (Symbol symbol : monomial)
      if (!instances.contains(symbol))
        others.push_back(symbol);
      else if (found)
        return std::nullopt;
      else
        found = symbol;
    if (!found)
      return std::nullopt;
    weights[*found] = weights[*found] + Poly::product(coefficient, others);
  }
  std::vector<Digit> digits;
  for (auto &[symbol, weight] : weights)
    digits.push_back({symbol, weight});
  llvm::stable_sort(digits, [](const Digit &left, const Digit &right) {
    const std::optional<Wide> a = left.weight.getConstant(), b = right.weight.getConstant();
    return a && b ? *a < *b : a.has_value() && !b;
  });
  if (!digits.empty() && digits.front().weight != Poly(1))
    return std::nullopt;
  return digits;
}

/// Sizes of launches to try: sizes around the ends of tiles, and sizes in between.
constexpr int64_t largestBlock = 4096;
constexpr int64_t triedSizes[] = {5, 1, 17, 33, 64, 65, 100, 130, 257};

} // namespace

Formula Checker::whenCovered(Operation *store, const Access &access, const Position &position, Evaluator &evaluator) {
  const std::vector<PathStep> path = evaluator.pathTo(store);
  std::set<Symbol> used;
  for (const Poly &index : position.indices)
    index.addTo(used);
  for (const PathStep &step : path)
    step.condition.addTo(used);
  for (const TruthTerm &part : access.mask)
    part.truth.addTo(used);
  Instances instances;
  for (unsigned axis = 0; axis < 3; ++axis)
    instances[*evaluator.programId(axis).getSymbol()] = axis;
  for (Symbol symbol : closureOf(std::move(used)))
    if (symbols[symbol].kind == SymbolKind::Element || symbols[symbol].kind == SymbolKind::Iteration)
      instances[symbol] = std::nullopt;
  // If swizzle2d permutes the programs, each pair of its results belongs to some program, so its results are chosen
  // instead of the program ids.
  for (const Evaluator::Permuted &permuted : evaluator.permutedPrograms())
    for (unsigned which = 0; which < 2; ++which) {
      instances[permuted.symbols[which]] = permuted.axes[which];
      instances.erase(*evaluator.programId(permuted.axes[which]).getSymbol());
    }
  std::vector<Formula> known;
  // Conditions on parameters alone define a case; other stores may cover the remaining cases.
  Formula guard;
  auto isCase = [&](const PathStep &step) {
    std::set<Symbol> direct;
    step.condition.addTo(direct);
    return llvm::all_of(closureOf(std::move(direct)), [&](Symbol symbol) {
      const SymbolKind kind = symbols[symbol].kind;
      return kind == SymbolKind::Parameter || kind == SymbolKind::Sms || kind == SymbolKind::Derived;
    });
  };
  for (const PathStep &step : path)
    if (!step.isAssumption && isCase(step) && !findGap(step.needs, evaluator, known)) {
      guard = guard && step.condition;
      known.push_back(step.condition);
    }
  std::map<Symbol, Poly> values;
  Formula isReached;
  for (auto [index, extent] : llvm::zip(position.indices, position.extents)) {
    std::optional<std::vector<Digit>> digits = findDigits(index, instances);
    if (!digits)
      return false;
    SymbolInfo info{SymbolKind::Derived, "index", {0, std::max<Wide>(0, symbols.boundsOf(extent).high)}};
    Poly remainder = Poly::symbol(symbols.add(info));
    isReached = isReached && Formula::equal(index, remainder);
    known.push_back(Formula::less(remainder, extent));
    for (const Digit &digit : llvm::reverse(*digits)) {
      if (values.contains(digit.symbol))
        return false;
      if (digit.weight == Poly(1)) {
        values[digit.symbol] = remainder;
        break;
      }
      if (!prover.proves(known, Formula::less(0, digit.weight)))
        return false;
      std::tie(values[digit.symbol], remainder) = symbols.divide(remainder, digit.weight, /*isFloor=*/true);
    }
  }
  // Prove the ranges first: values outside of them would contradict the ranges of the symbols, and anything follows
  // from a contradiction.
  Formula areInRange;
  for (const auto &[symbol, axis] : instances) {
    const Poly &value = values.try_emplace(symbol, 0).first->second; // symbols that no index determines are 0
    const Interval range = symbols[symbol].range;
    areInRange = areInRange && Formula::lessEqual(range.low, value) && Formula::lessEqual(value, range.high);
    if (axis)
      areInRange = areInRange && Formula::less(value, launch.programs(*axis));
  }
  if (!prover.proves(known, areInRange))
    return false;
  for (const auto &[symbol, value] : values)
    known.push_back(Formula::equal(Poly::symbol(symbol), value));
  auto holds = [&](const Formula &condition, const Needs &needs, bool assumeUnknown) {
    if (findGap(needs, evaluator, known))
      return assumeUnknown;
    if (!assumeUnknown && !prover.proves(known, condition))
      return false;
    known.push_back(condition);
    return true;
  };
  for (const PathStep &step : path)
    if (!holds(step.condition, step.needs, step.isAssumption))
      return false;
  for (const TruthTerm &part : access.mask)
    if (!holds(part.truth, part.needs, /*assumeUnknown=*/false))
      return false;
  if (findGap(access.pointer.needs, evaluator, known) || !prover.proves(known, isReached))
    return false;
  return guard;
}

bool Checker::refuteOutput(Finding &finding) {
  std::vector<int64_t> sizes(std::begin(triedSizes), std::end(triedSizes));
  for (const auto &[name, value] : manifest.constants)
    if (const int64_t *block = std::get_if<int64_t>(&value); block && *block > 1 && *block <= largestBlock)
      sizes.push_back(*block + 1);
  for (int64_t size : sizes) {
    if (budget.isOver())
      return false;
    Example example;
    for (const runtime::Parameter &parameter : manifest.parameters)
      if (parameter.isInteger() && !parameter.defaultValue) {
        const int64_t step = parameter.divisibility, value = (size + step - 1) / step * step;
        example.arguments[parameter.name] = parameter.type == runtime::DataType::I1 ? size % 2 : value;
      }
    std::optional<std::vector<int64_t>> index = replay.findUnwritten(example, finding.subject);
    if (!index)
      continue;
    for (const auto &[name, value] : example.arguments)
      finding.counterexample += name + "=" + std::to_string(value) + " ";
    finding.counterexample +=
        llvm::formatv("element=[{0:$[, ]}]", llvm::make_range(index->begin(), index->end())).str();
    finding.answer = Answer::Refuted;
    finding.reason = "no program writes this element";
    return true;
  }
  return false;
}

Finding Checker::checkOutput(unsigned argument, llvm::ArrayRef<Operation *> stores) {
  Finding finding = describe(kernel, "output");
  finding.subject = launch.nameOf(argument);
  const std::optional<BufferTerms> &buffer = launch.buffer(argument);
  if (!buffer) {
    finding.reason = "its '#: buffer' line cannot be evaluated";
    return finding;
  }
  Formula covered = false;       // condition under which all elements are written
  std::set<std::string> unknown; // unmodelled values that determine which elements are written
  for (Operation *store : stores) {
    Evaluator evaluator(kernel, symbols, launch);
    const Access access = evaluateAccess(store, evaluator);
    if (access.pointer.parameter != argument)
      continue;
    finding.position = interp::positionOf(store->getLoc());
    std::set<Symbol> used;
    access.pointer.offset.addTo(used);
    for (const TruthTerm &part : access.mask)
      part.truth.addTo(used);
    for (const PathStep &step : evaluator.pathTo(store))
      step.condition.addTo(used);
    for (Symbol symbol : closureOf(std::move(used)))
      if (symbols[symbol].kind == SymbolKind::Loaded || symbols[symbol].kind == SymbolKind::Opaque)
        unknown.insert(symbols[symbol].text);
    std::vector<Position> positions = {findPosition(*buffer, access.pointer.offset)};
    if (buffer->isRowMajor && buffer->shape.size() > 1) {
      Poly elements = 1;
      for (const Poly &size : buffer->shape)
        elements = elements * size;
      positions.push_back({{}, {access.pointer.offset}, {elements}});
    }
    for (const Position &position : positions)
      covered = covered || whenCovered(store, access, position, evaluator);
    if (prover.proves({}, covered)) {
      finding.answer = Answer::Proven;
      return finding;
    }
  }
  // The memory of a counterexample holds arbitrary values, so it proves nothing if the written elements depend on them.
  if (!unknown.empty() || !refuteOutput(finding))
    finding.reason =
        "not proven: each element is written" + (unknown.empty() ? "" : "; it depends on " + llvm::join(unknown, ", "));
  return finding;
}

} // namespace tile::verify
