// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/MoeBackward.h"

namespace tile::dist {

static CUdeviceptr addressIn(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// An operand and its name, for messages.
using Operand = std::pair<const char *, const void *>;
static Status checkOperands(std::initializer_list<Operand> operands) {
  for (const auto &[name, pointer] : operands)
    if (!pointer)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "gradients.{} is a null pointer", name);
  return Success{};
}

Status MoeBackward::prepareKernels(const tile_dist_moe_kernels &kernels) {
  Status status = Success{};
  const auto make = [&](std::optional<KernelCall> &call, tile_kernel *kernel, const char *role,
                        std::initializer_list<Name> provided) {
    if (!status)
      return;
    Result<KernelCall> made = plan.makeCall(kernel, role, provided, {kernels.arguments, kernels.argument_count});
    if (made)
      call = std::move(*made);
    else
      status = made.error();
  };
  using enum Name;
  make(expandCall, kernels.expand_gradient, "expand_gradient",
       {dy, results, ids, weights, slots, rows, to, tokens, hidden, topk, first, local});
  make(gatherCall, kernels.gather_weights, "gather_weights", {parts, ids, weights, count, size, local, ranks});
  make(gatedCall, kernels.gated_gradient, "gated_gradient", {gates, between, starts, G, T, N});
  make(backCall, kernels.back, "back", {a, b, c, starts, G, T, N, K});
  make(weightCall, kernels.weight_gradient, "weight_gradient", {a, b, c, starts, G, T, M, N});
  if (status && !plan.downCall)
    status = makeError(TILE_ERROR_INVALID_ARGUMENT, "kernels.down is a null pointer; the backward pass needs it");
  return status;
}

Status MoeBackward::allocateAll() {
  const size_t all = size_t(plan.ranks()) * pairBytes(), rows = size_t(plan.capacity);
  Result<Window> window = plan.allocate("gradients of weights", all);
  if (!window)
    return window.error();
  weightParts = std::move(*window);
  for (const auto &[memory, bytes] :
       {std::pair(&slopes, rows * plan.rowBytes()),
        std::pair(&gates, rows * 2 * size_t(plan.shape.width) * bytesOf(plan.shape.type)),
        std::pair(&ones, pairBytes()), std::pair(&sentWeights, plan.usesCollective() ? all : size_t(0))}) {
    if (bytes == 0)
      continue;
    Result<CUdeviceptr> made = plan.allocateLocal(bytes);
    if (!made)
      return made.error();
    *memory = *made;
  }
  constexpr unsigned one = 0x3f800000; // 1.0f
  const Communicator &comm = plan.comm;
  Status status =
      comm.driver->check(comm.driver->fillWords(ones, one, size_t(plan.pairs()), comm.copies), "cuMemsetD32Async");
  return status ? comm.driver->check(comm.driver->streamSynchronize(comm.copies), "cuStreamSynchronize") : status;
}

Status MoeBackward::checkInput(const tile_dist_moe_gradients &gradients) {
  if (gradients.tokens != plan.ownTokens)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "gradients.tokens is {}; the run had {}", gradients.tokens,
                     plan.ownTokens);
  if (gradients.tokens == 0)
    return Success{};
  const auto check = [&](std::optional<KernelCall> &call, Name name) {
    return call->check(plan.comm.multiprocessors, "gradients.dy",
                       {{name, int64_t(addressIn(gradients.dy))}, {Name::hidden, plan.shape.hidden}});
  };
  Status status = checkOperands({{"dy", gradients.dy}});
  if (status && plan.ranks() > 1)
    status = check(plan.pushCall, Name::x);
  return status ? check(expandCall, Name::dy) : status;
}

Status MoeBackward::checkExperts(const tile_dist_moe_gradients &gradients) {
  Status status = checkOperands({{"gate_up", gradients.gate_up},
                                 {"down", gradients.down},
                                 {"dgate_up", gradients.dgate_up},
                                 {"ddown", gradients.ddown}});
  const int processors = plan.comm.multiprocessors;
  const int64_t width = plan.shape.width, hidden = plan.shape.hidden;
  for (const auto &[operand, weights, n, k] : {std::tuple("gradients.gate_up", gradients.gate_up, hidden, 2 * width),
                                               std::tuple("gradients.down", gradients.down, width, hidden)})
    if (status)
      status =
          backCall->check(processors, operand, {{Name::b, int64_t(addressIn(weights))}, {Name::N, n}, {Name::K, k}});
  for (const auto &[operand, result, m, n] : {std::tuple("gradients.dgate_up", gradients.dgate_up, 2 * width, hidden),
                                              std::tuple("gradients.ddown", gradients.ddown, hidden, width)})
    if (status)
      status =
          weightCall->check(processors, operand, {{Name::c, int64_t(addressIn(result))}, {Name::M, m}, {Name::N, n}});
  return status;
}

Status MoeBackward::checkOutput(const tile_dist_moe_gradients &gradients) {
  if (gradients.tokens != plan.ownTokens)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "gradients.tokens is {}; the run had {}", gradients.tokens,
                     plan.ownTokens);
  if (gradients.tokens == 0)
    return Success{};
  const int processors = plan.comm.multiprocessors;
  Status status = checkOperands({{"dx", gradients.dx}, {"dweights", gradients.dweights}});
  if (status)
    status = plan.combineCall->check(processors, "gradients.dx", {{Name::y, int64_t(addressIn(gradients.dx))}});
  return status ? gatherCall->check(processors, "gradients.dweights",
                                    {{Name::weights, int64_t(addressIn(gradients.dweights))}})
                : status;
}

Status MoeBackward::run(CUstream stream, const tile_dist_moe_gradients &gradients) {
  // Check everything first: a rank that stopped in the middle would leave the others waiting.
  Status status = checkInput(gradients);
  if (status)
    status = checkExperts(gradients);
  if (status)
    status = checkOutput(gradients);
  if (status)
    status = dispatch(stream, gradients);
  if (status)
    status = multiply(stream, gradients);
  return status ? combine(stream, gradients) : status;
}

Status MoeBackward::dispatch(CUstream stream, const tile_dist_moe_gradients &gradients) {
  if (Status valid = checkInput(gradients); !valid)
    return valid;
  Status status = plan.begin(MoePlan::Step::backwardDispatch);
  const CUdeviceptr dy = addressIn(gradients.dy);
  if (plan.usesCollective()) {
    if (status)
      status = plan.gatherCollective(stream, dy, gradients.tokens, /*withRouting=*/false);
    for (int step = 0; status && step < plan.ranks(); ++step)
      status = expand(stream, plan.after(step), plan.tokensOf(plan.after(step)), plan.shape.tokens);
    return status;
  }
  if (status)
    status = plan.pushBesides(stream, dy, gradients.tokens);
  if (status)
    status = expand(stream, plan.rank(), dy, gradients.tokens);
  for (int step = 1; status && step < plan.ranks(); ++step) {
    const int other = plan.after(step);
    status = plan.signals->take(stream, plan.tokensFlag(other));
    if (status)
      status = expand(stream, other, plan.tokensOf(other), plan.shape.tokens);
  }
  return status ? plan.endPush(stream) : status;
}

/// Computes the gradients of this rank's expert rows from the gradients of another rank's tokens, which are at `dy`.
Status MoeBackward::expand(CUstream stream, int other, CUdeviceptr dy, int64_t count) {
  if (count == 0)
    return Success{};
  const bool isSent = plan.usesCollective() && other != plan.rank();
  const CUdeviceptr to = isSent ? sentWeights + size_t(other) * pairBytes() : weightsOf(other, plan.rank());
  return expandCall->launch(stream, {{Name::dy, int64_t(dy)},
                                     {Name::results, int64_t(plan.results)},
                                     {Name::ids, int64_t(plan.idsOf(other))},
                                     {Name::weights, int64_t(plan.weightsOf(other))},
                                     {Name::slots, int64_t(plan.slotsOf(other))},
                                     {Name::rows, int64_t(slopes)},
                                     {Name::to, int64_t(to)},
                                     {Name::tokens, count},
                                     {Name::hidden, plan.shape.hidden},
                                     {Name::topk, plan.shape.top_k},
                                     {Name::first, plan.firstExpert()},
                                     {Name::local, plan.localExperts()}});
}

Status MoeBackward::multiply(CUstream stream, const tile_dist_moe_gradients &gradients) {
  if (Status valid = checkExperts(gradients); !valid)
    return valid;
  const int64_t width = plan.shape.width, hidden = plan.shape.hidden;
  const CUdeviceptr gateUp = addressIn(gradients.gate_up), down = addressIn(gradients.down);
  Status status = plan.begin(MoePlan::Step::backwardMultiply);
  if (status) // recomputing gate and up takes a sixth of the pass, and saves 4 * width bytes per row
    status = multiplyRows(stream, plan.rows, gateUp, gates, 2 * width, hidden, /*transposed=*/true);
  if (status)
    status = multiplyRows(stream, slopes, down, plan.between, width, hidden, /*transposed=*/false);
  if (status)
    status = gatedCall->launch(stream, {{Name::gates, int64_t(gates)},
                                        {Name::between, int64_t(plan.between)},
                                        {Name::starts, int64_t(plan.starts)},
                                        {Name::G, plan.localExperts()},
                                        {Name::T, plan.capacity},
                                        {Name::N, width}});
  if (status)
    status = multiplyRows(stream, gates, gateUp, plan.results, hidden, 2 * width, /*transposed=*/false);
  if (status)
    status = multiplyWeights(stream, gates, plan.rows, addressIn(gradients.dgate_up), 2 * width, hidden);
  return status ? multiplyWeights(stream, slopes, plan.between, addressIn(gradients.ddown), hidden, width) : status;
}

Status MoeBackward::multiplyRows(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t n, int64_t k,
                                 bool transposed) {
  return (transposed ? plan.downCall : backCall)
      ->launch(stream, {{Name::a, int64_t(a)},
                        {Name::b, int64_t(b)},
                        {Name::c, int64_t(c)},
                        {Name::starts, int64_t(plan.starts)},
                        {Name::G, plan.localExperts()},
                        {Name::T, plan.capacity},
                        {Name::N, n},
                        {Name::K, k}});
}

Status MoeBackward::multiplyWeights(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t m,
                                    int64_t n) {
  return weightCall->launch(stream, {{Name::a, int64_t(a)},
                                     {Name::b, int64_t(b)},
                                     {Name::c, int64_t(c)},
                                     {Name::starts, int64_t(plan.starts)},
                                     {Name::G, plan.localExperts()},
                                     {Name::T, plan.capacity},
                                     {Name::M, m},
                                     {Name::N, n}});
}

Status MoeBackward::combine(CUstream stream, const tile_dist_moe_gradients &gradients) {
  if (Status valid = checkOutput(gradients); !valid)
    return valid;
  Status status = plan.begin(MoePlan::Step::backwardCombine);
  if (status)
    status = plan.sendParts(stream, [&](int) { return ones; });
  if (status && plan.usesCollective())
    status = plan.returnCollective(stream, [&](int other) {
      return MoePlan::Piece{sentWeights + size_t(other) * pairBytes(), weightsOf(plan.rank(), other), pairBytes()};
    });
  else if (status)
    status = plan.takeParts(stream);
  if (!status || gradients.tokens == 0)
    return status;
  status = plan.sumParts(stream, ones, addressIn(gradients.dx), gradients.tokens);
  return status ? gatherCall->launch(stream, {{Name::parts, int64_t(weightParts.mine)},
                                              {Name::ids, int64_t(plan.idsOf(plan.rank()))},
                                              {Name::weights, int64_t(addressIn(gradients.dweights))},
                                              {Name::count, gradients.tokens * plan.shape.top_k},
                                              {Name::size, plan.pairs()},
                                              {Name::local, plan.localExperts()},
                                              {Name::ranks, plan.ranks()}})
                : status;
}

} // namespace tile::dist
