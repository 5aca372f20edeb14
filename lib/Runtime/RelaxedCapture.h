// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets the calling thread allocate and load modules while a stream is being captured, by this thread or another.
// Otherwise such calls would invalidate the capture (CUDA driver API, cuThreadExchangeStreamCaptureMode).
#pragma once

#include "Runtime/Driver.h"

namespace tile::runtime {

class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver(driver) { exchange(); }
  ~RelaxedCapture() { exchange(); }

private:
  void exchange() { // on failure, the following driver calls fail and are reported
    if (driver.threadExchangeCaptureMode)
      (void)driver.threadExchangeCaptureMode(&mode);
  }
  const Driver &driver;
  int mode = cuda::captureRelaxed;
};

} // namespace tile::runtime
