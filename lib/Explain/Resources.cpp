// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Describes the resource usage of a thread block, the occupancy, what would allow one more resident block, and the
// kernel's position on the roofline of the GPU.
#include "Explain/Evidence.h"

#include "Target/Plan/Residency.h"
#include "Target/Rates.h"
#include "Target/SharedMemory.h"

#include <algorithm>
#include <fmt/format.h>

namespace tile::explain {

static uint32_t sharedOf(const runtime::LaunchInfo &launch) {
  return uint32_t(launch.sharedStatic + launch.sharedDynamic);
}

sim::Occupancy occupancyOf(const Evidence &evidence) {
  const runtime::LaunchInfo &launch = evidence.manifest.launch;
  return sim::computeOccupancy(evidence.gpu, uint32_t(launch.registers), uint32_t(launch.threadsPerCta),
                               sharedOf(launch));
}

uint64_t slotsOf(const Evidence &evidence) {
  const runtime::LaunchInfo &launch = evidence.manifest.launch;
  const uint64_t sms = evidence.multiprocessors;
  const uint64_t ctas = launch.persistent ? uint64_t(launch.ctasPerSm) : occupancyOf(evidence).ctas;
  return std::max<uint64_t>(sms * ctas, 1);
}

/// Returns, for each limit that prevents one more resident thread block, the maximum value that would allow it.
static Json oneMore(const Evidence &evidence, const sim::Occupancy &now) {
  const uint32_t reserved = target::reservedShared(evidence.gpu);
  const uint32_t wanted = now.ctas + 1;
  const uint32_t warps = std::max((now.threads + target::threadsPerWarp - 1) / target::threadsPerWarp, 1u);
  Json needs = Json::array();
  const int64_t maxRegisters = target::registersForCtas(wanted, now.threads);
  if (now.registers > maxRegisters)
    needs.push_back({{"what", "registers"}, {"now", now.registers}, {"most", maxRegisters}, {"unit", "per thread"}});
  const uint32_t room = evidence.gpu.sharedPerSm / wanted;
  if (now.sharedBytes + reserved > room)
    needs.push_back({{"what", "shared memory"},
                     {"now", now.sharedBytes},
                     {"most", room > reserved ? room - reserved : 0},
                     {"unit", "bytes per thread block"}});
  if (warps * wanted > evidence.gpu.maxWarpsPerSm)
    needs.push_back({{"what", "threads"},
                     {"now", now.threads},
                     {"most", evidence.gpu.maxWarpsPerSm / wanted * target::threadsPerWarp},
                     {"unit", "per thread block"}});
  if (wanted > evidence.gpu.maxCtasPerSm)
    needs.push_back({{"what", "thread blocks"},
                     {"now", now.ctas},
                     {"most", evidence.gpu.maxCtasPerSm},
                     {"unit", "per multiprocessor"}});
  return needs;
}

static std::string sentence(const Json &needs, uint32_t ctas) {
  std::string text = fmt::format("{} thread block{} per multiprocessor; one more fits if", ctas, ctas == 1 ? "" : "s");
  for (size_t i = 0; i < needs.size(); ++i) {
    if (needs[i]["what"] == "thread blocks")
      return fmt::format("{} thread blocks per multiprocessor, the maximum of the hardware", ctas);
    text += fmt::format("{} {} {} at most {} {} (now {})", i ? " and" : "", needs[i]["what"].get<std::string>(),
                        needs[i]["what"] == "shared memory" ? "is" : "are", needs[i]["most"].get<uint32_t>(),
                        needs[i]["unit"].get<std::string>(), needs[i]["now"].get<uint32_t>());
  }
  return text;
}

/// Returns the number of floating-point operations outside of the tensor cores.
static uint64_t scalarFlops(const Evidence &evidence) {
  uint64_t flops = 0;
  const sim::Function &function = *evidence.run->function();
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const sim::Instruction &one = function.instructions[i];
    if (one.suffixes.empty())
      continue;
    const std::string &type = one.suffixes.back();
    const bool isPair = type == "f16x2" || type == "bf16x2" || type == "f32x2";
    if (!isPair && type != "f16" && type != "bf16" && type != "f32" && type != "f64")
      continue;
    const unsigned each = one.name == "fma" ? 2
                          : one.name == "add" || one.name == "sub" || one.name == "mul" || one.name == "div" ||
                                  one.name == "ex2" || one.name == "rcp" || one.name == "sqrt" || one.name == "rsqrt" ||
                                  one.name == "lg2" || one.name == "max" || one.name == "min"
                              ? 1
                              : 0;
    flops += each * (isPair ? 2 : 1) * evidence.run->profiler().countsOf(i)[sim::Counter::Lanes];
  }
  return flops;
}

/// Returns the width in bits of the MMA operands; 16 if there are no MMAs.
static unsigned mmaBits(const Evidence &evidence) {
  const sim::Function &function = *evidence.run->function();
  for (size_t i = 0; i < function.instructions.size(); ++i)
    // The type of the addend is the last suffix of mma; the operand type precedes it.
    if (evidence.run->profiler().countsOf(i)[sim::Counter::MultiplyAdds]) {
      const std::vector<std::string> &suffixes = function.instructions[i].suffixes;
      return target::operandBits(suffixes[suffixes.size() - (function.instructions[i].name == "mma" ? 2 : 1)]);
    }
  return 16;
}

static Json roofline(const Evidence &evidence) {
  const sim::Counts total = evidence.run->profiler().total();
  const target::Rates rates = target::ratesOf(evidence.gpu);
  const uint64_t tensor = 2 * total[sim::Counter::MultiplyAdds], scalar = scalarFlops(evidence);
  uint64_t least = 0; // minimum traffic: each array once
  for (const BufferView &view : evidence.run->views())
    least += uint64_t(view.rows() * view.columns()) * view.elementBytes;
  const uint64_t moved =
      32 * total[sim::Counter::GlobalSectors] + total[sim::Counter::CopiedIn] + total[sim::Counter::CopiedOut];
  const double sms = evidence.multiprocessors;
  const double tensorRoof = 2 * rates.multiplyAdds(mmaBits(evidence)) * sms * rates.clockGHz; // GFLOP/s
  const double scalarRoof = 2 * rates.lanes * sms * rates.clockGHz;
  const double memoryTime = double(least) / rates.memory, scalarTime = double(scalar) / scalarRoof;
  const double tensorTime = tensorRoof > 0 ? double(tensor) / tensorRoof : 0.0;
  const double seconds = std::max({memoryTime, tensorTime, scalarTime}) * 1e-9;
  const char *bound = memoryTime >= std::max(tensorTime, scalarTime) ? "memory"
                      : tensorTime >= scalarTime                     ? "tensor cores"
                                                                     : "fp32 arithmetic";
  Json json = {{"tensor_flops", tensor},
               {"scalar_flops", scalar},
               {"least_bytes", least},
               {"moved_bytes", moved},
               {"intensity", least ? double(tensor + scalar) / double(least) : 0.0},
               {"memory_gb_per_s", rates.memory},
               {"roof_gflop_per_s", tensor > scalar ? tensorRoof : scalarRoof},
               {"roof_by", tensor > scalar ? "tensor cores" : "fp32"},
               {"bound", bound},
               {"least_us", seconds * 1e6},
               {"modelled", true}};
  return json;
}

Json describeResources(const Evidence &evidence) {
  const sim::Occupancy occupancy = occupancyOf(evidence);
  const runtime::LaunchInfo &launch = evidence.manifest.launch;
  const Json needs = oneMore(evidence, occupancy);
  Json json = {{"registers", occupancy.registers},
               {"spill_bytes", launch.spillBytes},
               {"threads_per_cta", occupancy.threads},
               {"shared_bytes", occupancy.sharedBytes},
               {"shared_per_sm", evidence.gpu.sharedPerSm},
               {"ctas_per_sm", occupancy.ctas},
               {"warps_share", occupancy.warps},
               {"limit", occupancy.limit},
               {"one_more", {{"needs", needs}, {"text", sentence(needs, occupancy.ctas)}}},
               {"shared", Json::array()}};
  for (const SharedPiece &piece : evidence.compiler.shared)
    json["shared"].push_back({{"offset", piece.offset},
                              {"bytes", piece.bytes},
                              {"slots", piece.slots},
                              {"type", piece.type},
                              {"line", piece.line}});
  if (evidence.run)
    json["roofline"] = roofline(evidence);
  if (evidence.expectedMicroseconds > 0)
    json["expected_us"] = {{"value", evidence.expectedMicroseconds}, {"modelled", true}};
  return json;
}

} // namespace tile::explain
