// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls into other libraries that may wait for other ranks indefinitely.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace tile::dist {

/// Runs `body` in a separate thread and returns its result. Returns nullopt if the thread has not ended by the
/// deadline, or when `isHopeless` returns true. The thread is then abandoned, so `body` must own everything that it
/// uses.
template <typename Body, typename Hopeless>
auto callBounded(Body body, std::chrono::steady_clock::time_point deadline, const Hopeless &isHopeless)
    -> std::optional<decltype(body())> {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<decltype(body())> result;
  };
  auto state = std::make_shared<State>();
  std::thread([state, body = std::move(body)]() mutable {
    auto result = body();
    const std::lock_guard lock(state->mutex);
    state->result = std::move(result);
    state->changed.notify_all();
  }).detach();
  constexpr std::chrono::milliseconds period(5);
  std::unique_lock lock(state->mutex);
  while (!state->result && std::chrono::steady_clock::now() < deadline && !isHopeless())
    state->changed.wait_for(lock, period);
  return std::move(state->result);
}

} // namespace tile::dist
