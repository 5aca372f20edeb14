// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peer, a program without tile: cuBLAS and NCCL, one after another, or in two streams by parts of the rows. Both
// are loaded by name.
#pragma once

#include "Gpu.h"

#include <memory>
#include <vector>

namespace across {

struct Sizes {
  int64_t m, n, k;
};

class Baseline {
public:
  /// `id`: of NCCL (128 bytes), the same for all ranks.
  Baseline(const std::string &ncclPath, const std::string &cublasPath, int rank, int ranks, const std::string &id);
  ~Baseline();

  /// Returns an id for all ranks.
  static std::string makeId(const std::string &ncclPath);

  /// c[m, n] = a[m, k] @ b[n, k]^T in bf16.
  void multiply(Handle stream, Address a, Address b, Address c, Sizes sizes);
  void gather(Handle stream, Address from, Address to, size_t elements);
  void scatter(Handle stream, Address from, Address to, size_t elements);
  void reduce(Handle stream, Address data, size_t elements);

  /// A matrix of a group: c[m, n] = a[m, k] @ b[n, k]^T.
  struct Group {
    Address a, b, c;
    Sizes sizes;
  };
  /// GEMMs one after another, or in one call of cuBLAS, which has `tables` for 3 addresses of each group.
  void multiply(Handle stream, const std::vector<Group> &groups);
  void multiplyGrouped(Handle stream, const std::vector<Group> &groups, const Memory &tables);
  /// Writes the addresses that multiplyGrouped needs.
  static void writeTables(const std::vector<Group> &groups, Memory &tables);

  /// Rows to and from a rank: where they begin, and how many elements.
  struct Part {
    Address address;
    size_t elements;
  };
  /// Sends a part to each rank and receives one from each.
  void exchange(Handle stream, const std::vector<Part> &to, const std::vector<Part> &from);

  // Operations; `own`: the rank's rows. `room` has space for the gathered rows, or for the product.
  void gatherThenMultiply(Handle stream, Address own, Address b, Address c, Address room, Sizes sizes);
  void multiplyThenScatter(Handle stream, Address a, Address b, Address c, Address room, Sizes sizes);
  void multiplyThenReduce(Handle stream, Address a, Address b, Address c, Sizes sizes);
  void gatherBesides(Handle stream, Address own, Address b, Address c, Address room, Sizes sizes, int parts);
  void scatterBesides(Handle stream, Address a, Address b, Address c, Address room, Sizes sizes, int parts);

private:
  void useStream(Handle stream);

  void *nccl, *cublas;
  int ranks;
  void *comm = nullptr, *handle = nullptr;
  std::unique_ptr<Memory> workspace;
  Handle other, events[8] = {};
  Handle current = nullptr; ///< the stream of the handle
};

} // namespace across
