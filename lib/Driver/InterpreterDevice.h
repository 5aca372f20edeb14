// The reference interpreter as a device of the runner, so that it shares buffers, references and checks with GPUs.
#pragma once

#include "Runner/Device.h"
#include "Tile/TileDialect.h"

#include <memory>

namespace tile::driver {

/// `kernel` must outlive the device.
std::unique_ptr<runner::Device> createInterpreterDevice(KernelOp kernel);

} // namespace tile::driver
