// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/Socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using tile::runtime::makeError;
using tile::runtime::Result;
using tile::runtime::Status;
using tile::runtime::Success;

namespace tile::dist {
namespace {

struct FreeAddresses {
  void operator()(addrinfo *list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> resolve(const std::string &address, bool isPassive) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size() || (!isPassive && colon == 0))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}' is not an address; expected HOST:PORT", address);
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') // IPv6
    host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = isPassive ? AI_PASSIVE : 0;
  addrinfo *list = nullptr;
  if (const int error = getaddrinfo(isPassive ? nullptr : host.c_str(), address.c_str() + colon + 1, &hints, &list))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "address '{}': {}", address, gai_strerror(error));
  return Addresses(list);
}

/// Waits until the descriptor is ready. Returns false after the deadline.
bool waitUntilReady(int descriptor, short events, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0)
      return false;
    pollfd entry = {descriptor, events, 0};
    const int ready = poll(&entry, 1, int(std::min<long long>(left, 1 << 30)));
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

void configure(int descriptor) {
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // A host that crashes does not close its connections; keep-alive packets detect that.
  constexpr int idleSeconds = 10, periodSeconds = 5, tries = 3;
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idleSeconds, sizeof(idleSeconds));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &periodSeconds, sizeof(periodSeconds));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

} // namespace

Socket::~Socket() {
  if (descriptor >= 0)
    close(descriptor);
}

Status Socket::transfer(char *bytes, size_t count, bool isSent, Deadline deadline) {
  while (count > 0) {
    const ssize_t done = isSent ? ::send(descriptor, bytes, count, MSG_NOSIGNAL) : ::recv(descriptor, bytes, count, 0);
    if (done > 0) {
      bytes += done;
      count -= size_t(done);
    } else if (done == 0) {
      return makeError(TILE_ERROR_PEER, "the connection was closed");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!waitUntilReady(descriptor, isSent ? POLLOUT : POLLIN, deadline))
        return makeError(TILE_ERROR_TIMEOUT, "no answer within the time limit");
    } else if (errno != EINTR) {
      return makeError(TILE_ERROR_PEER, "the connection failed: {}", std::strerror(errno));
    }
  }
  return Success{};
}

Status Socket::send(std::string_view message, Deadline deadline) {
  const uint64_t length = message.size();
  std::string framed(sizeof(length), '\0');
  std::memcpy(framed.data(), &length, sizeof(length));
  framed += message;
  return transfer(framed.data(), framed.size(), /*isSent=*/true, deadline);
}

Result<std::string> Socket::receive(size_t most, Deadline deadline) {
  uint64_t length = 0;
  if (Status status = transfer(reinterpret_cast<char *>(&length), sizeof(length), /*isSent=*/false, deadline); !status)
    return status.error();
  if (length > most)
    return makeError(TILE_ERROR_PEER, "a message of {} bytes, more than the expected {}: not a rank of this program?",
                     length, most);
  std::string message(length, '\0');
  if (Status status = transfer(message.data(), length, /*isSent=*/false, deadline); !status)
    return status.error();
  return message;
}

std::optional<std::string> Socket::peekLast() const {
  constexpr size_t most = 1 << 16;
  std::string bytes(most, '\0');
  const ssize_t count = ::recv(descriptor, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  std::optional<std::string> last;
  uint64_t length = 0;
  for (size_t place = 0; count > 0 && size_t(count) - place >= sizeof(length); place += length) {
    std::memcpy(&length, bytes.data() + place, sizeof(length));
    place += sizeof(length);
    if (length > size_t(count) - place)
      break;
    last = bytes.substr(place, length);
  }
  return last;
}

void Socket::shutDown() {
  ::shutdown(descriptor, SHUT_RDWR);
}

Result<Socket> listenAt(const std::string &address) {
  Result<Addresses> addresses = resolve(address, /*isPassive=*/true);
  if (!addresses)
    return addresses.error();
  std::string reason = "no address";
  for (addrinfo *entry = addresses->get(); entry; entry = entry->ai_next) {
    Socket made(socket(entry->ai_family, entry->ai_socktype | SOCK_CLOEXEC, entry->ai_protocol));
    const int on = 1;
    constexpr int backlog = 128;
    if (made && setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(made.get(), entry->ai_addr, entry->ai_addrlen) == 0 && listen(made.get(), backlog) == 0)
      return made;
    reason = std::strerror(errno);
  }
  return makeError(TILE_ERROR_PEER, "cannot listen at {}: {}", address, reason);
}

Result<Socket> acceptFrom(const Socket &listener, Deadline deadline) {
  if (!waitUntilReady(listener.get(), POLLIN, deadline))
    return makeError(TILE_ERROR_TIMEOUT, "no connection within the time limit");
  Socket made(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!made)
    return makeError(TILE_ERROR_PEER, "accept: {}", std::strerror(errno));
  configure(made.get());
  return made;
}

Result<Socket> connectTo(const std::string &address, Deadline deadline) {
  Result<Addresses> addresses = resolve(address, /*isPassive=*/false);
  if (!addresses)
    return addresses.error();
  std::string reason;
  do {
    for (addrinfo *entry = addresses->get(); entry; entry = entry->ai_next) {
      Socket made(socket(entry->ai_family, entry->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, entry->ai_protocol));
      int error = 0;
      socklen_t length = sizeof(error);
      if (made && (connect(made.get(), entry->ai_addr, entry->ai_addrlen) == 0 ||
                   (errno == EINPROGRESS && waitUntilReady(made.get(), POLLOUT, deadline) &&
                    getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0))) {
        configure(made.get());
        return made;
      }
      reason = std::strerror(error ? error : errno);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (std::chrono::steady_clock::now() < deadline);
  return makeError(TILE_ERROR_TIMEOUT, "nobody listens at {} within the time limit: {}", address, reason);
}

} // namespace tile::dist
