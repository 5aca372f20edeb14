// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// moe_dispatch_gemm_combine: a mixture of experts whose experts and tokens are spread over the ranks.
//
//   stream   route │ count, place │ expand this rank's tokens │ others' tokens │ gate_up, down │ reduce │ combine
//   copies         │ push tokens to the ranks of their experts ─┘                              └─ to the owners
//
// Every token has a fixed slot in the memory of every rank, so no counts need to be exchanged: a rank pushes token t to
// slot t of each rank that has at least one of t's experts. All ranks know the routing of all tokens, and each rank
// sorts the tokens of its own experts. Results return in the same way, as one sum per token and rank.
#pragma once

#include "Distributed/Plan.h"

namespace tile::dist {

struct MoeRequest {
  tile_dist_moe_shape shape;
  const tile_dist_moe_kernels *kernels;
  tile_dist_form form;
};

class MoeBackward;

class MoePlan : public Plan, public Reporter {
public:
  /// Collective. Destroying the plan is collective, too.
  static Result<std::unique_ptr<MoePlan>> make(Communicator &comm, const MoeRequest &request);
  ~MoePlan() override;

  /// Checks all operands, then executes all three steps.
  Status run(CUstream stream, const tile_dist_moe_operands &operands);
  // The steps of a run.
  Status dispatch(CUstream stream, const tile_dist_moe_operands &operands);
  Status multiply(CUstream stream, const tile_dist_moe_operands &operands);
  Status combine(CUstream stream, const tile_dist_moe_operands &operands);

  Status report() override;
  tile_dist_moe_info describe() const;

  std::unique_ptr<MoeBackward> backward; ///< null without kernels for a backward pass

private:
  friend class MoeBackward;

  MoePlan(Communicator &comm, const MoeRequest &request);
  Status prepare(const MoeRequest &request);
  Status prepareKernels(const MoeRequest &request);
  Status chooseForm(const MoeRequest &request);
  Status allocateAll();
  Status writeTables();

  // Flags of this rank, one of each kind for every other rank r. routing: r's routing has arrived. tokens: r's tokens
  // have arrived. part: r's part of the results has arrived.
  size_t routingFlag(int other) const { return size_t(other); }
  size_t tokensFlag(int other) const { return size_t(ranks() + other); }
  size_t partFlag(int other) const { return size_t(2 * ranks() + other); }

  /// The steps, in the order of execution.
  enum class Step { dispatch, multiply, combine, backwardDispatch, backwardMultiply, backwardCombine };
  Status begin(Step step);
  // These functions fail, before anything is enqueued, if operands are missing or kernels would reject them.
  Status checkInput(const tile_dist_moe_operands &operands);
  Status checkWeights(const tile_dist_moe_operands &operands);
  Status checkOutput(const tile_dist_moe_operands &operands);
  Status checkResult(const tile_dist_moe_operands &operands);

  bool usesCollective() const { return info.form == TILE_DIST_SEQUENTIAL && comm.nccl && ranks() > 1; }
  int64_t localExperts() const { return shape.experts / ranks(); }
  int64_t firstExpert() const { return rank() * localExperts(); }
  int64_t pairs() const { return shape.tokens * shape.top_k; } ///< number of (token, expert) pairs
  size_t rowBytes() const { return size_t(shape.hidden) * bytesOf(shape.type); }
  size_t tokensBytes() const { return size_t(shape.tokens) * rowBytes(); }

  // These functions return the address of a rank's part in buffers that hold one part per rank.
  CUdeviceptr idsOf(int other) const { return routing.mine + size_t(other) * size_t(pairs()) * 4; }
  CUdeviceptr weightsOf(int other) const { return idsOf(ranks() + other); }
  CUdeviceptr slotsOf(int other) const { return slots + size_t(other) * size_t(pairs()) * 4; }
  CUdeviceptr tokensOf(int other) const { return tokens.mine + size_t(other) * tokensBytes(); }
  /// Returns where `owner` receives the part that `sender` contributes to the results of the owner's tokens.
  CUdeviceptr partOf(int owner, int sender) const { return parts.all[owner] + size_t(sender) * tokensBytes(); }

  Status publish(CUstream stream, const tile_dist_moe_operands &operands);
  Status sort(CUstream stream);
  bool isOverlapped() const { return info.form == TILE_DIST_CHUNKED && ranks() > 1; }
  /// Pushes tokens, or their gradients. If the form overlaps communication with computation, pushes in the stream for
  /// copies; endPush later makes `stream` wait for it.
  Status pushBesides(CUstream stream, CUdeviceptr x, int64_t count);
  Status endPush(CUstream stream) { return isOverlapped() ? order(comm.copies, stream, ended) : Success{}; }
  Status push(CUstream stream, CUdeviceptr x, int64_t count);
  Status expand(CUstream stream, int other, CUdeviceptr x, int64_t count);
  Status gatherCollective(CUstream stream, CUdeviceptr x, int64_t count, bool withRouting);

  /// Sums this rank's results for the tokens of each other rank, and sends the sums. If NCCL is used, returnCollective
  /// sends them instead. `weights` returns the address of the routing weights of a rank's tokens.
  Status sendParts(CUstream stream, const std::function<CUdeviceptr(int other)> &weights);
  Status takeParts(CUstream stream) {
    return takeAll(stream, [&](int other) { return partFlag(other); });
  }
  /// Adds up the parts of all ranks.
  Status sumParts(CUstream stream, CUdeviceptr weights, CUdeviceptr y, int64_t count);
  /// Bytes that are sent to another rank from `from`, while as many bytes from that rank arrive at `to`.
  struct Piece {
    CUdeviceptr from, to;
    size_t bytes;
  };
  /// Exchanges parts through NCCL. `more` returns additional data to exchange with a rank.
  Status returnCollective(CUstream stream, const std::function<Piece(int other)> &more);

  const tile_dist_moe_shape shape;
  int64_t capacity = 0;
  Step next = Step::dispatch;
  int64_t ownTokens = 0; ///< tokens of this rank in this run
  std::optional<KernelCall> routeCall, pushCall, countCall, placeCall, expandCall, gateUpCall, downCall, reduceCall,
      combineCall;
  Window routing, tokens, parts, errors;
  /// For each rank, addresses in its memory: its routing table, the slots for this rank's tokens, and the word in which
  /// an overflow of this rank's rows is recorded.
  CUdeviceptr tables = 0;
  CUdeviceptr rows = 0, between = 0, results = 0; ///< buffers of the experts, for `capacity` rows
  CUdeviceptr counts = 0, starts = 0, slots = 0;
  CUdeviceptr sent = 0; ///< parts for other ranks, if NCCL sends them
  CUevent begun = nullptr, ended = nullptr;
  std::span<int32_t> words; ///< host copy of the error words in `errors`
};

} // namespace tile::dist
