// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks and measures mixtures of experts (operation moe_dispatch_gemm_combine).
#pragma once

#include "Rank.h"

namespace across {

struct MoeCase {
  std::string name;
  int64_t tokens; ///< tokens of one rank
  int64_t hidden, width, experts, topK;
};

/// How experts are assigned to tokens.
enum class Routing {
  even,    ///< all experts, uniformly at random
  one,     ///< every expert of every token is expert 0, so the other ranks get no tokens
  last,    ///< only experts of the last rank, of which half have no tokens
  partial, ///< uniformly at random; half of the tokens are missing, and some have fewer experts
};
constexpr int numRoutings = 4;

/// Returns where a rank's weights begin in the sequence of elements; the experts follow each other.
inline uint64_t startOfGateUp(int rank) {
  return startOfB(rank);
}
inline uint64_t startOfDown(int rank) {
  return startOfB(rank) + 350003;
}

/// The result of a benchmark case. Times are in microseconds.
struct MoeMeasured {
  std::string name;
  double routed, gathered; ///< NCCL and cuBLAS, with the faster of the two kinds of GEMM
  double automatic, best;  ///< the form that the library chooses; the fastest form
  bool isRight = true;
};

class Moe {
public:
  explicit Moe(Rank &rank);
  ~Moe();

  /// Checks results, graphs that are replayed with other routings, separate steps, and errors that kernels detect.
  bool check(const MoeCase &work, tile_dist_form form);
  /// Checks gradients after runs, in one call, in steps and in graphs.
  bool checkBackward(const MoeCase &work, tile_dist_form form);
  MoeMeasured bench(const MoeCase &work);
  /// Runs until a call fails.
  void endure(const MoeCase &work, int runs);

private:
  /// The routing of the tokens of all ranks.
  struct Routed {
    std::vector<int32_t> ids;   ///< [ranks, tokens, topK]
    std::vector<float> weights; ///< weight of each id
    int64_t tokens = 0;         ///< number of tokens per rank that are not missing
  };
  struct Buffers {
    std::unique_ptr<Memory> x, ids, weights, gateUp, down, y;
    tile_dist_moe_operands operands = {};
  };
  /// Expected elements of one row of y.
  struct Expected {
    int64_t token;
    std::vector<double> values; ///< values of the first columns
  };
  struct Gradients {
    std::unique_ptr<Memory> dy, dx, dweights, dgateUp, ddown;
    tile_dist_moe_gradients operands = {};
  };
  /// A gradient on the host. Its blocks, such as the weights of an expert, are compared separately.
  struct Known {
    const char *name;
    size_t block;
    std::vector<double> values;
  };
  friend class MoeBaseline;

  tile_dist_plan *makePlan(const MoeCase &work, tile_dist_form form, int64_t capacity);
  Routed route(const MoeCase &work, Routing routing) const;
  Buffers makeBuffers(const MoeCase &work) const;
  void use(const MoeCase &work, const Routed &routed, Buffers &buffers) const;
  std::vector<Expected> expect(const MoeCase &work, const Routed &routed, int64_t samples, int64_t columns) const;
  bool isRight(const MoeCase &work, const Memory &y, const std::vector<Expected> &expected,
               const std::string &name) const;
  Gradients makeGradients(const MoeCase &work, const Buffers &buffers) const;
  std::vector<Known> expectGradients(const MoeCase &work, const Routed &routed) const;
  bool areRight(const Gradients &gradients, const std::vector<Known> &expected, const std::string &name) const;
  bool rejectsMisuse(tile_dist_plan *plan, const MoeCase &work, tile_dist_form form, const Buffers &buffers,
                     const Gradients &gradients);
  bool checkErrors(const MoeCase &work, tile_dist_form form, Buffers &buffers);

  Rank &rank;
  tile_dist_moe_kernels kernels = {};
  std::vector<tile_kernel *> loaded;
};

void printSummary(const std::vector<MoeMeasured> &results);

} // namespace across
