// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimDriver/Capture.h"

using namespace tile::runtime;

namespace tile::sim {
namespace {

// CUDA driver API, CUresult.
constexpr CUresult illegalState = 401, captureUnsupported = 900, captureMerge = 902, captureUnmatched = 903,
                   captureUnjoined = 904, captureIsolation = 905;

} // namespace

void Captures::add(CUstream stream, Work work) {
  Progress &progress = streams.at(stream);
  progress.capture->steps.push_back({std::move(work), stream, progress.predecessors});
  progress.predecessors.insert(progress.capture->steps.size() - 1);
}

CUresult Captures::begin(CUstream stream) {
  if (!stream) // the legacy default stream
    return captureUnsupported;
  if (isCaptured(stream))
    return illegalState;
  streams[stream].capture = std::make_shared<Capture>(Capture{stream, {}});
  return cuda::success;
}

CUresult Captures::end(CUstream stream, std::unique_ptr<Graph> &graph) {
  const auto found = streams.find(stream);
  if (found == streams.end())
    return illegalState;
  const std::shared_ptr<Capture> capture = found->second.capture;
  if (capture->origin != stream)
    return captureUnmatched;
  const bool isJoined = found->second.predecessors.size() == capture->steps.size();
  std::erase_if(streams, [&](const auto &entry) { return entry.second.capture == capture; });
  std::erase_if(events, [&](const auto &entry) { return entry.second.capture == capture; });
  if (!isJoined)
    return captureUnjoined;
  graph = std::make_unique<Graph>(std::move(capture->steps));
  return cuda::success;
}

bool Captures::record(CUevent event, CUstream stream) {
  const auto found = streams.find(stream);
  if (found == streams.end()) {
    events.erase(event);
    return false;
  }
  events[event] = found->second;
  return true;
}

CUresult Captures::wait(CUstream stream, CUevent event) {
  const auto recorded = events.find(event);
  const auto waiting = streams.find(stream);
  if (recorded == events.end())
    return waiting == streams.end() ? cuda::success : captureIsolation;
  if (waiting == streams.end()) {
    streams[stream] = recorded->second;
    return cuda::success;
  }
  if (waiting->second.capture != recorded->second.capture)
    return captureMerge;
  waiting->second.predecessors.insert(recorded->second.predecessors.begin(), recorded->second.predecessors.end());
  return cuda::success;
}

} // namespace tile::sim
