// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each member has one JSON key. validateCost checks the ranges.
#include "Runtime/CostJson.h"

namespace tile::runtime {
namespace {

constexpr std::string_view gemmModel = "gemm", programsModel = "programs";

std::optional<target::MmaType> parseElement(std::string_view name) {
  using target::MmaType;
  for (MmaType type : {MmaType::F16, MmaType::BF16, MmaType::TF32, MmaType::F64, MmaType::F8E4M3, MmaType::F8E5M2,
                       MmaType::S8, MmaType::U8, MmaType::F32, MmaType::S32})
    if (target::mmaTypeName(type) == name)
      return type;
  return std::nullopt;
}

/// Narrows to unsigned; values that do not fit become 0, which every range excludes.
unsigned narrow(int64_t value) {
  return value >= 0 && value <= INT32_MAX ? static_cast<unsigned>(value) : 0;
}

} // namespace

Json costJson(const CostSpec &cost) {
  const auto &[m, n, k, problem, config, schedule] = cost;
  return {{"model", gemmModel},
          {"m", m},
          {"n", n},
          {"k", k},
          {"element", target::mmaTypeName(problem.element)},
          {"output_bytes", problem.outputBytes},
          {"plain_stores", problem.plainStores},
          {"a_k_major", problem.aKMajor},
          {"b_k_major", problem.bKMajor},
          {"tensor_maps", problem.tensorMaps},
          {"copy_bytes", problem.copyBytes},
          {"async_copies", problem.asyncCopies},
          {"by_warps", !problem.warpGroups},
          {"split_tail", problem.splitTail},
          {"block", {config.blockM, config.blockN, config.blockK}},
          {"group_m", config.groupM},
          {"warps", config.numWarps},
          {"stages", config.numStages},
          {"wgmma", config.wgmma},
          {"persistent", schedule.persistent},
          {"ping_pong", schedule.pingPong},
          {"ctas_per_tile", schedule.ctasPerTile}};
}

std::optional<CostSpec> readCost(const Json &json, std::optional<Error> &error) {
  const ObjectReader reader(json, "cost", error);
  if (reader.string("model", true) != gemmModel)
    return std::nullopt;
  CostSpec cost;
  cost.m = reader.string("m", true);
  cost.n = reader.string("n", true);
  cost.k = reader.string("k", true);
  target::GemmProblem &problem = cost.problem;
  const std::string element = reader.string("element", true);
  if (std::optional<target::MmaType> type = parseElement(element))
    problem.element = *type;
  else
    reader.fail(reader.pathOf("element"), fmt::format("unknown type '{}'", element));
  problem.outputBytes = narrow(reader.integer("output_bytes", 0, true));
  problem.plainStores = reader.boolean("plain_stores");
  problem.aKMajor = reader.boolean("a_k_major");
  problem.bKMajor = reader.boolean("b_k_major");
  problem.tensorMaps = reader.boolean("tensor_maps");
  problem.copyBytes = narrow(reader.integer("copy_bytes", 16));
  problem.asyncCopies = reader.boolean("async_copies");
  problem.warpGroups = !reader.boolean("by_warps");
  problem.splitTail = reader.boolean("split_tail");
  const std::vector<int64_t> block = reader.integers("block");
  if (block.size() == 3)
    cost.config = {.blockM = narrow(block[0]),
                   .blockN = narrow(block[1]),
                   .blockK = narrow(block[2]),
                   .groupM = narrow(reader.integer("group_m", 1)),
                   .numWarps = narrow(reader.integer("warps", 0, true)),
                   .numStages = narrow(reader.integer("stages", 1)),
                   .wgmma = reader.boolean("wgmma")};
  else
    reader.fail(reader.pathOf("block"), "expected three integers");
  cost.schedule.persistent = reader.boolean("persistent");
  cost.schedule.pingPong = reader.boolean("ping_pong");
  cost.schedule.ctasPerTile = narrow(reader.integer("ctas_per_tile", 1));
  return cost;
}

Json costJson(const ProgramsCost &cost) {
  Json json = {{"model", programsModel}};
  for (const ProgramsKey &key : programsKeys())
    json[key.key] = cost.*key.text;
  json["operand_bits"] = cost.operandBits;
  json["warps"] = cost.warps;
  return json;
}

std::optional<ProgramsCost> readPrograms(const Json &json, std::optional<Error> &error) {
  const ObjectReader reader(json, "cost", error);
  if (reader.string("model", true) != programsModel)
    return std::nullopt;
  ProgramsCost cost;
  for (const ProgramsKey &key : programsKeys())
    cost.*key.text = reader.string(key.key, true);
  cost.operandBits = reader.integer("operand_bits", 16);
  cost.warps = reader.integer("warps", 0, true);
  return cost;
}

} // namespace tile::runtime
