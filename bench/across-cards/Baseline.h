// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program with which tile is compared: cuBLAS and NCCL, one after the other, or overlapping in two streams with the
// rows split into parts. Both libraries are loaded at run time.
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
  /// `id` is NCCL's unique id (128 bytes), which must be the same on all ranks.
  Baseline(const std::string &ncclPath, const std::string &cublasPath, int rank, int ranks, const std::string &id);
  ~Baseline();

  /// Returns a new NCCL id, to be passed to all ranks.
  static std::string makeId(const std::string &ncclPath);

  /// Computes c[m, n] = a[m, k] @ b[n, k]^T in bf16.
  void multiply(Handle stream, Address a, Address b, Address c, Sizes sizes);
  void gather(Handle stream, Address from, Address to, size_t elements);
  void scatter(Handle stream, Address from, Address to, size_t elements);
  void reduce(Handle stream, Address data, size_t elements);

  /// One GEMM of a grouped GEMM: c[m, n] = a[m, k] @ b[n, k]^T.
  struct Group {
    Address a, b, c;
    Sizes sizes;
  };
  /// Computes the GEMMs one after the other (`multiply`), or in one cuBLAS call that reads three addresses for each
  /// group from `tables` (`multiplyGrouped`).
  void multiply(Handle stream, const std::vector<Group> &groups);
  void multiplyGrouped(Handle stream, const std::vector<Group> &groups, const Memory &tables);
  /// Writes the addresses that multiplyGrouped needs.
  static void writeTables(const std::vector<Group> &groups, Memory &tables);

  /// Rows that are sent to or received from a rank: their address and number of elements.
  struct Part {
    Address address;
    size_t elements;
  };
  /// Sends a part to each rank and receives a part from each rank.
  void exchange(Handle stream, const std::vector<Part> &to, const std::vector<Part> &from);

  // The operations that are measured. `own` are the rank's rows. `room` is memory for the gathered rows or for the
  // result of the GEMM. The functions `…Besides` overlap NCCL and cuBLAS.
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
  Handle current = nullptr; ///< the stream that `handle` uses
};

} // namespace across
