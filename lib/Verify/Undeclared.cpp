// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks accesses to buffers that have no declaration, as in Triton's kernels. The result is the size that the buffer
// must have.
#include "Verify/Checker.h"
#include "Verify/RequiredSize.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tile::verify {
namespace {

constexpr int64_t most32 = 2147483647;

/// Formats the gaps. Joins texts that differ only in the line: "a 32-bit value does not overflow (lines 5, 12)".
std::vector<std::string> joinLines(llvm::ArrayRef<Gap> gaps) {
  std::map<std::string, std::set<unsigned>> lines;
  for (const Gap &gap : gaps) {
    auto [text, line] = llvm::StringRef(gap.text).rsplit(" (line ");
    unsigned number = 0;
    line.consumeInteger(10, number);
    lines[text.str()].insert(number);
  }
  std::vector<std::string> texts;
  for (const auto &[text, numbers] : lines) {
    std::vector<std::string> list;
    for (unsigned number : numbers)
      list.push_back(std::to_string(number));
    texts.push_back(text + (list.size() == 1 ? " (line " : " (lines ") + llvm::join(list, ", ") + ")");
  }
  return texts;
}

} // namespace

void Checker::checkUndeclared(const Access &access, Finding &finding) {
  const unsigned argument = *access.pointer.parameter;
  const Poly &offset = access.pointer.offset;
  // Find the size as if no condition overflowed; that is proven below.
  std::vector<Formula> conditions;
  for (const PathStep &step : main.pathTo(access.op))
    conditions.push_back(step.condition);
  for (const TruthTerm &part : access.mask)
    conditions.push_back(part.truth);
  std::optional<RequiredSize> size = findRequiredSize(offset, conditions, symbols);
  if (!size) {
    finding.reason = "not proven: no '#: buffer' line says how large '" + finding.subject +
                     "' is, and the largest offset was not found" + explainUnknowns(offset);
    return;
  }
  // Finds the hypotheses, and the gaps in the proof, if the required size is at most `limit` elements.
  auto findGaps = [&](int64_t limit, Hypotheses &known) {
    known.formulas.push_back(Formula::lessEqual(size->elements, limit));
    for (const auto &[symbol, name] : size->loaded)
      known.formulas.push_back(Formula::lessEqual(0, Poly::symbol(symbol)));
    for (const Poly &divisor : size->positive)
      known.formulas.push_back(Formula::less(0, divisor));
    addPath(access.op, main, known);
    addMask(access.mask, main, known);
    // Conditions that may overflow do not matter if the other conditions give the same size.
    if (!known.gaps.empty())
      if (std::optional<RequiredSize> same = findRequiredSize(offset, known.formulas, symbols);
          same && same->elements == size->elements)
        known.gaps.clear();
    if (std::optional<Gap> overflow = findGap(access.pointer.needs, main, known.formulas))
      known.gaps.push_back(std::move(*overflow));
  };
  std::vector<std::string> also;
  Hypotheses known;
  const int64_t largest = launch.maxElements(argument);
  findGaps(std::min(largest, most32), known);
  if (largest > most32) {
    Hypotheses ofAny;
    prover.setLinear(true);
    findGaps(largest, ofAny);
    prover.setLinear(false);
    if (ofAny.gaps.size() > known.gaps.size())
      also.push_back("that is less than 2^31");
    else
      known = std::move(ofAny);
  }
  for (const Poly &divisor : size->positive)
    if (!prover.proves({}, Formula::less(0, divisor), /*withProducts=*/false))
      also.push_back(toText(divisor, symbols, size->loaded) + " >= 1");
  if (!size->isNatural && !prover.proves(known.formulas, Formula::lessEqual(0, offset))) {
    if (!size->lowest) {
      finding.reason = "not proven: the offset is not negative" + explainUnknowns(offset);
      return;
    }
    also.push_back(toText(*size->lowest, symbols, size->loaded) + " >= 0");
  }
  const std::vector<std::string> needs = joinLines(known.gaps);
  also.insert(also.end(), needs.begin(), needs.end());
  finding.answer = Answer::Conditional;
  finding.reason =
      "in bounds if it has at least " + size->text + (size->elements == Poly(1) ? " element" : " elements");
  if (std::string loaded = describeLoaded(size->loaded, symbols); !loaded.empty())
    finding.reason += ", where " + loaded;
  if (!also.empty())
    finding.reason += ", and if " + llvm::join(also, ", and ");
}

} // namespace tile::verify
