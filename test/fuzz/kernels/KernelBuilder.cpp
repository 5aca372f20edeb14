// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelBuilder.h"

namespace tile::fuzz {

std::string generateKernel(uint64_t seed, KernelKind kind) {
  return KernelBuilder(seed, kind).build();
}

void KernelBuilder::line(const std::string &statement) {
  text += std::string(4 * depthOfText, ' ') + statement + "\n";
}

void KernelBuilder::indented(const std::function<void()> &body) {
  const std::vector<Value> savedValues = values, savedVariables = variables;
  const std::vector<Axis> savedAxes = axes;
  ++depthOfText;
  body();
  --depthOfText;
  values = savedValues;
  variables = savedVariables;
  axes = savedAxes;
}

Value KernelBuilder::define(const std::string &prefix, Value value) {
  const std::string name = freshName(prefix);
  line(name + " = " + value.text);
  value.text = name;
  value.isWeak = false;
  values.push_back(value);
  return value;
}

std::optional<Value> KernelBuilder::find(const std::function<bool(const Value &)> &accepts) {
  std::vector<const Value *> found;
  for (const Value &value : values)
    if (accepts(value))
      found.push_back(&value);
  if (found.empty())
    return std::nullopt;
  // Chains of recently computed values resemble kernels more than trees of loaded values.
  if (random.chance(40))
    return *found.back();
  return *random.pick(found);
}

/// Adds an integer parameter to the launch.
std::string KernelBuilder::addInteger(const std::string &name, int64_t value) {
  for (const auto &[known, number] : launchIntegers)
    if (known == name)
      return name;
  launchIntegers.emplace_back(name, value);
  const int64_t even = value ? value & -value : 16;
  // Other integers are combined with values of the kernel, so their types must be known.
  std::string type = name.starts_with("stride") && random.chance(25) ? "tl.int64" : "tl.int32";
  if (even >= 8 && random.chance(isOrdinary ? 90 : 70))
    type = "\"i32:" + std::to_string(even > 16 ? 16 : even) + "\"";
  integers.push_back(name + ": " + type);
  directives += "#: default " + name + " = " + std::to_string(value) + "\n";
  return name;
}

/// Returns a size that is about a multiple of the block size, half of the time near the end of a block.
int64_t KernelBuilder::anySize(int64_t block, int64_t most) {
  if (random.chance(75))
    return random.between(1, most * block);
  return block * random.between(1, most) + random.pick({-1, -1, 0, 1});
}

/// Returns a size: a parameter of the launch, or a literal, like that of a compile-time parameter.
std::string KernelBuilder::addSize(const std::string &name, int64_t size) {
  return random.chance(isOrdinary ? 6 : 15) ? std::to_string(size) : addInteger(name, size);
}

void KernelBuilder::statement(int depth) {
  if (budget <= 0)
    return;
  --budget;
  if (!oddBlocks.empty())
    return oddStatement();
  if (random.chance(15))
    return idiomStatement();
  const int64_t kind = random.below(100);
  if (kind < 22)
    return loadStatement();
  if (kind < 34)
    return storeStatement();
  if (kind < 36)
    return updateStatement();
  if (kind < 48)
    return assignStatement();
  if (kind < 60)
    return blockStatement();
  if (kind < 66)
    return dotStatement();
  if (kind < 67) {
    const int64_t which = random.below(10);
    return which < 4 ? atomicStatement() : which < 7 ? ownAtomicStatement() : messageStatement();
  }
  if (kind < 69)
    return random.chance(50) ? conversionStatement() : signStatement();
  if (kind < 72)
    return overlapStatement();
  if (kind < 75)
    return approximateStatement();
  if (kind < 78)
    return helperStatement();
  if (kind < 79)
    return returnStatement();
  if (depth >= 3)
    return assignStatement();
  if (kind < 82)
    return loopStatement(depth);
  if (kind < 85)
    return rangeStatement(depth);
  if (kind < 88)
    return carriedPointerLoop();
  if (kind < 91) {
    dotLoop();
    return;
  }
  if (kind < 97)
    return branchStatement(depth);
  whileStatement(depth);
}

void KernelBuilder::statements(int count, int depth) {
  for (int i = 0; i < count; ++i)
    statement(depth);
}

std::string KernelBuilder::build() {
  budget = static_cast<int>(random.between(6, 24));
  openFrame();
  std::string parameters;
  for (const std::vector<std::string> *part : {&pointers, &integers})
    for (const std::string &parameter : *part)
      parameters += (parameters.empty() ? "" : ", ") + parameter;
  for (size_t i = 0; i < oddBlocks.size(); ++i)
    parameters += std::string(", ") + nameOfBlock(i) + ": tl.constexpr = auto";
  // Ping-pong requires teams of four warps.
  const bool isPingPong = isGemm && !sharesTail && !splitsK && random.chance(isAboutLoops ? 30 : 12);
  const int warps = isPingPong && random.chance(85) ? 4
                    : sharesTail                    ? 8
                    : isAboutLoops                  ? random.pick({4, 4, 8})
                    : isLarge                       ? random.pick({4, 8, 8, 16, 16, 32})
                                                    : random.pick({1, 2, 4, 4, 4, 4, 8, 8, 16});
  std::string options = "#: num_warps = " + std::to_string(warps) + "\n";
  if (!sharesTail && random.chance(30))
    options += "#: num_stages = " + std::to_string(random.between(1, 4)) + "\n";
  if (splitsK || (isGemm && !sharesTail && random.chance(isPingPong ? 10 : isAboutLoops ? 45 : 20)))
    options += "#: cluster = " +
               (splitsK ? random.pick<std::string>({"(1, 1, 2)", "(1, 1, 2)", "(1, 1, 4)"})
                        : random.pick<std::string>(
                              {"(2, 1)", "(1, 2)", "(2, 2)", "(4, 1)", "(1, 1, 2)", "(1, 1, 2)", "(1, 1, 4)"})) +
               "\n";
  if (isPingPong)
    options += "#: schedule = pingpong\n";
  return oddHeader() + helpers + directives + options + "@triton.jit\ndef kernel(" + parameters + "):\n" + text;
}

} // namespace tile::fuzz
