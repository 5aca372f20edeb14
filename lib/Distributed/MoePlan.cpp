// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans a mixture of experts: checks, kernels, memory and errors. MoeRun.cpp executes the steps.
#include "Distributed/MoeBackward.h"

#include <algorithm>

namespace tile::dist {

namespace {

/// The routing is divided into this many parts, which moe_count.tile counts separately for moe_place.tile.
constexpr int64_t segments = 16;
constexpr size_t wordBytes = 4;
/// Error words: the number of invalid ids, one of them, and the row counts of ranks whose capacity is exceeded.
constexpr size_t wrongIds = 0, wrongId = 1, firstOverflow = 2;

Status checkShape(const Communicator &comm, const MoeRequest &request) {
  const tile_dist_moe_shape &shape = request.shape;
  Status status = checkForm(request.form, shape.type);
  if (status)
    status = checkSizes({{"tokens", shape.tokens},
                         {"hidden", shape.hidden},
                         {"width", shape.width},
                         {"experts", shape.experts},
                         {"top_k", shape.top_k}});
  if (!status)
    return status;
  constexpr int64_t alignment = 8; // elements in 16 bytes
  for (const auto &[name, size] : {std::pair("hidden", shape.hidden), std::pair("width", shape.width)})
    if (size % alignment != 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} is {}; expected a multiple of {}", name, size, alignment);
  if (shape.experts % comm.size() != 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "experts is {}; expected a multiple of the number of ranks, {}",
                     shape.experts, comm.size());
  if (shape.top_k > shape.experts)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "top_k is {}; expected at most the number of experts, {}",
                     shape.top_k, shape.experts);
  if (shape.capacity < 0)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "capacity is {}; expected at least 0", shape.capacity);
  constexpr int64_t most = int64_t(1) << 31; // limit of indices in kernels
  if (comm.size() * shape.tokens >= most / shape.top_k)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} ranks with {} tokens and top_k {}: expected less than 2^31 pairs",
                     comm.size(), shape.tokens, shape.top_k);
  return Success{};
}

std::string describeTerms(const int64_t *values) {
  return fmt::format("form {}, type {}, {} tokens, hidden {}, width {}, {} experts, top_k {}, capacity {}{}", values[0],
                     values[1], values[2], values[3], values[4], values[5], values[6], values[7],
                     values[8] ? ", kernels for a backward pass" : "");
}

} // namespace

MoePlan::MoePlan(Communicator &comm, const MoeRequest &request)
    : Plan(comm, "moe_dispatch_gemm_combine"), shape(request.shape) {
  const int64_t all = ranks() * shape.tokens * shape.top_k;
  capacity = shape.capacity > 0 ? std::min(shape.capacity, all) : all;
}

MoePlan::~MoePlan() {
  std::erase(comm.reporters, this);
}

Result<std::unique_ptr<MoePlan>> MoePlan::make(Communicator &comm, const MoeRequest &request) {
  const tile_dist_moe_shape &shape = request.shape;
  const Status valid = checkShape(comm, request);
  const std::string place = fmt::format("rank {}: moe_plan_create", comm.rank());
  const Terms terms = {"moe_plan_create",
                       {request.form, shape.type, shape.tokens, shape.hidden, shape.width, shape.experts, shape.top_k,
                        shape.capacity, request.kernels->expand_gradient != nullptr},
                       describeTerms};
  const Status agreed = agree(comm, terms, bool(valid));
  if (!valid || !agreed)
    return runtime::withContext(place, !valid ? valid.error() : agreed.error());
  std::unique_ptr<MoePlan> plan(new MoePlan(comm, request));
  if (Status status = finishPlan(comm, place, plan->prepare(request)); !status)
    return status.error();
  return plan;
}

Status MoePlan::prepare(const MoeRequest &request) {
  Status status = prepareKernels(request);
  if (status)
    status = chooseForm(request);
  if (status)
    status = allocateAll();
  if (status && backward)
    status = backward->allocateAll();
  if (status)
    status = writeTables();
  if (status)
    comm.reporters.push_back(this);
  return status;
}

Status MoePlan::prepareKernels(const MoeRequest &request) {
  const tile_dist_moe_kernels &kernels = *request.kernels;
  Status status = Success{};
  const auto make = [&](std::optional<KernelCall> &call, tile_kernel *kernel, const char *role,
                        std::initializer_list<Name> provided) {
    if (!status)
      return;
    Result<KernelCall> made = makeCall(kernel, role, provided, {kernels.arguments, kernels.argument_count});
    if (made)
      call = std::move(*made);
    else
      status = made.error();
  };
  using enum Name;
  make(routeCall, kernels.route, "route",
       {ids, weights, routing, table, errors, count, size, experts, rank, ranks, targets});
  make(pushCall, kernels.push, "push", {x, ids, to, table, tokens, hidden, topk, local, rank, ranks});
  make(countCall, kernels.count, "count", {ids, counts, size, first, local});
  make(placeCall, kernels.place, "place",
       {ids, counts, starts, slots, over, table, size, capacity, first, local, targets});
  make(expandCall, kernels.expand, "expand", {x, ids, slots, rows, tokens, hidden, topk, first, local});
  make(reduceCall, kernels.reduce, "reduce", {results, ids, weights, slots, y, tokens, hidden, topk, first, local});
  make(combineCall, kernels.combine, "combine",
       {parts, results, ids, weights, slots, y, tokens, size, hidden, topk, local, rank, ranks});
  if (kernels.gate_up)
    make(gateUpCall, kernels.gate_up, "gate_up", {a, b, c, starts, G, T, N, K});
  if (kernels.down)
    make(downCall, kernels.down, "down", {a, b, c, starts, G, T, N, K});
  if (!status || !kernels.expand_gradient)
    return status;
  backward = std::make_unique<MoeBackward>(*this);
  return backward->prepareKernels(kernels);
}

Status MoePlan::chooseForm(const MoeRequest &request) {
  constexpr double layers = 3; // the layers gate, up and down
  const double weights = layers * double(shape.hidden) * double(shape.width);
  MoeWork work;
  work.ranks = ranks();
  work.topK = int(shape.top_k);
  work.experts = expertsTime(2 * weights * double(pairs()),
                             weights * double(localExperts()) * double(bytesOf(shape.type)), comm.multiprocessors);
  work.tokenBytes = double(tokensBytes());
  return Plan::chooseForm(request.form, moeSequentialTime(work), moeChunkedTime(work), std::nullopt);
}

Status MoePlan::allocateAll() {
  Status status = Success{};
  const auto shared = [&](Window &window, const char *what, size_t bytes) {
    if (!status)
      return;
    Result<Window> made = allocate(what, bytes);
    if (made)
      window = std::move(*made);
    else
      status = made.error();
  };
  const auto local = [&](CUdeviceptr &memory, size_t bytes) {
    if (!status)
      return;
    Result<CUdeviceptr> made = allocateLocal(std::max<size_t>(bytes, 1));
    if (made)
      memory = *made;
    else
      status = made.error();
  };
  const size_t everyone = size_t(ranks()), room = size_t(capacity);
  shared(routing, "routing", 2 * everyone * size_t(pairs()) * wordBytes);
  shared(tokens, "tokens", everyone * tokensBytes());
  shared(parts, "parts", everyone * tokensBytes());
  shared(errors, "errors", (firstOverflow + everyone) * wordBytes);
  local(tables, 3 * everyone * sizeof(CUdeviceptr));
  local(rows, room * rowBytes());
  local(between, gateUpCall || backward ? room * size_t(shape.width) * bytesOf(shape.type) : 0);
  local(results, room * rowBytes());
  local(counts, size_t(segments * localExperts()) * wordBytes);
  local(starts, size_t(localExperts() + 1) * wordBytes);
  local(slots, everyone * size_t(pairs()) * wordBytes);
  if (usesCollective())
    local(sent, everyone * tokensBytes());
  if (!status)
    return status;
  Result<void *> host = allocateHost((firstOverflow + everyone) * wordBytes);
  if (!host)
    return host.error();
  words = {static_cast<int32_t *>(*host), firstOverflow + everyone};
  for (CUevent *event : {&begun, &ended}) {
    Result<CUevent> made = makeEvent();
    if (!made)
      return made.error();
    *event = *made;
  }
  if (usesCollective() || ranks() == 1)
    return Success{};
  Result<std::unique_ptr<Signals>> made = Signals::make(comm, 3 * everyone);
  if (!made)
    return made.error();
  signals = std::move(*made);
  return Success{};
}

Status MoePlan::writeTables() {
  std::vector<CUdeviceptr> addresses;
  for (CUdeviceptr table : routing.all)
    addresses.push_back(table);
  for (CUdeviceptr window : tokens.all)
    addresses.push_back(window + size_t(rank()) * tokensBytes());
  for (CUdeviceptr window : errors.all)
    addresses.push_back(window + (firstOverflow + size_t(rank())) * wordBytes);
  // Slots of pairs that another rank computes keep these initial values. If a rank fails, waiting work continues with
  // the data that has arrived; kernels may then read such slots and use their values.
  const size_t words = size_t(ranks()) * size_t(pairs());
  Status status = comm.driver->check(comm.driver->fillWords(slots, ~0u, words, comm.copies), "cuMemsetD32Async");
  if (status)
    status = comm.driver->check(comm.driver->streamSynchronize(comm.copies), "cuStreamSynchronize");
  if (!status)
    return status;
  return comm.write(tables, addresses.data(), addresses.size() * sizeof(CUdeviceptr));
}

tile_dist_moe_info MoePlan::describe() const {
  return {capacity, pointerTo(rows), static_cast<const int32_t *>(pointerTo(starts)), pointerTo(results),
          backward ? pointerTo(backward->gradientsOfRows()) : nullptr};
}

Status MoePlan::report() {
  const size_t bytes = words.size() * wordBytes;
  if (Status status = comm.read(words.data(), errors.mine, bytes); !status)
    return status;
  if (std::all_of(words.begin(), words.end(), [](int32_t word) { return word == 0; }))
    return Success{};
  const std::vector<int32_t> found(words.begin(), words.end());
  std::fill(words.begin(), words.end(), 0);
  if (Status status = comm.write(errors.mine, words.data(), bytes); !status)
    return status;
  if (found[wrongIds])
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "{}: {} ids of experts do not exist, such as {}; there are {} experts", name, found[wrongIds],
                     found[wrongId], shape.experts);
  for (int other = 0; other < ranks(); ++other)
    if (const int32_t needed = found[firstOverflow + size_t(other)])
      return makeError(TILE_ERROR_INVALID_ARGUMENT,
                       "{}: the experts of rank {} have {} (token, expert) pairs; the plan's capacity is {}", name,
                       other, needed, capacity);
  return Success{};
}

} // namespace tile::dist
