// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix multiplications: of existing values, and in loops over K with operands from pointers, descriptors or block
// pointers.
#include "KernelBuilder.h"

#include <algorithm>
#include <cmath>

namespace tile::fuzz {

namespace {

constexpr int64_t smallest = 16, largest = 64; ///< sizes of a dimension

bool canBeMultiplied(const Value &value) {
  return value.shape.size() == 2 && value.shape[0] >= smallest && value.shape[1] >= smallest &&
         value.shape[0] <= largest && value.shape[1] <= largest;
}

} // namespace

/// Returns a @ b, or accumulator + a @ b, if it is exact for this number of repetitions.
std::optional<Value> KernelBuilder::dot(const Value &a, const Value &b, double rounds, const Value *accumulator) {
  const double k = static_cast<double>(a.shape[1]);
  Scalar type = random.pick({Scalar::Float16, Scalar::Float16, Scalar::BFloat16, Scalar::Float32, Scalar::Float32,
                             Scalar::Int8, Scalar::Float8E4M3, Scalar::Float8E5M2, Scalar::Float64});
  if (isAboutLoops)
    type = b.type;
  if (accumulator && accumulator->type != Scalar::Float32)
    type = accumulator->type == Scalar::Int32 ? Scalar::Int8 : accumulator->type;
  else if (accumulator && (type == Scalar::Int8 || type == Scalar::Float64))
    type = Scalar::Float16;
  // Uses the operands unchanged if possible.
  const bool suits = a.type == b.type && (!accumulator || accumulator->type == Scalar::Float32 || type == a.type);
  const bool isOperand = a.type == Scalar::Int8 || (isFloat(a.type) && a.range.step >= 1 && a.range.magnitude() <= 8 &&
                                                    b.range.magnitude() <= 8 && b.range.step >= 1);
  if (suits && isOperand && random.chance(85) && !(accumulator && isFloat(accumulator->type) != isFloat(a.type)) &&
      !(accumulator && (accumulator->type == Scalar::Float64) != (a.type == Scalar::Float64)))
    type = a.type;
  // Instructions require at least 32 elements of 8 bits.
  if (bitsOf(type) == 8 && k < 32)
    return std::nullopt;
  Scalar sumType = type == Scalar::Int8 ? Scalar::Int32 : type == Scalar::Float64 ? type : Scalar::Float32;
  if (accumulator && accumulator->type == Scalar::Float16)
    sumType = Scalar::Float16;
  const double most = sumType == Scalar::Float16 ? 1 : isNarrowFloat(type) ? 4 : 8;
  const auto operandOf = [&](const Value &value) {
    Value result = value;
    if (isFloat(type)) {
      result = narrow(floorOf(result), -most, most);
    }
    return cast(result, type);
  };
  const Value left = operandOf(a), right = operandOf(b);
  const double bound = isFloat(type) ? k * left.range.magnitude() * right.range.magnitude() * rounds : 0;
  Range range = isFloat(type) ? Range{-bound, bound, 1} : rangeOf(Scalar::Int32);
  if (!fits(sumType, range))
    return std::nullopt;
  std::string tail;
  if (accumulator)
    tail = ", " + accumulator->text;
  if (type == Scalar::Float32)
    tail += random.pick<std::string>(
        {"", ", input_precision=\"ieee\"", ", input_precision=\"tf32\"", ", allow_tf32=False"});
  if (isFloat(type) && bitsOf(type) == 8) {
    // Tensor cores accumulate these with 14 bits, so only small values are exact.
    constexpr double exact = 1 << 13;
    const double most = bound + (accumulator ? accumulator->range.magnitude() : 0);
    tail += random.pick<std::string>(
        {most <= exact ? "" : ", max_num_imprecise_acc=32", ", max_num_imprecise_acc=32", ", max_num_imprecise_acc=0"});
  }
  if (sumType == Scalar::Float16)
    tail += ", out_dtype=tl.float16";
  return Value{"tl.dot(" + left.text + ", " + right.text + tail + ")", sumType, {a.shape[0], b.shape[1]}, range};
}

void KernelBuilder::dotStatement() {
  const std::optional<Value> a = find(canBeMultiplied);
  if (!a)
    return blockStatement();
  std::optional<Value> b =
      find([&](const Value &value) { return canBeMultiplied(value) && value.shape[0] == a->shape[1]; });
  if (!b || random.chance(30)) {
    b = find([&](const Value &value) { return canBeMultiplied(value) && value.shape[1] == a->shape[1]; });
    b->text = "tl.trans(" + b->text + ")";
    std::swap(b->shape[0], b->shape[1]);
  }
  if (std::optional<Value> result = dot(*a, *b, 1, nullptr))
    define("d", *result);
}

Scalar KernelBuilder::operandType() {
  if (isAboutLoops)
    return random.pick({Scalar::Float16, Scalar::Float16, Scalar::BFloat16, Scalar::Int8, Scalar::Float8E4M3});
  return random.pick({Scalar::Float16, Scalar::Float16, Scalar::Float16, Scalar::BFloat16, Scalar::BFloat16,
                      Scalar::Float32, Scalar::Float32, Scalar::Int8, Scalar::Float8E4M3, Scalar::Float8E5M2,
                      Scalar::Float64});
}

Value KernelBuilder::dotOperand(const Axis &first, const Axis &second, Scalar type) {
  const int64_t kind = isAboutLoops ? random.pick({0, 6, 6, 6, 6}) : random.below(10);
  const std::vector<Axis> of = {first, second};
  const bool isPlain = isOrdinary || random.chance(80);
  if (kind < 6)
    return load(of, type, isPlain);
  if (kind < 8)
    return loadByDescriptor(of, type);
  if (kind == 8)
    return loadByBlockPointer(of, type);
  // The operand has the other order in memory.
  Value turned = random.chance(50) ? load({second, first}, type, isPlain) : loadByDescriptor({second, first}, type);
  return define("v", {"tl.trans(" + turned.text + ")", turned.type, {first.block, second.block}, turned.range});
}

/// Describes the rows of a matrix twice: all of the upper half, and every second one. Returns the two descriptors.
std::vector<std::string> KernelBuilder::twoViews(const Axis &rows, const Axis &columns, Scalar type) {
  const std::string name = freshName("x");
  const int64_t perRow = 16 / std::max<int64_t>(1, bitsOf(type) / 8), stride = (columns.size / perRow + 1) * perRow;
  pointers.push_back(name + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(2 * rows.size * stride) + "] = random\n";
  const std::string distance = addInteger("stride_" + name, stride);
  std::vector<std::string> views;
  for (const std::string &between : {distance, "2 * " + distance}) {
    views.push_back(freshName("desc"));
    line(views.back() + " = tl.make_tensor_descriptor(" + name + ", shape=[" + rows.bound + ", " + columns.bound +
         "], strides=[" + between + ", 1], block_shape=[" + std::to_string(rows.block) + ", " +
         std::to_string(columns.block) + "])");
  }
  if (random.chance(50))
    std::swap(views[0], views[1]);
  return views;
}

/// Writes a loop with only one dot, as clusters, ping-pong and split-K require.
Value KernelBuilder::plainGemm(const std::vector<Axis> &own) {
  isPlainForm = true;
  const Scalar type =
      sharesTail ? random.pick({Scalar::Float16, Scalar::BFloat16})
                 : random.pick({Scalar::Float16, Scalar::Float16, Scalar::BFloat16, Scalar::Int8, Scalar::Float8E4M3});
  const int64_t block = sharesTail ? 64 : random.pick({32, 64, 64});
  // The CTAs of the last wave share programs with this many steps (Target/TailSplit.h).
  const int64_t size = sharesTail         ? block * random.between(30, 33) - 8 * random.below(8)
                       : random.chance(4) ? block * random.between(24, 32)
                                          : 8 * random.between(0, 3 * block / 8);
  const double trips = std::ceil(static_cast<double>(size) / static_cast<double>(block));
  const std::string k = freshName("k"), bound = addSize(freshName("K"), size), width = std::to_string(block);
  const Axis inner{"offs_" + k, k, bound, size, block, /*isOwn=*/false};
  const Shape shape = {own[0].block, own[1].block};
  const Scalar sumType = type == Scalar::Int8 ? Scalar::Int32 : Scalar::Float32;
  const double most = static_cast<double>(block) * trips * 128;
  const Value sum = define("acc", {"tl.zeros(" + shapeText(shape) + ", " + languageName(sumType) + ")", sumType, shape,
                                   isFloat(sumType) ? Range{-most, most, 1} : rangeOf(sumType)});
  // Instructions require 8-bit operands to have contiguous k.
  const bool isTransposed = bitsOf(type) == 8 || random.chance(25);
  const auto operandOf = [&](const std::vector<Axis> &of) {
    return random.chance(60) ? loadByDescriptor(of, type) : load(of, type, /*isPlain=*/true);
  };
  // Two accumulators of the same rows, one of which has another initial value.
  std::optional<Value> second;
  if (!sharesTail && random.chance(8) && elementsOf(shape) <= 8192)
    second =
        define("acc", {"tl.zeros(" + shapeText(shape) + ", " + languageName(sumType) + ")", sumType, shape, sum.range});
  const std::vector<std::string> views =
      random.chance(sharesTail ? 0 : 8) ? twoViews(own[0], inner, type) : std::vector<std::string>();
  line("for " + k + " in range(0, " + bound + ", " + width + "):");
  ++loops;
  indented([&] {
    line(inner.offsets + " = " + k + " + tl.arange(0, " + width + ")");
    std::vector<Value> left;
    for (const std::string &view : views)
      left.push_back(define("v", {view + ".load([" + own[0].start + ", " + k + "])",
                                  type,
                                  {own[0].block, block},
                                  isFloat(type) ? Range{-8, 8, 1} : Range{-8, 7, 1}}));
    if (views.empty())
      left.push_back(operandOf({own[0], inner}));
    Value b = operandOf(isTransposed ? std::vector<Axis>{own[1], inner} : std::vector<Axis>{inner, own[1]});
    if (isTransposed) {
      b.text = "tl.trans(" + b.text + ")";
      b.shape = {block, own[1].block};
    }
    if (second) {
      Value other = operandOf(isTransposed ? std::vector<Axis>{own[1], inner} : std::vector<Axis>{inner, own[1]});
      if (isTransposed) {
        other.text = "tl.trans(" + other.text + ")";
        other.shape = b.shape;
      }
      line(second->text + " = " + dot(left[0], other, trips, &*second).value_or(*second).text);
    }
    for (const Value &a : left)
      line(sum.text + " = " + dot(a, b, 2 * trips, &sum).value_or(sum).text);
    if (second)
      differInFirst(k, sum, /*isOneOfTwo=*/true);
  });
  --loops;
  isPlainForm = false;
  return sum;
}

/// Perhaps adds something to an accumulator only in the first iteration of a loop, or in all others.
void KernelBuilder::differInFirst(const std::string &counter, const Value &sum, bool isOneOfTwo) {
  if (random.chance(isOneOfTwo ? 60 : isAboutLoops ? 12 : 4))
    line(sum.text + " = tl.where(" + counter + random.pick<std::string>({" > 0", " >= 1", " < 1", " <= 0", " == 0"}) +
         ", " + sum.text + ", " + sum.text + " + 1)");
}

/// Returns the accumulator, if there is one.
std::optional<Value> KernelBuilder::dotLoop() {
  std::vector<Axis> own;
  for (const Axis &axis : axes)
    if (axis.isOwn && axis.block >= smallest)
      own.push_back(axis);
  if (own.size() != 2) {
    loopStatement(2);
    return std::nullopt;
  }
  if (random.chance(isAboutLoops ? 50 : 20))
    return dotChain();
  if (random.chance(8))
    return scaledLoop(own);
  if (random.chance(isGemm ? 35 : 25)) {
    const Value sum = advancedDot(own);
    values.push_back(sum);
    return sum;
  }
  const int64_t block = random.pick({16, 32, 32, 64, 64, 128});
  // Sometimes the sum includes elements beyond the end.
  const bool pads = random.chance(12);
  const int64_t size = isAboutLoops || pads ? 8 * random.between(0, block)
                       : random.chance(6)   ? 16 * random.between(20, 60)
                       : random.chance(40)  ? block * random.between(1, 6)
                                            : anySize(block, 5);
  const double trips = std::ceil(static_cast<double>(size) / static_cast<double>(block));
  const std::string k = freshName("k"), bound = addSize(freshName("K"), size), width = std::to_string(block);
  const std::string first = firstOffset(block, size);
  const Axis inner{"offs_" + k, k, bound, size, block, /*isOwn=*/false, first != "0"};
  const Shape shape = {own[0].block, own[1].block};
  const Scalar type = operandType();
  Scalar sumType = type == Scalar::Int8 ? Scalar::Int32 : type == Scalar::Float64 ? type : Scalar::Float32;
  if (random.chance(15))
    sumType = random.pick({Scalar::Float32, Scalar::Float16, Scalar::Int32, Scalar::Float64});
  // Operands are at most 8, those of 16 bits at most 1; returns the bound of the sum over all iterations.
  Value zero{"tl.zeros(" + shapeText(shape) + ", " + languageName(sumType) + ")", sumType, shape, {}};
  const double most = static_cast<double>(block) * trips * (sumType == Scalar::Float16 ? 1 : 64) + trips + 1;
  zero.range = isFloat(sumType) ? Range{-most, most, 1} : rangeOf(sumType);
  const Value sum = define("acc", zero);
  std::string options;
  if (random.chance(25))
    options = ", num_stages=" + std::to_string(random.between(1, 4));
  else if (random.chance(15))
    options = random.pick<std::string>(
        {", warp_specialize=True", ", flatten=True", ", loop_unroll_factor=2", ", disallow_acc_multi_buffer=True"});
  // A second accumulator shares an operand with the first.
  std::optional<Value> second;
  if (random.chance(isAboutLoops ? 25 : 12) && elementsOf(shape) <= 8192) {
    second = sum;
    second->text = freshName("acc");
    line(second->text + " = " + zero.text);
    values.push_back(*second);
  }
  line("for " + k + " in " + (options.empty() ? "range(" : "tl.range(") + first + ", " + bound + ", " + width +
       options + "):");
  ++loops;
  indented([&] {
    line(inner.offsets + " = " + k + " + tl.arange(0, " + width + ")");
    values.push_back({inner.offsets, Scalar::Int32, {block}, {0, static_cast<double>(size + block), 1}});
    values.push_back({k, Scalar::Int32, {}, {0, static_cast<double>(size), 1}});
    padding = pads ? random.pick({1, 2, -1}) : 0;
    const auto operandOf = [&](const Axis &first, const Axis &second, Scalar of) {
      return pads ? load({first, second}, of, /*isPlain=*/true) : dotOperand(first, second, of);
    };
    Value a = operandOf(own[0], inner, type);
    Value b = operandOf(inner, own[1], random.chance(85) ? type : operandType());
    padding = 0;
    axes.push_back(inner);
    if (random.chance(20)) {
      // Computes with an operand before it is multiplied.
      const bool isFirst = random.chance(50);
      Value &changed = isFirst ? a : b;
      const std::vector<Axis> of = isFirst ? std::vector<Axis>{own[0], inner} : std::vector<Axis>{inner, own[1]};
      const Value other =
          random.chance(35)
              ? loadGroups(of, random.pick({Scalar::Float16, Scalar::BFloat16, Scalar::Int8, Scalar::Int32}))
              : expression(changed.shape, 1);
      if (std::optional<Value> result = arithmetic(random.pick<std::string>({"+", "*", "max", "min"}), changed, other))
        if (result->shape == changed.shape && result->type != Scalar::Int1)
          changed = *result;
    }
    if (random.chance(isOrdinary ? 5 : 20))
      statements(1, 3);
    if (second) {
      const Value other = dotOperand(inner, own[1], b.type);
      if (const std::optional<Value> result = dot(a, other, trips, &*second); result && result->type == sumType)
        line(second->text + " = " + result->text);
    }
    for (int attempt = 0; attempt < 3; ++attempt) {
      const bool adds = random.chance(30) && sumType != Scalar::Float16;
      const std::optional<Value> result = dot(a, b, trips, adds ? nullptr : &sum);
      if (!result || result->type != sumType)
        continue;
      // Skips steps, as causal attention does.
      const bool isSkipped = random.chance(10);
      if (isSkipped)
        line("if " +
             comparison({k, Scalar::Int32, {}, {0, static_cast<double>(size), 1}, false}, leaf({}))
                 .value_or(Value{"pid_m == 0", Scalar::Int1, {}, {0, 1, 1}, false})
                 .text +
             ":");
      depthOfText += isSkipped;
      line(sum.text + (adds ? " += " : " = ") + result->text);
      depthOfText -= isSkipped;
      if (!isFloat(sumType) || sumType == Scalar::Float32)
        differInFirst(k, sum, second.has_value());
      return;
    }
    line("pass");
  });
  --loops;
  return sum;
}

/// Multiplies the result of another dot, as in attention: acc + f(q @ k.T) @ v.
Value KernelBuilder::dotChain() {
  const std::vector<Axis> own = {axes[0], axes[1]};
  const int64_t depth = random.pick({16, 32, 64}), block = random.pick({16, 32, 64});
  const int64_t size = isAboutLoops ? 8 * random.between(0, block) : anySize(block, 3);
  const int64_t depthSize = isAboutLoops || random.chance(50) ? depth : random.between(1, depth);
  const std::string j = freshName("j"), bound = addSize(freshName("K"), size), width = std::to_string(block);
  const Axis features{"offs_d" + j, "0", addSize(freshName("D"), depthSize), depthSize, depth, /*isOwn=*/false};
  const std::string first = firstOffset(block, size);
  const Axis steps{"offs_" + j, j, bound, size, block, /*isOwn=*/false, first != "0"};
  line(features.offsets + " = tl.arange(0, " + std::to_string(depth) + ")");
  const Scalar type = isAboutLoops ? random.pick({Scalar::Float16, Scalar::BFloat16})
                                   : random.pick({Scalar::Float16, Scalar::BFloat16, Scalar::Float32});
  const Value q = dotOperand(own[0], features, type);
  const Shape shape = {own[0].block, own[1].block};
  const double trips = std::ceil(static_cast<double>(size) / static_cast<double>(block));
  const double most = static_cast<double>(block) * trips * 64;
  const Value sum =
      define("acc", {"tl.zeros(" + shapeText(shape) + ", tl.float32)", Scalar::Float32, shape, {-most, most, 1}});
  const Value largest = define("most", {"tl.full((" + std::to_string(own[0].block) + ",), -100.0, tl.float32)",
                                        Scalar::Float32,
                                        {own[0].block},
                                        {-100, 1 << 17, 1}});
  line("for " + j + " in range(" + first + ", " + bound + ", " + width + "):");
  ++loops;
  indented([&] {
    line(steps.offsets + " = " + j + " + tl.arange(0, " + width + ")");
    Value k = dotOperand(steps, features, type);
    k.text = "tl.trans(" + k.text + ")";
    std::swap(k.shape[0], k.shape[1]);
    std::optional<Value> scores;
    while (!scores || !isFloat(scores->type))
      scores = dot(q, k, 1, nullptr);
    const Value s = define("d", cast(*scores, Scalar::Float32));
    if (random.chance(50))
      line(largest.text + " = tl.maximum(" + largest.text + ", tl.max(" + s.text + ", 1))");
    const Value v = dotOperand(steps, own[1], type);
    Value weights = s;
    if (random.chance(40))
      if (std::optional<Value> changed =
              select(condition(s.shape, 1), s, cast(literal(Scalar::Float32), Scalar::Float32)))
        weights = expand(*changed, s.shape);
    std::optional<Value> result;
    while (!result)
      result = dot(weights, v, trips, &sum);
    line(sum.text + " = " + result->text);
  });
  --loops;
  return sum;
}

} // namespace tile::fuzz
