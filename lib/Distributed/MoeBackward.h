// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The backward pass of a mixture of experts. It uses the routing, rows and results that a run has left in its plan.
//
//   stream   expand gradients of this rank's tokens │ of each other rank's │ GEMMs of experts │ reduce │ combine
//   copies   push gradients to the ranks of their experts ─┘                                    └─ to the owners
//
// Gradients of tokens are sent like the tokens, in the same windows and with the same flags. This rank pushes them only
// after it has received the parts of all other ranks in the run; by then those ranks have read this rank's tokens.
#pragma once

#include "Distributed/MoePlan.h"

namespace tile::dist {

class MoeBackward {
public:
  explicit MoeBackward(MoePlan &plan) : plan(plan) {}

  /// Prepares the kernels and memory of the backward pass, after the plan has prepared those of its runs. allocateAll
  /// is collective.
  Status prepareKernels(const tile_dist_moe_kernels &kernels);
  Status allocateAll();

  /// Checks all operands, then executes all three steps.
  Status run(CUstream stream, const tile_dist_moe_gradients &gradients);
  // The steps of run().
  Status dispatch(CUstream stream, const tile_dist_moe_gradients &gradients);
  Status multiply(CUstream stream, const tile_dist_moe_gradients &gradients);
  Status combine(CUstream stream, const tile_dist_moe_gradients &gradients);

  CUdeviceptr gradientsOfRows() const { return slopes; }

private:
  Status checkInput(const tile_dist_moe_gradients &gradients);
  Status checkExperts(const tile_dist_moe_gradients &gradients);
  Status checkOutput(const tile_dist_moe_gradients &gradients);

  Status expand(CUstream stream, int other, CUdeviceptr dy, int64_t count);
  /// Computes c = a @ b for the rows of each expert. If `transposed`, b is [experts, n, k].
  Status multiplyRows(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t n, int64_t k,
                      bool transposed);
  /// Computes c = a^T @ b for the rows of each expert.
  Status multiplyWeights(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t m, int64_t n);

  /// Returns where `owner` receives the gradients of its tokens' routing weights from `sender`.
  CUdeviceptr weightsOf(int owner, int sender) const { return weightParts.all[owner] + size_t(sender) * pairBytes(); }
  size_t pairBytes() const { return size_t(plan.pairs()) * sizeof(float); }

  MoePlan &plan;
  std::optional<KernelCall> expandCall, gatherCall, gatedCall, backCall, weightCall;
  /// Gradients of the routing weights of this rank's tokens, one part per sending rank.
  Window weightParts;
  /// Per row: gradients of results; gate and up, later overwritten by their gradients.
  CUdeviceptr slopes = 0, gates = 0;
  /// Weights for the sums: all 1, because the gradients already contain the routing weights.
  CUdeviceptr ones = 0;
  CUdeviceptr sentWeights = 0; ///< parts for other ranks, if NCCL sends them
};

} // namespace tile::dist
