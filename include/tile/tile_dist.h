/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libtiledist: GEMMs, sums and mixtures of experts on several GPUs, over peer access and NCCL.
 *
 *   tile_dist_comm *comm;  tile_dist_plan *plan;                       // in each rank: a thread or a process
 *   tile_dist_options options = {.runtime = runtime, .device = -1};
 *   tile_dist_connect_environment(tile_dist_getenv, NULL, &options, &comm);         // torchrun, mpirun, srun
 *   tile_dist_shape shape = {.m = 4096, .n = 8192, .k = 8192, .type = TILE_DIST_BF16};
 *   tile_dist_plan_create(comm, TILE_DIST_ALL_GATHER_GEMM, &shape, &kernels, TILE_DIST_AUTO, &plan);
 *   tile_dist_run(plan, stream, a, b, c);                               // as often as needed; asynchronous
 *   tile_dist_synchronize(comm, stream);                    // with a time limit, unlike cuStreamSynchronize
 *
 * Ranks call the functions marked "collective" in the same order with equal arguments. Functions return a status;
 * tile_dist_last_error() describes the last failure of the calling thread and names the rank and the operation. No
 * function prints, exits, throws, or waits longer than the time limit. A run allocates nothing.
 */
#ifndef TILE_TILE_DIST_H
#define TILE_TILE_DIST_H

#include "tile/tilert.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_dist_group tile_dist_group;
typedef struct tile_dist_comm tile_dist_comm;
typedef struct tile_dist_plan tile_dist_plan;

/* How ranks move data if they do not use a form with overlap. */
typedef enum tile_dist_transport {
  TILE_DIST_ANY = 0,   /* NCCL if it is found and is 2.19 or later; otherwise copies between peers */
  TILE_DIST_NCCL = 1,  /* NCCL; an error if there is none */
  TILE_DIST_COPIES = 2 /* copies between peers, without NCCL; needs peer access */
} tile_dist_transport;

typedef struct tile_dist_options {
  tile_runtime *runtime;    /* the runtime that has loaded the plans' kernels */
  int device;               /* ordinal; -1: the rank's index on its host */
  int timeout_milliseconds; /* limit of every wait; 0: 60000 */
  tile_dist_transport transport;
  const char *nccl_library;  /* NULL: libnccl.so.2 */
  tile_symbol_lookup lookup; /* finds driver functions; NULL: libcuda.so.1 */
  void *lookup_user;
} tile_dist_options;

TILE_API const char *tile_dist_last_error(void);

/* For ranks that are threads of one process: one thread creates the group, and each rank connects with the group and
   its rank. The group must outlive its communicators. */
TILE_API tile_status tile_dist_group_create(int size, tile_dist_group **group);
TILE_API void tile_dist_group_destroy(tile_dist_group *group);
/* Collective, called in `size` threads concurrently. Makes the device's primary context current on the thread. */
TILE_API tile_status tile_dist_connect_threads(tile_dist_group *group, int rank, const tile_dist_options *options,
                                               tile_dist_comm **comm);
/* Collective. For ranks that are processes: rank 0 listens at `address`, "HOST:PORT", the others connect to it. */
TILE_API tile_status tile_dist_connect(const char *address, int rank, int size, const tile_dist_options *options,
                                       tile_dist_comm **comm);
/* Collective. Like tile_dist_connect, with the rank, size and address that torchrun, Open MPI, MPICH, or Slurm set in
   the environment; a single rank if none of them is found. `get` returns the value of a variable: tile_dist_getenv, or
   a function of the application. The host is MASTER_ADDR, or else the first host of the job; the port is MASTER_PORT +
   1, or 29400 without MASTER_PORT. */
typedef const char *(*tile_dist_variable)(void *user, const char *name);
TILE_API tile_status tile_dist_connect_environment(tile_dist_variable get, void *user, const tile_dist_options *options,
                                                   tile_dist_comm **comm);
static inline const char *tile_dist_getenv(void *user, const char *name) {
  (void)user;
  return getenv(name);
}
/* Frees the resources of the rank; its work must have ended, and its plans must have been destroyed. The other ranks
   treat a process that ends without this call as dead. After a failure, the memory of unfinished work is not freed. */
TILE_API void tile_dist_destroy(tile_dist_comm *comm);

typedef struct tile_dist_info {
  int rank, size, device;
  int peer_access;  /* 1: every rank can access the memory of all others */
  int nccl_version; /* 22809 is 2.28.9; 0: NCCL is not used */
} tile_dist_info;
TILE_API tile_status tile_dist_describe(const tile_dist_comm *comm, tile_dist_info *info);

/* Collective: returns when all ranks have called it. Does not wait for their GPUs. */
TILE_API tile_status tile_dist_barrier(tile_dist_comm *comm);
/* Waits for a stream, but no longer than the time limit. If the limit expires or a rank has died, waiting work is
   released and the communicator becomes unusable: from then on, all its functions return the error. The death of a
   process releases waiting work immediately, even in streams for which the application waits by other means. Results
   are therefore valid only if a call to this function after the work returns TILE_OK. */
TILE_API tile_status tile_dist_synchronize(tile_dist_comm *comm, void *stream);

typedef enum tile_dist_operation {
  /* c[m, n] = gathered a[m, k] @ b[k, n]. The rows of a are distributed over the ranks in order, m / size rows each.
     Each rank has its own b and c. */
  TILE_DIST_ALL_GATHER_GEMM = 0,
  /* c[m / size, n] = the rank's rows of the sum over all ranks of a[m, k] @ b[k, n]. */
  TILE_DIST_GEMM_REDUCE_SCATTER = 1,
  /* c[m, n] = the sum over all ranks of a[m, k] @ b[k, n], on every rank. */
  TILE_DIST_GEMM_ALL_REDUCE = 2,
  /* c[m, n] = the sum over all ranks of a[m, n], on every rank, as for gradients. There is no GEMM: k must be 0, b
     NULL, and m * n / size a multiple of 8. c may be a, but a must not be tile_dist_plan_info.c. */
  TILE_DIST_ALL_REDUCE = 3
} tile_dist_operation;

typedef enum tile_dist_form {
  TILE_DIST_AUTO = 0,       /* the fastest form according to a model of transfers and GEMMs */
  TILE_DIST_SEQUENTIAL = 1, /* the collective and the GEMM, one after the other */
  TILE_DIST_CHUNKED = 2,    /* one GEMM for each chunk of rows, while copy engines move other chunks */
  TILE_DIST_FLAGGED = 3     /* one GEMM whose tiles wait for their rows; TILE_DIST_ALL_GATHER_GEMM only */
} tile_dist_form;

typedef enum tile_dist_type { TILE_DIST_F16 = 0, TILE_DIST_BF16 = 1, TILE_DIST_F32 = 2 } tile_dist_type;

typedef struct tile_dist_shape {
  int64_t m, n, k;     /* of the GEMM that one rank computes; m is a multiple of the number of ranks */
  tile_dist_type type; /* of a, c, and the partial sums that ranks exchange */
} tile_dist_shape;

/* An additional argument of a kernel, such as a bias or a scale for its epilogue. */
typedef struct tile_dist_argument {
  const char *name;
  tile_value value;
} tile_dist_argument;

/* Kernels compiled from lib/Distributed/kernels (installed in share/tile/distributed), or other kernels with the same
   parameter names. They must outlive the plan. */
typedef struct tile_dist_kernels {
  tile_kernel *gemm;      /* a, b, c, M, N, K. NULL: TILE_DIST_ALL_REDUCE only */
  tile_kernel *gemm_wait; /* also takes flags, rows, first: waits until flags[unit] is 1 before it reads a unit of
                             `rows` rows of a, and starts with unit `first`. NULL: TILE_DIST_FLAGGED is not available */
  tile_kernel *sum;       /* c, parts, count, stride, size: c = the sum of `count` arrays, `stride` elements apart.
                             NULL: sums by NCCL only */
  const tile_dist_argument *arguments;
  size_t argument_count;
} tile_dist_kernels;

/* Collective. Allocates everything that runs need, and chooses a form. */
TILE_API tile_status tile_dist_plan_create(tile_dist_comm *comm, tile_dist_operation operation,
                                           const tile_dist_shape *shape, const tile_dist_kernels *kernels,
                                           tile_dist_form form, tile_dist_plan **plan);
/* Collective. The plan's runs must have ended on all ranks. */
TILE_API tile_status tile_dist_plan_destroy(tile_dist_plan *plan);

typedef struct tile_dist_plan_info {
  tile_dist_form form;
  double sequential_microseconds; /* expected; negative: unknown */
  double overlapped_microseconds;
  /* Memory that peers access. If a run's `a` (all-gather) or `c` (all-reduce) is this address, no local copy is made.
     NULL if the operation has no such memory. */
  void *a, *c;
  /* All-gather: after a run and until the next one, the rows of all ranks, which a backward pass needs. NULL with a
     single rank, which has all rows anyway. */
  const void *gathered;
} tile_dist_plan_info;
TILE_API tile_status tile_dist_plan_describe(const tile_dist_plan *plan, tile_dist_plan_info *info);

/* Enqueues the operation in a stream of the rank's device. `a` may be overwritten by later work of the stream. All
   ranks run the same plans in the same order. Runs with the same inputs give bit-identical results. May be captured in
   a graph, on all ranks or none. If ranks are threads of one process, no rank may launch a second graph before all
   ranks have launched the first (tile_dist_barrier): according to CUDA's documentation cuGraphLaunch may block, and
   then the launches of other threads block, too. For the same reason no rank may allocate or free memory, load modules,
   or instantiate graphs while the work of another rank waits for it. Neither restriction applies to one process per
   GPU. */
TILE_API tile_status tile_dist_run(tile_dist_plan *plan, void *stream, const void *a, const void *b, void *c);

/* Mixture of experts, moe_dispatch_gemm_combine: experts and tokens are distributed over the ranks. Each token is sent
   to the ranks of its experts, which multiply it; the results are sent back and added:

     y[t] = sum over k of weights[t, k] * expert ids[t, k] (x[t]),   expert(x) = (act(x @ gate^T) * (x @ up^T)) @ down^T

   A token is sent to a rank only once, even if several of its experts are there, and that rank returns only one row,
   the sum of its experts' results, rounded to the type of y. The order of summation is fixed. Only the GPUs read the
   routing, so a captured graph can be replayed with other ids and weights. */
typedef struct tile_dist_moe_shape {
  int64_t tokens;      /* maximum per rank */
  int64_t hidden;      /* elements of a token, a multiple of 8 */
  int64_t width;       /* elements between the layers of an expert; a multiple of 8 */
  int64_t experts;     /* total number; rank r has experts / size of them, the first of which is r * experts / size */
  int64_t top_k;       /* experts of a token */
  int64_t capacity;    /* maximum number of (token, expert) pairs that one rank computes. Further pairs add nothing and
                          are reported by tile_dist_synchronize on all ranks. 0: enough for any routing */
  tile_dist_type type; /* of x, weights of experts, and y */
} tile_dist_moe_shape;

/* Kernels, compiled from lib/Distributed/kernels: moe_route.tile for `route`, and so on. They must outlive the plan. */
typedef struct tile_dist_moe_kernels {
  tile_kernel *route, *push, *count, *place, *expand, *reduce, *combine;
  tile_kernel *gate_up; /* moe_gemm.tile with GATED=1; without it or `down`, tile_dist_moe_experts is not available */
  tile_kernel *down;    /* moe_gemm.tile */
  /* For a backward pass, which needs `down` as well. Without expand_gradient there is no backward pass. */
  tile_kernel *expand_gradient, *gather_weights;
  tile_kernel *gated_gradient;  /* must have the activation of gate_up */
  tile_kernel *back;            /* moe_gemm.tile with TRANS_B=0 */
  tile_kernel *weight_gradient; /* with ACCUMULATE=1, adds the gradients of experts' weights to the outputs */
  const tile_dist_argument *arguments;
  size_t argument_count;
} tile_dist_moe_kernels;

/* Collective. Allocates everything that runs need, and chooses a form. TILE_DIST_SEQUENTIAL: NCCL (which sends all
   tokens to all ranks) or pushes, and then the experts. TILE_DIST_CHUNKED: each rank sorts its own tokens while the
   tokens of other ranks arrive, rank by rank. The plan is destroyed and described like other plans. */
TILE_API tile_status tile_dist_moe_plan_create(tile_dist_comm *comm, const tile_dist_moe_shape *shape,
                                               const tile_dist_moe_kernels *kernels, tile_dist_form form,
                                               tile_dist_plan **plan);

typedef struct tile_dist_moe_operands {
  int64_t tokens;       /* of this rank, in this run: 0 to shape.tokens */
  const void *x;        /* [tokens, hidden] */
  const int32_t *ids;   /* [tokens, top_k]: experts, or -1 for none. Other invalid ids count as -1 and are reported
                           by tile_dist_synchronize */
  const float *weights; /* [tokens, top_k] */
  const void *gate_up;  /* for the rank's experts: [experts / size, 2 * width, hidden], gate before up */
  const void *down;     /* [experts / size, hidden, width] */
  void *y;              /* [tokens, hidden] */
} tile_dist_moe_operands;

/* Enqueues the operation in a stream of the rank's device. The rules of tile_dist_run apply. Operands must not overlap
   y. */
TILE_API tile_status tile_dist_moe_run(tile_dist_plan *plan, void *stream, const tile_dist_moe_operands *operands);

/* Do the same as tile_dist_moe_run in three steps. Other work, such as a shared expert, can be enqueued between the
   steps, and experts of another kind can replace the second step. Each run consists of all steps in this order. If the
   streams of the steps differ, the caller must order the steps. A step reads only the operands that its comment lists.
   */
TILE_API tile_status tile_dist_moe_dispatch(tile_dist_plan *plan, void *stream,
                                            const tile_dist_moe_operands *operands); /* tokens, x, ids, weights */
TILE_API tile_status tile_dist_moe_experts(tile_dist_plan *plan, void *stream,
                                           const tile_dist_moe_operands *operands); /* gate_up, down */
TILE_API tile_status tile_dist_moe_combine(tile_dist_plan *plan, void *stream,
                                           const tile_dist_moe_operands *operands); /* tokens, y */

/* The backward pass of a run. It uses the tokens, routing, rows and results that the run has left in the plan, so it
   must follow the run before the next run of the same plan, and at most once; each layer of a model needs its own plan.
   With dr = weights[t, k] * dy[t] for each (token, expert) pair, and the recomputed values (gate, up, between) of the
   expert:

     dweights[t, k] = dy[t] . expert ids[t, k] (x[t])         ddown[e] = sum over e's pairs of dr^T @ between
     dx[t] = sum over k of (dgate @ gate + dup @ up)          dgate_up[e] = sum over e's pairs of (dgate, dup)^T @ x[t]

   Like a token, its gradient is sent to a rank only once, and each rank returns its part of dx as one sum for each
   token. Gradients of rows are rounded to shape.type; gradients of weights are fp32. A pair that adds nothing has
   dweights 0 and contributes to no other gradient; an expert without tokens has gradients 0. */
typedef struct tile_dist_moe_gradients {
  int64_t tokens;      /* as in the run */
  const void *dy;      /* [tokens, hidden] */
  const void *gate_up; /* as in the run */
  const void *down;
  void *dx;        /* [tokens, hidden] */
  float *dweights; /* [tokens, top_k] */
  float *dgate_up; /* [experts / size, 2 * width, hidden] */
  float *ddown;    /* [experts / size, hidden, width] */
} tile_dist_moe_gradients;

/* Enqueues the backward pass in a stream of the rank's device. The rules of tile_dist_run apply, and a run and its
   backward pass may be in one graph. Outputs must not overlap other operands. */
TILE_API tile_status tile_dist_moe_backward(tile_dist_plan *plan, void *stream,
                                            const tile_dist_moe_gradients *gradients);

/* Do the same as tile_dist_moe_backward in three steps, like those of a run. After the first step,
   tile_dist_moe_info.gradients contains the gradients of the experts' results. The third step sends
   tile_dist_moe_info.results, which then contains the gradients of the rows, back to the owners of the tokens. */
TILE_API tile_status tile_dist_moe_backward_dispatch(tile_dist_plan *plan, void *stream,
                                                     const tile_dist_moe_gradients *gradients); /* tokens, dy */
TILE_API tile_status tile_dist_moe_backward_experts(
    tile_dist_plan *plan, void *stream, const tile_dist_moe_gradients *gradients); /* gate_up, down, dgate_up, ddown */
TILE_API tile_status tile_dist_moe_backward_combine(
    tile_dist_plan *plan, void *stream, const tile_dist_moe_gradients *gradients); /* tokens, dx, dweights */

typedef struct tile_dist_moe_info {
  int64_t capacity;      /* rows */
  const void *rows;      /* [capacity, hidden]: after `dispatch`, the tokens of the rank's experts, ordered by expert */
  const int32_t *starts; /* [experts / size + 1]: the rows of expert e are starts[e] to starts[e + 1] - 1 */
  void *results;         /* [capacity, hidden]: the input of `combine` */
  const void *gradients; /* [capacity, hidden], after `backward_dispatch`; NULL without a backward pass */
} tile_dist_moe_info;
TILE_API tile_status tile_dist_moe_describe(const tile_dist_plan *plan, tile_dist_moe_info *info);

#ifdef __cplusplus
}
#endif
#endif
