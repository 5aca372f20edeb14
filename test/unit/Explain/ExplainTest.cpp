// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the values of the document with independent ones: the simulator's profile, the layout algebra, and the
// formulas for transactions and occupancy.
#include "Explain/Explain.h"

#include "Driver/Compilation.h"
#include "Driver/OutputFile.h"
#include "Layout/Print.h"
#include "Runner/Device/Execution.h"
#include "Runner/Device/SimDevice.h"
#include "Runner/Run.h"
#include "Simulator/Profile/Profiler.h"
#include "Simulator/Profile/Transactions.h"
#include "Target/Rates.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tile;
using Json = nlohmann::json;

namespace {

explain::ExplainRequest requestFor(const std::string &example, std::vector<std::string> arguments) {
  explain::ExplainRequest request;
  request.compiler.input = std::string(TILE_EXAMPLES) + "/" + example;
  llvm::Expected<std::string> text = driver::readInput(request.compiler.input);
  EXPECT_TRUE(bool(text));
  request.compiler.inputText = *text;
  request.compiler.target = "sm_90a";
  request.compiler.advise = false;
  request.run.arguments = std::move(arguments);
  request.run.device = "sim";
  request.run.artifact = request.compiler.input;
  return request;
}

struct Explained {
  Json document, trace;
};

Explained explained(const explain::ExplainRequest &request) {
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  explain::Explanation made;
  EXPECT_FALSE(explain::explain(request, stream, made)) << messages;
  return {Json::parse(made.document), made.trace.empty() ? Json() : Json::parse(made.trace)};
}

/// The output of `tile-run --profile-json` for the same run.
Json profileOf(const explain::ExplainRequest &request) {
  driver::CompilerOptions options = request.compiler;
  options.emit = driver::EmitKind::Ptx;
  driver::Compilation compilation(options, llvm::errs());
  EXPECT_TRUE(compilation.run());
  const std::string &bytes = compilation.result();
  auto artifact = runtime::readArtifact({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  EXPECT_TRUE(bool(artifact));
  const std::string file = testing::TempDir() + "/explain-profile-" + std::to_string(getpid()) + ".json";
  std::filesystem::remove(file);
  runner::SimOptions sim;
  sim.multiprocessors = 132;
  sim.threads = 1;
  sim.checks = false;
  sim.profileJson = file;
  auto device = runner::openSimDevice(*artifact, sim);
  EXPECT_TRUE(bool(device));
  auto execution = runner::Execution::prepare(request.run, artifact->manifest, **device);
  EXPECT_TRUE(bool(execution));
  runner::RunReport report = runner::startReport(*execution, **device, "");
  EXPECT_TRUE(bool(execution->run(report)));
  std::ifstream stream(file);
  Json profile = Json::parse(stream);
  std::filesystem::remove(file);
  return profile;
}

uint64_t counter(const Json &counters, const std::string &name) {
  return counters.contains(name) ? counters[name].get<uint64_t>() : 0;
}

using Example = std::pair<std::string, std::vector<std::string>>; // file and arguments

/// The page of an example with default options. It is made once, since each test looks at another part of it.
const Explained &explainedOnce(const Example &example) {
  static std::map<Example, Explained> made;
  auto found = made.find(example);
  if (found == made.end())
    found = made.emplace(example, explained(requestFor(example.first, example.second))).first;
  return found->second;
}

class OfExample : public testing::TestWithParam<Example> {};

} // namespace

TEST_P(OfExample, countersAreTheSimulatorsProfile) {
  const Json &document = explainedOnce(GetParam()).document;
  const Json profile = profileOf(requestFor(GetParam().first, GetParam().second));
  ASSERT_TRUE(document["simulated"].get<bool>());
  std::map<uint64_t, Json> lines;
  for (const Json &line : document["source"]["lines"])
    lines[line["line"]] = line["counters"];
  for (unsigned i = 0; i < sim::numCounters; ++i) {
    const std::string name(sim::counterName(sim::Counter(i)));
    EXPECT_EQ(counter(document["source"]["total"], name), profile["total"][name].get<uint64_t>()) << name;
    uint64_t sum = 0;
    for (const auto &[line, counters] : lines)
      sum += counter(counters, name);
    EXPECT_EQ(sum, profile["total"][name].get<uint64_t>()) << name;
    for (const Json &line : profile["lines"])
      if (line["line"].get<uint64_t>() > 0)
        EXPECT_EQ(counter(lines[line["line"]], name), line[name].get<uint64_t>())
            << name << " of line " << line["line"];
  }
}

TEST_P(OfExample, layoutsAreThoseOfTheirText) {
  const Json &document = explainedOnce(GetParam()).document;
  ASSERT_FALSE(document["layouts"].empty());
  for (const Json &entry : document["layouts"]) {
    std::string error;
    const auto layout = layout::parse(entry["text"].get<std::string>(), &error);
    ASSERT_TRUE(layout) << error;
    EXPECT_EQ(entry["shape"].get<std::vector<int64_t>>(), layout->outShape());
    for (const layout::InDim &dim : layout->inDims())
      EXPECT_EQ(entry["bases"][dim.name].get<layout::Bases>(), dim.bases) << dim.name;
    EXPECT_EQ(entry["kind"] == "shared", layout->hasInDim(layout::offsetDim));
  }
}

TEST_P(OfExample, requestsHaveTheTransactionsThatTheirAddressesMake) {
  const Json &document = explainedOnce(GetParam()).document;
  for (const Json &access : document["memory"]) {
    std::vector<uint64_t> addresses;
    for (int64_t address : access["addresses"].get<std::vector<int64_t>>())
      if (address >= 0)
        addresses.push_back(uint64_t(address));
    ASSERT_FALSE(addresses.empty());
    if (access["space"] == "global") {
      const sim::Sectors sectors = sim::countSectors(addresses, access["bytes"]);
      EXPECT_EQ(sectors.actual, access["actual"].get<uint32_t>()) << access.dump();
      EXPECT_EQ(sectors.ideal, access["ideal"].get<uint32_t>()) << access.dump();
    } else {
      const sim::Wavefronts wavefronts = sim::countWavefronts(addresses, access["bytes"]);
      EXPECT_EQ(wavefronts.actual, access["actual"].get<uint32_t>()) << access.dump();
      EXPECT_EQ(wavefronts.ideal, access["ideal"].get<uint32_t>()) << access.dump();
    }
  }
}

TEST_P(OfExample, oneMoreThreadBlockFitsWhereThePageSaysSo) {
  const Json &resources = explainedOnce(GetParam()).document["resources"];
  const target::GpuTarget &gpu = *target::findTarget("sm_90a");
  uint32_t registers = resources["registers"], threads = resources["threads_per_cta"],
           shared = resources["shared_bytes"];
  const sim::Occupancy now = sim::computeOccupancy(gpu, registers, threads, shared);
  EXPECT_EQ(now.ctas, resources["ctas_per_sm"].get<uint32_t>());
  EXPECT_EQ(now.limit, resources["limit"].get<std::string>());
  const auto ctas = [&] { return sim::computeOccupancy(gpu, registers, threads, shared).ctas; };
  const auto valueOf = [&](const Json &need) -> uint32_t & {
    return need["what"] == "registers" ? registers : need["what"] == "threads" ? threads : shared;
  };
  const Json &needs = resources["one_more"]["needs"];
  ASSERT_FALSE(needs.empty());
  for (const Json &need : needs) {
    ASSERT_NE(need["what"], "thread blocks");
    EXPECT_EQ(need["now"].get<uint32_t>(), valueOf(need));
  }
  for (const Json &need : needs)
    valueOf(need) = need["most"];
  EXPECT_GT(ctas(), now.ctas);
  for (const Json &need : needs) { // with more than the stated maximum, no further CTA fits
    valueOf(need) += need["what"] == "registers" ? 8 : need["what"] == "threads" ? 32 : 1;
    EXPECT_LE(ctas(), now.ctas) << need.dump();
    valueOf(need) = need["most"];
  }
}

TEST_P(OfExample, requestsAreThoseOfTheCounters) {
  const Json &document = explainedOnce(GetParam()).document;
  const Json &total = document["source"]["total"];
  std::map<std::string, uint64_t> requests, transactions;
  for (const Json &access : document["memory"]) {
    requests[access["space"]] += access["requests"].get<uint64_t>();
    transactions[access["space"]] += access["transactions"].get<uint64_t>();
  }
  ASSERT_LT(document["memory"].size(), 200u); // the list is limited; if it were full, the last entries would be missing
  EXPECT_EQ(requests["global"], counter(total, "global_requests"));
  EXPECT_EQ(transactions["global"], counter(total, "global_sectors"));
  EXPECT_EQ(requests["shared"], counter(total, "shared_requests"));
  EXPECT_EQ(transactions["shared"], counter(total, "shared_wavefronts"));
  EXPECT_EQ(document["resources"]["roofline"]["moved_bytes"].get<uint64_t>(), 32 * counter(total, "global_sectors") +
                                                                                  counter(total, "copied_in_bytes") +
                                                                                  counter(total, "copied_out_bytes"));
}

TEST_P(OfExample, sharedMemoryAndWavesAddUp) {
  const Json &document = explainedOnce(GetParam()).document;
  const Json &resources = document["resources"], &grid = document["grid"];
  for (const Json &piece : resources["shared"]) {
    EXPECT_LE(piece["offset"].get<uint64_t>() + piece["bytes"].get<uint64_t>(),
              resources["shared_bytes"].get<uint64_t>());
    EXPECT_EQ(piece["bytes"].get<uint64_t>() % piece["slots"].get<uint64_t>(), 0u);
  }
  double programs = 1;
  for (const Json &size : grid["programs"])
    programs *= size.get<double>();
  const double atATime = grid["at_a_time"], waves = grid["waves"];
  EXPECT_LE(grid["thread_blocks"].get<double>(), grid["persistent"].get<bool>() ? atATime : programs);
  EXPECT_NEAR(waves, programs / atATime, 1e-9);
  EXPECT_NEAR(grid["tail_efficiency"].get<double>(), waves / std::ceil(waves), 1e-9);
  uint64_t blocks = 0;
  for (const Json &wave : grid["l2"]["waves"]) {
    blocks += wave["thread_blocks"].get<uint64_t>();
    EXPECT_LE(wave["lines"], wave["reads"]);
  }
  EXPECT_EQ(blocks, grid["thread_blocks"].get<uint64_t>());
}

TEST_P(OfExample, everyElementOfAnOutputHasItsThreadBlock) {
  const Json &grid = explainedOnce(GetParam()).document["grid"];
  ASSERT_FALSE(grid["outputs"].empty());
  for (const Json &output : grid["outputs"]) {
    const auto ctas = output["ctas"].get<std::vector<int64_t>>();
    EXPECT_EQ(ctas.size(), output["cell_rows"].get<size_t>() * output["cell_columns"].get<size_t>());
    for (int64_t cta : ctas) {
      EXPECT_GE(cta, 0);
      EXPECT_LT(cta, grid["thread_blocks"].get<int64_t>());
    }
  }
}

TEST_P(OfExample, theTraceHasTheLanesOfTheTimeLine) {
  const Explained &made = explainedOnce(GetParam());
  const Json &pipeline = made.document["pipeline"];
  EXPECT_TRUE(pipeline["modelled"].get<bool>());
  EXPECT_FALSE(pipeline["forced"].get<bool>());
  size_t named = 0, spans = 0, drawn = 0;
  double end = 0;
  for (const Json &event : made.trace["traceEvents"]) {
    named += event["name"] == "thread_name";
    spans += event["ph"] == "X";
    if (event["ph"] == "X")
      end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
  }
  for (const Json &lane : pipeline["lanes"]) {
    drawn += lane["spans"].size();
    int64_t before = 0;
    for (const Json &span : lane["spans"]) { // spans are in order and do not overlap
      EXPECT_GE(span[0].get<int64_t>(), before) << lane["name"];
      EXPECT_GE(span[1].get<int64_t>(), span[0].get<int64_t>()) << lane["name"];
      before = span[1];
    }
  }
  EXPECT_EQ(named, pipeline["lanes"].size());
  EXPECT_EQ(spans, drawn);
  EXPECT_GE(end * pipeline["clock_ghz"].get<double>() * 1000, pipeline["product_clocks"].get<double>());
}

TEST_P(OfExample, theCriticalPathIsTheWholeTime) {
  const Json &pipeline = explainedOnce(GetParam()).document["pipeline"];
  const Json &path = pipeline["lanes"].back();
  ASSERT_EQ(path["name"], "critical path");
  int64_t time = 0;
  std::map<std::pair<std::string, int64_t>, int64_t> sums;
  for (const Json &span : path["spans"]) { // the spans have no gap between them
    EXPECT_EQ(span[0].get<int64_t>(), time);
    time = span[1];
    sums[{span[2], span[3]}] += span[1].get<int64_t>() - span[0].get<int64_t>();
  }
  EXPECT_EQ(time, pipeline["clocks"].get<int64_t>());
  ASSERT_EQ(sums.size(), pipeline["critical"].size());
  for (const Json &part : pipeline["critical"])
    EXPECT_NEAR(part["clocks"].get<double>(), double(sums[{part["kind"], part["line"]}]), path["spans"].size());
}

TEST_P(OfExample, warpsAndEnginesWorkWaitOrAreIdle) {
  const Json &pipeline = explainedOnce(GetParam()).document["pipeline"];
  ASSERT_GE(pipeline["uses"].size(), pipeline["roles"].get<size_t>());
  for (const Json &use : pipeline["uses"]) {
    const auto lane = std::find_if(pipeline["lanes"].begin(), pipeline["lanes"].end(),
                                   [&](const Json &one) { return one["name"] == use["name"]; });
    ASSERT_NE(lane, pipeline["lanes"].end());
    int64_t work = 0, wait = 0;
    for (const Json &span : (*lane)["spans"])
      (span[2] == "wait" ? wait : work) += span[1].get<int64_t>() - span[0].get<int64_t>();
    EXPECT_NEAR(use["work"].get<double>(), double(work), (*lane)["spans"].size()) << use["name"];
    EXPECT_NEAR(use["wait"].get<double>(), double(wait), (*lane)["spans"].size()) << use["name"];
    if (work + wait <= pipeline["clocks"].get<int64_t>()) // copies may arrive after the last warp has ended
      EXPECT_NEAR((use["work"].get<double>() + use["wait"].get<double>() + use["idle"].get<double>()),
                  pipeline["clocks"].get<double>(), 2)
          << use["name"];
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, OfExample,
                         testing::Values(std::pair("attention.tile", std::vector<std::string>{"S=512"}),
                                         std::pair("matmul.tile", std::vector<std::string>{"M=256", "N=256", "K=128"}),
                                         std::pair("softmax.tile", std::vector<std::string>{"M=20"}),
                                         std::pair("gemm/grouped.tile", std::vector<std::string>{}),
                                         std::pair("transpose_naive.tile", std::vector<std::string>{}),
                                         std::pair("transpose_padded.tile", std::vector<std::string>{})),
                         [](const auto &info) {
                           const std::string name = std::filesystem::path(info.param.first).stem();
                           return name;
                         });

TEST(Explain, launchOrderIsThatOfTheGrid) {
  // Program (x, y) of the transpose writes rows 32 y … of block column x, so each cell is written by one thread block.
  const Json grid = explained(requestFor("transpose_naive.tile", {"M=128", "N=64"})).document["grid"];
  const Json &output = grid["outputs"][0];
  EXPECT_EQ(grid["programs"], Json({4, 2, 1}));
  for (int64_t row = 0; row < 64; row += output["rows_per_cell"].get<int64_t>())
    for (int64_t column = 0; column < 128; column += output["columns_per_cell"].get<int64_t>()) {
      const size_t cell = row / output["rows_per_cell"].get<int64_t>() * output["cell_columns"].get<size_t>() +
                          column / output["columns_per_cell"].get<int64_t>();
      EXPECT_EQ(output["ctas"][cell].get<int64_t>(), column / 32 + 4 * (row / 32)) << row << ", " << column;
    }
}

TEST(Explain, aPipelineOfOneSlotWaitsForEachCopy) {
  struct Clocks {
    double all, copies; ///< cycles of the whole pipeline, and of the copies on its critical path
  };
  const auto clocksOf = [](int stages) {
    auto request = requestFor("matmul.tile", {"M=256", "N=256", "K=1024"});
    request.compiler.numStages = stages;
    request.compiler.assumptions = {{"lda", 8}, {"ldb", 8}, {"ldc", 8}, {"N", 8}}; // copies need aligned rows
    const Json pipeline = explained(request).document["pipeline"];
    Clocks clocks{pipeline["clocks"].get<double>(), 0};
    for (const Json &part : pipeline["critical"])
      clocks.copies += part["kind"] == "copy" ? part["clocks"].get<double>() : 0;
    return clocks;
  };
  const Clocks one = clocksOf(1), four = clocksOf(4);
  EXPECT_GT(one.copies, 0.5 * one.all);
  EXPECT_LT(four.copies, 0.5 * four.all);
  EXPECT_GT(one.all, 1.1 * four.all);
}

TEST(Explain, blocksReadTheirOperandsFromL2) {
  const Json grid = explained(requestFor("matmul.tile", {"M=256", "N=256", "K=128"})).document["grid"];
  const Json &l2 = grid["l2"], &c = grid["outputs"][0];
  ASSERT_EQ(l2["waves"].size(), 1u);
  ASSERT_EQ(l2["arrays"].size(), 2u); // c is only written
  const uint64_t lineBytes = l2["line_bytes"];
  EXPECT_EQ(l2["waves"][0]["lines"].get<uint64_t>(), 2 * 256 * 128 * 2 / lineBytes); // all of a and b once
  uint64_t reads = 0;
  for (uint64_t block = 0; block < grid["thread_blocks"].get<uint64_t>(); ++block) {
    std::set<uint64_t> rows, columns; // rows and columns of c that the block writes
    for (size_t cell = 0; cell < c["ctas"].size(); ++cell)
      if (c["ctas"][cell] == block)
        for (uint64_t i = 0; i < c["rows_per_cell"].get<uint64_t>(); ++i) {
          rows.insert(cell / c["cell_columns"].get<size_t>() * c["rows_per_cell"].get<uint64_t>() + i);
          columns.insert(cell % c["cell_columns"].get<size_t>() * c["columns_per_cell"].get<uint64_t>() + i);
        }
    for (size_t array = 0; array < 2; ++array) {
      const Json &map = l2["arrays"][array];
      EXPECT_EQ(map["name"], array ? "b" : "a");
      const auto runs = map["blocks"][block].get<std::vector<uint64_t>>();
      std::set<uint64_t> read;
      for (size_t i = 0; i < runs.size(); i += 2)
        for (uint64_t cell = runs[i]; cell < runs[i] + runs[i + 1]; ++cell) {
          const std::string side = array ? "column" : "row";
          const uint64_t each = map[side + "s_per_cell"];
          const uint64_t at =
              array ? cell % map["cell_columns"].get<uint64_t>() : cell / map["cell_columns"].get<uint64_t>();
          for (uint64_t j = 0; j < each; ++j)
            read.insert(at * each + j);
        }
      EXPECT_EQ(read, array ? columns : rows) << "block " << block;
    }
    reads += (rows.size() + columns.size()) * 128 * 2 / lineBytes;
  }
  EXPECT_EQ(l2["waves"][0]["reads"].get<uint64_t>(), reads);
}

TEST(Explain, mmaClocksFollowTheTargetsRate) {
  const auto request = requestFor("matmul.tile", {"M=256", "N=256", "K=512"});
  const Json document = explained(request).document;
  const double all = document["source"]["total"]["multiply_adds"];
  const double blocks = document["grid"]["thread_blocks"];
  const double rate = target::ratesOf(*target::findTarget("sm_90a")).multiplyAdds(16);
  EXPECT_NEAR(document["pipeline"]["product_clocks"].get<double>(), all / blocks / rate, 1);
  EXPECT_EQ(all, 256.0 * 256 * 512);
  EXPECT_EQ(document["resources"]["roofline"]["tensor_flops"].get<double>(), 2 * all);
  EXPECT_EQ(document["resources"]["roofline"]["least_bytes"].get<double>(), 2.0 * (256 * 512 * 2 + 256 * 256));
}

TEST(Explain, whatCannotRunIsStillExplained) {
  auto request = requestFor("identity_bug.tile", {});
  const Json document = explained(request).document;
  EXPECT_FALSE(document["simulated"].get<bool>());
  EXPECT_NE(document["why_not_simulated"].get<std::string>().find("out-of-bounds"), std::string::npos);
  EXPECT_FALSE(document["passes"]["passes"].empty());
  EXPECT_FALSE(document["layouts"].empty());
}

TEST(Explain, passesAreTheLinesOfTheirText) {
  const Json document = explained(requestFor("softmax.tile", {})).document;
  const Json &passes = document["passes"]["passes"], &lines = document["passes"]["lines"];
  EXPECT_EQ(passes[0]["name"], "input");
  std::vector<std::string> first;
  for (size_t index : passes[0]["lines"])
    first.push_back(lines.at(index));
  EXPECT_EQ(Json(first), document["code"][0]["lines"]);
  for (size_t i = 1; i < passes.size(); ++i)
    EXPECT_TRUE(passes[i]["lines"] != passes[i - 1]["lines"] || !passes[i]["remarks"].empty()) << passes[i]["name"];
}
