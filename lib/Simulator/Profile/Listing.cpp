// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the profile as text and as JSON.
#include "Simulator/Profile/Profiler.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tile::sim {

namespace {

nlohmann::json toJson(const Counts &counts) {
  nlohmann::json object = nlohmann::json::object();
  for (unsigned i = 0; i < numCounters; ++i)
    object[std::string(counterName(Counter(i)))] = counts.values[i];
  return object;
}

/// Returns 1234567 as "1.23M", and 0 as an empty string.
std::string shortNumber(uint64_t value) {
  if (value == 0)
    return "";
  if (value < 10000)
    return fmt::format("{}", value);
  constexpr const char *units[] = {"k", "M", "G", "T"};
  double scaled = value / 1e3;
  int unit = 0;
  for (; scaled >= 1000 && unit < 3; ++unit)
    scaled /= 1e3;
  return fmt::format("{:.{}f}{}", scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0, units[unit]);
}

std::string ratio(uint64_t part, uint64_t whole) {
  return whole ? fmt::format("{:.1f}", double(part) / whole) : "";
}

std::string percent(uint64_t part, uint64_t whole) {
  return whole ? fmt::format("{:.0f} %", 100.0 * part / whole) : "";
}

/// The limits from which a line is highlighted: less than half of the moved global bytes are used, or more than a fifth
/// of the shared-memory wavefronts are due to bank conflicts.
constexpr double badUse = 0.5, badConflicts = 0.2;

std::string row(const Counts &counts, Mark mark) {
  using C = Counter;
  uint64_t copied = counts[C::CopiedIn] + counts[C::CopiedOut];
  // Cells are padded before they are highlighted, because escape sequences occupy no columns of the terminal.
  std::string use = fmt::format("{:>6}", percent(counts[C::GlobalSectorsIdeal], counts[C::GlobalSectors]));
  if (mark && double(counts[C::GlobalSectorsIdeal]) < badUse * double(counts[C::GlobalSectors]))
    use = mark(use);
  std::string conflicts = fmt::format("{:>9}", shortNumber(counts[C::SharedConflicts]));
  if (mark && double(counts[C::SharedConflicts]) > badConflicts * double(counts[C::SharedWavefronts]))
    conflicts = mark(conflicts);
  return fmt::format("{:>7} {:>6} {:>8} {:>7} {} {:>8} {} {:>7} {:>8} {:>6} |", shortNumber(counts[C::Instructions]),
                     ratio(counts[C::Lanes], counts[C::Instructions]), shortNumber(counts[C::GlobalRequests]),
                     ratio(counts[C::GlobalSectors], counts[C::GlobalRequests]), use,
                     shortNumber(counts[C::SharedRequests]), conflicts, shortNumber(copied),
                     shortNumber(counts[C::MultiplyAdds]), shortNumber(counts[C::Waits]));
}

} // namespace

nlohmann::json profileToJson(const Profiler &profiler, const Module &module, const Occupancy &occupancy) {
  nlohmann::json json;
  json["total"] = toJson(profiler.total());
  json["occupancy"] = {{"registers", occupancy.registers},
                       {"threads_per_cta", occupancy.threads},
                       {"shared_bytes", occupancy.sharedBytes},
                       {"ctas_per_sm", occupancy.ctas},
                       {"warps", occupancy.warps},
                       {"limit", occupancy.limit}};
  json["lines"] = nlohmann::json::array();
  for (const auto &[loc, counts] : profiler.bySourceLine()) {
    nlohmann::json line = toJson(counts);
    line["file"] = loc.first < module.files.size() ? module.files[loc.first] : "";
    line["line"] = loc.second;
    json["lines"].push_back(std::move(line));
  }
  return json;
}

std::string profileListing(const Profiler &profiler, const Module &module, const Occupancy &occupancy,
                           const std::string &source, Mark mark) {
  auto lines = profiler.bySourceLine();
  constexpr std::string_view heads[2][10] = {
      {"warp", "lanes", "global", "sectors", "sector", "shared", "bank", "bytes", "tensor", ""},
      {"instrs", "active", "requests", "/req.", "use", "requests", "conflicts", "copied", "mul-adds", "waits"}};
  std::string text;
  for (const auto &h : heads)
    text += fmt::format("{:>7} {:>6} {:>8} {:>7} {:>6} {:>8} {:>9} {:>7} {:>8} {:>6} |{}\n", h[0], h[1], h[2], h[3],
                        h[4], h[5], h[6], h[7], h[8], h[9], &h == &heads[1] ? " source" : "");
  std::istringstream stream(source);
  std::string sourceLine;
  for (uint32_t number = 1; std::getline(stream, sourceLine); ++number) {
    auto found = lines.find({1, number});
    text += row(found == lines.end() ? Counts() : found->second, mark) + fmt::format("{:>4} {}\n", number, sourceLine);
    if (found != lines.end())
      lines.erase(found);
  }
  for (const auto &[loc, counts] : lines) {
    std::string name = !loc.first                        ? "made by the compiler"
                       : loc.first < module.files.size() ? module.files[loc.first]
                                                         : "?";
    text += row(counts, mark) + (loc.second ? fmt::format(" {}:{}\n", name, loc.second) : " " + name + "\n");
  }
  text += row(profiler.total(), mark) + " total\n";
  std::string registers = occupancy.registers ? std::to_string(occupancy.registers) : "an unknown number of";
  return text + fmt::format("occupancy: {} CTAs of {} threads per multiprocessor, {:.0f} % of its warps, limited by {} "
                            "({} registers per thread, {} bytes of shared memory per CTA)\n",
                            occupancy.ctas, occupancy.threads, 100 * occupancy.warps, occupancy.limit, registers,
                            occupancy.sharedBytes);
}

} // namespace tile::sim
