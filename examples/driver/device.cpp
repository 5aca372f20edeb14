// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.h"

#include "driver.h"

using driver::Address;
using driver::call;

void Device::check(int status, const char *what) {
  if (status != TILE_OK)
    throw std::runtime_error(std::string(what) + ": " + tile_last_error());
}

Device::Device() {
  tile = driver::open();
  deviceName = driver::deviceName();
  call("cuStreamCreate", &stream, 0u);
  call("cuEventCreate", &start, 0u);
  call("cuEventCreate", &end, 0u);
}

void *Device::allocateBytes(size_t bytes) {
  Address address = 0;
  call("cuMemAlloc_v2", &address, bytes);
  return reinterpret_cast<void *>(address);
}

void Device::copyTo(void *to, const void *from, size_t bytes) {
  call("cuMemcpyHtoD_v2", reinterpret_cast<Address>(to), from, bytes);
}

void Device::copyFrom(void *to, const void *from, size_t bytes) {
  wait();
  call("cuMemcpyDtoH_v2", to, reinterpret_cast<Address>(from), bytes);
}

void Device::clear(void *memory, size_t bytes) {
  call("cuMemsetD8Async", reinterpret_cast<Address>(memory), static_cast<unsigned char>(0), bytes, stream);
}

void Device::wait() {
  call("cuStreamSynchronize", stream);
}

void Device::startClock() {
  call("cuEventRecord", start, stream);
}

float Device::stopClock() {
  float milliseconds = 0;
  call("cuEventRecord", end, stream);
  call("cuEventSynchronize", end);
  call("cuEventElapsedTime", &milliseconds, start, end);
  return milliseconds;
}

std::vector<double> decode(const std::vector<_Float16> &values) {
  return {values.begin(), values.end()};
}
