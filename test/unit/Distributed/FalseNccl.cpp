// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries in place of NCCL: without its functions, too old, lacking one function, failing, or waiting for other ranks
// until aborted, in the call that FALSE_NCCL_WAITS names.
#ifdef NCCL_IS_WAITING
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#endif

#define EXPORT extern "C" __attribute__((visibility("default")))

#ifndef NCCL_IS_ABSENT
EXPORT int ncclGetVersion(int *version) {
#ifdef NCCL_IS_OLD
  *version = 21003;
#else
  *version = 22809;
#endif
  return 0;
}
#endif

#ifdef NCCL_IS_FAILING
constexpr int systemError = 2;
EXPORT int ncclGetUniqueId(void *) {
  return 0;
}
struct Id {
  char bytes[128];
};
EXPORT int ncclCommInitRank(void **, int, Id, int) {
  return systemError;
}
EXPORT int ncclCommDestroy(void *) {
  return 0;
}
EXPORT int ncclCommAbort(void *) {
  return 0;
}
EXPORT int ncclCommGetAsyncError(void *, int *) {
  return 0;
}
EXPORT int ncclAllGather() {
  return systemError;
}
EXPORT int ncclReduceScatter() {
  return systemError;
}
EXPORT int ncclAllReduce() {
  return systemError;
}
EXPORT int ncclSend() {
  return systemError;
}
EXPORT int ncclRecv() {
  return systemError;
}
EXPORT int ncclGroupStart() {
  return systemError;
}
EXPORT int ncclGroupEnd() {
  return systemError;
}
EXPORT const char *ncclGetErrorString(int) {
  return "the network is down";
}
#endif

#ifdef NCCL_IS_WAITING
static std::atomic<bool> isAborted = false;
EXPORT std::atomic<bool> falseNcclMayAbort;
std::atomic<bool> falseNcclMayAbort = false;

static int waitIn(const char *call) {
  constexpr int remoteError = 6, microseconds = 1000;
  const char *named = std::getenv("FALSE_NCCL_WAITS");
  if (!named || std::strcmp(named, call) != 0)
    return 0;
  std::puts("reached");
  std::fflush(stdout);
  while (!isAborted)
    usleep(microseconds);
  return remoteError;
}

struct Id {
  char bytes[128];
};
EXPORT int ncclGetUniqueId(void *) {
  return 0;
}
EXPORT int ncclCommInitRank(void **comm, int, Id, int) {
  *comm = &isAborted;
  return waitIn("init");
}
EXPORT int ncclCommDestroy(void *) {
  return waitIn("destroy");
}
EXPORT int ncclCommAbort(void *) {
  const char *phase = std::getenv("FALSE_NCCL_WAITS");
  if (phase && std::strcmp(phase, "flag") == 0 && !falseNcclMayAbort) {
    std::puts("NCCL was aborted while work waits for flags");
    std::fflush(stdout);
    _exit(1);
  }
  isAborted = true;
  return 0;
}
EXPORT int ncclCommGetAsyncError(void *, int *result) {
  *result = 0;
  return 0;
}
EXPORT int ncclAllGather() {
  return waitIn("collective");
}
EXPORT int ncclReduceScatter() {
  return 0;
}
EXPORT int ncclAllReduce() {
  return 0;
}
EXPORT int ncclSend() {
  return 0;
}
EXPORT int ncclRecv() {
  return 0;
}
EXPORT int ncclGroupStart() {
  return 0;
}
EXPORT int ncclGroupEnd() {
  return 0;
}
EXPORT const char *ncclGetErrorString(int) {
  return "another rank has ended";
}
#endif
