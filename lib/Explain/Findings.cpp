// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds obvious performance problems and describes each in one sentence with its line and figures, the most severe one
// first.
#include "Explain/Evidence.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace tile::explain {
namespace {

using C = sim::Counter;

/// Thresholds above which a line is reported.
constexpr double wastedShare = 0.5;   ///< unused share of the sectors of a line's requests
constexpr double ofTheKernel = 0.05;  ///< minimum share of the kernel's traffic that a line must have
constexpr double conflictShare = 0.2; ///< share of a line's wavefronts
constexpr double idleTensor = 0.5;    ///< idle share of the time between the first and the last MMA
constexpr double waits = 0.2;         ///< share of that time for which an MMA warp waits
constexpr double fewWarps = 0.25;     ///< share of the maximum warps per multiprocessor
constexpr double poorTail = 0.8;      ///< share of the multiprocessors' time that is used

struct Finding {
  std::string kind;
  unsigned line;
  double weight; ///< lost share of some resource
  std::string text;
};

class Findings {
public:
  Findings(const Evidence &evidence, const Json &document) : evidence(evidence), document(document) {}

  Json find() {
    if (evidence.run) {
      const sim::Function &function = *evidence.run->function();
      for (size_t i = 0; i < function.instructions.size(); ++i)
        lines[evidence.lineOf(function.instructions[i])] += evidence.run->profiler().countsOf(i);
      total = evidence.run->profiler().total();
      findSectors();
      findConflicts();
      findSerialised();
      findBubble();
      findTail();
    }
    findSpills();
    findOccupancy();
    std::stable_sort(found.begin(), found.end(),
                     [](const Finding &a, const Finding &b) { return a.weight > b.weight; });
    Json json = Json::array();
    for (const Finding &one : found)
      json.push_back({{"kind", one.kind}, {"line", one.line}, {"text", one.text}});
    return json;
  }

private:
  std::string place(unsigned line) const { return line ? fmt::format("Line {}", line) : "Compiler-generated code"; }

  void findSectors() {
    for (const auto &[line, counts] : lines) {
      const double sectors = double(counts[C::GlobalSectors]), ideal = double(counts[C::GlobalSectorsIdeal]);
      if (sectors <= 0 || 1 - ideal / sectors < wastedShare || sectors < ofTheKernel * double(total[C::GlobalSectors]))
        continue;
      const double perRequest = sectors / double(counts[C::GlobalRequests]);
      if (perRequest <= 1) // one sector per request: its unused part is unavoidable
        continue;
      found.push_back(
          {"uncoalesced", line, 1 - ideal / sectors,
           fmt::format("{} does not coalesce: a warp request takes {:.2f} sectors of 32 bytes where {:.2f} would "
                       "suffice; {:.0f} % of the bytes moved are unused.",
                       place(line), perRequest, ideal / double(counts[C::GlobalRequests]),
                       100 * (1 - ideal / sectors))});
    }
  }

  void findConflicts() {
    for (const auto &[line, counts] : lines) {
      const double wavefronts = double(counts[C::SharedWavefronts]), conflicts = double(counts[C::SharedConflicts]);
      if (wavefronts <= 0 || conflicts / wavefronts < conflictShare ||
          wavefronts < ofTheKernel * double(total[C::SharedWavefronts]))
        continue;
      found.push_back(
          {"bank-conflict", line, conflicts / wavefronts,
           fmt::format("{} has bank conflicts: its {} requests to shared memory take {:.1f} wavefronts each, {} "
                       "of {} due to bank conflicts.",
                       place(line), counts[C::SharedRequests], wavefronts / double(counts[C::SharedRequests]),
                       uint64_t(conflicts), uint64_t(wavefronts))});
    }
  }

  /// Reports serialized wgmma if ptxas warns about it, or if each wgmma group is awaited before the next one is issued
  /// and no other warpgroup issues wgmma.
  void findSerialised() {
    for (const std::string &warning : evidence.ptxasWarnings)
      if (warning.find("C7510") != std::string::npos || warning.find("serialized") != std::string::npos) {
        found.push_back({"serialised-wgmma", firstMmaLine(), 0.9,
                         fmt::format("{}: ptxas serialises the wgmmas: {}", place(firstMmaLine()), warning)});
        return;
      }
    const sim::Function &function = *evidence.run->function();
    uint64_t waits = 0, idle = 0;
    std::set<size_t> groups; // warpgroups that issue wgmma
    const std::vector<std::vector<Event>> &streams = evidence.run->events();
    for (size_t warp = 0; warp < streams.size(); ++warp)
      for (const Event &event : streams[warp]) {
        const sim::Instruction &one = function.instructions[event.instruction];
        if (one.name != "wgmma" || one.suffixes.empty())
          continue;
        if (one.suffixes.front() == "mma_async")
          groups.insert(warp / 4);
        if (one.suffixes.front() != "wait_group")
          continue;
        ++waits;
        idle += one.operands.empty() || one.operands[0].bits == 0;
      }
    const unsigned perWarp = streams.empty() ? 0 : unsigned(waits / std::max<size_t>(4 * groups.size(), 1));
    if (groups.size() != 1 || perWarp < 3 || idle * 10 < waits * 9)
      return;
    const unsigned line = firstMmaLine();
    found.push_back(
        {"serialised-wgmma", line, 0.7,
         fmt::format("{}: wgmmas are serialised: the only warp group that issues them waits for each of its {} "
                     "wgmma groups before it issues the next, so the tensor cores idle in between.",
                     place(line), perWarp)});
  }

  unsigned firstMmaLine() const {
    uint64_t most = 0;
    unsigned line = 0;
    for (const auto &[number, counts] : lines)
      if (counts[C::MultiplyAdds] > most) {
        most = counts[C::MultiplyAdds];
        line = number;
      }
    return line;
  }

  /// Returns the average number of resident thread blocks per multiprocessor. Resident blocks can use each other's idle
  /// times.
  double blocksAtATime() const {
    const int64_t programs = evidence.programs[0] * evidence.programs[1] * evidence.programs[2];
    const double slots = double(slotsOf(evidence)), sms = std::max(1u, evidence.multiprocessors);
    return std::ceil(std::min(double(programs), slots) / sms);
  }

  void findBubble() {
    const Timeline &timeline = evidence.timeline;
    const double between = timeline.lastMma - timeline.firstMma;
    if (between <= 0 || timeline.mmaClocks * blocksAtATime() > (1 - idleTensor) * between ||
        timeline.awaitedCopies < waits * between)
      return;
    found.push_back(
        {"pipeline-bubble", timeline.waitingLine, timeline.awaitedCopies / between,
         fmt::format("{}: the pipeline has a bubble: MMA warps wait {:.0f} % of the time between the first and "
                     "the last MMA, and the tensor cores are busy {:.0f} % of it (modelled).",
                     place(timeline.waitingLine), 100 * timeline.awaitedCopies / between,
                     100 * timeline.mmaClocks / between)});
  }

  void findSpills() {
    const int64_t bytes = evidence.manifest.launch.spillBytes;
    if (bytes > 0)
      found.push_back({"spills", 0, 0.5,
                       fmt::format("The kernel spills {} bytes of registers per thread to local memory.", bytes)});
  }

  /// Reports low occupancy, which does not hide latency. Kernels with asynchronous copies and MMAs are excluded,
  /// because they need not rely on occupancy.
  void findOccupancy() {
    const sim::Occupancy occupancy = occupancyOf(evidence);
    bool isAsynchronous = false;
    if (evidence.run)
      for (const sim::Instruction &one : evidence.run->function()->instructions)
        isAsynchronous |= one.name == "wgmma" || engineOf(one) == "TMA" || engineOf(one) == "async copies";
    if (occupancy.warps >= fewWarps || isAsynchronous)
      return;
    const unsigned line = findLimitingLine(occupancy.limit);
    found.push_back({"low-occupancy", line, 1 - occupancy.warps,
                     fmt::format("{}: {:.0f} % of a multiprocessor's warps, limited by {}{}. {}.",
                                 sentence(line, "occupancy is low"), 100 * occupancy.warps, occupancy.limit,
                                 line ? ", most of which this line uses" : "",
                                 document["resources"]["one_more"]["text"].get<std::string>())});
  }

  /// Returns "Line 9: occupancy is low", or "Occupancy is low" if there is no line.
  static std::string sentence(unsigned line, std::string text) {
    if (line)
      return fmt::format("Line {}: {}", line, text);
    text[0] = char(std::toupper(text[0]));
    return text;
  }

  /// Returns the line with the largest buffer or the most live registers, depending on `limit`; 0 if there is none.
  unsigned findLimitingLine(std::string_view limit) const {
    int64_t most = 0;
    unsigned line = 0;
    const auto take = [&](int64_t amount, unsigned ofLine) {
      if (ofLine && amount > most) {
        most = amount;
        line = ofLine;
      }
    };
    if (limit == "shared memory")
      for (const SharedPiece &piece : evidence.compiler.shared)
        take(piece.bytes, piece.line);
    if (limit == "registers")
      for (const Json &entry : document["source"]["lines"])
        take(entry["live_registers"], entry["line"]);
    return line;
  }

  /// Returns the source line that defines the number of programs; 0 if there is none.
  unsigned findGridLine() const {
    const size_t at = evidence.sourceText.find("#: grid");
    if (at == std::string::npos)
      return 0;
    return 1 + unsigned(std::count(evidence.sourceText.begin(), evidence.sourceText.begin() + ptrdiff_t(at), '\n'));
  }

  void findTail() {
    const Json &grid = document["grid"];
    const double waves = grid["waves"], efficiency = grid["tail_efficiency"];
    const int64_t slots = grid["at_a_time"];
    if (waves <= 1 || efficiency >= poorTail || evidence.manifest.launch.sharesTails)
      return;
    const int64_t last = std::llround(waves * double(slots)) % slots;
    const unsigned line = findGridLine();
    found.push_back({"tail", line, 1 - efficiency,
                     fmt::format("{}: {:.2f} waves of {} programs, the last with {}, leave {:.0f} % of the "
                                 "multiprocessors' time idle.",
                                 sentence(line, "the grid has a tail"), waves, slots, last, 100 * (1 - efficiency))});
  }

  const Evidence &evidence;
  const Json &document;
  std::map<unsigned, sim::Counts> lines;
  sim::Counts total;
  std::vector<Finding> found;
};

} // namespace

Json describeFindings(const Evidence &evidence, const Json &document) {
  return Findings(evidence, document).find();
}

} // namespace tile::explain
