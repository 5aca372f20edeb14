// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams, events and captured graphs.
#include "SimDriver/CudaRuntime/Runtime.h"

using namespace tile::sim::cudart;

EXPORT cudaError cudaStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  return call([=] { return cuStreamCreateWithPriority(stream, flags, priority); });
}
EXPORT cudaError cudaStreamCreateWithFlags(CUstream *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
EXPORT cudaError cudaStreamCreate(CUstream *stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
EXPORT cudaError cudaStreamDestroy(CUstream stream) {
  return call([=] { return cuStreamDestroy_v2(stream); });
}
EXPORT cudaError cudaStreamSynchronize(CUstream stream) {
  return call([=] { return cuStreamSynchronize(stream); });
}
EXPORT cudaError cudaStreamQuery(CUstream stream) {
  return call([=] { return cuStreamQuery(stream); });
}
EXPORT cudaError cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return call([=] { return cuStreamWaitEvent(stream, event, flags); });
}
EXPORT cudaError cudaStreamIsCapturing(CUstream stream, int *status) {
  return call([=] { return cuStreamIsCapturing(stream, status); });
}
EXPORT cudaError cudaStreamBeginCapture(CUstream stream, int mode) {
  return call([=] { return cuStreamBeginCapture_v2(stream, mode); });
}
EXPORT cudaError cudaStreamEndCapture(CUstream stream, CUgraph *graph) {
  return call([=] { return cuStreamEndCapture(stream, graph); });
}
EXPORT cudaError cudaGraphInstantiate(CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
  return call([=] { return cuGraphInstantiateWithFlags(executable, graph, flags); });
}
EXPORT cudaError cudaGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
EXPORT cudaError cudaGraphLaunch(CUgraphExec executable, CUstream stream) {
  return call([=] { return cuGraphLaunch(executable, stream); });
}
EXPORT cudaError cudaGraphExecDestroy(CUgraphExec executable) {
  return call([=] { return cuGraphExecDestroy(executable); });
}
EXPORT cudaError cudaGraphDestroy(CUgraph graph) {
  return call([=] { return cuGraphDestroy(graph); });
}

EXPORT cudaError cudaEventCreateWithFlags(CUevent *event, unsigned flags) {
  return call([=] { return cuEventCreate(event, flags); });
}
EXPORT cudaError cudaEventCreate(CUevent *event) {
  return cudaEventCreateWithFlags(event, 0);
}
EXPORT cudaError cudaEventDestroy(CUevent event) {
  return call([=] { return cuEventDestroy_v2(event); });
}
EXPORT cudaError cudaEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return call([=] { return cuEventRecord(event, stream); });
}
EXPORT cudaError cudaEventRecord(CUevent event, CUstream stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
EXPORT cudaError cudaEventQuery(CUevent event) {
  return call([=] { return cuEventQuery(event); });
}
EXPORT cudaError cudaEventSynchronize(CUevent event) {
  return call([=] { return cuEventSynchronize(event); });
}
EXPORT cudaError cudaEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  return call([=] { return cuEventElapsedTime(milliseconds, start, end); });
}
