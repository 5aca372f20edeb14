// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is written more than once, or read and written: by atomic operations, by stores that overlap, in place.
#include "KernelBuilder.h"

namespace tile::fuzz {

/// Emits commutative atomic updates of elements that programs share.
void KernelBuilder::atomicStatement() {
  const Scalar type =
      random.pick({Scalar::Int32, Scalar::Int32, Scalar::UInt32, Scalar::Int64, Scalar::UInt64, Scalar::Float32});
  std::string operation = "add";
  if (type != Scalar::Float32)
    operation = random.pick({"add", "add", "max", "min", "and", "or", "xor"});
  const int64_t count = random.between(1, 9);
  const std::string name = freshName("atom");
  pointers.push_back(name + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(count) + "] = zeros\n";
  const std::string order = random.chance(50) ? ", sem=\"relaxed\"" : "";
  const auto written = [&](const Shape &shape) {
    Value value = cast(expression(shape, 1), type);
    // A few thousand of them still have an exact sum.
    return type == Scalar::Float32 ? narrow(value, -8, 8) : value;
  };
  if (random.chance(40)) {
    line("tl.atomic_" + operation + "(" + name + " + " + std::to_string(random.below(count)) + ", " + written({}).text +
         order + ")");
    return;
  }
  const std::vector<Axis> of = {random.pick(axes)};
  line("tl.atomic_" + operation + "(" + name + " + " + of[0].offsets + " % " + std::to_string(count) + ", " +
       expand(written(shapeOf(of)), shapeOf(of)).text + ", mask=" + of[0].offsets + " < " + of[0].bound + order + ")");
}

/// Emits atomic operations on elements that no other program accesses, so that their results are known, too.
void KernelBuilder::ownAtomicStatement() {
  if (loops > 0 || programs > 64)
    return;
  const Scalar type = random.pick({Scalar::Int32, Scalar::UInt32, Scalar::Int64, Scalar::UInt64, Scalar::Float32,
                                   Scalar::Float16, Scalar::BFloat16, Scalar::Float64});
  const bool isShort = bitsOf(type) < 32;
  const std::string operation =
      isFloat(type) ? (isShort || random.chance(70) ? "add" : "xchg")
                    : random.pick<std::string>({"add", "max", "min", "and", "or", "xor", "xchg", "cas"});
  const int64_t count = random.pick({1, 16, 64, 256});
  const Shape shape = count == 1 ? Shape{} : Shape{count};
  const std::string name = freshName("atom"), number = std::to_string(count);
  pointers.push_back(name + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(count * programs) + "] = zeros\n";
  const std::string place =
      name + " + " + programNumber + " * " + number + (count == 1 ? "" : " + tl.arange(0, " + number + ")");
  const std::string order =
      random.pick<std::string>({"", ", sem=\"relaxed\"", ", sem=\"acquire\"", ", sem=\"release\", scope=\"cta\""});
  for (int64_t times = random.between(1, 2); times > 0; --times) {
    Value value = cast(expand(expression(shape, 1), shape), type);
    if (isFloat(type))
      value = cast(narrow(floorOf(value), -8, 8), type);
    const std::string expected =
        operation == "cas" ? cast(expand({"0", Scalar::Int32, {}, {0, 0, 1}, /*isWeak=*/true}, shape), type).text + ", "
                           : "";
    define("old", {"tl.atomic_" + operation + "(" + place + ", " + expected + value.text + order + ")", type, shape,
                   isFloat(type) ? Range{-8, 8, 1} : rangeOf(type)});
    line("tl.debug_barrier()"); // the next one may belong to another thread
  }
}

/// Emits prints, and conditions that hold, which compiled kernels check only with --debug.
void KernelBuilder::messageStatement() {
  const Value value = expression(random.chance(50) ? Shape{} : someShape(), 1);
  if (isNarrowFloat(value.type) || value.isWeak || elementsOf(value.shape) > 256)
    return;
  const std::string name = define("v", value).text;
  line(random.chance(50) ? "tl.device_print(\"" + name + "\", " + name + ")"
                         : "tl.device_assert(" + name + " == " + name + ", \"" + name + " is no number\")");
}

/// Emits overlapping stores of one program, of which the later one takes effect.
void KernelBuilder::overlapStatement() {
  if (loops > 0 || programs > 64)
    return;
  const Scalar type = anyType();
  const std::string name = freshName("over");
  const int64_t block = random.pick({16, 32, 64, 128}), part = 2 * block;
  pointers.push_back(name + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(part * programs) + "] = zeros\n";
  const int64_t count = random.between(2, 3);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t width = i == 0 ? block : random.pick({block, block / 2, block / 4});
    const Shape shape = {width};
    const Value value = cast(expand(expression(shape, 1), shape), type);
    line("tl.store(" + name + " + " + programNumber + " * " + std::to_string(part) + " + " +
         std::to_string(random.below(part - width + 1)) + " + tl.arange(0, " + std::to_string(width) + "), " +
         value.text + ")");
    // Without the barrier, two threads could store in any order.
    if (i + 1 < count)
      line("tl.debug_barrier()");
  }
}

/// Reads a block, computes, and writes it back, once or twice, like a residual that is normalised in place or a running
/// state. The threads that read an element need not be those that write it.
void KernelBuilder::updateStatement() {
  const std::vector<Axis> own = ownAxes();
  Scalar type = computeType();
  while (type == Scalar::Float64)
    type = computeType();
  const Buffer buffer = makeBuffer("state", type, own, Contents::Updated);
  update(buffer, own);
  if (random.chance(25)) {
    line("tl.debug_barrier()"); // other threads may load the stored elements
    update(buffer, own);
  }
}

void KernelBuilder::update(const Buffer &buffer, const std::vector<Axis> &own) {
  const Shape shape = shapeOf(own);
  std::vector<std::string> indices;
  for (const Axis &axis : own)
    indices.push_back(axis.offsets);
  std::string mask = maskOf(own, indices);
  if (!mask.empty())
    mask = ", mask=" + mask;
  const std::string place = this->place(buffer, own, indices);
  const Value old = define("v", {"tl.load(" + place + mask + ")", buffer.type, shape, buffer.range.join({0, 0, 1})});
  Value value = old;
  // Each element depends on all those of its row or column.
  if (random.chance(60)) {
    const std::string axis = std::to_string(random.below(static_cast<int64_t>(shape.size())));
    // Values of fewer than 32 bits are widened.
    const Scalar wide = bitsOf(old.type) >= 32 ? old.type : isFloat(old.type) ? Scalar::Float32 : Scalar::Int32;
    const Value most{"tl.max(" + old.text + ", " + axis + ", keep_dims=True)", wide, shape, old.range};
    value = arithmetic(random.pick<std::string>({"-", "+"}), old, most).value_or(old);
  }
  if (random.chance(60))
    value = arithmetic("+", value, expression(shape, 1)).value_or(value);
  const double low = isUnsigned(buffer.type) ? 0 : -7;
  if (isFloat(value.type))
    value = floorOf(value);
  line("tl.store(" + place + ", " + cast(narrow(expand(value, shape), low, 7), buffer.type).text + mask + ")");
}

} // namespace tile::fuzz
