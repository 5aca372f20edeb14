// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// moe_dispatch_gemm_combine: a mixture of experts whose experts and tokens are spread over the ranks.
//
//   stream   route │ count, place │ expand own tokens │ those of each other rank │ gate_up, down │ reduce │ combine
//   copies         │ push tokens to the ranks of their experts ─┘                                  └─ to the owners
//
// Every token has a fixed slot in the memory of every rank, so that no counts need to be exchanged: a rank pushes token
// t to slot t of each rank that has at least one of its experts. All ranks know the routing of all tokens, and each
// sorts the tokens of its experts. Results return in the same way, as one sum per token and rank.
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
  /// Destruction is collective.
  static Result<std::unique_ptr<MoePlan>> make(Communicator &comm, const MoeRequest &request);
  ~MoePlan() override;

  /// Executes all steps, after all operands have been checked.
  Status run(CUstream stream, const tile_dist_moe_operands &operands);
  // The steps of a run.
  Status dispatch(CUstream stream, const tile_dist_moe_operands &operands);
  Status multiply(CUstream stream, const tile_dist_moe_operands &operands);
  Status combine(CUstream stream, const tile_dist_moe_operands &operands);

  Status report() override;
  tile_dist_moe_info describe() const;

  std::unique_ptr<MoeBackward> backward; ///< null if there are no kernels for it

private:
  friend class MoeBackward;

  MoePlan(Communicator &comm, const MoeRequest &request);
  Status prepare(const MoeRequest &request);
  Status prepareKernels(const MoeRequest &request);
  Status chooseForm(const MoeRequest &request);
  Status allocateAll();
  Status writeTables();

  // Flags: a rank's routing has arrived, its tokens, and its part of the results.
  size_t routingFlag(int other) const { return size_t(other); }
  size_t tokensFlag(int other) const { return size_t(ranks() + other); }
  size_t partFlag(int other) const { return size_t(2 * ranks() + other); }

  /// The steps are executed in this order.
  enum class Step { dispatch, multiply, combine, backwardDispatch, backwardMultiply, backwardCombine };
  Status begin(Step step);
  // Fail, before anything is enqueued, if operands are missing or kernels would reject them.
  Status checkInput(const tile_dist_moe_operands &operands);
  Status checkWeights(const tile_dist_moe_operands &operands);
  Status checkOutput(const tile_dist_moe_operands &operands);
  Status checkResult(const tile_dist_moe_operands &operands);

  bool usesCollective() const { return info.form == TILE_DIST_SEQUENTIAL && comm.nccl && ranks() > 1; }
  int64_t localExperts() const { return shape.experts / ranks(); }
  int64_t firstExpert() const { return rank() * localExperts(); }
  int64_t pairs() const { return shape.tokens * shape.top_k; } ///< pairs of a token and an expert
  size_t rowBytes() const { return size_t(shape.hidden) * bytesOf(shape.type); }
  size_t tokensBytes() const { return size_t(shape.tokens) * rowBytes(); }

  // Returns addresses in buffers that hold a part for each rank, one after another.
  CUdeviceptr idsOf(int other) const { return routing.mine + size_t(other) * size_t(pairs()) * 4; }
  CUdeviceptr weightsOf(int other) const { return idsOf(ranks() + other); }
  CUdeviceptr slotsOf(int other) const { return slots + size_t(other) * size_t(pairs()) * 4; }
  CUdeviceptr tokensOf(int other) const { return tokens.mine + size_t(other) * tokensBytes(); }
  /// Returns where `owner` receives the part of `sender` in the results of its tokens.
  CUdeviceptr partOf(int owner, int sender) const { return parts.all[owner] + size_t(sender) * tokensBytes(); }

  Status publish(CUstream stream, const tile_dist_moe_operands &operands);
  Status sort(CUstream stream);
  bool isOverlapped() const { return info.form == TILE_DIST_CHUNKED && ranks() > 1; }
  /// Pushes tokens, or their gradients, in the stream for copies if the form overlaps. endPush makes `stream` wait.
  Status pushBesides(CUstream stream, CUdeviceptr x, int64_t count);
  Status endPush(CUstream stream) { return isOverlapped() ? order(comm.copies, stream, ended) : Success{}; }
  Status push(CUstream stream, CUdeviceptr x, int64_t count);
  Status expand(CUstream stream, int other, CUdeviceptr x, int64_t count);
  Status gatherCollective(CUstream stream, CUdeviceptr x, int64_t count, bool withRouting);

  /// Sums this rank's results for the tokens of all other ranks, and sends the sums; NCCL sends them in
  /// returnCollective. `weights` returns the address of the weights of a rank's tokens.
  Status sendParts(CUstream stream, const std::function<CUdeviceptr(int other)> &weights);
  Status takeParts(CUstream stream) {
    return takeAll(stream, [&](int other) { return partFlag(other); });
  }
  /// Adds the parts of all ranks.
  Status sumParts(CUstream stream, CUdeviceptr weights, CUdeviceptr y, int64_t count);
  /// Bytes that are sent from an address, and where those of the other rank arrive.
  struct Piece {
    CUdeviceptr from, to;
    size_t bytes;
  };
  /// `more` returns what is exchanged with a rank besides its parts.
  Status returnCollective(CUstream stream, const std::function<Piece(int other)> &more);

  const tile_dist_moe_shape shape;
  int64_t capacity = 0;
  Step next = Step::dispatch;
  int64_t ownTokens = 0; ///< tokens of this rank in this run
  std::optional<KernelCall> routeCall, pushCall, countCall, placeCall, expandCall, gateUpCall, downCall, reduceCall,
      combineCall;
  Window routing, tokens, parts, errors;
  /// Addresses in the memory of each rank: its routing table, the slots of this rank's tokens, and the word for an
  /// overflow of this rank.
  CUdeviceptr tables = 0;
  CUdeviceptr rows = 0, between = 0, results = 0; ///< buffers of the experts, for `capacity` rows
  CUdeviceptr counts = 0, starts = 0, slots = 0;
  CUdeviceptr sent = 0; ///< parts for other ranks, if NCCL sends them
  CUevent begun = nullptr, ended = nullptr;
  std::span<int32_t> words; ///< the words of `errors`, in host memory
};

} // namespace tile::dist
