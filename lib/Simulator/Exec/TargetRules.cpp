// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/TargetRules.h"

#include <algorithm>
#include <charconv>

namespace tile::sim {

namespace {

/// The targets that support an instruction.
struct Need {
  unsigned least = 0;      ///< the first architecture
  bool isSpecific = false; ///< only targets with the suffix `a` or `f`
  unsigned only = 0;       ///< if not 0, only this architecture
};
constexpr Need since75{75}, since80{80}, since89{89}, since90{90}, since100{100}, specific90{90, true},
    specific100{100, true}, specific120{120, true}, only90{90, true, 90};

/// A rule for the instructions with this name that have at least one suffix of each group.
struct Rule {
  std::string_view name;
  std::vector<std::vector<std::string_view>> suffixes;
  Need need;
  std::string_view feature;
  size_t operands = 0; ///< if not 0, the rule applies only to instructions with this number of operands
};

/// Returns the rules of PTX ISA 9.0, "Target ISA Notes" of each instruction.
const std::vector<Rule> &rules() {
  static const std::vector<Rule> all = {
      {"cp", {{"async"}}, since80, "asynchronous copies"},
      {"cp", {{"bulk"}}, since90, "bulk copies"},
      {"cp", {{"tile::gather4", "tile::scatter4"}}, since100, "copies of listed rows"},
      {"mbarrier", {}, since80, "mbarriers"},
      {"mbarrier", {{"try_wait"}}, since90, "mbarrier.try_wait"},
      {"barrier", {{"cluster"}}, since90, "clusters"},
      {"mapa", {}, since90, "clusters"},
      {"getctarank", {}, since90, "clusters"},
      {"st", {{"async"}}, since90, "asynchronous stores"},
      {"red", {{"async"}}, since90, "asynchronous reductions"},
      {"st", {{"bulk"}}, since100, "bulk stores"},
      {"griddepcontrol", {}, since90, "grid dependencies"},
      {"elect", {}, since90, "elect"},
      {"tensormap", {}, since90, "tensor maps"},
      {"clusterlaunchcontrol", {}, since100, "cluster launch control"},
      {"setmaxnreg", {}, specific90, "setmaxnreg"},
      {"wgmma", {}, only90, "wgmma"},
      {"ldmatrix", {}, since75, "ldmatrix"},
      {"ldmatrix", {{"b8", "b8x16"}}, specific100, "ldmatrix of bytes"},
      {"stmatrix", {}, since90, "stmatrix"},
      {"stmatrix", {{"b8"}}, specific100, "stmatrix of bytes"},
      {"movmatrix", {}, since75, "movmatrix"},
      {"redux", {}, since80, "redux"},
      {"redux", {{"f32"}}, specific100, "redux of floats"},
      {"mma", {{"e4m3", "e5m2"}}, since89, "8-bit floats"},
      {"mma", {{"kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"}}, specific120, "mma of kinds"},
      {"cvt", {{"e4m3x2", "e5m2x2"}}, since89, "8-bit floats"},
      {"cvt", {{"e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2"}}, specific100, "floats of 4 and 6 bits and powers of two"},
      {"cvt", {{"tf32"}, {"satfinite"}}, since100, "saturating conversions to tf32"},
      {"ld", {{"v8"}}, since100, "vectors of 32 bytes"},
      {"st", {{"v8"}}, since100, "vectors of 32 bytes"},
      {"ld", {{"v4"}, {"b64", "u64", "s64", "f64"}}, since100, "vectors of 32 bytes"},
      {"st", {{"v4"}, {"b64", "u64", "s64", "f64"}}, since100, "vectors of 32 bytes"},
      {"atom", {{"b128"}}, since90, "atomics of 128 bits"},
      {"atom", {{"v2", "v4", "v8"}}, since90, "atomics of vectors"},
      {"red", {{"v2", "v4", "v8"}}, since90, "atomics of vectors"},
      {"min", {{"f32"}}, since100, "extremes of three", 4},
      {"max", {{"f32"}}, since100, "extremes of three", 4}};
  return all;
}

/// Returns the name of an arithmetic feature that sm_100 introduced and the instruction uses, or an empty string: pairs
/// of floats, and sums of floats and 16-bit floats.
std::string_view newArithmetic(const Instruction &instruction) {
  const std::string &name = instruction.name;
  if (name != "add" && name != "sub" && name != "mul" && name != "fma")
    return {};
  if (instruction.has("f32x2"))
    return "pairs of floats";
  return instruction.has("f32") && (instruction.has("f16") || instruction.has("bf16")) ? "sums of floats and halves"
                                                                                       : std::string_view();
}

bool matches(const Rule &rule, const Instruction &instruction) {
  const auto hasOne = [&](const std::vector<std::string_view> &group) {
    return std::ranges::any_of(group, [&](std::string_view suffix) { return instruction.has(suffix); });
  };
  return rule.name == instruction.name && (rule.operands == 0 || instruction.operands.size() == rule.operands) &&
         std::ranges::all_of(rule.suffixes, hasOne);
}

bool hasAll(const Need &need, unsigned architecture, bool isSpecific) {
  return architecture >= need.least && (isSpecific || !need.isSpecific) &&
         (need.only == 0 || need.only == architecture);
}

std::string describe(const Need &need) {
  if (need.only)
    return fmt::format("only sm_{}a has", need.only);
  return fmt::format("sm_{}{} and later have", need.least, need.isSpecific ? "a" : "");
}

} // namespace

runtime::Status checkTarget(const Module &module) {
  constexpr size_t prefix = 3; // "sm_"
  unsigned architecture = 0;
  const std::string &target = module.target;
  std::from_chars(target.data() + std::min(prefix, target.size()), target.data() + target.size(), architecture);
  const bool isSpecific = target.ends_with('a') || target.ends_with('f');
  const auto refuse = [&](const Instruction &instruction, std::string_view feature, const Need &need) {
    return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "line {}: {}: {} has no {}; {}", instruction.loc.ptxLine,
                              instruction.text(), target, feature, describe(need));
  };
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions) {
      if (const std::string_view feature = newArithmetic(instruction); !feature.empty() && architecture < 100)
        return refuse(instruction, feature, since100);
      for (const Rule &rule : rules())
        if (matches(rule, instruction) && !hasAll(rule.need, architecture, isSpecific))
          return refuse(instruction, rule.feature, rule.need);
    }
  return runtime::Success{};
}

} // namespace tile::sim
