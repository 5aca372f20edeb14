// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GEMMs of groups of rows, as in a mixture of experts. The position and size of each group are read from memory, so the
// kernel creates the descriptors of the group's matrices itself.
#include "KernelBuilder.h"

namespace tile::fuzz {

namespace {

constexpr int64_t alignment = 8; // elements in 16 bytes

std::string listText(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

} // namespace

/// Declares an input with these contents.
void KernelBuilder::declareTable(const std::string &name, const std::string &type,
                                 const std::vector<int64_t> &numbers) {
  pointers.push_back(name + ": \"*" + type + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(numbers.size()) + "] = random\n#: default " + name + " = " +
                listText(numbers) + "\n";
}

/// Declares a matrix and returns its row stride.
std::string KernelBuilder::declareMatrix(const std::string &name, Scalar type, int64_t rows, int64_t columns,
                                         const std::string &role) {
  const int64_t stride = columns + alignment * random.below(3);
  pointers.push_back(name + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + name + "[" + std::to_string(std::max<int64_t>(rows * stride, 1)) + "] = " + role + "\n";
  return random.chance(50) ? addInteger("stride_" + name, stride) : std::to_string(stride);
}

void KernelBuilder::groupFrame() {
  isGemm = isOrdinary = true;
  GroupForm form;
  form.rows = random.pick({64, 64, 128});
  form.columns = random.pick({32, 64, 128});
  form.block = random.pick({32, 64, 64});
  form.type = random.pick({Scalar::Float16, Scalar::BFloat16});
  form.stored = random.pick({Scalar::Float32, Scalar::Float32, form.type});
  const int64_t n = alignment * random.between(1, 2 * form.columns / alignment);
  form.k = alignment * random.between(random.chance(10) ? 0 : 1, 2 * form.block / alignment);
  std::vector<int64_t> counts, depths, firsts;
  int64_t total = 0;
  for (int64_t group = random.between(1, 4); group > 0; --group) {
    counts.push_back(random.chance(15) ? 0 : random.between(1, 2 * form.rows + 5));
    depths.push_back(random.chance(60) ? form.k : alignment * random.between(0, form.k / alignment));
    firsts.push_back(total);
    total += counts.back() + random.below(3);
  }
  programs = static_cast<int>(random.between(1, 3));
  directives = "#: grid(" + std::to_string(programs) + ")\n";
  declareTable("counts", "i32", counts);
  declareTable("depths", "i32", depths);
  declareTable("firsts", random.pick<std::string>({"i32", "i64"}), firsts);
  const int64_t groups = static_cast<int64_t>(counts.size());
  form.sharesWeights = random.chance(25);
  form.strideA = declareMatrix("x", form.type, total, form.k, "random");
  form.strideB = declareMatrix("y", form.type, (form.sharesWeights ? 1 : groups) * form.k, n, "random");
  form.strideC = declareMatrix("out", form.stored, total, n, "zeros");
  form.bound = addInteger("N", n);
  const std::string numGroups = random.chance(50) ? addInteger("G", groups) : std::to_string(groups);
  form.weights = "y" + (form.sharesWeights ? "" : " + g * (" + addInteger("K", form.k) + " * " + form.strideB + ")");
  form.describesWeights = random.chance(70);
  form.describesResult = random.chance(60);

  line("pid = tl.program_id(0)");
  line("offs_m = tl.arange(0, " + std::to_string(form.rows) + ")");
  line("offs_n = tl.arange(0, " + std::to_string(form.columns) + ")");
  line("offs_k = tl.arange(0, " + std::to_string(form.block) + ")");
  const bool continues = random.chance(50); // end of the last group's tiles
  line("begin = pid");
  line("for g in range(" + numGroups + "):");
  indented([&] {
    openGroup(form);
    line("for tile in range(begin, tiles, tl.num_programs(0)):");
    indented([&] { groupTile(form); });
    if (continues)
      line("begin = (begin + tl.num_programs(0) - tiles % tl.num_programs(0)) % tl.num_programs(0)");
  });
}

/// Describes a group.
void KernelBuilder::openGroup(const GroupForm &form) {
  const std::string rows = std::to_string(form.rows), columns = std::to_string(form.columns),
                    block = std::to_string(form.block);
  const auto describe = [&](const std::string &name, const std::string &base, const std::string &shape,
                            const std::string &stride, const std::string &blocks) {
    line(name + " = tl.make_tensor_descriptor(" + base + ", shape=[" + shape + "], strides=[" + stride +
         ", 1], block_shape=[" + blocks + "])");
  };
  line("m = tl.load(counts + g)");
  line("first = tl.load(firsts + g)");
  line("depth = tl.load(depths + g)");
  describe("desc_a", "x + first * " + form.strideA, "m, depth", form.strideA, rows + ", " + block);
  if (form.describesWeights)
    describe("desc_b", form.weights, "depth, " + form.bound, form.strideB, block + ", " + columns);
  if (form.describesResult)
    describe("desc_c", "out + first * " + form.strideC, "m, " + form.bound, form.strideC, rows + ", " + columns);
  line("tiles_n = tl.cdiv(" + form.bound + ", " + columns + ")");
  line("tiles = tl.cdiv(m, " + rows + ") * tiles_n");
}

/// Computes a tile of a group's result.
void KernelBuilder::groupTile(const GroupForm &form) {
  const std::string rows = std::to_string(form.rows), columns = std::to_string(form.columns);
  line("start_m = tile // tiles_n * " + rows);
  line("start_n = tile % tiles_n * " + columns);
  line("acc = tl.zeros((" + rows + ", " + columns + "), tl.float32)");
  line("for k in range(0, depth, " + std::to_string(form.block) + "):");
  indented([&] {
    line("a = desc_a.load([start_m, k])");
    line(form.describesWeights ? "b = desc_b.load([k, start_n])"
                               : "b = tl.load(" + form.weights + " + (k + offs_k)[:, None] * " + form.strideB +
                                     " + (start_n + offs_n)[None, :], mask=((k + offs_k) < depth)[:, None] & "
                                     "((start_n + offs_n) < " +
                                     form.bound + ")[None, :], other=0.0)");
    line("acc = tl.dot(a, b, acc)");
  });
  const double most = 64 * static_cast<double>(form.k);
  const std::string value =
      cast({"acc", Scalar::Float32, {form.rows, form.columns}, {-most, most, 1}}, form.stored).text;
  line(form.describesResult
           ? "desc_c.store([start_m, start_n], " + value + ")"
           : "tl.store(out + (first + start_m + offs_m)[:, None] * " + form.strideC +
                 " + (start_n + offs_n)[None, :], " + value +
                 ", mask=((start_m + offs_m) < m)[:, None] & ((start_n + offs_n) < " + form.bound + ")[None, :])");
}

} // namespace tile::fuzz
