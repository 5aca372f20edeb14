// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops, branches, functions, and the variables that they assign.
//
// A variable that is assigned more than once has a fixed range from the start (`variables`), to which every assigned
// value is limited. So the facts derived for its uses hold for any order of assignments.
#include "KernelBuilder.h"

#include <algorithm>
#include <cmath>

namespace tile::fuzz {

namespace {

/// The range of a variable: far smaller than that of its type, so that computations with it stay exact.
Range variableRange(Scalar type) {
  if (!isFloat(type))
    return rangeOf(type);
  const double limit = type == Scalar::BFloat16 ? 32 : type == Scalar::Float16 ? 256 : 4096;
  return {-limit, limit, 1};
}

} // namespace

Shape KernelBuilder::someShape() {
  if (random.chance(25) || axes.empty()) {
    if (std::optional<Value> value = find([](const Value &value) { return elementsOf(value.shape) <= 4096; }))
      return value->shape;
    return {};
  }
  if (random.chance(20))
    return {};
  Shape shape;
  for (const Axis &axis : axes)
    if (axis.isOwn)
      shape.push_back(axis.block);
  if (shape.size() == 2 && random.chance(15))
    std::swap(shape[0], shape[1]);
  return shape;
}

/// Converts the value to the type, shape and range of the variable.
Value KernelBuilder::fit(const Value &value, const Value &variable) {
  Value result = expand(value, variable.shape);
  result = cast(floorOf(result), variable.type);
  if (isFloat(variable.type))
    result = narrow(result, variable.range.low, variable.range.high);
  return cast(result, variable.type);
}

Value KernelBuilder::defineVariable(const Shape &shape) {
  const Value pattern{"", random.chance(15) ? Scalar::Int1 : computeType(), shape, {}};
  Value variable = pattern;
  variable.range = variableRange(pattern.type);
  Value first = fit(expression(shape, 1), variable);
  first.range = variable.range;
  // Uses a separate name, so that the operands do not change when it is assigned.
  const Value defined = define("var", first);
  variables.push_back(defined);
  return defined;
}

void KernelBuilder::updateVariable() {
  if (variables.empty())
    defineVariable(someShape());
  const Value variable = random.pick(variables);
  const std::optional<Value> sum = isFloat(variable.type) ? std::nullopt
                                                          : arithmetic(random.pick<std::string>({"+", "*", "max", "-"}),
                                                                       variable, operand(variable.shape, 1));
  const Value next = sum ? *sum : expression(variable.shape, 2);
  line(variable.text + " = " + fit(next, variable).text);
}

void KernelBuilder::assignStatement() {
  const int64_t kind = random.below(10);
  if (kind < 6)
    define("v", materialise(expression(someShape(), static_cast<int>(random.between(1, 3)))));
  else if (kind < 8)
    defineVariable(someShape());
  else
    updateVariable();
}

/// Returns an expression that is not a bare name, because a name would denote the same variable and change with it.
Value KernelBuilder::materialise(const Value &value) {
  Value result = value;
  if (value.isWeak)
    result = cast(value, isFloat(value.type) ? Scalar::Float32 : Scalar::Int32);
  return result;
}

/// Emits a loop that carries a sum which cannot leave its type, a variable, or both.
void KernelBuilder::loop(const Loop &loop, int depth) {
  std::optional<Value> sum;
  double most = 0;
  const double trips = static_cast<double>(std::max<int64_t>(loop.trips, 1));
  if (random.chance(70)) {
    const Scalar type = random.pick({Scalar::Float32, Scalar::Float32, Scalar::Float16, Scalar::BFloat16, Scalar::Int32,
                                     Scalar::Int64, Scalar::Float64});
    most = isFloat(type) ? std::floor(variableRange(type).high * 4 / trips) : 0;
    Value zero{"", type, someShape(), isFloat(type) ? Range{-most * trips, most * trips, 1} : rangeOf(type)};
    zero.text = "tl.zeros(" + shapeText(zero.shape) + ", " + languageName(type) + ")";
    sum = define("sum", zero);
  }
  if (variables.empty() || random.chance(40))
    defineVariable(someShape());
  line(loop.head);
  ++loops;
  indented([&] {
    if (loop.counter)
      values.push_back(*loop.counter);
    if (loop.axis) {
      const std::string width = std::to_string(loop.axis->block);
      line(loop.axis->offsets + " = " + loop.axis->start + " + tl.arange(0, " + width + ")");
      values.push_back({loop.axis->offsets,
                        Scalar::Int32,
                        {loop.axis->block},
                        {0, static_cast<double>(loop.axis->size + loop.axis->block), 1}});
      axes.push_back(*loop.axis);
    }
    if (loop.counter && random.chance(20))
      laterIterations(*loop.counter);
    if (loop.opening)
      loop.opening();
    statements(static_cast<int>(random.between(1, 3)), depth + 1);
    if (sum) {
      Value pattern = *sum;
      pattern.range = isFloat(sum->type) ? Range{-most, most, 1} : rangeOf(sum->type);
      const Value added = fit(expression(sum->shape, 2), pattern);
      line(sum->text + (random.chance(50) ? " += " + added.text : " = " + sum->text + " + " + added.text));
    }
    updateVariable();
    if (!loop.tail.empty())
      line(loop.tail);
  });
  --loops;
}

void KernelBuilder::loopStatement(int depth) {
  const int64_t trips = random.below(5);
  const std::string i = freshName("i");
  if (!axes.empty() && random.chance(30)) {
    // Loop over blocks of another dimension.
    const int64_t block = random.pick({16, 32});
    const int64_t size = random.chance(30) ? block * trips : random.between(1, 1 + trips * block);
    const std::string bound = addSize(freshName("K"), size);
    Loop over;
    const std::string first = firstOffset(block, size);
    over.head = "for " + i + " in range(" + first + ", " + bound + ", " + std::to_string(block) + "):";
    over.trips = (size + block - 1) / block;
    over.axis = Axis{"offs_" + i, i, bound, size, block, /*isOwn=*/false, first != "0"};
    return loop(over, depth);
  }
  const bool isConstant = random.chance(35);
  std::string count = isConstant ? std::to_string(trips) : addInteger(freshName("trips"), trips);
  // Sometimes compute the number of iterations from data.
  const std::optional<Value> data =
      find([](const Value &value) { return value.shape.empty() && value.type == Scalar::Int32; });
  if (!isConstant && data && random.chance(15))
    count = "(" + narrow(*data, 0, 63).text + " % " + std::to_string(trips + 1) + ")";
  double low = 0, high = static_cast<double>(trips);
  std::string range;
  switch (random.below(isConstant ? 6 : 5)) {
  case 0:
    range = "range(" + count + ")";
    break;
  case 1:
    range = "range(2, " + count + " + 2)";
    high += 2;
    break;
  case 2:
    range = "range(0, " + count + " * 3, 3)";
    high *= 3;
    break;
  case 3:
    range = "range(" + count + " - 1, -1, -1)";
    low = -1;
    break;
  case 4:
    range = "tl.range(0, " + count + ", num_stages=" + std::to_string(random.between(1, 4)) + ")";
    break;
  default:
    range = "tl.static_range(" + count + ")";
    break;
  }
  Loop over;
  over.head = "for " + i + " in " + range + ":";
  over.trips = trips;
  if (range.find("static") == std::string::npos)
    over.counter = Value{i, Scalar::Int32, {}, {low, high, 1}};
  loop(over, depth);
}

void KernelBuilder::whileStatement(int depth) {
  const int64_t trips = random.below(4);
  const std::string i = freshName("w");
  const std::string count = random.chance(30) ? std::to_string(trips) : addInteger(freshName("trips"), trips);
  line(i + " = 0");
  Loop over;
  over.head = "while " + i + " < " + count + ":";
  if (random.chance(40)) {
    const Value variable = defineVariable({});
    over.head = "while (" + i + " < " + count + ") " + random.pick({"and", "&"}) + " (" + variable.text + " != 3):";
    if (variable.type == Scalar::Int1)
      over.head = "while (" + i + " < " + count + ") & " + variable.text + ":";
  }
  over.trips = trips;
  over.tail = i + " += 1";
  over.counter = Value{i, Scalar::Int32, {}, {0, static_cast<double>(trips), 1}};
  loop(over, depth);
}

/// Emits a loop that advances pointers.
void KernelBuilder::carriedPointerLoop() {
  const int64_t trips = random.between(1, 4);
  std::vector<Axis> of = {{"", "0", addInteger(freshName("T"), trips), trips, 1, false}};
  std::vector<std::string> indices = {"0"};
  Shape shape;
  for (const Axis &axis : axes)
    if (axis.isOwn) {
      of.push_back(axis);
      shape.push_back(axis.block);
    }
  const Buffer buffer =
      makeBuffer("x", random.pick({Scalar::Float32, Scalar::Float16, Scalar::Int32, Scalar::Int8, Scalar::BFloat16}),
                 of, Contents::Input);
  const std::vector<Axis> inner(of.begin() + 1, of.end());
  Buffer row = buffer;
  row.strides.erase(row.strides.begin());
  for (const Axis &axis : inner)
    indices.push_back(axis.offsets);
  indices.erase(indices.begin());
  const std::string pointer = freshName("p"), i = freshName("i");
  line(pointer + " = " + place(row, inner, indices));
  std::string mask = maskOf(inner, indices);
  if (!mask.empty())
    mask = ", mask=" + mask + (random.chance(50) ? ", other=0" : "");
  Value zero{"tl.zeros(" + shapeText(shape) + ", tl.float32)", Scalar::Float32, shape, {-64, 64, 1}};
  if (!isFloat(buffer.type)) {
    zero.text = "tl.zeros(" + shapeText(shape) + ", tl.int32)";
    zero.type = Scalar::Int32;
    zero.range = rangeOf(Scalar::Int32);
  }
  const Value sum = define("sum", zero);
  line("for " + i + " in range(" + of[0].bound + "):");
  ++loops;
  indented([&] {
    Value loaded = define("v", {"tl.load(" + pointer + mask + ")", buffer.type, shape, buffer.range.join({0, 0, 1})});
    if (isFloat(buffer.type)) {
      Value pattern = sum;
      pattern.range = {-16, 16, 1};
      loaded = fit(random.chance(50) ? expression(shape, 1) : loaded, pattern);
    } else
      loaded = cast(loaded, Scalar::Int32);
    line(sum.text + " += " + loaded.text);
    line(pointer + " += " + buffer.strides[0]);
  });
  --loops;
}

void KernelBuilder::branchStatement(int depth) {
  if (variables.empty() || random.chance(30))
    defineVariable(someShape());
  const auto body = [&] {
    indented([&] {
      statements(static_cast<int>(random.below(3)), depth + 1);
      updateVariable();
    });
  };
  line("if " + scalarCondition().text + ":");
  body();
  if (random.chance(20)) {
    line("elif " + scalarCondition().text + ":");
    body();
  }
  if (random.chance(50)) {
    line("else:");
    body();
  }
}

/// Emits an early return in some programs.
void KernelBuilder::returnStatement() {
  if (loops > 0 || depthOfText != 1)
    return;
  line("if " + scalarCondition().text + ":");
  indented([&] {
    if (random.chance(40))
      storeStatement();
    line("return");
  });
}

void KernelBuilder::helperStatement() {
  if (inHelper || values.empty())
    return;
  std::vector<Value> parameters;
  std::string arguments, names;
  const int64_t count = random.between(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    Value value = random.pick(values);
    arguments += (i ? ", " : "") + value.text;
    value.text = freshName("a");
    names += (i ? ", " : "") + value.text;
    parameters.push_back(value);
  }
  std::string savedText;
  std::swap(text, savedText);
  const std::vector<Value> savedValues = values, savedVariables = variables;
  const std::vector<Axis> savedAxes = axes;
  const int savedDepth = depthOfText;
  values = parameters;
  variables.clear();
  axes.clear();
  depthOfText = 1;
  inHelper = true;
  const std::string name = freshName("helper");
  const int64_t lines = random.below(4);
  for (int64_t i = 0; i < lines; ++i)
    random.chance(70) ? assignStatement() : blockStatement();
  const Value result = materialise(expression(parameters[0].shape, 2));
  line("return " + result.text);
  helpers += "@triton.jit\ndef " + name + "(" + names + "):\n" + text + "\n";
  text = savedText;
  values = savedValues;
  variables = savedVariables;
  axes = savedAxes;
  depthOfText = savedDepth;
  inHelper = false;
  Value call = result;
  call.text = name + "(" + arguments + ")";
  define("v", call);
}

} // namespace tile::fuzz
