// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of the tools that record results of a GPU: checked driver calls, the path of a module, and the command line.
#pragma once

#include "Runtime/Driver.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tile::sim {

/// Prints the call that failed.
inline bool check(const runtime::Driver &driver, runtime::CUresult result, const std::string &what) {
  if (result == runtime::cuda::success)
    return true;
  const char *text = "";
  driver.getErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what.c_str(), text);
  return false;
}

/// Loads the cubin on the first GPU, in its primary context.
inline bool openModule(const runtime::Driver &driver, const std::vector<char> &cubin, runtime::CUmodule &module) {
  runtime::CUdevice device = 0;
  runtime::CUcontext context = nullptr;
  return check(driver, driver.init(0), "cuInit") && check(driver, driver.deviceGet(&device, 0), "cuDeviceGet") &&
         check(driver, driver.primaryContextRetain(&context, device), "cuDevicePrimaryCtxRetain") &&
         check(driver, driver.contextSetCurrent(context), "cuCtxSetCurrent") &&
         check(driver, driver.moduleLoadDataEx(&module, cubin.data(), 0, nullptr, nullptr), "cuModuleLoadDataEx");
}

inline std::vector<char> readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The commands of a recording tool; the functions return exit codes.
struct RecordingTool {
  const char *name;
  std::string (*ptx)();                           ///< the module of all cases
  int (*run)(const char *cubin, const char *raw); ///< all results, on a GPU
  int (*compare)(const char *raw);                ///< compares them with the simulator
  int (*record)(const char *raw, const char *summary);
};

inline int runTool(const RecordingTool &tool, int count, char **arguments) {
  std::string command = count > 1 ? arguments[1] : "";
  if (command == "ptx" && count == 2)
    return std::fputs(tool.ptx().c_str(), stdout) < 0;
  if (command == "run" && count == 4)
    return tool.run(arguments[2], arguments[3]);
  if (command == "compare" && count == 3)
    return tool.compare(arguments[2]);
  if (command == "record" && count == 4)
    return tool.record(arguments[2], arguments[3]);
  std::fprintf(stderr, "usage: %s ptx | run CUBIN RAW | compare RAW | record RAW FILE\n", tool.name);
  return 2;
}

} // namespace tile::sim
