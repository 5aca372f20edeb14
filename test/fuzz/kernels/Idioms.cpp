// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Idioms of real kernels that passes look for: a named mask, pointers and offsets that a loop advances, running sums of
// rows, a first iteration that differs, scalar functions applied to each element.
#include "KernelBuilder.h"

#include <algorithm>
#include <cmath>

namespace tile::fuzz {

namespace {

/// Returns the vector as an index along the first dimension of a matrix: `offs[:, None]`.
std::string column(const std::string &vector) {
  return "(" + vector + ")[:, None]";
}
std::string row(const std::string &vector) {
  return "(" + vector + ")[None, :]";
}

} // namespace

void KernelBuilder::idiomStatement() {
  switch (random.below(17)) {
  case 0:
  case 1:
  case 2:
    return rowSumStatement();
  case 3:
  case 4:
    return rowsStatement();
  case 5:
    return descriptorUpdate();
  case 6:
    return mapStatement();
  case 7:
  case 8:
    return selectionStatement();
  case 9:
    return selectionStatement();
  case 10:
    return tableStatement();
  case 11:
  case 12:
    return wholeWarpStatement();
  default: {
    const std::vector<Axis> own = ownAxes();
    if (own.size() != 2 || own[0].block < 16 || own[1].block < 16 || elementsOf(shapeOf(own)) > 8192 || inHelper)
      return rowSumStatement();
    values.push_back(advancedDot(own));
  }
  }
}

/// Names the mask of the program's block, for loads, selections and stores.
void KernelBuilder::nameMask() {
  const std::vector<Axis> own = ownAxes();
  if (own.empty() || own.size() > 2)
    return;
  std::string text = own.size() == 1 ? own[0].offsets + " < " + own[0].bound
                                     : "(" + column(own[0].offsets) + " < " + own[0].bound + ") & (" +
                                           row(own[1].offsets) + " < " + own[1].bound + ")";
  const Value mask = define("inside", {text, Scalar::Int1, shapeOf(own), {0, 1, 1}});
  maskName = mask.text;
  maskedAxes = own;
}

/// Returns the name of the mask, if it belongs to these axes.
std::string KernelBuilder::namedMask(const std::vector<Axis> &of, const std::vector<std::string> &indices) const {
  bool isSame = !maskName.empty() && of.size() == maskedAxes.size();
  for (size_t i = 0; isSame && i < of.size(); ++i)
    isSame = of[i].offsets == maskedAxes[i].offsets && indices[i] == of[i].offsets;
  return isSame ? maskName : "";
}

/// Emits a loop over another dimension that sums its rows, possibly scaled as in an online softmax.
void KernelBuilder::rowSumStatement() {
  const std::vector<Axis> own = ownAxes();
  if (own.empty() || inHelper)
    return loadStatement();
  const Axis &rows = own.front();
  const int64_t block = random.pick({16, 32, 64}), size = anySize(block, 4);
  // maximum number of elements; launches of more take minutes in the simulator
  constexpr int64_t maxOfIteration = 1 << 17;
  if (rows.block * block > maxOfIteration)
    return loadStatement();
  const double trips = std::ceil(static_cast<double>(size) / static_cast<double>(block));
  const std::string j = freshName("j"), bound = addSize(freshName("K"), size), width = std::to_string(block);
  const std::string first = firstOffset(block, size);
  const Axis inner{"offs_" + j, j, bound, size, block, /*isOwn=*/false, first != "0"};
  const Scalar type = random.pick({Scalar::Float32, Scalar::Float16, Scalar::BFloat16});
  const bool isScaled = random.chance(40), isMaximum = random.chance(30);
  const double begin = static_cast<double>(random.pick({0, 0, 1, 3}));
  const double most = begin + trips * static_cast<double>(block) * 8;
  const Range range{-most, most, 1};
  const Value sum =
      define("total", {"tl.full((" + std::to_string(rows.block) + ",), " + numberText(begin, true) + ", tl.float32)",
                       Scalar::Float32,
                       {rows.block},
                       range});
  const Value largest = define("most", {"tl.full((" + std::to_string(rows.block) + ",), -100.0, tl.float32)",
                                        Scalar::Float32,
                                        {rows.block},
                                        {-100, 8, 1}});
  line("for " + j + " in range(" + first + ", " + bound + ", " + width + "):");
  ++loops;
  indented([&] {
    line(inner.offsets + " = " + j + " + tl.arange(0, " + width + ")");
    const Value block = cast(load({rows, inner}, type), Scalar::Float32);
    if (isMaximum)
      line(largest.text + " = tl.maximum(" + largest.text + ", tl.max(" + block.text + ", 1))");
    // Only its sign changes, so that the sum stays exact.
    const std::string scale =
        isScaled ? " * tl.where(" + rows.offsets + " % 3 == " + j + " // " + width + ", -1.0, 1.0)" : "";
    const bool isSkipped = random.chance(20);
    if (isSkipped)
      line("if " + j + " >= " + std::to_string(random.below(2 * size)) + ":");
    depthOfText += isSkipped;
    line(sum.text + " = " + sum.text + scale + " + tl.sum(" + narrow(block, -8, 8).text + ", 1)");
    depthOfText -= isSkipped;
  });
  --loops;
  sink(random.chance(70) ? sum : largest);
}

/// Reduces a block and combines it with the results, like normalizations of rows; possibly several times.
void KernelBuilder::normalizeStatement() {
  const std::vector<Axis> own = ownAxes();
  const Shape shape = shapeOf(own);
  const Value loaded =
      load(own, random.pick({Scalar::Float16, Scalar::BFloat16, Scalar::Float32, Scalar::Float16, Scalar::Int8}),
           /*isPlain=*/true);
  Value wide = define("v", cast(loaded, isFloat(loaded.type) ? Scalar::Float32 : Scalar::Int32));
  for (int64_t count = random.between(1, 3); count > 0; --count) {
    const std::optional<Value> reduced = random.chance(30) ? scan(wide) : reduction(wide);
    if (!reduced)
      continue;
    const Value result = define("b", *reduced);
    // A row or column of a matrix has one dimension less.
    if (result.shape.size() == 1 && shape.size() == 2)
      continue;
    const std::optional<Value> next = arithmetic(random.pick<std::string>({"+", "-", "max", "min"}), wide, result);
    if (next && next->shape == shape)
      wide = define("v", *next);
  }
  store(own, wide);
  if (random.chance(30))
    store(own, loaded);
}

/// Sometimes defines a pointer that a loop over the second axis advances, to values that groups of its elements share,
/// like scales.
std::optional<KernelBuilder::GroupLimits> KernelBuilder::makeLimits(const std::vector<Axis> &of, Scalar type) {
  if (!random.chance(15))
    return std::nullopt;
  const GroupLimits limits{makeBuffer("x", type, of, Contents::Input), freshName("p"), random.pick({2, 8, 16})};
  line(limits.pointer + " = " +
       place(limits.buffer, of, {of[0].offsets, of[1].offsets + " // " + std::to_string(limits.group)}));
  return limits;
}

/// Returns the smaller elements and the group indices. `left`: the number of remaining columns.
Value KernelBuilder::limit(const Value &value, const GroupLimits &limits, const std::vector<Axis> &of,
                           const std::string &left) {
  const std::string mask =
      "(" + column(of[0].offsets) + " < " + of[0].bound + ") & (" + row(of[1].offsets) + " < " + left + ")";
  const Value bound = define("v", {"tl.load(" + limits.pointer + ", mask=" + mask + ", other=0)", value.type,
                                   value.shape, limits.buffer.range.join({0, 0, 1})});
  const std::optional<Value> least = arithmetic("min", value, bound);
  return least ? define("v", cast(*least, value.type)) : value;
}

/// Multiplies the program's tile in a loop with pointers, block pointers or offsets that the loop advances. Returns the
/// accumulator.
Value KernelBuilder::advancedDot(const std::vector<Axis> &own) {
  const Scalar type = random.pick(
      {Scalar::Float16, Scalar::Float16, Scalar::BFloat16, Scalar::Float32, Scalar::Int8, Scalar::Float8E4M3});
  // Instructions require at least 32 elements of 8 bits.
  const int64_t block = bitsOf(type) == 8 ? random.pick({32, 64, 128}) : random.pick({16, 32, 32, 64, 128});
  const int64_t size = isAboutLoops || random.chance(40) ? 8 * random.between(1, block / 2) : anySize(block, 4);
  const double trips = std::ceil(static_cast<double>(size) / static_cast<double>(block));
  const Scalar sumType = type == Scalar::Int8 ? Scalar::Int32 : Scalar::Float32;
  const std::string k = freshName("k"), bound = addSize(freshName("K"), size), width = std::to_string(block);
  const std::string ks = "offs_" + k;
  line(ks + " = tl.arange(0, " + width + ")");
  const Axis inner{ks, "0", bound, size, block, /*isOwn=*/false};
  const bool isTransposed = random.chance(25);
  const std::vector<Axis> ofA = {own[0], inner},
                          ofB = isTransposed ? std::vector<Axis>{own[1], inner} : std::vector<Axis>{inner, own[1]};
  const Buffer a = makeBuffer("x", type, ofA, Contents::Input), b = makeBuffer("x", type, ofB, Contents::Input);
  const size_t stepOfA = 1, stepOfB = isTransposed ? 1 : 0;
  const bool usesBlockPointers = random.chance(35), counts = random.chance(50);
  const auto begin = [&](const Buffer &buffer, const std::vector<Axis> &of) {
    if (usesBlockPointers)
      return blockPointer(buffer, of, startsOf(of, /*moves=*/false));
    const std::string name = freshName("p");
    line(name + " = " + place(buffer, of, {of[0].offsets, of[1].offsets}));
    return name;
  };
  const std::string pointerA = begin(a, ofA), pointerB = begin(b, ofB);
  const std::optional<GroupLimits> limits = isNarrowFloat(type) ? std::nullopt : makeLimits(ofA, type);
  const double most = static_cast<double>(block) * trips * 64;
  const Shape shape = {own[0].block, own[1].block};
  const Value sum = define("acc", {"tl.zeros(" + shapeText(shape) + ", " + languageName(sumType) + ")", sumType, shape,
                                   isFloat(sumType) ? Range{-most, most, 1} : rangeOf(sumType)});
  const Value zero{
      numberText(0, isFloat(type)), isFloat(type) ? Scalar::Float32 : Scalar::Int32, {}, {0, 0, 1}, /*isWeak=*/true};
  const std::string options = random.chance(25) ? ", num_stages=" + std::to_string(random.between(1, 5)) : "";
  line("for " + k + " in tl.range(0, " + (counts ? "tl.cdiv(" + bound + ", " + width + ")" : bound + ", " + width) +
       options + "):");
  ++loops;
  indented([&] {
    const std::string left = bound + " - " + k + (counts ? " * " + width : "");
    const auto loaded = [&](const std::string &pointer, const std::vector<Axis> &of) {
      std::string text = "tl.load(" + pointer + ", ";
      if (usesBlockPointers)
        return text + "boundary_check=(0, 1), padding_option=\"zero\")";
      for (size_t i = 0; i < 2; ++i) {
        const std::string offsets = i == 0 ? column(of[i].offsets) : row(of[i].offsets);
        text += (i ? " & (" : "mask=(") + offsets + " < " + (of[i].offsets == ks ? left : of[i].bound) + ")";
      }
      return text + ", other=" + numberText(0, isFloat(type)) + ")";
    };
    Value x = define("v", {loaded(pointerA, ofA), type, shapeOf(ofA), a.range.join({0, 0, 1})});
    Value y = define("v", {loaded(pointerB, ofB), type, shapeOf(ofB), b.range.join({0, 0, 1})});
    if (limits)
      x = limit(x, *limits, ofA, left);
    if (!isNarrowFloat(type) && random.chance(12))
      if (const std::optional<Value> chosen = select(condition(x.shape, 1), x, zero))
        x = define("v", cast(expand(*chosen, x.shape), type));
    if (isTransposed)
      y.text = "tl.trans(" + y.text + ")";
    line(sum.text + " = tl.dot(" + x.text + ", " + y.text + ", " + sum.text +
         (type == Scalar::Float32 && random.chance(30) ? ", input_precision=\"ieee\"" : "") + ")");
    const auto advance = [&](const std::string &pointer, const Buffer &buffer, size_t dimension) {
      const std::string moves = dimension == 0 ? "(" + width + ", 0)" : "(0, " + width + ")";
      line(usesBlockPointers ? pointer + " = tl.advance(" + pointer + ", " + moves + ")"
                             : pointer + " += " + width + " * " + buffer.strides[dimension]);
    };
    if (limits)
      line(limits->pointer + " += " + std::to_string(block / limits->group) + " * " + limits->buffer.strides[stepOfA]);
    advance(pointerA, a, stepOfA);
    advance(pointerB, b, stepOfB);
  });
  --loops;
  return sum;
}

/// Emits a value that is selected from some iteration of the loop on, so that the first iteration differs from the
/// others.
void KernelBuilder::laterIterations(const Value &counter) {
  const std::string limit = std::to_string(random.pick({0, 0, 1, 2, 5}));
  const Value isLater{"(" + counter.text + random.pick<std::string>({" > ", " >= ", " != ", " == "}) + limit + ")",
                      Scalar::Int1,
                      {},
                      {0, 1, 1}};
  const Shape shape = someShape();
  const Value later = expression(shape, 1);
  if (const std::optional<Value> chosen = select(isLater, later, operand(shape, 1)))
    define("v", expand(*chosen, shape));
}

/// Emits a scalar function with branches and a loop, and applies it to each element.
void KernelBuilder::mapStatement() {
  const Shape shape = someShape();
  if (shape.empty() || inHelper)
    return assignStatement();
  const Value a = cast(expression(shape, 1), Scalar::Int32), b = cast(expression(shape, 1), Scalar::Int32);
  const std::string name = freshName("each");
  const std::string limit = std::to_string(random.between(1, 9));
  helpers += "@triton.jit\ndef " + name + "(a, b):\n";
  helpers += random.pick<std::string>(
      {"    if a < b:\n        return a + " + limit + "\n    else:\n        return b\n\n",
       "    n = a & 15\n    while n > " + limit + ":\n        n = n // 2\n    return n + b\n\n",
       "    r = a\n    for i in range(" + limit + "):\n        r = r * 3 + b\n    return r\n\n"});
  define("v", {"tl.map_elementwise(" + name + ", " + expand(a, shape).text + ", " + expand(b, shape).text + ")",
               Scalar::Int32, shape, rangeOf(Scalar::Int32)});
}

} // namespace tile::fuzz
