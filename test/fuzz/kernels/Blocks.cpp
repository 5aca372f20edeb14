// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, scans, and all operations that move elements.
#include "KernelBuilder.h"

#include <algorithm>
#include <cmath>

namespace tile::fuzz {

namespace {

Shape without(const Shape &shape, size_t axis) {
  Shape result = shape;
  result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  return result;
}

} // namespace

void KernelBuilder::blockStatement() {
  const std::optional<Value> source =
      find([&](const Value &value) { return !value.shape.empty() && elementsOf(value.shape) <= maxElements; });
  if (!source)
    return assignStatement();
  if (random.chance(12))
    return pairStatement(*source);
  std::optional<Value> result;
  const int64_t kind = random.below(10);
  if (kind < 4)
    result = reduction(*source);
  else if (kind < 7)
    result = scan(*source);
  else
    result = rearrangement(*source);
  if (!result)
    return;
  const Value value = define("b", *result);
  // The result has a rare shape, so it is most useful if all of it is stored.
  if (!inHelper && random.chance(35))
    sink(value);
}

/// Emits a reduction or scan of pairs in which the order matters: composition of affine functions, or of a value and
/// its index.
void KernelBuilder::pairStatement(const Value &value) {
  const size_t axis = static_cast<size_t>(random.below(static_cast<int64_t>(value.shape.size())));
  const std::string number = std::to_string(axis), first = freshName("b"), second = freshName("b");
  const Shape reduced = without(value.shape, axis);
  if (!isNarrowFloat(value.type) && value.type != Scalar::Int1 && value.type != Scalar::BFloat16 && random.chance(35)) {
    line(first + ", " + second + " = " + random.pick<std::string>({"tl.max(", "tl.min("}) + value.text + ", " + number +
         ", return_indices=True)");
    values.push_back({second, Scalar::Int32, reduced, {0, static_cast<double>(value.shape[axis] - 1), 1}});
    return;
  }
  const Value a = cast(value, Scalar::Int32), b = cast(expression(value.shape, 1), Scalar::Int32);
  if (helpers.find("def compose(") == std::string::npos)
    helpers += "@triton.jit\ndef compose(a, b, c, d):\n    return a * c, b * c + d\n\n";
  const bool isScan = random.chance(40);
  line(first + ", " + second + " = tl." + (isScan ? "associative_scan((" : "reduce((") + a.text + ", " +
       expand(b, value.shape).text + "), " + number + ", compose" +
       (isScan && random.chance(40) ? ", reverse=True)" : ")"));
  for (const std::string &name : {first, second})
    values.push_back({name, Scalar::Int32, isScan ? value.shape : reduced, rangeOf(Scalar::Int32)});
}

/// Reduces or scans integers with arbitrary bits, of which whole warps hold neighbours.
void KernelBuilder::wholeWarpStatement() {
  if (inHelper || programs > 64)
    return assignStatement();
  const Scalar type = random.pick(
      {Scalar::UInt32, Scalar::UInt32, Scalar::UInt32, Scalar::Int32, Scalar::UInt8, Scalar::UInt16, Scalar::UInt64});
  const int64_t block = random.pick({32, 64, 128, 256, 512});
  const std::string name = freshName("bits"), width = std::to_string(block);
  pointers.push_back(name + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(block * programs) + "] = random\n";
  const std::string loaded =
      define("w", {"tl.load(" + name + " + " + programNumber + " * " + width + " + tl.arange(0, " + width + "))",
                   type,
                   {block},
                   rangeOf(type)})
          .text;
  if (random.chance(30)) {
    const std::string reverse = random.chance(60) ? ", reverse=True)" : ")";
    return sink(define(
        "b",
        {"tl.cumsum(" + loaded + ", 0" + reverse + ".to(tl.int32)", Scalar::Int32, {block}, rangeOf(Scalar::Int32)}));
  }
  if (random.chance(25))
    return sink(define("b", {"tl.sum(" + loaded + ".to(tl.uint32), 0)", Scalar::UInt32, {}, rangeOf(Scalar::UInt32)}));
  const std::string extreme = random.pick<std::string>({"tl.max(", "tl.min("});
  sink(define("b", {extreme + loaded + ", 0).to(" + languageName(type) + ")", type, {}, rangeOf(type)}));
}

/// Stores a whole value to a part of a buffer that belongs to the program.
void KernelBuilder::sink(const Value &value) {
  const int64_t count = elementsOf(value.shape);
  const std::string name = freshName("sink");
  pointers.push_back(name + ": \"" + pointerName(value.type) + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(count * programs) + "] = zeros\n";
  std::string index;
  int64_t stride = count;
  for (size_t dimension = 0; dimension < value.shape.size(); ++dimension) {
    stride /= value.shape[dimension];
    std::string indices = "tl.arange(0, " + std::to_string(value.shape[dimension]) + ")";
    if (value.shape.size() > 1) {
      indices += "[";
      for (size_t i = 0; i < value.shape.size(); ++i)
        indices += std::string(i ? ", " : "") + (i == dimension ? ":" : "None");
      indices += "]";
    }
    index += " + " + indices + (stride > 1 ? " * " + std::to_string(stride) : "");
  }
  line("tl.store(" + name + " + " + programNumber + " * " + std::to_string(count) + index + ", " + value.text + ")");
}

/// Returns the name of an associative and commutative function of two values.
std::string KernelBuilder::combine(Scalar type) {
  const bool isInteger = !isFloat(type);
  const std::vector<std::pair<std::string, std::string>> all = {{"largest", "tl.maximum(a, b)"},
                                                                {"smallest", "tl.minimum(a, b)"},
                                                                {"both", "a & b"},
                                                                {"either", "a | b"},
                                                                {"differs", "a ^ b"},
                                                                {"plus", "a + b"},
                                                                {"times", "a * b"}};
  const auto &[name, body] = all[static_cast<size_t>(random.below(isInteger ? 7 : 2))];
  if (helpers.find("def " + name + "(") == std::string::npos)
    helpers += "@triton.jit\ndef " + name + "(a, b):\n    return " + body + "\n\n";
  return name;
}

std::optional<Value> KernelBuilder::reduction(const Value &given) {
  if (isNarrowFloat(given.type))
    return std::nullopt;
  Value value = given;
  // Integers for which signed and unsigned order differ.
  if (!isFloat(value.type) && value.type != Scalar::Int1 && random.chance(35))
    value = cast(value, random.pick({Scalar::UInt32, Scalar::UInt32, Scalar::UInt8, Scalar::UInt8, Scalar::UInt16,
                                     Scalar::UInt64}));
  const bool takesAll = oddBlocks.empty() && random.chance(25);
  const size_t axis = static_cast<size_t>(random.below(static_cast<int64_t>(value.shape.size())));
  const bool keeps = !takesAll && random.chance(25);
  Shape shape = takesAll ? Shape{} : without(value.shape, axis);
  if (keeps) {
    shape = value.shape;
    shape[axis] = 1;
  }
  const double count = static_cast<double>(takesAll ? elementsOf(value.shape) : value.shape[axis]);
  const std::string number = std::to_string(axis), tail = keeps ? ", keep_dims=True)" : ")";
  const std::string place = takesAll ? tail : ", " + number + tail;
  const int64_t kind = random.below(10);
  if (kind < 4) {
    Value source = value;
    Scalar type = value.type == Scalar::Int1 || value.type == Scalar::Int8 || value.type == Scalar::Int16
                      ? Scalar::Int32
                  : isUnsigned(value.type) && bitsOf(value.type) < 32 && random.chance(80) ? Scalar::UInt32
                                                                                           : value.type;
    Range sum{value.range.low * count, value.range.high * count, value.range.step};
    if (isFloat(type)) {
      if (!fits(type, sum)) {
        const double limit = std::floor(rangeOf(type).high * value.range.step / count);
        if (limit < 1)
          return std::nullopt;
        source = cast(narrow(value, -limit, limit), value.type);
        sum = {source.range.low * count, source.range.high * count, source.range.step};
      }
    } else
      sum = rangeOf(type);
    return Value{"tl.sum(" + source.text + place + ".to(" + languageName(type) + ")", type, shape, sum};
  }
  if (value.type == Scalar::Int1)
    return std::nullopt;
  const std::string conversion = ".to(" + languageName(value.type) + ")";
  if (kind < 7)
    return Value{(random.chance(50) ? "tl.max(" : "tl.min(") + value.text + place + conversion, value.type, shape,
                 value.range};
  if (kind == 7 && !keeps && !takesAll)
    return Value{(random.chance(50) ? "tl.argmax(" : "tl.argmin(") + value.text + ", " + number + ")",
                 Scalar::Int32,
                 shape,
                 {0, count - 1, 1}};
  if (kind == 8 && !isFloat(value.type))
    return Value{"tl.xor_sum(" + value.text + place + conversion, value.type, shape, rangeOf(value.type)};
  // The maximum of two bf16 is fp32.
  if (takesAll || value.type == Scalar::BFloat16)
    return std::nullopt;
  const Range range = isFloat(value.type) ? value.range : rangeOf(value.type);
  return Value{"tl.reduce(" + value.text + ", " + number + ", " + combine(value.type) + tail + conversion, value.type,
               shape, range};
}

std::optional<Value> KernelBuilder::scan(const Value &value) {
  if (isNarrowFloat(value.type) || value.type == Scalar::Int1)
    return std::nullopt;
  const size_t axis = static_cast<size_t>(random.below(static_cast<int64_t>(value.shape.size())));
  const double count = static_cast<double>(value.shape[axis]);
  const std::string tail = ", " + std::to_string(axis) + (random.chance(45) ? ", reverse=True)" : ")");
  const std::string conversion = ".to(" + languageName(value.type) + ")";
  if (!isFloat(value.type)) {
    const Range range = rangeOf(value.type);
    switch (random.below(3)) {
    case 0:
      return Value{"tl.cumsum(" + value.text + tail + conversion, value.type, value.shape, range};
    case 1:
      return Value{"tl.cumprod(" + value.text + tail + conversion, value.type, value.shape, range};
    default:
      break;
    }
    std::string last = tail;
    last.insert(last.find(", reverse") == std::string::npos ? last.size() - 1 : last.find(", reverse"),
                ", " + combine(value.type));
    return Value{"tl.associative_scan(" + value.text + last + conversion, value.type, value.shape, range};
  }
  const double limit = std::floor(rangeOf(value.type).high * value.range.step / count);
  if (limit < 1)
    return std::nullopt;
  const Value source = cast(narrow(value, -limit, limit), value.type);
  const Range sum{std::min(source.range.low * count, source.range.low),
                  std::max(source.range.high * count, source.range.high), source.range.step};
  return Value{"tl.cumsum(" + source.text + tail + conversion, value.type, value.shape, sum};
}

std::optional<Value> KernelBuilder::rearrangement(const Value &value) {
  const Shape &shape = value.shape;
  const size_t rank = shape.size();
  const bool isOrdered = !isNarrowFloat(value.type) && value.type != Scalar::Int1;
  const auto same = [&](const std::string &text, const Shape &of) { return Value{text, value.type, of, value.range}; };
  const std::string last = std::to_string(rank - 1);
  switch (random.below(11)) {
  case 0:
    if (rank == 2)
      return same(random.chance(50) ? "tl.trans(" + value.text + ")" : value.text + ".T", {shape[1], shape[0]});
    if (rank > 2) {
      std::vector<size_t> order(rank);
      for (size_t i = 0; i < rank; ++i) {
        order[i] = i;
        std::swap(order[i], order[static_cast<size_t>(random.below(static_cast<int64_t>(i) + 1))]);
      }
      Shape to(rank), places(rank);
      for (size_t i = 0; i < rank; ++i) {
        to[i] = shape[order[i]];
        places[i] = static_cast<int64_t>(order[i]);
      }
      return same("tl.permute(" + value.text + ", " + shapeText(places) + ")", to);
    }
    return std::nullopt;
  case 1: {
    const int64_t count = elementsOf(shape), columns = random.pick({2, 4, 8, 16, 32});
    if (count < columns)
      return std::nullopt;
    Shape to = random.chance(40) ? Shape{count} : Shape{count / columns, columns};
    if (random.chance(20) && count >= 4 * columns)
      to = random.chance(50) ? Shape{4, count / columns / 4, columns} : Shape{2, count / columns / 4, 2, columns};
    return same("tl.reshape(" + value.text + ", " + shapeText(to) + ")", to);
  }
  case 2:
    return same("tl.flip(" + value.text + ", " + last + ")", shape);
  case 3:
    if (!isOrdered || shape.back() > 128 || shape.back() < 2)
      return std::nullopt;
    return same("tl.sort(" + value.text + ", descending=" + (random.chance(50) ? "True" : "False") + ")", shape);
  case 4: {
    if (!isOrdered || shape.back() > 64 || shape.back() < 4)
      return std::nullopt;
    Shape to = shape;
    to.back() = random.pick({2, 4});
    return same("tl.topk(" + value.text + ", " + std::to_string(to.back()) + ")", to);
  }
  case 5: {
    // Gather elements at valid indices of the axis.
    const size_t axis = static_cast<size_t>(random.below(static_cast<int64_t>(rank)));
    Value index = cast(expression(shape, 1), Scalar::Int32);
    index = expand(index, shape);
    return same("tl.gather(" + value.text + ", (" + index.text + " & " + std::to_string(shape[axis] - 1) + "), " +
                    std::to_string(axis) + ")",
                shape);
  }
  case 6: {
    if (isFloat(value.type) || value.type == Scalar::Int1 || rank != 1)
      return std::nullopt;
    const int64_t bins = random.pick({8, 16, 64});
    const std::string few = cast(value, Scalar::Int32).text + " & " + std::to_string(bins - 1);
    return Value{"tl.histogram(" + few + ", " + std::to_string(bins) + ")",
                 Scalar::Int32,
                 {bins},
                 {0, static_cast<double>(elementsOf(shape)), 1}};
  }
  case 7: {
    const Value other = cast(expand(expression(shape, 1), shape), value.type);
    if (rank > 2 || 2 * elementsOf(shape) > maxElements)
      return std::nullopt;
    Shape to = shape;
    Value result = same("", to);
    result.range = value.range.join(other.range);
    switch (random.below(3)) {
    case 0:
      result.shape.push_back(2);
      result.text = "tl.join(" + value.text + ", " + other.text + ")";
      return result;
    case 1:
      result.shape.back() *= 2;
      result.text = "tl.interleave(" + value.text + ", " + other.text + ")";
      return result;
    default:
      result.shape[0] *= 2;
      result.text = "tl.cat(" + value.text + ", " + other.text + ", dim=0)";
      return result;
    }
  }
  case 8: {
    // Take one half of the pairs.
    if (shape.back() < 4)
      return std::nullopt;
    Shape pairs = shape, half = shape;
    pairs.back() /= 2;
    half.back() /= 2;
    pairs.push_back(2);
    const std::string first = freshName("even"), second = freshName("odd");
    line(first + ", " + second + " = tl.split(tl.reshape(" + value.text + ", " + shapeText(pairs) + "))");
    values.push_back(same(second, half));
    return same(first, half);
  }
  case 9: {
    if (rank != 1 || shape[0] > 64)
      return std::nullopt;
    const Shape to = {random.pick({4, 16, 32}), shape[0]};
    return same("tl.broadcast_to(" + value.text + "[None, :], " + shapeText(to) + ")", to);
  }
  default: {
    if (rank != 1)
      return std::nullopt;
    const bool isColumn = random.chance(50);
    return same(value.text + (isColumn ? "[:, None]" : "[None, :]"),
                isColumn ? Shape{shape[0], 1} : Shape{1, shape[0]});
  }
  }
}

} // namespace tile::fuzz
