// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks that are processes: a star of TCP connections, with rank 0 in the middle, which collects the messages of an
// exchange and sends all of them to everyone, or the reason why the exchange failed.
#include "Distributed/HostGroup.h"
#include "Distributed/Socket.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

using tile::runtime::Error;
using tile::runtime::makeError;
using tile::runtime::Result;
using tile::runtime::Status;
using tile::runtime::Success;

namespace tile::dist {
namespace {

constexpr size_t mostBytes = 1 << 20; ///< of the message of one rank

/// The first message of a connection.
struct Hello {
  char magic[8] = {'t', 'i', 'l', 'e', 'd', 'i', 's', '1'};
  int32_t rank = 0, size = 0;
};

/// A message: its subject, a zero, its bytes.
std::string pack(std::string_view subject, std::string_view bytes) {
  std::string packed(subject);
  packed += '\0';
  return packed.append(bytes);
}

class ProcessGroup : public HostGroup {
public:
  ProcessGroup(int rank, int size, std::chrono::milliseconds limit) : HostGroup(rank, size, limit) {}

  bool isOneProcess() const override { return size == 1; }

  Status connect(const std::string &address) {
    if (size == 1)
      return Success{};
    const Deadline deadline = std::chrono::steady_clock::now() + limit;
    return rank == 0 ? acceptAll(address, deadline) : connectToFirst(address, deadline);
  }

  Result<std::string> exchange(std::string_view subject, std::string_view mine) override {
    if (!failure.message.empty())
      return failure;
    const Deadline deadline = std::chrono::steady_clock::now() + limit;
    Result<std::string> all = rank == 0 ? collect(subject, mine, deadline) : ask(subject, mine, deadline);
    if (!all)
      failure = all.error();
    return all;
  }

private:
  Error error(std::string_view subject, int other, const Error &reason) const {
    return makeError(reason.code, "rank {}: {}: rank {}: {}", rank, subject, other, reason.message);
  }

  Status acceptAll(const std::string &address, Deadline deadline) {
    Result<Socket> listener = listenAt(address);
    if (!listener)
      return runtime::withContext("rank 0", listener.error());
    peers.resize(size);
    for (int connected = 1; connected < size;) {
      Result<Socket> peer = acceptFrom(*listener, deadline);
      if (!peer)
        return makeError(peer.error().code, "rank 0: connect: {} of {} ranks have connected to {}: {}", connected, size,
                         address, peer.error().message);
      Result<std::string> message = peer->receive(sizeof(Hello), deadline);
      Hello hello;
      if (!message || message->size() != sizeof(Hello) ||
          std::memcmp(message->data(), hello.magic, sizeof(hello.magic)) != 0)
        continue; // a stranger
      std::memcpy(&hello, message->data(), sizeof(hello));
      std::string refusal;
      if (hello.size != size)
        refusal = fmt::format("rank {} was started with {} ranks, rank 0 with {}", hello.rank, hello.size, size);
      else if (hello.rank < 1 || hello.rank >= size || peers[hello.rank])
        refusal = fmt::format("there are two ranks {}, or it does not exist", hello.rank);
      if (Status status = peer->send(refusal, deadline); !status)
        return status;
      if (!refusal.empty())
        return makeError(TILE_ERROR_PEER, "rank 0: connect: {}", refusal);
      peers[hello.rank] = std::move(*peer);
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
    first = std::move(*made);
    return Success{};
  }

  /// Rank 0. An answer begins with a character: '+' before all messages, '-' before a reason.
  Result<std::string> collect(std::string_view subject, std::string_view mine, Deadline deadline) {
    std::string all(mine);
    std::optional<Error> wrong;
    for (int other = 1; other < size && !wrong; ++other) {
      Result<std::string> message = peers[other].receive(mostBytes, deadline);
      if (!message) {
        wrong = error(subject, other, message.error());
        continue;
      }
      const std::string_view theirs = message->c_str(); // up to the zero
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
      if (Status status = peers[other].send(answer, atLeast); !status && !wrong)
        wrong = error(subject, other, status.error());
    if (wrong)
      return *wrong;
    return all;
  }

  Result<std::string> ask(std::string_view subject, std::string_view mine, Deadline deadline) {
    // Rank 0 may itself wait for others until its deadline.
    const Deadline later = deadline + std::chrono::seconds(2);
    Status sent = first.send(pack(subject, mine), deadline);
    Result<std::string> answer =
        sent ? first.receive(mostBytes * size_t(size) + 1, later) : Result<std::string>(sent.error());
    if (!answer)
      return error(subject, 0, answer.error());
    if (answer->empty() || answer->front() != '+')
      return makeError(TILE_ERROR_PEER, "rank {}: {}: {}", rank, subject, answer->empty() ? "" : answer->substr(1));
    return answer->substr(1);
  }

  std::vector<Socket> peers; ///< of rank 0
  Socket first;              ///< to rank 0
  Error failure;             ///< of an exchange: the connections are out of step after it
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
