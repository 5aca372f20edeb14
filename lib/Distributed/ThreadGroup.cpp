// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks that are threads of one process.
#include "Distributed/HostGroup.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

using tile::runtime::makeError;
using tile::runtime::Result;

namespace tile::dist {
namespace {

class ThreadGroup : public HostGroup {
public:
  ThreadGroup(ThreadMeeting &meeting, int rank, std::chrono::milliseconds limit)
      : HostGroup(rank, int(meeting.messages.size()), limit), meeting(meeting) {}
  ~ThreadGroup() override {
    const std::lock_guard lock(meeting.mutex);
    meeting.messages[rank].isConnected = false;
    meeting.messages[rank].handler = nullptr;
  }

  bool isOneProcess() const override { return true; }
  void watch(Handler handler) override {
    const std::lock_guard lock(meeting.mutex);
    meeting.messages[rank].handler = std::move(handler);
  }
  void abandon(const runtime::Error &reason) override {
    const std::lock_guard lock(meeting.mutex);
    if (!meeting.failure.empty())
      return;
    fail(reason.code, reason.message);
    for (size_t other = 0; other < meeting.messages.size(); ++other)
      if (const Handler handler = std::exchange(meeting.messages[other].handler, nullptr);
          handler && int(other) != rank)
        handler(makeError(TILE_ERROR_PEER, "another rank has failed: {}", reason.message));
  }

  Result<std::string> exchange(std::string_view subject, std::string_view mine) override {
    std::unique_lock lock(meeting.mutex);
    ThreadMeeting::Message &own = meeting.messages[rank];
    const uint64_t round = ++own.count;
    own.subject = subject;
    own.bytes[round % 2] = mine;
    meeting.changed.notify_all();
    const auto hasArrived = [&](const ThreadMeeting::Message &message) { return message.count >= round; };
    const bool isComplete = meeting.changed.wait_for(lock, limit, [&] {
      return !meeting.failure.empty() || std::all_of(meeting.messages.begin(), meeting.messages.end(), hasArrived);
    });
    if (!meeting.failure.empty())
      return makeError(TILE_ERROR_PEER, "rank {}: {}: another rank has failed: {}", rank, subject, meeting.failure);
    if (!isComplete)
      return fail(TILE_ERROR_TIMEOUT, fmt::format("rank {}: {}: no answer from rank {} within {} ms", rank, subject,
                                                  fmt::join(findMissing(round), ", "), limit.count()));
    std::string all;
    for (size_t other = 0; other < meeting.messages.size(); ++other) {
      const ThreadMeeting::Message &message = meeting.messages[other];
      if (message.bytes[round % 2].size() != mine.size() || (message.count == round && message.subject != subject))
        return fail(TILE_ERROR_PEER, fmt::format("rank {} is in '{}' but rank {} in '{}'; all ranks must make the same "
                                                 "calls in the same order",
                                                 rank, subject, other, message.subject));
      all += message.bytes[round % 2];
    }
    return all;
  }

private:
  std::vector<size_t> findMissing(uint64_t round) const {
    std::vector<size_t> missing;
    for (size_t other = 0; other < meeting.messages.size(); ++other)
      if (meeting.messages[other].count < round)
        missing.push_back(other);
    return missing;
  }

  runtime::Error fail(tile_status code, std::string message) {
    meeting.failure = message;
    meeting.changed.notify_all();
    return runtime::Error{code, std::move(message)};
  }

  ThreadMeeting &meeting;
};

} // namespace

Result<std::unique_ptr<HostGroup>> joinThreads(ThreadMeeting &meeting, int rank, std::chrono::milliseconds limit) {
  const std::lock_guard lock(meeting.mutex);
  if (rank < 0 || size_t(rank) >= meeting.messages.size())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "rank {} does not exist; the group has {} ranks", rank,
                     meeting.messages.size());
  if (meeting.messages[rank].isConnected)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "rank {} is connected already", rank);
  meeting.messages[rank].isConnected = true;
  return std::unique_ptr<HostGroup>(new ThreadGroup(meeting, rank, limit));
}

} // namespace tile::dist
