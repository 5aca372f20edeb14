// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of a journal when a run is killed, and the journals that are rejected.
#include "Lab/Tune/TuneJournal.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace tile::runner;
using tile::runtime::TuningEntry;
using tile::runtime::TuningTable;

namespace {

class Journal : public testing::Test {
protected:
  void SetUp() override { std::filesystem::remove(path); }
  void TearDown() override { std::filesystem::remove(path); }
  std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void append(const std::string &more) const { std::ofstream(path, std::ios::app) << more; }

  const std::string path = testing::TempDir() + "tune-journal";
  const TuningTable identity = {"matmul", "sha256:1", "fnv1a64:2", "Fake GPU", 13000, {"M", "N"}, {}};
  const TuningEntry entry = {{16, 4096}, "3f", "aligned", 9.25};
};

TEST_F(Journal, goesOnWhereItWas) {
  {
    Result<TuneJournal> journal = TuneJournal::open(path, identity);
    ASSERT_TRUE(bool(journal)) << journal.error().message;
    EXPECT_TRUE(bool(journal->append("M=16 N=4096", entry)));
  }
  append(R"({"call": "M=17)"); // a kill in the middle of a line
  Result<TuneJournal> journal = TuneJournal::open(path, identity);
  ASSERT_TRUE(bool(journal)) << journal.error().message;
  EXPECT_TRUE(journal->has("M=16 N=4096"));
  EXPECT_FALSE(journal->has("M=17"));
  EXPECT_TRUE(bool(journal->append("M=17 N=1", {{17, 1}, "1", "general", 2})));
  TuningTable table = identity;
  table.entries = {entry, {{17, 1}, "1", "general", 2}};
  Result<TuneJournal::Measured> measured = TuneJournal::read(path);
  ASSERT_TRUE(bool(measured)) << measured.error().message;
  EXPECT_EQ(measured->table, table);
}

TEST_F(Journal, negative_refusesOthers) {
  ASSERT_TRUE(bool(TuneJournal::open(path, identity)));
  TuningTable other = identity;
  other.pack = "fnv1a64:3";
  EXPECT_FALSE(bool(TuneJournal::open(path, other)));
  other = identity;
  other.device = "NVIDIA H200";
  EXPECT_FALSE(bool(TuneJournal::open(path, other)));
}

TEST_F(Journal, negative_damage) {
  for (const char *line :
       {"nonsense", "{}", "[1]", R"({"call":"M=1","sizes":[1],"serves":"1","variant":"v","microseconds":1})",
        R"({"call":"M=1","sizes":[1,"2"],"serves":"1","variant":"v","microseconds":1})"}) {
    std::filesystem::remove(path);
    ASSERT_TRUE(bool(TuneJournal::open(path, identity)));
    append(std::string(line) + "\n");
    Result<TuneJournal> journal = TuneJournal::open(path, identity);
    ASSERT_FALSE(bool(journal)) << line;
    EXPECT_NE(journal.error().message.find("line 2 is damaged"), std::string::npos) << journal.error().message;
  }
  std::filesystem::remove(path);
  append("{\"journal\": 2}\n");
  EXPECT_NE(TuneJournal::open(path, identity).error().message.find("line 1 is damaged"), std::string::npos);
}

} // namespace
