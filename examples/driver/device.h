// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A GPU, or the simulator if there is no GPU: memory, a stream, launches, timing.
#pragma once

#include "tile/tilert.h"

#include <cstdint>
#include <string>
#include <vector>

/// Converts 16-bit floats from the device to double.
std::vector<double> decode(const std::vector<_Float16> &values);

class Device {
public:
  /// Throws if there is neither a GPU nor the simulator.
  Device();
  tile_runtime *runtime() const { return tile; }
  bool isSimulated() const { return deviceName == "tile simulator"; }
  const std::string &name() const { return deviceName; }

  /// Allocates memory that is freed when the program ends.
  template <typename T> T *allocate(size_t count) { return reinterpret_cast<T *>(allocateBytes(count * sizeof(T))); }
  template <typename T> T *upload(const std::vector<T> &values) {
    T *result = allocate<T>(values.size());
    copyTo(result, values.data(), values.size() * sizeof(T));
    return result;
  }
  template <typename T> std::vector<T> download(const T *from, size_t count) {
    std::vector<T> values(count);
    copyFrom(values.data(), from, count * sizeof(T));
    return values;
  }
  void clear(void *memory, size_t bytes);

  /// Allows a kernel to start before its predecessor ends (programmatic dependent launch). libtilert does so only for
  /// kernels that wait for the predecessor before they access memory.
  bool overlaps = true;
  template <typename... Arguments> void launch(tile_kernel *kernel, Arguments... arguments) {
    void *pointers[] = {&arguments...};
    tile_launch_options options = {};
    options.stream = stream;
    options.overlap = overlaps;
    check(tile_launch(kernel, &options, pointers, sizeof...(arguments)), "launch");
  }
  void wait();
  /// Returns the device time of `repetitions` calls to `work` in milliseconds.
  template <typename Work> float time(const Work &work, int repetitions = 1) {
    startClock();
    for (int i = 0; i < repetitions; ++i)
      work();
    return stopClock() / float(repetitions);
  }

  static void check(int status, const char *what);

private:
  void *allocateBytes(size_t bytes);
  void copyTo(void *to, const void *from, size_t bytes);
  void copyFrom(void *to, const void *from, size_t bytes);
  void startClock();
  float stopClock();

  tile_runtime *tile = nullptr;
  void *stream = nullptr, *start = nullptr, *end = nullptr;
  std::string deviceName;
};
