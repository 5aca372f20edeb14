// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generates the distribution of work over programs.
#include "KernelBuilder.h"

namespace tile::fuzz {

namespace {

Value scalar(const std::string &text, double low, double high) {
  return {text, Scalar::Int32, {}, {low, high, 1}};
}

} // namespace

/// Emits the body of a program, or of one of its tiles; its last statement is a store.
void KernelBuilder::takeProgram(const std::vector<Axis> &own) {
  axes = own;
  for (const Axis &axis : own)
    values.push_back({axis.offsets, Scalar::Int32, {axis.block}, {0, static_cast<double>(axis.size + axis.block), 1}});
  if (random.chance(35))
    nameMask();
  if (isGemm) {
    isOrdinary = isAboutLoops || random.chance(60);
    const bool isPlain = sharesTail ? true : isAboutLoops ? random.chance(45) : isOrdinary && random.chance(25);
    const Value sum = splitsK ? advancedDot(own) : isPlain ? plainGemm(own) : *dotLoop();
    if (isPlain || splitsK)
      values.push_back(sum);
    const std::optional<Value> result =
        random.chance(isPlain ? 20 : 50) ? arithmetic("+", sum, operand(sum.shape, 1)) : std::nullopt;
    if (isAboutLoops && random.chance(10))
      addByDescriptor(own, result ? *result : sum);
    else
      store(own, result ? *result : sum);
    if (const std::optional<Value> other = find([&](const Value &value) {
          return value.text.starts_with("acc") && value.text != sum.text && value.shape == sum.shape;
        }))
      store(own, *other);
    isOrdinary = false;
    // Writes to the same memory prevent loading operands by TMA.
    if (budget <= 0)
      return;

  } else if (isLarge && random.chance(60)) {
    normalizeStatement();
  } else {
    loadStatement();
  }
  while (budget > 0)
    statement(0);
  if (random.chance(20))
    conversionStatement();
  if (random.chance(15))
    signStatement();
  storeUnused();
}

/// Sometimes blocks are so large that rows exceed the registers, or exchanges exceed shared memory.
bool KernelBuilder::makeLarge() {
  isLarge = !isAboutLoops && random.chance(12);
  if (isLarge) {
    maxElements = 1 << 15;
    budget = static_cast<int>(random.between(0, 5));
  }
  return isLarge;
}

/// Sometimes there is one more program than multiprocessors, with so many steps that all CTAs share it.
bool KernelBuilder::makeTail() {
  sharesTail = isAboutLoops && random.chance(4);
  if (sharesTail)
    helpers = "# on 3 multiprocessors\n";
  return sharesTail;
}

void KernelBuilder::openFrame() {
  if (random.chance(isAboutLoops ? 8 : 4))
    return groupFrame();
  if (random.chance(isAboutLoops ? 3 : 6))
    return oddFrame();
  if (!isAboutLoops && random.chance(40))
    lineFrame();
  else
    matrixFrame();
}

void KernelBuilder::lineFrame() {
  const int64_t block =
      makeLarge() ? random.pick({2048, 4096, 8192, 8192, 16384, 32768}) : random.pick({16, 32, 64, 128, 256});
  // Rows that are loaded 16 bytes at a time.
  const int64_t size = isLarge && random.chance(80) ? block / 16 * random.between(1, 24)
                       : random.chance(20)          ? block * random.between(1, 3)
                                                    : random.between(1, 3 * block);
  const std::string bound = addInteger("N", size);
  const int64_t tiles = ceilDivide(size, block);
  const bool isPersistent = random.chance(20);
  programs = static_cast<int>(isPersistent ? random.between(1, 3) : tiles);
  directives = "#: grid(" + (isPersistent ? std::to_string(programs) : "cdiv(N, " + std::to_string(block) + ")") +
               ")\n" + directives;
  const Axis axis{"offs_n", "start_n", bound, size, block};
  const std::string width = std::to_string(block);
  const auto body = [&](const std::string &number) {
    line("start_n = " + number + " * " + width);
    line("offs_n = start_n + tl.arange(0, " + width + ")");
    takeProgram({axis});
  };
  line("pid = tl.program_id(0)");
  values.push_back(scalar("pid", 0, programs - 1));
  if (!isPersistent)
    return body("pid");
  line("for tile in range(pid, tl.cdiv(N, " + width + "), tl.num_programs(0)):");
  ++loops;
  indented([&] { body("tile"); });
}

void KernelBuilder::matrixFrame() {
  isGemm = isAboutLoops || random.chance(55);
  const bool isWide = !isGemm && makeLarge();
  int64_t rows = isAboutLoops ? random.pick({64, 64, 128})
                 : isGemm     ? random.pick({16, 64, 64, 64, 64, 128})
                 : isWide     ? random.pick({64, 128, 128})
                              : random.pick({16, 16, 32, 64});
  int64_t columns = isAboutLoops ? random.pick({32, 64, 128})
                    : isGemm     ? random.pick({16, 32, 64, 64, 128, 256})
                    : isWide     ? random.pick({64, 128, 256})
                                 : random.pick({16, 32, 32, 64});
  // Tiles that are worth splitting over several CTAs.
  if (isAboutLoops && random.chance(15))
    rows = columns = 128;
  splitsK = isGemm && !isAboutLoops && random.chance(12);
  if (makeTail()) {
    rows = 128;
    columns = 256;
  } else if (splitsK) {
    rows = 64;
    columns = random.pick({32, 64});
  }
  if (isGemm)
    budget = isAboutLoops || splitsK || random.chance(60) ? 0 : budget / 3;
  const int64_t tiles = random.pick({2, 2, 3});
  const auto size = [&](int64_t block) {
    if (isAboutLoops)
      return 8 * random.between(1, tiles * block / 8);
    return random.chance(30) ? block * random.between(1, tiles) : random.between(1, tiles * block + 5);
  };
  int64_t m = size(rows), n = size(columns);
  if (sharesTail) {
    const int64_t alongM = random.pick({1, 2, 4});
    m = rows * alongM - 8 * random.below(8);
    n = columns * 4 / alongM - 8 * random.below(8);
  }
  addInteger("M", m);
  addInteger("N", n);
  const int64_t tilesM = ceilDivide(m, rows), tilesN = ceilDivide(n, columns);
  const std::string height = std::to_string(rows), width = std::to_string(columns);
  const std::string countM = "cdiv(M, " + height + ")", countN = "cdiv(N, " + width + ")";
  const int64_t kind = sharesTail || splitsK ? 2 : random.below(isAboutLoops ? 6 : 4);
  if (kind == 0)
    programs = static_cast<int>(random.between(1, 3));
  else
    programs = static_cast<int>(tilesM * tilesN);
  const std::string grid = kind == 0   ? std::to_string(programs)
                           : kind == 1 ? countM + " * " + countN
                                       : countM + ", " + countN;
  directives = "#: grid(" + grid + ")\n" + directives;
  const auto body = [&] {
    line("start_m = pid_m * " + height);
    line("start_n = pid_n * " + width);
    line("offs_m = start_m + tl.arange(0, " + height + ")");
    line("offs_n = start_n + tl.arange(0, " + width + ")");
    values.push_back(scalar("pid_m", 0, static_cast<double>(tilesM - 1)));
    values.push_back(scalar("pid_n", 0, static_cast<double>(tilesN - 1)));
    takeProgram({{"offs_m", "start_m", "M", m, rows}, {"offs_n", "start_n", "N", n, columns}});
  };
  const auto split = [&](const std::string &number) {
    if (random.chance(30)) {
      line("pid_m, pid_n = tl.swizzle2d(" + number + " // tl." + countN + ", " + number + " % tl." + countN + ", tl." +
           countM + ", tl." + countN + ", " + std::to_string(random.between(1, 3)) + ")");
      return;
    }
    line("pid_m = " + number + " // tl." + countN);
    line("pid_n = " + number + " % tl." + countN);
  };
  if (kind >= 2) {
    programNumber = "(pid_m * tl.num_programs(1) + pid_n)";
    if (random.chance(15)) {
      line("pid_m, pid_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), " +
           std::to_string(random.between(1, 3)) + ")");
      return body();
    }
    // Starts with the last programs, as if these were the longest.
    for (const auto &[name, axis] : {std::pair<std::string, std::string>("pid_m", "0"), {"pid_n", "1"}})
      line(name + " = " + (random.chance(10) ? "tl.num_programs(" + axis + ") - 1 - " : "") + "tl.program_id(" + axis +
           ")");
    return body();
  }
  line(std::string("pid = ") + (kind == 1 && random.chance(10) ? "tl.num_programs(0) - 1 - " : "") +
       "tl.program_id(0)");
  values.push_back(scalar("pid", 0, programs - 1));
  if (kind == 1) {
    split("pid");
    return body();
  }
  line("for tile in range(pid, tl." + countM + " * tl." + countN + ", tl.num_programs(0)):");
  ++loops;
  indented([&] {
    split("tile");
    body();
  });
}

} // namespace tile::fuzz
