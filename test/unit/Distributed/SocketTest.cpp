// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages over TCP: sizes, deadlines, and connections that end.
#include "Distributed/Socket.h"

#include "FreePort.h"

#include <gtest/gtest.h>

using namespace tile::dist;
using tile::runtime::Result;

namespace {

Deadline in(int milliseconds) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
}

class SocketTest : public ::testing::Test {
protected:
  void SetUp() override {
    const std::string address = freeAddress();
    Result<Socket> listener = listenAt(address);
    ASSERT_TRUE(listener) << listener.error().message;
    Result<Socket> connected = connectTo(address, in(5000)), accepted = acceptFrom(*listener, in(5000));
    ASSERT_TRUE(connected) << connected.error().message;
    ASSERT_TRUE(accepted) << accepted.error().message;
    left = std::move(*connected);
    right = std::move(*accepted);
  }

  Socket left, right;
};

TEST_F(SocketTest, messagesKeepTheirBytes) {
  const std::string message("a\0b", 3);
  ASSERT_TRUE(left.send(message, in(5000)));
  ASSERT_TRUE(left.send("", in(5000)));
  EXPECT_EQ(*right.receive(100, in(5000)), message);
  EXPECT_EQ(*right.receive(100, in(5000)), "");
}
TEST_F(SocketTest, aMessageThatIsTooLongIsNotRead) {
  ASSERT_TRUE(left.send("four", in(5000)));
  EXPECT_EQ(right.receive(3, in(5000)).error().message,
            "a message of 4 bytes, more than the expected 3: not a rank of this program?");
}
TEST_F(SocketTest, silenceEndsAtTheDeadline) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(right.receive(100, in(50)).error().code, TILE_ERROR_TIMEOUT);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}
TEST_F(SocketTest, aConnectionThatEndsIsAnErrorOfThePeer) {
  {
    const Socket ended = std::move(left);
  }
  EXPECT_EQ(right.receive(100, in(5000)).error().code, TILE_ERROR_PEER);
}
TEST_F(SocketTest, aFullConnectionEndsAtTheDeadline) {
  const std::string much(size_t(64) << 20, 'x');
  EXPECT_EQ(left.send(much, in(100)).error().code, TILE_ERROR_TIMEOUT);
}

TEST(SocketAddressTest, wrongAddresses) {
  EXPECT_EQ(connectTo("localhost", in(50)).error().message, "'localhost' is not an address; expected HOST:PORT");
  EXPECT_EQ(connectTo(":29400", in(50)).error().message, "':29400' is not an address; expected HOST:PORT");
  EXPECT_EQ(listenAt("localhost:port").error().code, TILE_ERROR_INVALID_ARGUMENT);
}
TEST(SocketAddressTest, nobodyListens) {
  const Result<Socket> connected = connectTo(freeAddress(), in(100));
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, TILE_ERROR_TIMEOUT);
}
TEST(SocketAddressTest, nobodyConnects) {
  Result<Socket> listener = listenAt(freeAddress());
  ASSERT_TRUE(listener);
  EXPECT_EQ(acceptFrom(*listener, in(50)).error().message, "no connection within the time limit");
}

} // namespace
