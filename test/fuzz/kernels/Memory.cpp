// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores, through pointers, block pointers and descriptors.
//
// A buffer is declared by its number of elements; strides, which are parameters or literals, determine the position of
// an element. Different programs write different elements, because an axis belongs to one program (Axis::isOwn).
#include "KernelBuilder.h"

#include <algorithm>

namespace tile::fuzz {

namespace {

/// Returns a vector as an index along one dimension of a block: `offs[:, None]`.
std::string spread(const std::string &vector, size_t dimension, size_t rank) {
  std::string text = vector.find(' ') == std::string::npos ? vector : "(" + vector + ")";
  if (rank == 1)
    return text;
  text += "[";
  for (size_t i = 0; i < rank; ++i)
    text += std::string(i ? ", " : "") + (i == dimension ? ":" : "None");
  return text + "]";
}

/// Returns the range of the elements of inputs of the type.
Range inputRange(Scalar type, bool hasAllBits) {
  if (type == Scalar::Int1)
    return {0, 1, 1};
  if (isFloat(type))
    return isNarrowFloat(type) ? Range{-4, 4, 1} : Range{-8, 8, 1};
  if (hasAllBits)
    return rangeOf(type);
  return isUnsigned(type) ? Range{0, 15, 1} : Range{-8, 7, 1};
}

} // namespace

Shape shapeOf(const std::vector<Axis> &axes) {
  Shape shape;
  for (const Axis &axis : axes)
    shape.push_back(axis.block);
  return shape;
}

Buffer KernelBuilder::makeBuffer(const std::string &prefix, Scalar type, const std::vector<Axis> &of,
                                 Contents contents) {
  const bool isInput = contents == Contents::Input;
  Buffer buffer;
  buffer.type = type;
  const bool hasAllBits = isInput && !isFloat(type) && type != Scalar::Int1 && random.chance(30);
  buffer.range = inputRange(type, hasAllBits);
  buffer.name = freshName(hasAllBits ? "bits" : prefix);
  buffer.strides.resize(of.size());
  buffer.strideValues.resize(of.size());
  std::vector<size_t> order; // innermost first
  for (size_t i = of.size(); i-- > 0;)
    order.push_back(i);
  if (random.chance(25))
    std::reverse(order.begin(), order.end());
  const int64_t bytes = std::max<int64_t>(1, bitsOf(type) / 8);
  const bool isAligned = isOrdinary || random.chance(75); // rows of whole 16 bytes
  int64_t stride = isOrdinary || random.chance(94) ? 1 : random.between(2, 3);
  buffer.suitsDescriptor = stride == 1 && order.front() == of.size() - 1 && (isAligned || of.size() == 1);
  int64_t last = 0;
  for (size_t step = 0; step < order.size(); ++step) {
    const size_t axis = order[step];
    buffer.sizes.push_back("");
    if (step > 0) {
      if (random.chance(30))
        stride += random.between(1, 9);
      if (isAligned)
        stride = (stride * bytes + 15) / 16 * 16 / bytes;
      if (isInput && !isOrdinary && random.chance(4)) {
        stride = 0;
        buffer.suitsDescriptor = false;
      }
    }
    buffer.strideValues[axis] = stride;
    const std::string name = "stride_" + buffer.name + "_" + std::to_string(axis);
    // Sometimes store the elements from the last one to the first.
    const bool isBackwards = isInput && !isOrdinary && random.chance(3);
    if (isBackwards) {
      buffer.first += std::max<int64_t>(of[axis].size - 1, 0) * stride;
      buffer.strideValues[axis] = -stride;
      buffer.suitsDescriptor = false;
    }
    if (stride == 1 && !isBackwards && (isOrdinary || random.chance(90)))
      buffer.strides[axis] = "1";
    else
      buffer.strides[axis] = addInteger(name, buffer.strideValues[axis]);
    last += std::max<int64_t>(of[axis].size - 1, 0) * stride;
    stride *= std::max<int64_t>(of[axis].size, 1);
  }
  for (size_t i = 0; i < of.size(); ++i)
    buffer.sizes[i] = of[i].bound;
  // The compiler recognizes a stride of 1 only if it is a literal.
  buffer.suitsDescriptor &= buffer.strides.back() == "1";
  pointers.push_back(buffer.name + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + buffer.name + "[" + std::to_string(last + 1) + "] = " +
                (isInput                                             ? "random"
                 : contents == Contents::Updated                     ? "inout"
                 : contents == Contents::Output && random.chance(50) ? "output"
                                                                     : "zeros") +
                "\n";
  return buffer;
}

/// Returns the pointers of a block: one index expression for each dimension.
std::string KernelBuilder::place(const Buffer &buffer, const std::vector<Axis> &of,
                                 const std::vector<std::string> &indices) {
  std::string pointer = buffer.origin();
  for (size_t i = 0; i < of.size(); ++i) {
    std::string index = spread(indices[i], i, of.size());
    if (random.chance(5))
      index += ".to(tl.int64)";
    pointer += " + " + (buffer.strides[i] == "1" ? index : index + " * " + buffer.strides[i]);
  }
  return pointer;
}

std::string KernelBuilder::maskOf(const std::vector<Axis> &of, const std::vector<std::string> &indices) {
  std::string mask = random.chance(70) ? namedMask(of, indices) : "";
  if (!mask.empty())
    return mask;
  for (size_t i = 0; i < of.size(); ++i) {
    if (of[i].size % of[i].block == 0 && !of[i].isUnaligned && indices[i] == of[i].offsets && !isOrdinary &&
        random.chance(50))
      continue; // no program goes beyond the end
    if (indices[i].find(" % ") != std::string::npos || indices[i].find("minimum") != std::string::npos)
      continue;
    std::string inside = "(" + spread(indices[i], i, of.size()) + " < " + of[i].bound + ")";
    if (indices[i].find(" - ") != std::string::npos) {
      const std::string isNotNegative = "(" + spread(indices[i], i, of.size()) + " >= 0)";
      // Indices before the axis's own may also be beyond its end.
      const bool isBefore = indices[i].starts_with(of[i].offsets);
      inside = isBefore ? inside + " & " + isNotNegative : isNotNegative;
    }
    mask += (mask.empty() ? "" : " & ") + inside;
  }
  return mask;
}

/// Returns the axes of a load or a store.
std::vector<Axis> KernelBuilder::someAxes() {
  if (axes.size() == 1 || random.chance(15))
    return {random.pick(axes)};
  const int64_t first = random.below(static_cast<int64_t>(axes.size()));
  int64_t second = random.below(static_cast<int64_t>(axes.size()) - 1);
  second += second >= first;
  if (axes.size() == 2 && random.chance(75))
    return {axes[0], axes[1]};
  return {axes[first], axes[second]};
}

/// Loads or stores one scalar for each program.
void KernelBuilder::scalarStatement() {
  const Scalar type = random.pick({Scalar::Int32, Scalar::Int64, Scalar::Int8, Scalar::UInt16, Scalar::Float32,
                                   Scalar::Float16, Scalar::BFloat16, Scalar::Float64, Scalar::Int1});
  const bool isLoad = random.chance(60);
  const std::string name = freshName(isLoad ? "x" : "out");
  pointers.push_back(name + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(programs) + "] = " + (isLoad ? "random" : "zeros") + "\n";
  const std::string place = name + " + " + programNumber;
  if (isLoad)
    define("s", {"tl.load(" + place + ")", type, {}, inputRange(type, false)});
  else if (random.chance(30) && bitsOf(type) >= 32 && type != Scalar::Float64)
    line("tl.atomic_xchg(" + name + " + " + programNumber + ", " + cast(expression({}, 1), type).text + ")");
  else
    line("tl.store(" + place + ", " + cast(expression({}, 2), type).text + ")");
}

void KernelBuilder::loadStatement() {
  if (random.chance(8))
    return scalarStatement();
  const std::vector<Axis> of = someAxes();
  const Scalar type = anyType();
  if (random.chance(7)) {
    loadGroups(of, random.pick({Scalar::Float32, Scalar::Float16, Scalar::Int32, Scalar::Int8, Scalar::Int16}));
    return;
  }
  const int64_t kind = random.below(10);
  Value value = kind < 7 ? load(of, type) : kind < 9 ? loadByDescriptor(of, type) : loadByBlockPointer(of, type);
  // 8-bit values are widened immediately, because there is no arithmetic on them.
  if (isNarrowFloat(type) && random.chance(80)) {
    value = cast(value, random.pick({Scalar::Float16, Scalar::Float32, Scalar::BFloat16}));
    value = define("v", value);
  }
}

/// `isPlain`: the elements at the axes' own indices.
Value KernelBuilder::load(const std::vector<Axis> &of, Scalar type, bool isPlain) {
  std::optional<Buffer> known;
  for (const Buffer &buffer : inputs) {
    bool hasSameSizes = buffer.sizes.size() == of.size();
    for (size_t i = 0; i < of.size() && hasSameSizes; ++i)
      hasSameSizes = buffer.sizes[i] == of[i].bound;
    if (hasSameSizes && random.chance(40) && (!isPlain || buffer.type == type))
      known = buffer;
  }
  const Buffer buffer = known ? *known : makeBuffer("x", type, of, Contents::Input);
  if (!known)
    inputs.push_back(buffer);
  std::vector<std::string> indices;
  for (const Axis &axis : of) {
    const int64_t kind = random.below(100);
    // Shifted, as in convolutions and in blocks of a matrix that begins elsewhere.
    if (isPlain && of.size() == 2 && kind < 6)
      indices.push_back(axis.offsets + " - " + std::to_string(random.pick({1, 2, 8, 16})));
    else if (kind < 72 || isPlain)
      indices.push_back(axis.offsets);
    else if (kind < 80)
      indices.push_back(axis.offsets + " % " + axis.bound);
    else if (kind < 86)
      indices.push_back("tl.minimum(" + axis.offsets + ", " + axis.bound + " - 1)");
    else if (kind < 93)
      indices.push_back(axis.bound + " - 1 - " + axis.offsets);
    else if (kind < 97)
      indices.push_back(axis.offsets + random.pick<std::string>({" + ", " - "}) + std::to_string(random.between(1, 5)));
    else if (axis.size >= axis.block)
      // The last block moves back instead of having a mask.
      indices.push_back("tl.minimum(" + axis.start + ", " + axis.bound + " - " + std::to_string(axis.block) +
                        ") + tl.arange(0, " + std::to_string(axis.block) + ")");
    else
      indices.push_back(axis.offsets);
  }
  // Indices computed from data.
  for (size_t i = 0; i < of.size() && !isPlain; ++i)
    if (random.chance(8))
      if (std::optional<Value> data = find([&](const Value &value) {
            return value.shape == Shape{of[i].block} && !isFloat(value.type) && value.type != Scalar::Int1 &&
                   !isUnsigned(value.type);
          }))
        indices[i] = "tl.abs(" + cast(*data, Scalar::Int32).text + " % 64) % " + of[i].bound;
  std::string mask = maskOf(of, indices);
  Range range = buffer.range;
  std::string arguments = place(buffer, of, indices);
  if (!isPlainForm && random.chance(isPlain ? 2 : 8)) {
    Value extra = condition(shapeOf(of), 1);
    if (extra.shape == shapeOf(of))
      mask += (mask.empty() ? "" : " & ") + extra.text;
  }
  if (!mask.empty()) {
    arguments += ", mask=" + mask;
    range = range.join({0, 0, 1});
    if (padding != 0 || random.chance(isOrdinary ? 10 : isPlain ? 25 : 60)) {
      const int64_t other = padding != 0                                    ? padding
                            : isPlainForm || (isPlain && random.chance(80)) ? 0
                            : buffer.type == Scalar::Int1 ? random.below(2)
                                                          : random.between(isUnsigned(buffer.type) ? 0 : -2, 3);
      arguments += ", other=" + numberText(static_cast<double>(other), isFloat(buffer.type));
      range = range.join({static_cast<double>(other), static_cast<double>(other), 1});
    }
  }
  if (random.chance(4))
    arguments += random.pick({", cache_modifier=\".cg\"", ", eviction_policy=\"evict_last\"", ", volatile=True"});
  return define("v", {"tl.load(" + arguments + ")", buffer.type, shapeOf(of), range});
}

/// Loads values that several neighbours along an axis share: scales of groups, integers that pack several values.
Value KernelBuilder::loadGroups(const std::vector<Axis> &of, Scalar type) {
  const Buffer buffer = makeBuffer("x", type, of, Contents::Input);
  const size_t grouped = static_cast<size_t>(random.below(static_cast<int64_t>(of.size())));
  const int64_t group = random.pick({2, 4, 8, 16, 64});
  std::vector<std::string> indices;
  for (size_t i = 0; i < of.size(); ++i)
    indices.push_back(of[i].offsets + (i == grouped ? " // " + std::to_string(group) : ""));
  std::string mask = maskOf(of, indices);
  // Some elements of a group are loaded, others are not.
  if (random.chance(35)) {
    const std::string index = spread(of[grouped].offsets, grouped, of.size());
    const Value third{"(" + index + " % 3 " + random.pick<std::string>({"!=", "=="}) + " " +
                          std::to_string(random.below(3)) + ")",
                      Scalar::Int1,
                      shapeOf(of),
                      {0, 1, 1}};
    const Value some = random.chance(60)   ? third
                       : random.chance(50) ? edgeComparison(shapeOf(of))
                                           : condition(shapeOf(of), 1);
    if (some.shape == shapeOf(of))
      mask += (mask.empty() ? "" : " & ") + some.text;
  }
  const Value loaded =
      define("v", {"tl.load(" + place(buffer, of, indices) + (mask.empty() ? "" : ", mask=" + mask + ", other=0") + ")",
                   type, shapeOf(of), buffer.range.join({0, 0, 1})});
  const int64_t bits = bitsOf(type) / group;
  if (isFloat(type) || bits == 0)
    return loaded;
  const std::string part = "(" + spread(of[grouped].offsets, grouped, of.size()) + " % " + std::to_string(group) +
                           " * " + std::to_string(bits) + ").to(" + languageName(type) + ")";
  const double most = static_cast<double>((int64_t(1) << std::min<int64_t>(bits, 3)) - 1);
  return define(
      "v", {"(" + loaded.text + " >> " + part + ") & " + numberText(most, false), type, shapeOf(of), {0, most, 1}});
}

std::vector<Axis> KernelBuilder::ownAxes() const {
  std::vector<Axis> own;
  std::copy_if(axes.begin(), axes.end(), std::back_inserter(own), [](const Axis &axis) { return axis.isOwn; });
  return own;
}

void KernelBuilder::storeStatement() {
  std::vector<Axis> own = ownAxes();
  if (own.size() == 2 && random.chance(25))
    std::swap(own[0], own[1]);
  const Shape shape = shapeOf(own);
  store(own, expression(shape, static_cast<int>(random.below(3))));
}

/// Stores values that nothing else uses, because computing an unused value would test nothing.
void KernelBuilder::storeUnused() {
  int left = 4;
  const std::vector<Value> all = values;
  for (size_t i = all.size(); i-- > 0 && left > 0;) {
    const Value &value = all[i];
    const size_t first = text.find(" " + value.text + " = ");
    const bool isRead = first != std::string::npos && (text.find(value.text + ")", first) != std::string::npos ||
                                                       text.find(value.text + ",", first) != std::string::npos ||
                                                       text.find(value.text + " ", first + 2) != std::string::npos ||
                                                       text.find(value.text + ".", first) != std::string::npos);
    if (first == std::string::npos || isRead || value.shape.empty() || elementsOf(value.shape) > maxElements)
      continue;
    if (random.chance(70)) {
      sink(value);
      --left;
    }
  }
  storeStatement();
}

void KernelBuilder::store(const std::vector<Axis> &of, const Value &value) {
  std::optional<Buffer> known;
  for (const Buffer &buffer : outputs) {
    bool hasSameSizes = buffer.sizes.size() == of.size();
    for (size_t i = 0; i < of.size() && hasSameSizes; ++i)
      hasSameSizes = buffer.sizes[i] == of[i].bound;
    if (hasSameSizes && random.chance(20))
      known = buffer;
  }
  const Scalar type = known ? known->type : random.chance(50) ? value.type : anyType();
  const Buffer buffer = known ? *known : makeBuffer("out", type, of, Contents::Output);
  if (!known)
    outputs.push_back(buffer);
  const Value stored = cast(expand(value, shapeOf(of)), type);
  if (!known && of.size() == 2 && random.chance(isAboutLoops ? 6 : 3) && storeBatch(of, cast(value, value.type)))
    return;
  if (known)
    line("tl.debug_barrier()"); // another thread may access the same element now
  if (isDescribable(buffer, of) && random.chance(40)) {
    line(makeDescriptor(buffer, of) + ".store([" + startsOf(of, /*moves=*/false) + "], " + stored.text + ")");
    return;
  }
  if (random.chance(10)) {
    const std::string pointer = blockPointer(buffer, of, startsOf(of, /*moves=*/false));
    line("tl.store(" + pointer + ", " + stored.text + ", boundary_check=" + (of.size() == 1 ? "(0,)" : "(0, 1)") + ")");
    return;
  }
  std::vector<std::string> indices;
  for (const Axis &axis : of)
    indices.push_back(axis.offsets);
  std::string mask = maskOf(of, indices);
  if (random.chance(10)) {
    const Value extra = condition(shapeOf(of), 1);
    if (extra.shape == shapeOf(of))
      mask += (mask.empty() ? "" : " & ") + extra.text;
  }
  line("tl.store(" + place(buffer, of, indices) + ", " + stored.text + (mask.empty() ? "" : ", mask=" + mask) + ")");
}

/// Emits functions whose results are rounded, and so are only stored.
void KernelBuilder::approximateStatement() {
  const std::vector<Axis> own = ownAxes();
  const Shape shape = shapeOf(own);
  const Value x = define("v", narrow(cast(expression(shape, 1), Scalar::Float32), -16, 16));
  std::string result;
  const std::string last = std::to_string(shape.size() - 1);
  if (random.chance(40)) {
    // Emit a softmax.
    const std::string axis = std::to_string(random.below(static_cast<int64_t>(shape.size())));
    const std::string most = freshName("m"), power = freshName("e");
    line(most + " = tl.max(" + x.text + ", " + axis + ", keep_dims=True)");
    line(power + " = tl.exp(" + x.text + " - " + most + ")");
    result = power + " / tl.sum(" + power + ", " + axis + ", keep_dims=True)";
  } else {
    const std::string a = "(tl.abs(" + x.text + ") + 0.5)";
    result = random.pick<std::string>({"tl.sqrt(" + a + ")", "tl.rsqrt(" + a + ")", "tl.exp2(" + x.text + " * 0.25)",
                                       "tl.sigmoid(" + x.text + ")", "1.0 / " + a, x.text + " / " + a,
                                       "tl.log2(" + a + ")"});
  }
  const Buffer buffer =
      makeBuffer("approx", random.pick({Scalar::Float32, Scalar::Float16, Scalar::Float32}), own, Contents::Output);
  std::vector<std::string> indices;
  for (const Axis &axis : own)
    indices.push_back(axis.offsets);
  const std::string mask = maskOf(own, indices);
  line("tl.store(" + place(buffer, own, indices) + ", (" + result + ").to(" + languageName(buffer.type) + ")" +
       (mask.empty() ? "" : ", mask=" + mask) + ")");
}

} // namespace tile::fuzz
