// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Baseline.h"

namespace across {

namespace {

constexpr int bfloat16OfNccl = 9, sumOfNccl = 0;
constexpr size_t bytesOfElement = 2;
constexpr int transposed = 1, plain = 0, bf16 = 14, inFp32 = 68; // constants of cuBLAS's API

struct UniqueId {
  char bytes[128];
};

void *openLibrary(const std::string &path, const char *usual) {
  void *library = dlopen(path.empty() ? usual : path.c_str(), RTLD_NOW);
  if (!library)
    throw std::runtime_error(dlerror());
  return library;
}

} // namespace

std::string Baseline::makeId(const std::string &ncclPath) {
  UniqueId id = {};
  callIn(openLibrary(ncclPath, "libnccl.so.2"), "ncclGetUniqueId", &id);
  return std::string(id.bytes, sizeof(id.bytes));
}

Baseline::Baseline(const std::string &ncclPath, const std::string &cublasPath, int rank, int ranks,
                   const std::string &id)
    : nccl(openLibrary(ncclPath, "libnccl.so.2")), cublas(openLibrary(cublasPath, "libcublas.so")), ranks(ranks),
      other(makeStream()) {
  UniqueId unique = {};
  id.copy(unique.bytes, sizeof(unique.bytes));
  callIn(nccl, "ncclCommInitRank", &comm, ranks, unique, rank);
  callIn(cublas, "cublasCreate_v2", &handle);
  constexpr size_t workspaceBytes = size_t(64) << 20;
  workspace = std::make_unique<Memory>(workspaceBytes);
  for (Handle &event : events)
    event = makeEvent();
}

Baseline::~Baseline() {
  callIn(nccl, "ncclCommDestroy", comm);
  callIn(cublas, "cublasDestroy_v2", handle);
}

void Baseline::useStream(Handle stream) {
  if (stream == current)
    return;
  callIn(cublas, "cublasSetStream_v2", handle, stream);
  callIn(cublas, "cublasSetWorkspace_v2", handle, workspace->pointer(), workspace->size());
  current = stream;
}

void Baseline::multiply(Handle stream, Address a, Address b, Address c, Sizes sizes) {
  useStream(stream);
  constexpr int usual = -1;
  static const float one = 1, zero = 0;
  const auto at = [](Address address) { return reinterpret_cast<void *>(address); };
  // cuBLAS is column-major, so it computes the transposed result, b times the transposed a.
  callIn(cublas, "cublasGemmEx", handle, transposed, plain, int(sizes.n), int(sizes.m), int(sizes.k),
         static_cast<const void *>(&one), static_cast<const void *>(at(b)), bf16, int(sizes.k),
         static_cast<const void *>(at(a)), bf16, int(sizes.k), static_cast<const void *>(&zero), at(c), bf16,
         int(sizes.n), inFp32, usual);
}

void Baseline::multiply(Handle stream, const std::vector<Group> &groups) {
  for (const Group &group : groups)
    multiply(stream, group.a, group.b, group.c, group.sizes);
}

void Baseline::writeTables(const std::vector<Group> &groups, Memory &tables) {
  std::vector<Address> addresses;
  for (Address Group::*operand : {&Group::b, &Group::a, &Group::c}) // column-major, as above
    for (const Group &group : groups)
      addresses.push_back(group.*operand);
  tables.write(addresses.data(), addresses.size() * sizeof(Address));
}

void Baseline::multiplyGrouped(Handle stream, const std::vector<Group> &groups, const Memory &tables) {
  useStream(stream);
  const size_t count = groups.size();
  const std::vector<int> left(count, transposed), right(count, plain), ones(count, 1);
  const std::vector<float> alphas(count, 1), betas(count, 0);
  std::vector<int> m, n, k;
  for (const Group &group : groups) {
    m.push_back(int(group.sizes.n));
    n.push_back(int(group.sizes.m));
    k.push_back(int(group.sizes.k));
  }
  const auto table = [&](size_t operand) { return tables.pointer(operand * count * sizeof(Address)); };
  callIn(cublas, "cublasGemmGroupedBatchedEx", handle, left.data(), right.data(), static_cast<const int *>(m.data()),
         static_cast<const int *>(n.data()), static_cast<const int *>(k.data()),
         static_cast<const void *>(alphas.data()), table(0), bf16, static_cast<const int *>(k.data()), table(1), bf16,
         static_cast<const int *>(k.data()), static_cast<const void *>(betas.data()), table(2), bf16,
         static_cast<const int *>(m.data()), int(count), ones.data(), inFp32);
}

void Baseline::exchange(Handle stream, const std::vector<Part> &to, const std::vector<Part> &from) {
  callIn(nccl, "ncclGroupStart");
  for (int rank = 0; rank < ranks; ++rank) {
    const Part &sent = to[size_t(rank)], &received = from[size_t(rank)];
    if (sent.elements > 0)
      callIn(nccl, "ncclSend", reinterpret_cast<const void *>(sent.address), sent.elements, bfloat16OfNccl, rank, comm,
             stream);
    if (received.elements > 0)
      callIn(nccl, "ncclRecv", reinterpret_cast<void *>(received.address), received.elements, bfloat16OfNccl, rank,
             comm, stream);
  }
  callIn(nccl, "ncclGroupEnd");
}

void Baseline::gather(Handle stream, Address from, Address to, size_t elements) {
  callIn(nccl, "ncclAllGather", reinterpret_cast<const void *>(from), reinterpret_cast<void *>(to), elements,
         bfloat16OfNccl, comm, stream);
}
void Baseline::scatter(Handle stream, Address from, Address to, size_t elements) {
  callIn(nccl, "ncclReduceScatter", reinterpret_cast<const void *>(from), reinterpret_cast<void *>(to), elements,
         bfloat16OfNccl, sumOfNccl, comm, stream);
}
void Baseline::reduce(Handle stream, Address data, size_t elements) {
  callIn(nccl, "ncclAllReduce", reinterpret_cast<const void *>(data), reinterpret_cast<void *>(data), elements,
         bfloat16OfNccl, sumOfNccl, comm, stream);
}

void Baseline::gatherThenMultiply(Handle stream, Address own, Address b, Address c, Address room, Sizes sizes) {
  gather(stream, own, room, size_t(sizes.m / ranks * sizes.k));
  multiply(stream, room, b, c, sizes);
}

void Baseline::multiplyThenScatter(Handle stream, Address a, Address b, Address c, Address room, Sizes sizes) {
  multiply(stream, a, b, room, sizes);
  scatter(stream, room, c, size_t(sizes.m / ranks * sizes.n));
}

void Baseline::multiplyThenReduce(Handle stream, Address a, Address b, Address c, Sizes sizes) {
  multiply(stream, a, b, c, sizes);
  reduce(stream, c, size_t(sizes.m * sizes.n));
}

void Baseline::gatherBesides(Handle stream, Address own, Address b, Address c, Address room, Sizes sizes, int parts) {
  const int64_t chunk = sizes.m / ranks, rows = chunk / parts;
  order(stream, other, events[0]);
  for (int part = 0; part < parts; ++part) {
    // `room` holds one part after the other, each with the rows of all ranks.
    const Address to = room + size_t(part * rows * ranks * sizes.k) * bytesOfElement;
    gather(other, own + size_t(part * rows * sizes.k) * bytesOfElement, to, size_t(rows * sizes.k));
    order(other, stream, events[1 + part]);
    for (int from = 0; from < ranks; ++from)
      multiply(stream, to + size_t(from * rows * sizes.k) * bytesOfElement, b,
               c + size_t((from * chunk + part * rows) * sizes.n) * bytesOfElement, {rows, sizes.n, sizes.k});
  }
}

void Baseline::scatterBesides(Handle stream, Address a, Address b, Address c, Address room, Sizes sizes, int parts) {
  const int64_t chunk = sizes.m / ranks, rows = chunk / parts;
  for (int part = 0; part < parts; ++part) {
    const Address to = room + size_t(part * rows * ranks * sizes.n) * bytesOfElement;
    for (int dest = 0; dest < ranks; ++dest)
      multiply(stream, a + size_t((dest * chunk + part * rows) * sizes.k) * bytesOfElement, b,
               to + size_t(dest * rows * sizes.n) * bytesOfElement, {rows, sizes.n, sizes.k});
    order(stream, other, events[1 + part]);
    scatter(other, to, c + size_t(part * rows * sizes.n) * bytesOfElement, size_t(rows * sizes.n));
  }
  order(other, stream, events[0]);
}

} // namespace across
