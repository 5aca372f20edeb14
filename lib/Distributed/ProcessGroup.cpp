// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks that are processes. TCP connections form a star around rank 0, which collects the messages of an exchange and
// sends every rank either all messages or the reason for a failure.
//
// The connections also reveal dead ranks, because they close when a process ends, for whatever reason. A thread watches
// for closed connections, and rank 0 informs the others. A rank that leaves regularly first sends an empty message.
#include "Distributed/HostGroup.h"
#include "Distributed/Socket.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

using tile::runtime::Error;
using tile::runtime::makeError;
using tile::runtime::Result;
using tile::runtime::Status;
using tile::runtime::Success;

namespace tile::dist {
namespace {

constexpr size_t mostBytes = 1 << 20; ///< maximum size of one rank's message

/// The first message on a connection.
struct Hello {
  char magic[8] = {'t', 'i', 'l', 'e', 'd', 'i', 's', '1'};
  int32_t rank = 0, size = 0;
};

/// Returns a message, which consists of subject, zero byte and payload.
std::string pack(std::string_view subject, std::string_view bytes) {
  std::string packed(subject);
  packed += '\0';
  return packed.append(bytes);
}

struct Peer {
  Socket socket;
  std::mutex receiving, sending;
  std::optional<std::string> last; ///< the last message, once it has been received: empty, or '-' followed by a reason
};

class ProcessGroup : public HostGroup {
public:
  ProcessGroup(int rank, int size, std::chrono::milliseconds limit)
      : HostGroup(rank, size, limit), peers(size_t(rank == 0 ? size : 1)) {}

  ~ProcessGroup() override {
    if (watcher.joinable()) {
      constexpr uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(wake.get(), &one, sizeof(one));
      watcher.join();
    }
    if (!hasFailed())
      sayLast("");
  }

  void abandon(const Error &reason) override {
    if (fail(reason))
      sayLast("-" + reason.message);
  }

  void watch(Handler handler) override {
    wake = Socket(eventfd(0, EFD_CLOEXEC));
    if (size > 1 && wake)
      watcher = std::thread([this, handler = std::move(handler)] { waitForDeath(handler); });
  }

  bool isOneProcess() const override { return size == 1; }

  Status connect(const std::string &address) {
    if (size == 1)
      return Success{};
    const Deadline deadline = std::chrono::steady_clock::now() + limit;
    return rank == 0 ? acceptAll(address, deadline) : connectToFirst(address, deadline);
  }

  Result<std::string> exchange(std::string_view subject, std::string_view mine) override {
    if (hasFailed())
      return makeError(failure.code, "rank {}: {}: {}", rank, subject, failure.message);
    const Deadline deadline = std::chrono::steady_clock::now() + limit;
    Result<std::string> all = rank == 0 ? collect(subject, mine, deadline) : ask(subject, mine, deadline);
    if (all || fail(all.error()))
      return all;
    // The watcher has already detected the failure, and has ended this exchange.
    return makeError(failure.code, "rank {}: {}: {}", rank, subject, failure.message);
  }

private:
  bool hasFailed() const {
    const std::lock_guard lock(mutex);
    return !failure.message.empty();
  }
  /// Records the first failure and ignores later ones. Returns false if there was one already.
  bool fail(const Error &error) {
    const std::lock_guard lock(mutex);
    if (!failure.message.empty())
      return false;
    failure = error;
    return true;
  }

  /// Sends a last message to every rank to which this one is connected.
  void sayLast(const std::string &message) {
    for (Peer &peer : peers)
      if (peer.socket) {
        (void)sendTo(peer, message, std::chrono::steady_clock::now() + std::chrono::seconds(1));
        peer.socket.shutDown();
      }
  }

  void waitForDeath(const Handler &handler) {
    std::vector<pollfd> entries;
    for (const Peer &peer : peers)
      entries.push_back({peer.socket.get(), POLLRDHUP, 0}); // rank 0 has no connection to itself; poll ignores -1
    entries.push_back({wake.get(), POLLIN, 0});
    for (;;) {
      if (poll(entries.data(), entries.size(), -1) < 0)
        continue; // interrupted
      if (entries.back().revents)
        return;
      for (size_t other = 0; other < peers.size(); ++other) {
        if (!entries[other].revents)
          continue;
        entries[other].fd = -1;
        std::optional<std::string> last;
        {
          const std::lock_guard lock(peers[other].receiving);
          last = peers[other].last ? peers[other].last : peers[other].socket.peekLast();
        }
        if (last && last->empty())
          continue; // the rank has left
        const bool isTold = last && last->front() == '-';
        const Error error{TILE_ERROR_PEER, isTold ? last->substr(1) : fmt::format("rank {} has died", other)};
        if (!fail(error))
          return;
        sayLast("-" + error.message);
        handler(error);
        return;
      }
    }
  }

  Error error(std::string_view subject, int other, const Error &reason) const {
    return makeError(reason.code, "rank {}: {}: rank {}: {}", rank, subject, other, reason.message);
  }

  Status acceptAll(const std::string &address, Deadline deadline) {
    Result<Socket> listener = listenAt(address);
    if (!listener)
      return runtime::withContext("rank 0", listener.error());
    for (int connected = 1; connected < size;) {
      Result<Socket> peer = acceptFrom(*listener, deadline);
      if (!peer)
        return makeError(peer.error().code, "rank 0: connect: {} of {} ranks have connected to {}: {}", connected, size,
                         address, peer.error().message);
      Result<std::string> message = peer->receive(sizeof(Hello), deadline);
      Hello hello;
      if (!message || message->size() != sizeof(Hello) ||
          std::memcmp(message->data(), hello.magic, sizeof(hello.magic)) != 0)
        continue; // not a rank of this group
      std::memcpy(&hello, message->data(), sizeof(hello));
      std::string refusal;
      if (hello.size != size)
        refusal = fmt::format("rank {} was started with {} ranks, rank 0 with {}", hello.rank, hello.size, size);
      else if (hello.rank < 1 || hello.rank >= size || peers[hello.rank].socket)
        refusal = fmt::format("rank {} was started twice or does not exist", hello.rank);
      if (Status status = peer->send(refusal, deadline); !status)
        return status;
      if (!refusal.empty())
        return makeError(TILE_ERROR_PEER, "rank 0: connect: {}", refusal);
      peers[hello.rank].socket = std::move(*peer);
      ++connected;
    }
    return Success{};
  }

  Status connectToFirst(const std::string &address, Deadline deadline) {
    Result<Socket> made = connectTo(address, deadline);
    if (!made)
      return makeError(made.error().code, "rank {}: connect to rank 0: {}", rank, made.error().message);
    Hello hello;
    hello.rank = rank;
    hello.size = size;
    Status sent = made->send({reinterpret_cast<const char *>(&hello), sizeof(hello)}, deadline);
    Result<std::string> answer = sent ? made->receive(mostBytes, deadline) : Result<std::string>(sent.error());
    if (!answer)
      return error("connect", 0, answer.error());
    if (!answer->empty())
      return makeError(TILE_ERROR_PEER, "rank {}: connect: {}", rank, *answer);
    peers[0].socket = std::move(*made);
    return Success{};
  }

  static Result<std::string> receiveFrom(Peer &peer, size_t most, Deadline deadline) {
    const std::lock_guard lock(peer.receiving);
    Result<std::string> message = peer.socket.receive(most, deadline);
    if (message && (message->empty() || message->front() == '-'))
      peer.last = *message;
    if (message && message->empty())
      return makeError(TILE_ERROR_PEER, "it has left");
    return message;
  }
  static Status sendTo(Peer &peer, std::string_view message, Deadline deadline) {
    const std::lock_guard lock(peer.sending);
    return peer.socket.send(message, deadline);
  }

  /// Performs an exchange on rank 0 and returns what rank 0 sends to the others: '+' followed by all messages, or '-'
  /// followed by the reason for a failure.
  Result<std::string> collect(std::string_view subject, std::string_view mine, Deadline deadline) {
    std::string all(mine);
    std::optional<Error> wrong;
    for (int other = 1; other < size && !wrong; ++other) {
      Result<std::string> message = receiveFrom(peers[other], mostBytes, deadline);
      if (!message) {
        wrong = error(subject, other, message.error());
        continue;
      }
      if (message->front() == '-') {
        wrong = error(subject, other, makeError(TILE_ERROR_PEER, "it has failed: {}", message->substr(1)));
        continue;
      }
      const std::string_view theirs = message->c_str(); // subject, up to the zero byte
      if (theirs != subject || message->size() != theirs.size() + 1 + mine.size())
        wrong = makeError(TILE_ERROR_PEER,
                          "rank 0 is in '{}' but rank {} in '{}'; all ranks must make the same calls in the same order",
                          subject, other, theirs);
      else
        all.append(*message, theirs.size() + 1);
    }
    const std::string answer = wrong ? "-" + wrong->message : "+" + all;
    const Deadline atLeast = std::max(deadline, std::chrono::steady_clock::now() + std::chrono::seconds(1));
    for (int other = 1; other < size; ++other)
      if (Status status = sendTo(peers[other], answer, atLeast); !status && !wrong)
        wrong = error(subject, other, status.error());
    if (wrong)
      return *wrong;
    return all;
  }

  Result<std::string> ask(std::string_view subject, std::string_view mine, Deadline deadline) {
    // Rank 0 may itself wait for others until its deadline.
    const Deadline later = deadline + std::chrono::seconds(2);
    Status sent = sendTo(peers[0], pack(subject, mine), deadline);
    Result<std::string> answer =
        sent ? receiveFrom(peers[0], mostBytes * size_t(size) + 1, later) : Result<std::string>(sent.error());
    if (!answer)
      return error(subject, 0, answer.error());
    if (answer->front() != '+')
      return makeError(TILE_ERROR_PEER, "rank {}: {}: {}", rank, subject, answer->substr(1));
    return answer->substr(1);
  }

  std::vector<Peer> peers; ///< on rank 0: connections to every other rank; on other ranks: the connection to rank 0
  mutable std::mutex mutex;
  Error failure; ///< after a failure, messages on the connections no longer match exchanges
  std::thread watcher;
  Socket wake; ///< event that stops the watcher
};

} // namespace

Result<std::unique_ptr<HostGroup>> joinProcesses(const std::string &address, int rank, int size,
                                                 std::chrono::milliseconds limit) {
  if (size < 1 || rank < 0 || rank >= size)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "rank {} of {} ranks does not exist", rank, size);
  auto group = std::make_unique<ProcessGroup>(rank, size, limit);
  if (Status status = group->connect(address); !status)
    return status.error();
  return std::unique_ptr<HostGroup>(std::move(group));
}

} // namespace tile::dist
