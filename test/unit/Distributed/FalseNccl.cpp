// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries that stand for NCCL: without its functions, too old, without one of them, or failing.
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
EXPORT const char *ncclGetErrorString(int) {
  return "the network is down";
}
#endif
