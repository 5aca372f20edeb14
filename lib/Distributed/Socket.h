// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages over TCP with deadlines.
#pragma once

#include "Runtime/Result.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tile::dist {

using Deadline = std::chrono::steady_clock::time_point;

/// Owns a file descriptor.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor(descriptor) {}
  Socket(Socket &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~Socket();

  int get() const { return descriptor; }
  explicit operator bool() const { return descriptor >= 0; }

  /// Sends a message: its length, then its bytes.
  runtime::Status send(std::string_view message, Deadline deadline);
  /// Receives a message of at most `most` bytes.
  runtime::Result<std::string> receive(size_t most, Deadline deadline);
  /// Returns the last complete message that has arrived, without consuming it. Returns nullopt if there is no message,
  /// or if it is too long.
  std::optional<std::string> peekLast() const;
  /// Wakes threads that wait for messages, and tells the other side that no further messages follow.
  void shutDown();

private:
  runtime::Status transfer(char *bytes, size_t count, bool isSent, Deadline deadline);

  int descriptor = -1;
};

/// Listens at "HOST:PORT" on all interfaces; the host is ignored.
runtime::Result<Socket> listenAt(const std::string &address);
/// Waits for a connection.
runtime::Result<Socket> acceptFrom(const Socket &listener, Deadline deadline);
/// Connects to "HOST:PORT"; retries until the server listens.
runtime::Result<Socket> connectTo(const std::string &address, Deadline deadline);

} // namespace tile::dist
