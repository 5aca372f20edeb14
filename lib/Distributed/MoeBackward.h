// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The backward pass of a mixture of experts, on the routing, rows and results that a run has left in its plan.
//
//   stream   expand gradients of own tokens │ those of each other rank │ GEMMs of experts │ reduce │ combine
//   copies   push gradients to the ranks of their experts ─┘                               └─ to the owners
//
// Gradients of tokens take the way of the tokens, in the same windows and with the same flags: a rank pushes them after
// it has received the parts of all others, which have then read its tokens.
#pragma once

#include "Distributed/MoePlan.h"

namespace tile::dist {

class MoeBackward {
public:
  explicit MoeBackward(MoePlan &plan) : plan(plan) {}

  /// Prepares kernels and memory, after those of the plan's runs. The second part is collective.
  Status prepareKernels(const tile_dist_moe_kernels &kernels);
  Status allocateAll();

  /// Executes all steps, after all operands have been checked.
  Status run(CUstream stream, const tile_dist_moe_gradients &gradients);
  // The steps.
  Status dispatch(CUstream stream, const tile_dist_moe_gradients &gradients);
  Status multiply(CUstream stream, const tile_dist_moe_gradients &gradients);
  Status combine(CUstream stream, const tile_dist_moe_gradients &gradients);

  CUdeviceptr gradientsOfRows() const { return slopes; }

private:
  Status checkInput(const tile_dist_moe_gradients &gradients);
  Status checkExperts(const tile_dist_moe_gradients &gradients);
  Status checkOutput(const tile_dist_moe_gradients &gradients);

  Status expand(CUstream stream, int other, CUdeviceptr dy, int64_t count);
  /// c = a @ b for the rows of each expert; `transposed`: b is [experts, n, k].
  Status multiplyRows(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t n, int64_t k,
                      bool transposed);
  /// c = a^T @ b for the rows of each expert.
  Status multiplyWeights(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int64_t m, int64_t n);

  /// Returns where `owner` receives gradients of its tokens' weights from `sender`.
  CUdeviceptr weightsOf(int owner, int sender) const { return weightParts.all[owner] + size_t(sender) * pairBytes(); }
  size_t pairBytes() const { return size_t(plan.pairs()) * sizeof(float); }

  MoePlan &plan;
  std::optional<KernelCall> expandCall, gatherCall, gatedCall, backCall, weightCall;
  Window weightParts;                ///< gradients of the weights of a rank's tokens, a part for each rank
  CUdeviceptr slopes = 0, gates = 0; ///< of rows: gradients of results; gate and up, and then their gradients
  CUdeviceptr ones = 0;              ///< weights of the sums: they are in the gradients already
  CUdeviceptr sentWeights = 0;       ///< parts for other ranks, if NCCL sends them
};

} // namespace tile::dist
