// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NCCL for ranks that are threads on simulated devices, which execute work at once: each collective copies what the
// others have published, between two meetings of all ranks.
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
      : size(size), meeting(size), published(size_t(size), std::vector<const void *>(size_t(size))) {}
  const int size;
  std::barrier<> meeting;
  std::vector<std::vector<const void *>> published; ///< by each rank, for each rank
};

struct Comm {
  std::shared_ptr<Group> group;
  int rank;
};

struct Transfer {
  Comm *comm;
  const void *sent;
  void *received;
  size_t bytes;
  int other;
};

std::mutex mutex;
std::map<int, std::shared_ptr<Group>> groups;
thread_local std::vector<Transfer> pending;

template <typename... Arguments> void call(const char *function, Arguments... arguments) {
  static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
  reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, function))(arguments...);
}

void copy(void *to, const void *from, size_t bytes) {
  if (to != from)
    call("cuMemcpyDtoD_v2", reinterpret_cast<unsigned long long>(to), reinterpret_cast<unsigned long long>(from),
         bytes);
}

size_t bytesOf(int type) {
  constexpr std::array<size_t, 10> bytes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2}; // ncclDataType_t
  return bytes[size_t(type)];
}

/// Publishes an address, and calls `body` with those of all ranks.
template <typename Body> int meet(Comm *comm, const void *mine, const Body &body) {
  Group &group = *comm->group;
  group.published[size_t(comm->rank)].assign(size_t(group.size), mine);
  group.meeting.arrive_and_wait();
  body(group);
  group.meeting.arrive_and_wait();
  return 0;
}

float fromBf16(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// Sums bf16 elements of all ranks, from `first` on.
void sum(const Group &group, size_t first, size_t count, std::vector<uint16_t> &result) {
  std::vector<float> total(count);
  std::vector<uint16_t> part(count);
  for (const std::vector<const void *> &rank : group.published) {
    call("cuMemcpyDtoH_v2", static_cast<void *>(part.data()), reinterpret_cast<unsigned long long>(rank[0]) + first * 2,
         count * 2);
    for (size_t i = 0; i < count; ++i)
      total[i] += fromBf16(part[i]);
  }
  for (float value : total) {
    uint32_t word = 0;
    std::memcpy(&word, &value, sizeof(word));
    result.push_back(uint16_t((word + 0x7fff + ((word >> 16) & 1)) >> 16));
  }
}

int reduce(const void *from, void *to, size_t first, size_t count, Comm *comm) {
  std::vector<uint16_t> result;
  comm->group->published[size_t(comm->rank)].assign(size_t(comm->group->size), from);
  comm->group->meeting.arrive_and_wait();
  sum(*comm->group, first, count, result);
  comm->group->meeting.arrive_and_wait(); // results may overwrite operands
  call("cuMemcpyHtoD_v2", reinterpret_cast<unsigned long long>(to), static_cast<const void *>(result.data()),
       count * 2);
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
EXPORT int ncclAllGather(const void *from, void *to, size_t count, int type, Comm *comm, void *) {
  const size_t bytes = count * bytesOf(type);
  return meet(comm, from, [&](const Group &group) {
    for (size_t rank = 0; rank < size_t(group.size); ++rank)
      copy(static_cast<char *>(to) + rank * bytes, group.published[rank][0], bytes);
  });
}
EXPORT int ncclReduceScatter(const void *from, void *to, size_t count, int, int, Comm *comm, void *) {
  return reduce(from, to, size_t(comm->rank) * count, count, comm);
}
EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int, int, Comm *comm, void *) {
  return reduce(from, to, 0, count, comm);
}
EXPORT int ncclSend(const void *from, size_t count, int type, int other, Comm *comm, void *) {
  pending.push_back({comm, from, nullptr, count * bytesOf(type), other});
  return 0;
}
EXPORT int ncclRecv(void *to, size_t count, int type, int other, Comm *comm, void *) {
  pending.push_back({comm, nullptr, to, count * bytesOf(type), other});
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
    group.meeting.arrive_and_wait();
    for (const Transfer &transfer : now)
      if (transfer.received)
        copy(transfer.received, group.published[size_t(transfer.other)][size_t(comm->rank)], transfer.bytes);
    group.meeting.arrive_and_wait();
    pending = later;
  }
  return 0;
}
