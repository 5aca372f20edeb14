// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons at the ends of ranges, and selections under the mask of a store.
#include "KernelBuilder.h"

namespace tile::fuzz {

/// Returns a literal near an end of the integer's range, which analyses of ranges must distinguish. Zero if the range
/// is that of the type.
Value KernelBuilder::limitOf(const Value &value) {
  constexpr double known = 1 << 24;
  double number = 0;
  if (!isFloat(value.type) && value.type != Scalar::Int1 && value.range.magnitude() < known) {
    number = (random.chance(75) ? value.range.high : value.range.low) + static_cast<double>(random.between(-1, 1));
    if (!fits(value.type, {number, number, 1}))
      number = value.range.high;
  }
  return {"(" + numberText(number, false) + ")", Scalar::Int32, {}, {number, number, 1}, /*isWeak=*/true};
}

/// Returns a comparison of indices with a value near the largest one, like a mask at the end of a block.
Value KernelBuilder::edgeComparison(const Shape &shape) {
  if (shape.empty())
    return {"(" + std::to_string(random.below(3)) + " < " + leaf(shape).text + ")", Scalar::Int1, shape, {0, 1, 1}};
  const size_t dimension = static_cast<size_t>(random.below(static_cast<int64_t>(shape.size())));
  const int64_t factor = random.pick({1, 1, 2, 3}), first = random.pick({0, 0, 1, 16});
  std::string index = "tl.arange(0, " + std::to_string(shape[dimension]) + ")";
  if (shape.size() > 1) {
    index += "[";
    for (size_t i = 0; i < shape.size(); ++i)
      index += std::string(i ? ", " : "") + (i == dimension ? ":" : "None");
    index += "]";
  }
  const int64_t last = (shape[dimension] - 1) * factor + first;
  index += (factor > 1 ? " * " + std::to_string(factor) : "") + (first > 0 ? " + " + std::to_string(first) : "");
  const std::string name = random.pick<std::string>({" < ", " < ", " <= ", " >= ", " > "});
  Shape compared(shape.size(), 1);
  compared[dimension] = shape[dimension];
  const Value result{"((" + index + ")" + name + std::to_string(last + random.between(-1, 1)) + ")",
                     Scalar::Int1,
                     compared,
                     {0, 1, 1}};
  return expand(result, shape);
}

/// Selects by the mask of the program's block, alone or with a further condition as in causal masks, and stores under
/// the mask alone. Elements that are not stored need not be selected, but the further condition still matters.
void KernelBuilder::selectionStatement() {
  const std::vector<Axis> own = ownAxes();
  if (own.empty() || own.size() > 2 || inHelper)
    return loadStatement();
  const Shape shape = shapeOf(own);
  std::vector<std::string> indices;
  std::string text;
  for (size_t i = 0; i < own.size(); ++i) {
    indices.push_back(own[i].offsets);
    const std::string place = own.size() == 1 ? "" : i == 0 ? "[:, None]" : "[None, :]";
    text += (i ? " & (" : "(") + own[i].offsets + place + " < " + own[i].bound + ")";
  }
  // The selected value has no other use, because that would require the selection.
  const std::vector<Value> saved = values;
  const Value other = random.chance(50) ? edgeComparison(shape) : condition(shape, 1), first = expression(shape, 1);
  const Value second = random.chance(50) ? literal(first.type) : operand(shape, 1);
  const std::string known = namedMask(own, indices);
  const Value inside = define("inside", {known.empty() ? text : known, Scalar::Int1, shape, {0, 1, 1}});
  Value chosen = inside;
  if (random.chance(80)) {
    const std::string name = random.chance(80) ? " & " : " | ";
    chosen.text = random.chance(50) ? inside.text + name + other.text : other.text + name + inside.text;
    chosen = define("both", chosen);
  }
  const std::optional<Value> selected = select(chosen, first, second);
  if (selected && selected->shape == shape && !isNarrowFloat(selected->type))
    storeSelection(own, indices, *selected, inside.text);
  values = saved;
}

/// Stores the value, or one computed from it, and perhaps a sum of it.
void KernelBuilder::storeSelection(const std::vector<Axis> &own, const std::vector<std::string> &indices,
                                   const Value &selected, const std::string &mask) {
  const Shape shape = shapeOf(own);
  Value value = define("v", selected);
  if (random.chance(25))
    if (const std::optional<Value> reduced = reduction(value))
      sink(define("b", *reduced));
  if (random.chance(40))
    if (const std::optional<Value> changed =
            arithmetic(random.pick<std::string>({"+", "*", "-", "max"}), value, leaf(shape));
        changed && changed->shape == shape)
      value = *changed;
  const Buffer buffer = makeBuffer("out", value.type, own, Contents::Output);
  line("tl.store(" + place(buffer, own, indices) + ", " + cast(value, value.type).text + ", mask=" + mask + ")");
}

} // namespace tile::fuzz
