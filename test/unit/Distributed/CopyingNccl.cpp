// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An NCCL for ranks that are threads on simulated devices, which execute work immediately. Each collective copies the
// data that the others have published, between two synchronizations of all ranks. The streams of the ranks wait for
// each other by events, as with NCCL's kernels, so that the simulated driver checks their order.
#include <array>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Id {
  char bytes[128];
};

struct Group {
  explicit Group(int size)
      : size(size), meeting(size), published(size_t(size), std::vector<const void *>(size_t(size))),
        events(size_t(size)) {}
  const int size;
  std::barrier<> meeting;
  std::vector<std::vector<const void *>> published; ///< written by each rank, for each rank
  /// Addresses of each rank, double-buffered: a rank may be at the next synchronization before all others have left
  /// this one.
  std::vector<std::array<void *, 2>> events;
};

struct Comm {
  std::shared_ptr<Group> group;
  int rank;
  size_t meetings = 0;
};

struct Transfer {
  Comm *comm;
  const void *sent;
  void *received;
  size_t bytes;
  int other;
  void *stream;
};

std::mutex mutex;
std::map<int, std::shared_ptr<Group>> groups;
thread_local std::vector<Transfer> pending;

template <typename... Arguments> void call(const char *function, Arguments... arguments) {
  static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
  reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, function))(arguments...);
}

void copy(void *to, const void *from, size_t bytes, void *stream) {
  if (to != from)
    call("cuMemcpyDtoDAsync_v2", reinterpret_cast<unsigned long long>(to), reinterpret_cast<unsigned long long>(from),
         bytes, stream);
}

/// The rank's stream continues when the streams of all ranks have reached this point.
void meet(Comm *comm, void *stream) {
  Group &group = *comm->group;
  const size_t turn = comm->meetings++ % 2;
  void *&event = group.events[size_t(comm->rank)][turn];
  if (!event)
    call("cuEventCreate", &event, 0u);
  call("cuEventRecord", event, stream);
  group.meeting.arrive_and_wait();
  for (const auto &events : group.events)
    call("cuStreamWaitEvent", stream, events[turn], 0u);
}

size_t bytesOf(int type) {
  constexpr std::array<size_t, 10> bytes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2}; // ncclDataType_t
  return bytes[size_t(type)];
}

/// Publishes an address, and calls `body` with the addresses of all ranks.
template <typename Body> int publish(Comm *comm, const void *mine, void *stream, const Body &body) {
  Group &group = *comm->group;
  group.published[size_t(comm->rank)].assign(size_t(group.size), mine);
  meet(comm, stream);
  body(group);
  meet(comm, stream); // results may overwrite operands
  return 0;
}

float fromBf16(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// Sums bf16 elements of all ranks, from `first` on.
void sum(const Group &group, size_t first, size_t count, void *stream, std::vector<uint16_t> &result) {
  std::vector<float> total(count);
  std::vector<uint16_t> part(count);
  for (const std::vector<const void *> &rank : group.published) {
    call("cuMemcpyDtoHAsync_v2", static_cast<void *>(part.data()),
         reinterpret_cast<unsigned long long>(rank[0]) + first * 2, count * 2, stream);
    for (size_t i = 0; i < count; ++i)
      total[i] += fromBf16(part[i]);
  }
  for (float value : total) {
    uint32_t word = 0;
    std::memcpy(&word, &value, sizeof(word));
    result.push_back(uint16_t((word + 0x7fff + ((word >> 16) & 1)) >> 16));
  }
}

int reduce(const void *from, void *to, size_t first, size_t count, Comm *comm, void *stream) {
  std::vector<uint16_t> result;
  publish(comm, from, stream, [&](const Group &group) { sum(group, first, count, stream, result); });
  call("cuMemcpyHtoDAsync_v2", reinterpret_cast<unsigned long long>(to), static_cast<const void *>(result.data()),
       count * 2, stream);
  return 0;
}

} // namespace

EXPORT int ncclGetVersion(int *version) {
  *version = 22809;
  return 0;
}
EXPORT const char *ncclGetErrorString(int) {
  return "no error";
}
EXPORT int ncclGetUniqueId(Id *id) {
  static int count = 0;
  const std::lock_guard lock(mutex);
  ++count;
  std::memcpy(id, &count, sizeof(count));
  return 0;
}
EXPORT int ncclCommInitRank(Comm **comm, int size, Id id, int rank) {
  int number = 0;
  std::memcpy(&number, &id, sizeof(number));
  const std::lock_guard lock(mutex);
  std::shared_ptr<Group> &group = groups[number];
  if (!group)
    group = std::make_shared<Group>(size);
  *comm = new Comm{group, rank};
  return 0;
}
EXPORT int ncclCommDestroy(Comm *comm) {
  delete comm;
  return 0;
}
EXPORT int ncclCommAbort(Comm *) {
  return 0;
}
EXPORT int ncclCommGetAsyncError(Comm *, int *result) {
  *result = 0;
  return 0;
}
EXPORT int ncclAllGather(const void *from, void *to, size_t count, int type, Comm *comm, void *stream) {
  const size_t bytes = count * bytesOf(type);
  return publish(comm, from, stream, [&](const Group &group) {
    for (size_t rank = 0; rank < size_t(group.size); ++rank)
      copy(static_cast<char *>(to) + rank * bytes, group.published[rank][0], bytes, stream);
  });
}
EXPORT int ncclReduceScatter(const void *from, void *to, size_t count, int, int, Comm *comm, void *stream) {
  return reduce(from, to, size_t(comm->rank) * count, count, comm, stream);
}
EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int, int, Comm *comm, void *stream) {
  return reduce(from, to, 0, count, comm, stream);
}
EXPORT int ncclSend(const void *from, size_t count, int type, int other, Comm *comm, void *stream) {
  pending.push_back({comm, from, nullptr, count * bytesOf(type), other, stream});
  return 0;
}
EXPORT int ncclRecv(void *to, size_t count, int type, int other, Comm *comm, void *stream) {
  pending.push_back({comm, nullptr, to, count * bytesOf(type), other, stream});
  return 0;
}
EXPORT int ncclGroupStart() {
  return 0;
}
/// A pair of ranks exchanges messages in their order.
EXPORT int ncclGroupEnd() {
  while (!pending.empty()) {
    std::vector<Transfer> now, later;
    std::map<std::pair<int, bool>, bool> seen;
    for (const Transfer &transfer : pending)
      (seen.emplace(std::pair(transfer.other, transfer.sent != nullptr), true).second ? now : later)
          .push_back(transfer);
    Comm *comm = now[0].comm;
    Group &group = *comm->group;
    for (const Transfer &transfer : now)
      if (transfer.sent)
        group.published[size_t(comm->rank)][size_t(transfer.other)] = transfer.sent;
    meet(comm, now[0].stream);
    for (const Transfer &transfer : now)
      if (transfer.received)
        copy(transfer.received, group.published[size_t(transfer.other)][size_t(comm->rank)], transfer.bytes,
             transfer.stream);
    meet(comm, now[0].stream);
    pending = later;
  }
  return 0;
}
