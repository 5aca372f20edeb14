// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for running an artifact on a device; the header has the table.
#include "Runtime/Target.h"

#include <cctype>

namespace tile::runtime {

Result<Target> parseTarget(std::string_view name) {
  const Error error = makeError(TILE_ERROR_MANIFEST, "target '{}' is not of the form sm_90 or sm_90a", name);
  if (name.substr(0, 3) != "sm_")
    return error;
  std::string_view digits = name.substr(3);
  Target target;
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
    target.suffix = digits.back();
    digits.remove_suffix(1);
  }
  if (digits.size() < 2 || digits.size() > 3)
    return error;
  int number = 0;
  for (char c : digits) {
    if (!std::isdigit(static_cast<unsigned char>(c)))
      return error;
    number = number * 10 + (c - '0');
  }
  target.major = number / 10;
  target.minor = number % 10;
  return target;
}

/// Returns the rule that prevents the device from running the code; empty if there is none.
static std::string_view findObstacle(const Target &code, bool isPtx, const Target &device) {
  const bool sameMajor = device.major == code.major;
  if (code.suffix == 'a')
    return sameMajor && device.minor == code.minor && device.suffix == 'a'
               ? ""
               : "architecture-specific code runs on exactly that compute capability";
  if (code.suffix == 'f')
    return sameMajor && device.minor >= code.minor && device.suffix != 0
               ? ""
               : "family-specific code runs on the same major version from its own minor version on";
  if (!isPtx)
    return sameMajor && device.minor >= code.minor
               ? ""
               : "a cubin runs on the same major version from its own minor version on";
  return device.major > code.major || (sameMajor && device.minor >= code.minor)
             ? ""
             : "PTX runs on its own compute capability and later ones";
}

Status checkTarget(std::string_view targetName, bool isPtx, std::string_view deviceName) {
  Result<Target> target = parseTarget(targetName);
  Result<Target> device = parseTarget(deviceName);
  if (!target || !device)
    return target ? device.error() : target.error();
  const std::string_view rule = findObstacle(*target, isPtx, *device);
  if (rule.empty())
    return Success{};
  return makeError(TILE_ERROR_ARCHITECTURE, "the {} is compiled for {}, which {} cannot run; {}",
                   isPtx ? "PTX" : "cubin", targetName, deviceName, rule);
}

/// Returns the suffix of the tilec target that provides all instructions of devices of this major version.
static std::string_view suffixOfBestTarget(int major) {
  constexpr int hopper = 9, blackwell = 10;
  return major < hopper ? "" : major == blackwell ? "f" : "a";
}

Status checkTarget(std::string_view targetName, bool isPtx, int deviceMajor, int deviceMinor) {
  Result<Target> target = parseTarget(targetName);
  if (!target)
    return target.error();
  const std::string_view rule = findObstacle(*target, isPtx, {deviceMajor, deviceMinor, 'a'});
  if (rule.empty())
    return Success{};
  return makeError(TILE_ERROR_ARCHITECTURE,
                   "the {} is compiled for {} but the device has compute capability {}.{} (sm_{}{}); {}; compile with "
                   "--target=sm_{}{}{}",
                   isPtx ? "PTX" : "cubin", targetName, deviceMajor, deviceMinor, deviceMajor, deviceMinor, rule,
                   deviceMajor, deviceMinor, suffixOfBestTarget(deviceMajor));
}

} // namespace tile::runtime
