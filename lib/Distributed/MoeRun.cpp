// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes the steps of a mixture of experts.
//
// A rank may overwrite the tokens that it pushed to other ranks in the previous run: in that run it received the parts
// of all other ranks, and a rank sends its part only after it has read all tokens. A rank may also overwrite the parts
// that it sent to an owner of tokens: it sends them only after it has received that owner's new tokens, and the owner
// sends new tokens only after it has read the parts of the previous run.
#include "Distributed/MoeBackward.h"

namespace tile::dist {

static CUdeviceptr addressOf(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

static Status missing(const char *operand) {
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "operands.{} is a null pointer", operand);
}

Status MoePlan::checkInput(const tile_dist_moe_operands &operands) {
  if (operands.tokens < 0 || operands.tokens > shape.tokens)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "operands.tokens is {}; expected 0 to {}, as the plan says",
                     operands.tokens, shape.tokens);
  if (operands.tokens > 0 && (!operands.x || !operands.ids || !operands.weights))
    return missing(!operands.x ? "x" : !operands.ids ? "ids" : "weights");
  const auto check = [&](std::optional<KernelCall> &call, const char *operand, Name name, const void *pointer) {
    return call->check(comm.multiprocessors, operand,
                       {{name, int64_t(addressOf(pointer))}, {Name::hidden, shape.hidden}});
  };
  Status status = check(routeCall, "operands.ids", Name::ids, operands.ids);
  if (status)
    status = check(routeCall, "operands.weights", Name::weights, operands.weights);
  if (status && ranks() > 1)
    status = check(pushCall, "operands.x", Name::x, operands.x);
  return status ? check(expandCall, "operands.x", Name::x, operands.x) : status;
}

Status MoePlan::checkWeights(const tile_dist_moe_operands &operands) {
  if (!gateUpCall || !downCall)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernels.{} is a null pointer; this step needs it",
                     gateUpCall ? "down" : "gate_up");
  if (!operands.gate_up || !operands.down)
    return missing(!operands.gate_up ? "gate_up" : "down");
  const auto check = [&](std::optional<KernelCall> &call, const char *operand, const void *pointer, int64_t n,
                         int64_t k) {
    return call->check(comm.multiprocessors, operand,
                       {{Name::b, int64_t(addressOf(pointer))}, {Name::N, n}, {Name::K, k}});
  };
  Status status = check(gateUpCall, "operands.gate_up", operands.gate_up, shape.width, shape.hidden);
  return status ? check(downCall, "operands.down", operands.down, shape.hidden, shape.width) : status;
}

Status MoePlan::checkOutput(const tile_dist_moe_operands &operands) {
  if (operands.tokens != ownTokens)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "operands.tokens is {}; step 'dispatch' had {}", operands.tokens,
                     ownTokens);
  return checkResult(operands);
}

Status MoePlan::checkResult(const tile_dist_moe_operands &operands) {
  if (operands.tokens == 0)
    return Success{};
  if (!operands.y)
    return missing("y");
  return combineCall->check(comm.multiprocessors, "operands.y",
                            {{Name::y, int64_t(addressOf(operands.y))}, {Name::hidden, shape.hidden}});
}

Status MoePlan::run(CUstream stream, const tile_dist_moe_operands &operands) {
  // Check everything first: a rank that stopped in the middle of a run would leave the others waiting.
  Status status = checkInput(operands);
  if (status)
    status = checkWeights(operands);
  if (status)
    status = checkResult(operands);
  if (status)
    status = dispatch(stream, operands);
  if (status)
    status = multiply(stream, operands);
  return status ? combine(stream, operands) : status;
}

Status MoePlan::begin(Step step) {
  constexpr const char *names[] = {"dispatch",          "experts",          "combine",
                                   "backward dispatch", "backward experts", "backward combine"};
  // The caller may compute the experts itself instead of calling the second step, and a run need not have a backward
  // pass.
  const bool isNext = step == next || (step == Step::combine && next == Step::multiply) ||
                      (step == Step::backwardCombine && next == Step::backwardMultiply) ||
                      (step == Step::dispatch && next == Step::backwardDispatch);
  if (!isNext)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "step '{}' cannot follow now; expected '{}'", names[int(step)],
                     names[int(next == Step::backwardDispatch ? Step::dispatch : next)]);
  next = step == Step::backwardCombine || (step == Step::combine && !backward) ? Step::dispatch : Step(int(step) + 1);
  hasBegun = true;
  return Success{};
}

Status MoePlan::dispatch(CUstream stream, const tile_dist_moe_operands &operands) {
  if (Status valid = checkInput(operands); !valid)
    return valid;
  Status status = begin(Step::dispatch);
  ownTokens = operands.tokens;
  if (status)
    status = publish(stream, operands);
  const CUdeviceptr x = addressOf(operands.x);
  if (status && usesCollective()) {
    status = gatherCollective(stream, x, operands.tokens, /*withRouting=*/true);
    if (status)
      status = sort(stream);
    for (int step = 0; status && step < ranks(); ++step)
      status = expand(stream, after(step), tokensOf(after(step)), shape.tokens);
    return status;
  }
  if (status)
    status = pushBesides(stream, x, operands.tokens);
  if (status)
    status = takeAll(stream, [&](int other) { return routingFlag(other); });
  if (status)
    status = sort(stream);
  if (status)
    status = expand(stream, rank(), x, operands.tokens);
  for (int step = 1; status && step < ranks(); ++step) {
    const int other = after(step);
    status = signals->take(stream, tokensFlag(other));
    if (status)
      status = expand(stream, other, tokensOf(other), shape.tokens);
  }
  // x may change only after the pushes have read it.
  return status ? endPush(stream) : status;
}

/// Sends the routing of this rank's tokens to all ranks or, with NCCL, only to this rank's buffer.
Status MoePlan::publish(CUstream stream, const tile_dist_moe_operands &operands) {
  const size_t own = usesCollective() ? size_t(rank()) * sizeof(CUdeviceptr) : 0;
  Status status = routeCall->launch(stream, {{Name::ids, int64_t(addressOf(operands.ids))},
                                             {Name::weights, int64_t(addressOf(operands.weights))},
                                             {Name::routing, int64_t(routing.mine)},
                                             {Name::table, int64_t(tables + own)},
                                             {Name::errors, int64_t(errors.mine)},
                                             {Name::count, operands.tokens * shape.top_k},
                                             {Name::size, pairs()},
                                             {Name::experts, shape.experts},
                                             {Name::rank, rank()},
                                             {Name::ranks, ranks()},
                                             {Name::targets, usesCollective() ? 1 : ranks()}});
  return status && !usesCollective() ? setAll(stream, [&](int self) { return routingFlag(self); }) : status;
}

/// Assigns a row to each pair of a token and one of this rank's experts.
Status MoePlan::sort(CUstream stream) {
  const int64_t size = ranks() * pairs();
  Status status = countCall->launch(stream, {{Name::ids, int64_t(routing.mine)},
                                             {Name::counts, int64_t(counts)},
                                             {Name::size, size},
                                             {Name::first, firstExpert()},
                                             {Name::local, localExperts()}});
  const size_t overflows = 2 * size_t(ranks()) + (usesCollective() ? size_t(rank()) : 0);
  if (status)
    status = placeCall->launch(stream, {{Name::ids, int64_t(routing.mine)},
                                        {Name::counts, int64_t(counts)},
                                        {Name::starts, int64_t(starts)},
                                        {Name::slots, int64_t(slots)},
                                        {Name::over, int64_t(errors.mine)},
                                        {Name::table, int64_t(tables + overflows * sizeof(CUdeviceptr))},
                                        {Name::size, size},
                                        {Name::capacity, capacity},
                                        {Name::first, firstExpert()},
                                        {Name::local, localExperts()},
                                        {Name::targets, usesCollective() ? 1 : ranks()}});
  return status;
}

Status MoePlan::pushBesides(CUstream stream, CUdeviceptr x, int64_t count) {
  if (!isOverlapped())
    return push(stream, x, count);
  Status status = order(stream, comm.copies, begun);
  return status ? push(comm.copies, x, count) : status;
}

Status MoePlan::push(CUstream stream, CUdeviceptr x, int64_t count) {
  if (ranks() == 1)
    return Success{};
  Status status = Success{};
  if (count > 0)
    status = pushCall->launch(stream, {{Name::x, int64_t(x)},
                                       {Name::ids, int64_t(idsOf(rank()))},
                                       {Name::to, int64_t(tokens.mine)},
                                       {Name::table, int64_t(tables + size_t(ranks()) * sizeof(CUdeviceptr))},
                                       {Name::tokens, count},
                                       {Name::hidden, shape.hidden},
                                       {Name::topk, shape.top_k},
                                       {Name::local, localExperts()},
                                       {Name::rank, rank()},
                                       {Name::ranks, ranks()}});
  return status ? setAll(stream, [&](int self) { return tokensFlag(self); }) : status;
}

/// Copies the tokens of a rank, which are at `x`, to the rows of this rank's experts.
Status MoePlan::expand(CUstream stream, int other, CUdeviceptr x, int64_t count) {
  if (count == 0)
    return Success{};
  return expandCall->launch(stream, {{Name::x, int64_t(x)},
                                     {Name::ids, int64_t(idsOf(other))},
                                     {Name::slots, int64_t(slotsOf(other))},
                                     {Name::rows, int64_t(rows)},
                                     {Name::tokens, count},
                                     {Name::hidden, shape.hidden},
                                     {Name::topk, shape.top_k},
                                     {Name::first, firstExpert()},
                                     {Name::local, localExperts()}});
}

/// Gathers tokens of all ranks, and with `withRouting` their routing. Each rank sends as many slots as the plan allows.
Status MoePlan::gatherCollective(CUstream stream, CUdeviceptr x, int64_t count, bool withRouting) {
  Status status = copy(stream, tokensOf(rank()), x, size_t(count) * rowBytes());
  const auto gather = [&](CUdeviceptr all, size_t bytes) {
    return comm.nccl->allGather(pointerTo(all + size_t(rank()) * bytes), pointerTo(all), bytes, nccl::int8,
                                comm.ncclComm, stream);
  };
  const size_t routingBytes = size_t(pairs()) * 4;
  if (!status)
    return status;
  return callCollective("ncclAllGather", [&] {
    int result = comm.nccl->groupStart();
    for (const CUdeviceptr all : {idsOf(0), weightsOf(0)})
      if (withRouting && result == nccl::success)
        result = gather(all, routingBytes);
    if (result == nccl::success)
      result = gather(tokensOf(0), tokensBytes());
    const int ended = comm.nccl->groupEnd();
    return result == nccl::success ? ended : result;
  });
}

Status MoePlan::multiply(CUstream stream, const tile_dist_moe_operands &operands) {
  if (Status valid = checkWeights(operands); !valid)
    return valid;
  Status status = begin(Step::multiply);
  if (status)
    status = gateUpCall->launch(stream, {{Name::a, int64_t(rows)},
                                         {Name::b, int64_t(addressOf(operands.gate_up))},
                                         {Name::c, int64_t(between)},
                                         {Name::starts, int64_t(starts)},
                                         {Name::G, localExperts()},
                                         {Name::T, capacity},
                                         {Name::N, shape.width},
                                         {Name::K, shape.hidden}});
  if (status)
    status = downCall->launch(stream, {{Name::a, int64_t(between)},
                                       {Name::b, int64_t(addressOf(operands.down))},
                                       {Name::c, int64_t(results)},
                                       {Name::starts, int64_t(starts)},
                                       {Name::G, localExperts()},
                                       {Name::T, capacity},
                                       {Name::N, shape.hidden},
                                       {Name::K, shape.width}});
  return status;
}

Status MoePlan::combine(CUstream stream, const tile_dist_moe_operands &operands) {
  if (Status valid = checkOutput(operands); !valid)
    return valid;
  Status status = begin(Step::combine);
  if (status)
    status = sendParts(stream, [&](int other) { return weightsOf(other); });
  const auto word = [&](int other) { return errors.mine + (2 + size_t(other)) * 4; };
  if (status && usesCollective()) // also exchange whether the capacity was exceeded
    status = returnCollective(stream, [&](int other) { return Piece{word(rank()), word(other), 4}; });
  else if (status)
    status = takeParts(stream);
  if (!status || operands.tokens == 0)
    return status;
  return sumParts(stream, weightsOf(rank()), addressOf(operands.y), operands.tokens);
}

Status MoePlan::sumParts(CUstream stream, CUdeviceptr weights, CUdeviceptr y, int64_t count) {
  return combineCall->launch(stream, {{Name::parts, int64_t(parts.mine)},
                                      {Name::results, int64_t(results)},
                                      {Name::ids, int64_t(idsOf(rank()))},
                                      {Name::weights, int64_t(weights)},
                                      {Name::slots, int64_t(slotsOf(rank()))},
                                      {Name::y, int64_t(y)},
                                      {Name::tokens, count},
                                      {Name::size, shape.tokens},
                                      {Name::hidden, shape.hidden},
                                      {Name::topk, shape.top_k},
                                      {Name::local, localExperts()},
                                      {Name::rank, rank()},
                                      {Name::ranks, ranks()}});
}

Status MoePlan::sendParts(CUstream stream, const std::function<CUdeviceptr(int other)> &weights) {
  Status status = Success{};
  for (int step = 1; status && step < ranks(); ++step) {
    const int other = after(step);
    const CUdeviceptr to = usesCollective() ? sent + size_t(other) * tokensBytes() : partOf(other, rank());
    status = reduceCall->launch(stream, {{Name::results, int64_t(results)},
                                         {Name::ids, int64_t(idsOf(other))},
                                         {Name::weights, int64_t(weights(other))},
                                         {Name::slots, int64_t(slotsOf(other))},
                                         {Name::y, int64_t(to)},
                                         {Name::tokens, shape.tokens},
                                         {Name::hidden, shape.hidden},
                                         {Name::topk, shape.top_k},
                                         {Name::first, firstExpert()},
                                         {Name::local, localExperts()}});
    if (status && !usesCollective())
      status = signals->set(stream, other, partFlag(rank()));
  }
  return status;
}

Status MoePlan::returnCollective(CUstream stream, const std::function<Piece(int other)> &more) {
  return callCollective("ncclSend", [&] {
    const auto exchange = [&](const Piece &piece, int other) {
      const int result = comm.nccl->send(pointerTo(piece.from), piece.bytes, nccl::int8, other, comm.ncclComm, stream);
      return result == nccl::success
                 ? comm.nccl->receive(pointerTo(piece.to), piece.bytes, nccl::int8, other, comm.ncclComm, stream)
                 : result;
    };
    int result = comm.nccl->groupStart();
    for (int step = 1; result == nccl::success && step < ranks(); ++step) {
      const int other = after(step);
      result = exchange({sent + size_t(other) * tokensBytes(), partOf(rank(), other), tokensBytes()}, other);
      if (result == nccl::success)
        result = exchange(more(other), other);
    }
    const int ended = comm.nccl->groupEnd();
    return result == nccl::success ? ended : result;
  });
}

} // namespace tile::dist
