// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Captures of streams, and the resulting graphs; error codes are those of CUDA.
#include "SimDriver/Capture.h"

#include <gtest/gtest.h>

using namespace tile;
using runtime::CUevent;
using runtime::CUstream;

namespace {

class CaptureTest : public testing::Test {
protected:
  static CUstream stream(uintptr_t number) { return reinterpret_cast<CUstream>(number); }
  static CUevent event(uintptr_t number) { return reinterpret_cast<CUevent>(number); }
  void add(CUstream to, char letter) {
    captures.add(to, [this, letter] {
      done += letter;
      return 0;
    });
  }

  sim::Captures captures;
  std::unique_ptr<sim::Graph> graph;
  std::string done;
  CUstream first = stream(16), second = stream(32);
};

TEST_F(CaptureTest, stepsAreKeptInOrderAndDoneByTheGraph) {
  ASSERT_EQ(captures.begin(first), 0);
  EXPECT_TRUE(captures.isCaptured(first));
  add(first, 'a');
  EXPECT_TRUE(captures.record(event(1), first));
  ASSERT_EQ(captures.wait(second, event(1)), 0);
  add(second, 'b');
  add(first, 'c');
  captures.record(event(2), second);
  ASSERT_EQ(captures.wait(first, event(2)), 0);
  ASSERT_EQ(captures.end(first, graph), 0);
  EXPECT_EQ(done, "");
  EXPECT_FALSE(captures.isCaptured(second) || captures.isCaptured(event(1)));
  for (int i = 0; i < 2; ++i)
    for (const sim::GraphStep &step : *graph)
      EXPECT_EQ(step.work(), 0);
  EXPECT_EQ(done, "abcabc");
  EXPECT_EQ((*graph)[1].stream, second);
  EXPECT_EQ((*graph)[1].predecessors, std::set<size_t>{0});
  EXPECT_EQ((*graph)[2].predecessors, std::set<size_t>{0}) << "not after the step of the other stream";
}

TEST_F(CaptureTest, negative_unjoined) {
  captures.begin(first);
  captures.record(event(1), first);
  captures.wait(second, event(1));
  captures.record(event(2), second); // before the operation to be joined
  add(second, 'a');
  captures.wait(first, event(2));
  EXPECT_EQ(captures.end(first, graph), 904);
  EXPECT_EQ(graph, nullptr);
  EXPECT_FALSE(captures.isCaptured(first));
}

TEST_F(CaptureTest, negative_whatTheDriverRefuses) {
  EXPECT_EQ(captures.begin(nullptr), 900);
  EXPECT_EQ(captures.end(first, graph), 401);
  captures.begin(first);
  EXPECT_EQ(captures.begin(first), 401);
  EXPECT_FALSE(captures.record(event(1), second));
  EXPECT_EQ(captures.wait(first, event(1)), 905) << "the event is not of a capture";
  captures.begin(second);
  captures.record(event(2), second);
  EXPECT_EQ(captures.wait(first, event(2)), 902) << "two captures";
  captures.record(event(3), first);
  captures.wait(stream(48), event(3));
  EXPECT_EQ(captures.end(stream(48), graph), 903) << "the capture began elsewhere";
}

} // namespace
