// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses through tensor descriptors and block pointers: whole blocks, rows at computed indices, and blocks that are
// combined with the contents of memory.
#include "KernelBuilder.h"

#include <algorithm>

namespace tile::fuzz {

namespace {

std::string join(const std::vector<std::string> &items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i)
    text += (i ? ", " : "") + items[i];
  return text;
}

std::string blockText(const std::vector<Axis> &of) {
  std::string text;
  for (size_t i = 0; i < of.size(); ++i)
    text += (i ? ", " : "") + std::to_string(of[i].block);
  return text;
}

/// The minimum row size of a block with a tensor map.
constexpr int64_t minRowBytes = 16;

int64_t bytesOf(Scalar type) {
  return std::max<int64_t>(1, bitsOf(type) / 8);
}

} // namespace

/// Returns the start of a block along each axis, of a descriptor or a block pointer; with `moves`, some are shifted.
std::string KernelBuilder::startsOf(const std::vector<Axis> &of, bool moves) {
  std::string text;
  for (size_t i = 0; i < of.size(); ++i) {
    text += (i ? ", " : "") + of[i].start;
    if (moves && !isPlainForm && random.chance(15))
      text += (random.chance(50) ? " + " : " - ") + std::to_string(random.between(1, 9));
  }
  return text;
}

bool KernelBuilder::isDescribable(const Buffer &buffer, const std::vector<Axis> &of) const {
  return buffer.suitsDescriptor && buffer.type != Scalar::Int1 &&
         of.back().block * bytesOf(buffer.type) >= minRowBytes && of.front().block <= 256;
}

/// Defines a descriptor of the buffer and returns its name.
std::string KernelBuilder::makeDescriptor(const Buffer &buffer, const std::vector<Axis> &of) {
  const std::string name = freshName("desc");
  line(name + " = tl.make_tensor_descriptor(" + buffer.name + ", shape=[" + join(buffer.sizes) + "], strides=[" +
       join(buffer.strides) + "], block_shape=[" + blockText(of) + "])");
  return name;
}

/// Returns the axes of one of several matrices, which leading dimensions select.
std::vector<Axis> KernelBuilder::inBatch(const std::vector<Axis> &of) {
  std::vector<Axis> dimensions = of;
  for (int64_t left = random.pick({1, 1, 2, 3}); left > 0; --left) {
    const int64_t count = random.between(1, 3);
    dimensions.insert(dimensions.begin(), Axis{"", std::to_string(random.below(count)),
                                               addInteger(freshName("B"), count), count, 1, /*isOwn=*/false});
  }
  return dimensions;
}

/// Stores a matrix as one of several. Returns false if a tensor map cannot describe the tensor.
bool KernelBuilder::storeBatch(const std::vector<Axis> &of, const Value &value) {
  const std::vector<Axis> dimensions = inBatch(of);
  const Buffer buffer = makeBuffer("out", value.type, dimensions, Contents::Zeros);
  if (!isDescribable(buffer, of))
    return false;
  const std::string matrix =
      "tl.reshape(" + expand(value, shapeOf(of)).text + ", " + shapeText(shapeOf(dimensions)) + ")";
  line(makeDescriptor(buffer, dimensions) + ".store([" + startsOf(dimensions, /*moves=*/false) + "], " + matrix + ")");
  return true;
}

/// Adds the program's block to a buffer of zeros, by an atomic addition.
void KernelBuilder::addByDescriptor(const std::vector<Axis> &of, const Value &value) {
  const Scalar type = isFloat(value.type) ? Scalar::Float32 : Scalar::Int32;
  const Buffer buffer = makeBuffer("atom", type, of, Contents::Zeros);
  if (!isDescribable(buffer, of))
    return store(of, value);
  line(makeDescriptor(buffer, of) + ".atomic_add([" + startsOf(of, /*moves=*/false) + "], " +
       cast(expand(value, shapeOf(of)), type).text + ")");
}

Value KernelBuilder::loadByDescriptor(const std::vector<Axis> &of, Scalar type) {
  const bool isBatch = of.size() == 2 && !isPlainForm && random.chance(12);
  const std::vector<Axis> dimensions = isBatch ? inBatch(of) : of;
  const Buffer buffer = makeBuffer("x", type, dimensions, Contents::Input);
  // Tensors that a tensor map cannot describe are loaded through pointers.
  if (!isDescribable(buffer, of))
    return load(of, type);
  if (!isBatch)
    inputs.push_back(buffer);
  const std::string name = makeDescriptor(buffer, dimensions);
  std::string text = name + ".load([" + startsOf(dimensions, /*moves=*/true) + "])";
  if (isBatch)
    text = "tl.reshape(" + text + ", " + shapeText(shapeOf(of)) + ")";
  return define("v", {text, type, shapeOf(of), buffer.range.join({0, 0, 1})});
}

/// Defines a block pointer and returns its name.
std::string KernelBuilder::blockPointer(const Buffer &buffer, const std::vector<Axis> &of, const std::string &starts) {
  const std::string name = freshName("p");
  const bool isTransposed = buffer.strideValues.front() < buffer.strideValues.back();
  const std::string comma = of.size() == 1 ? ",)" : ")";
  line(name + " = tl.make_block_ptr(" + buffer.origin() + ", (" + join(buffer.sizes) + comma + ", (" +
       join(buffer.strides) + comma + ", (" + starts + comma + ", (" + blockText(of) + comma + ", (" +
       (of.size() == 1 ? "0"
        : isTransposed ? "0, 1"
                       : "1, 0") +
       comma + ")");
  return name;
}

Value KernelBuilder::loadByBlockPointer(const std::vector<Axis> &of, Scalar type) {
  const Buffer buffer = makeBuffer("x", type, of, Contents::Input);
  inputs.push_back(buffer);
  const std::string name = blockPointer(buffer, of, startsOf(of, /*moves=*/false));
  std::string pointer = name;
  if (random.chance(30)) {
    std::string moves;
    for (size_t i = 0; i < of.size(); ++i)
      moves += (i ? ", " : "") + std::to_string(random.chance(50) ? 0 : of[i].block);
    pointer = "tl.advance(" + name + ", (" + moves + (of.size() == 1 ? ",)" : ")") + ")";
  }
  const std::string checked = of.size() == 1 ? "(0,)" : "(0, 1)";
  return define("v", {"tl.load(" + pointer + ", boundary_check=" + checked + ", padding_option=\"zero\")", type,
                      shapeOf(of), buffer.range.join({0, 0, 1})});
}

/// Gathers rows at indices that are computed, or scatters the block of the program row by row.
void KernelBuilder::rowsStatement() {
  constexpr int64_t minRows = 8, minBytes = 32; // minimum rows of a block, and minimum bytes of a row
  const std::vector<Axis> own = ownAxes();
  if (own.size() != 2 || inHelper)
    return loadStatement();
  const Scalar type = random.pick({Scalar::Float32, Scalar::Float16, Scalar::BFloat16, Scalar::Int32, Scalar::Int8});
  const bool isGather = random.chance(60);
  const Buffer buffer = makeBuffer(isGather ? "x" : "out", type, own, isGather ? Contents::Input : Contents::Output);
  if (!isDescribable(buffer, own) || own[0].block < minRows || own[1].block * bytesOf(type) < minBytes)
    return;
  std::vector<Axis> row = own;
  row[0].block = 1;
  const std::string desc = makeDescriptor(buffer, row);
  if (!isGather) {
    const Value value = cast(expand(expression(shapeOf(own), 1), shapeOf(own)), type);
    line(desc + ".scatter(" + value.text + ", " + own[0].offsets + ", " + own[1].start + ")");
    return;
  }
  const std::optional<Value> found = find([&](const Value &value) {
    return value.shape.size() == 1 && value.shape[0] >= minRows && value.shape[0] <= 64 && value.type == Scalar::Int32;
  });
  const Value rows = found ? *found : leaf({own[0].block});
  if (isFloat(rows.type) || rows.type == Scalar::Int1)
    return;
  // Rows that do not exist read as zero.
  const std::string places = "(" + cast(rows, Scalar::Int32).text + " & 127) - 2";
  define("v", {desc + ".gather(" + places + ", " + own[1].start + ")",
               type,
               {rows.shape[0], own[1].block},
               buffer.range.join({0, 0, 1})});
}

/// Atomically combines the program's block, or a block that all programs share, with the contents of memory.
void KernelBuilder::descriptorUpdate() {
  std::vector<Axis> of = ownAxes();
  if (loops > 0 || inHelper || programs > 64)
    return loadStatement();
  const Scalar type = random.pick({Scalar::Int32, Scalar::UInt32, Scalar::Int64, Scalar::UInt64, Scalar::Float32,
                                   Scalar::Float16, Scalar::BFloat16});
  const bool isShort = bitsOf(type) == 16;
  const std::string kind = type == Scalar::Float32 ? "add"
                           : isShort ? random.pick<std::string>({"add", "min", "max"})
                                     : random.pick<std::string>({"add", "min", "max", "and", "or", "xor"});
  if (random.chance(40))
    for (Axis &axis : of)
      axis.start = "0";
  // Sums of all programs are exact.
  const Buffer buffer = makeBuffer("atom", type, of, Contents::Zeros);
  if (!isDescribable(buffer, of))
    return;
  Value value = cast(expand(expression(shapeOf(of), 1), shapeOf(of)), type);
  if (isFloat(type))
    value = cast(narrow(value, -2, 2), type);
  line(makeDescriptor(buffer, of) + ".atomic_" + kind + "([" + startsOf(of, /*moves=*/false) + "], " + value.text +
       ")");
}

} // namespace tile::fuzz
