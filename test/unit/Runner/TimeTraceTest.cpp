// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts time records to a timeline.
#include "Runner/Results/TimeTrace.h"
#include "Target/Rates.h"
#include "Target/TimeRecords.h"

#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tile;
using target::TimeMark;
using target::TimeRecord;

namespace {

constexpr int64_t warps = 2;

struct Records {
  runtime::Manifest manifest;
  std::vector<int64_t> words = std::vector<int64_t>(target::timedCtas * target::timesPerCta(warps) * 2);

  Records() {
    manifest.kernel = "k";
    manifest.target = "sm_90a";
    manifest.launch.threadsPerCta = 32 * warps;
  }
  int64_t *cta(int64_t index) { return &words[index * target::timesPerCta(warps) * 2]; }
  void put(int64_t ctaIndex, int64_t warp, int64_t slot, TimeRecord record, int64_t clock) {
    int64_t *place = cta(ctaIndex) + 2 + 2 * (warp * target::timesPerWarp + slot);
    place[0] = record.encode();
    place[1] = clock;
  }
  /// `rank` is the rank in a run on several GPUs, or -1 for a run on one device.
  nlohmann::json trace(int rank = -1) const {
    auto layout = runner::planBuffer({int64_t(words.size())}, {}, sizeof(int64_t), true);
    EXPECT_TRUE(bool(layout));
    auto buffer = runner::HostBuffer::create(runtime::DataType::I64, *layout);
    EXPECT_TRUE(bool(buffer));
    std::memcpy(buffer->data(), words.data(), words.size() * sizeof(int64_t));
    const runner::RankTimes ofRank = {rank, &*buffer};
    return nlohmann::json::parse(rank < 0 ? runner::timeTrace(manifest, *buffer)
                                          : runner::timeTrace(manifest, {&ofRank, 1}));
  }
};

std::vector<nlohmann::json> eventsOf(const nlohmann::json &trace, const std::string &phase) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json &event : trace["traceEvents"])
    if (event["ph"] == phase)
      found.push_back(event);
  return found;
}

const double clocks = target::ratesOf(*target::findTarget("sm_90a")).clockGHz * 1e3; // a microsecond

TEST(TimeTrace, recordsAreWhatTheyWere) {
  for (bool isEnd : {false, true}) {
    const TimeRecord record = TimeRecord::decode(TimeRecord{TimeMark::CopiesWait, isEnd, 70000}.encode());
    EXPECT_EQ(record.mark, TimeMark::CopiesWait);
    EXPECT_EQ(record.isEnd, isEnd);
    EXPECT_EQ(record.line, 70000u);
  }
}

TEST(TimeTrace, spansBeginAndEndAtTheirClocks) {
  Records records;
  records.cta(0)[0] = 5000; // ns
  records.cta(0)[1] = 100;
  records.put(0, 1, 0, {TimeMark::Warp}, 110);
  records.put(0, 0, 0, {TimeMark::Warp}, 105);
  records.put(0, 0, 1, {TimeMark::BarrierWait, false, 7}, 200);
  records.put(0, 0, 2, {TimeMark::BarrierWait, true, 7}, 500);
  records.put(0, 0, 3, {TimeMark::Mmas, false, 8}, 600);
  records.put(0, 0, target::timesPerWarp - 1, {TimeMark::Warp, true}, 900);
  records.put(0, 1, target::timesPerWarp - 1, {TimeMark::Warp, true}, 910);
  // Another multiprocessor, with a separate clock.
  records.cta(1)[0] = 4000;
  records.cta(1)[1] = 1'000'000;
  records.put(1, 0, 0, {TimeMark::Warp}, 1'000'000);
  const nlohmann::json trace = records.trace();
  EXPECT_FALSE(trace.contains("otherData"));
  const auto spans = eventsOf(trace, "X");
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[0]["name"], "wait for a barrier at line 7");
  EXPECT_NEAR(spans[0]["ts"].get<double>(), 1 + (200 - 100) / clocks, 1e-9); // CTA 1 read the timer 1 us earlier
  EXPECT_NEAR(spans[0]["dur"].get<double>(), (500 - 200) / clocks, 1e-9);
  EXPECT_EQ(spans[1]["name"], "warp");
  EXPECT_NEAR(spans[1]["dur"].get<double>(), (900 - 105) / clocks, 1e-9);
  EXPECT_EQ(spans[2]["tid"], 1);
  EXPECT_NEAR(spans[2]["dur"].get<double>(), (910 - 110) / clocks, 1e-9);
  EXPECT_EQ(spans[3]["pid"], 1);
  EXPECT_NEAR(spans[3]["ts"].get<double>(), 0, 1e-9);
  const auto points = eventsOf(trace, "i");
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0]["name"], "MMAs at line 8");
  EXPECT_NEAR(points[0]["ts"].get<double>(), 1 + (600 - 100) / clocks, 1e-9);
}

TEST(TimeTrace, saysWhatFoundNoPlace) {
  Records records;
  for (int64_t i = 0; i < target::timesPerWarp - 1; ++i)
    records.put(0, 0, i, {i ? TimeMark::Copy : TimeMark::Warp, false, 3}, 10 + i);
  EXPECT_EQ(records.trace()["otherData"]["note"], "only the first 511 records of each warp are included");
}

TEST(TimeTrace, ofARankShowsWhenItWaitsForOthers) {
  Records records;
  records.cta(0)[0] = 5000;
  for (int64_t warp : {0, 1}) {
    records.put(0, warp, 0, {TimeMark::Warp}, 0);
    records.put(0, warp, 1, {TimeMark::FlagWait, false, 3}, warp == 0 ? 1000 : 2000);
    records.put(0, warp, 2, {TimeMark::FlagWait, true, 3}, warp == 0 ? 3000 : 4000);
    records.put(0, warp, target::timesPerWarp - 1, {TimeMark::Warp, true}, 5000);
  }
  std::vector<std::array<double, 3>> found; // track, begin, end in clocks
  for (const nlohmann::json &event : eventsOf(records.trace(2), "X"))
    if (event["cat"] == "rank" && event["pid"] == 2 * (1 + target::timedCtas))
      found.push_back({event["tid"], std::round(double(event["ts"]) * clocks),
                       std::round((double(event["ts"]) + double(event["dur"])) * clocks)});
  // Both warps wait from 2000 to 3000: nothing is computed.
  EXPECT_EQ(found, (std::vector<std::array<double, 3>>{{0, 0, 2000}, {0, 3000, 5000}, {1, 1000, 4000}}));
}

} // namespace
