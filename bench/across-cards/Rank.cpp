// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Rank.h"

#include "Baseline.h"

#include <algorithm>
#include <cstdio>
#include <random>

namespace across {

Rank::Rank(const Options &options, Shared &shared, int thread)
    : options(options), shared(shared), slot(std::max(0, thread)) {
  step("connect");
  checkRuntime(tile_runtime_create(nullptr, nullptr, &runtime));
  tile_dist_options connection = {};
  connection.runtime = runtime;
  connection.device = -1;
  connection.timeout_milliseconds = options.timeout;
  connection.transport = options.transport;
  connection.nccl_library = options.nccl.empty() ? nullptr : options.nccl.c_str();
  checkDist(thread < 0 ? tile_dist_connect_environment(tile_dist_getenv, nullptr, &connection, &comm)
                       : tile_dist_connect_threads(shared.group, thread, &connection, &comm));
  checkDist(tile_dist_describe(comm, &info));
  step("load kernels");
  const auto load = [&](const char *name, tile_kernel *&kernel) {
    checkRuntime(tile_kernel_load_file(runtime, (options.kernels + "/" + name + ".cubin").c_str(), &kernel));
    checkRuntime(tile_kernel_prepare(kernel));
  };
  load("gemm", kernels.gemm);
  load("gemm_wait", kernels.gemm_wait);
  load("sum", kernels.sum);
  stream = makeStream();
  begin = makeEvent();
  end = makeEvent();
}

Rank::~Rank() {
  if (std::uncaught_exceptions() > 0) {
    step("destroy after a failure");
    tile_dist_destroy(comm); // unlike the driver, this has a time limit
    return;
  }
  baseline.reset();
  for (tile_kernel *kernel : {kernels.gemm, kernels.gemm_wait, kernels.sum})
    tile_kernel_destroy(kernel);
  tile_dist_destroy(comm);
  tile_runtime_destroy(runtime);
}

void Rank::step(const std::string &text) {
  Progress &own = shared.progress[size_t(slot)];
  const std::lock_guard lock(own.mutex);
  own.text = text;
  own.since = std::chrono::steady_clock::now();
  if (options.isVerbose)
    std::printf("rank %d: %s\n", slot, text.c_str());
}

std::string describe(const Case &work, const char *form) {
  char line[160];
  std::snprintf(line, sizeof(line), "%s %s %ld x %ld x %ld", nameOf(work.operation), form, long(work.m), long(work.n),
                long(work.k));
  return line;
}

void Rank::step(const Case &work, const char *form, const char *text) {
  step(describe(work, form) + ": " + text);
}

size_t Rank::elementsOfA(const Case &work) const {
  const int64_t rows = work.operation == TILE_DIST_ALL_GATHER_GEMM ? work.m / info.size : work.m;
  return size_t(rows * (work.hasGemm() ? work.k : work.n));
}
size_t Rank::elementsOfC(const Case &work) const {
  const int64_t rows = work.operation == TILE_DIST_GEMM_REDUCE_SCATTER ? work.m / info.size : work.m;
  return size_t(rows * work.n);
}

Rank::Buffers Rank::makeBuffers(const Case &work, bool hasRoom) const {
  Buffers buffers;
  const Sequence &sequence = Sequence::get();
  const auto make = [&](uint64_t start, size_t count) {
    auto memory = std::make_unique<Memory>(count * 2);
    memory->write(sequence.slice(start, count).data(), count * 2);
    return memory;
  };
  buffers.a = make(startOfA(info.rank), elementsOfA(work));
  buffers.b = make(startOfB(info.rank), size_t(work.n * work.k));
  buffers.c = std::make_unique<Memory>(elementsOfC(work) * 2);
  if (hasRoom)
    buffers.room = std::make_unique<Memory>(size_t(work.m * std::max(work.n, work.k)) * 2);
  return buffers;
}

tile_dist_plan *Rank::makePlan(const Case &work, tile_dist_form form) {
  const tile_dist_shape shape = {work.m, work.n, work.hasGemm() ? work.k : 0, TILE_DIST_BF16};
  tile_dist_plan *plan = nullptr;
  checkDist(tile_dist_plan_create(comm, work.operation, &shape, &kernels, form, &plan));
  return plan;
}

double Rank::expected(const Case &work, int64_t row, int64_t column) const {
  if (work.operation == TILE_DIST_ALL_GATHER_GEMM) {
    const int64_t chunk = work.m / info.size;
    return dot(startOfA(int(row / chunk)), row % chunk, startOfB(info.rank), column, work.k);
  }
  if (work.operation == TILE_DIST_GEMM_REDUCE_SCATTER)
    row += info.rank * (work.m / info.size);
  double sum = 0;
  for (int rank = 0; rank < info.size; ++rank)
    sum += !work.hasGemm() ? Sequence::get().value(startOfA(rank) + uint64_t(row * work.n + column))
                           : dot(startOfA(rank), row, startOfB(rank), column, work.k);
  return sum;
}

bool Rank::isRight(const Case &work, const Memory &c, int samples, const char *form) const {
  std::vector<uint16_t> values(elementsOfC(work));
  c.read(values.data(), 0, values.size() * 2);
  std::mt19937_64 random(options.seed);
  const size_t count = samples ? size_t(samples) : values.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t place = samples ? random() % values.size() : i;
    const int64_t row = int64_t(place) / work.n, column = int64_t(place) % work.n;
    const double wanted = expected(work, row, column), found = fromBf16(values[place]);
    if (std::abs(found - wanted) <= tolerance(wanted, work.k, info.size))
      continue;
    std::printf("WRONG: rank %d, %s %s, %ld x %ld x %ld: element [%ld, %ld] is %g, expected %g\n", info.rank,
                nameOf(work.operation), form, long(work.m), long(work.n), long(work.k), long(row), long(column), found,
                wanted);
    return false;
  }
  return true;
}

Baseline &Rank::peer() {
  if (!baseline)
    baseline = std::make_unique<Baseline>(options.nccl, options.cublas, info.rank, info.size, shared.ncclId);
  return *baseline;
}

double Rank::largest(double mine) {
  if (shared.numbers.size() == 1)
    return mine;
  shared.numbers[size_t(info.rank)] = mine;
  shared.meeting.arrive_and_wait();
  const double result = *std::max_element(shared.numbers.begin(), shared.numbers.end());
  shared.meeting.arrive_and_wait();
  return result;
}

} // namespace across
