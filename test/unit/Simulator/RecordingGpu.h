// What the tools that record results of a GPU share: the driver's calls with their errors, and the way to a module.
#pragma once

#include "Runtime/Driver.h"

#include <cstdio>
#include <string>
#include <vector>

namespace tile::sim {

/// Prints what failed.
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

} // namespace tile::sim
