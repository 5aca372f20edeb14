// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.h"

#include <stdexcept>

namespace {

/// Returns the name of an element type in kernels, such as "f32"; empty for vector types and types that kernels do not
/// support.
std::string nameOf(DLDataType type) {
  static constexpr const char *letters[] = {"i", "u", "f"};
  if (type.lanes != 1 || type.code > kDLBfloat)
    return "";
  if (type.code == kDLBfloat)
    return "bf" + std::to_string(type.bits);
  return type.code <= kDLFloat ? letters[type.code] + std::to_string(type.bits) : "";
}

uint64_t addressOf(const DLTensor &tensor, const tile_parameter &parameter, int device) {
  const std::string name = "tensor '" + std::string(parameter.name) + "'";
  // Managed memory is accessible from all devices.
  const bool isOnDevice = tensor.device.device_type == kDLCUDA && tensor.device.device_id == device;
  if (!isOnDevice && tensor.device.device_type != kDLCUDAManaged)
    throw std::invalid_argument(name + " is on device " + std::to_string(tensor.device.device_id) + " of kind " +
                                std::to_string(tensor.device.device_type) + ", not on CUDA device " +
                                std::to_string(device));
  const std::string type = nameOf(tensor.dtype);
  if ("ptr<" + type + ">" != parameter.type)
    throw std::invalid_argument(name + " has elements of type " + (type.empty() ? "that kernels do not have" : type) +
                                ", not " + parameter.type);
  return reinterpret_cast<uint64_t>(tensor.data) + tensor.byte_offset;
}

} // namespace

void launch(tile_kernel *kernel, void *stream, int device, const std::vector<Argument> &arguments) {
  std::vector<tile_value> values;
  for (const Argument &argument : arguments) {
    tile_parameter parameter = {};
    if (tile_kernel_parameter(kernel, uint32_t(values.size()), &parameter) != TILE_OK)
      throw std::invalid_argument(tile_last_error());
    tile_value value = {};
    if (const auto *tensor = std::get_if<const DLTensor *>(&argument)) {
      value.kind = TILE_POINTER;
      value.as.pointer = addressOf(**tensor, parameter, device);
    } else {
      value.kind = TILE_INTEGER;
      value.as.integer = std::get<int64_t>(argument);
    }
    values.push_back(value);
  }
  tile_launch_options options = {};
  options.stream = stream;
  if (tile_launch_values(kernel, &options, values.data(), values.size()) != TILE_OK)
    throw std::runtime_error(tile_last_error());
}

int64_t rowStride(const DLTensor &tensor) {
  if (tensor.ndim != 2)
    throw std::invalid_argument("a tensor of " + std::to_string(tensor.ndim) + " dimensions is not a matrix");
  if (!tensor.strides) // contiguous
    return tensor.shape[1];
  if (tensor.strides[1] != 1)
    throw std::invalid_argument("the elements of a row are " + std::to_string(tensor.strides[1]) + " apart, not 1");
  return tensor.strides[0];
}
