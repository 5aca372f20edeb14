// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for running an artifact on a device; the table is in the header.
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

Status checkTarget(std::string_view targetName, bool isPtx, int deviceMajor, int deviceMinor) {
  Result<Target> parsed = parseTarget(targetName);
  if (!parsed)
    return parsed.error();
  const Target target = *parsed;
  const bool sameMajor = deviceMajor == target.major;
  const char *rule = "";
  bool runs = false;
  if (target.suffix == 'a') {
    runs = sameMajor && deviceMinor == target.minor;
    rule = "architecture-specific code runs on exactly that compute capability";
  } else if (target.suffix == 'f' || !isPtx) {
    runs = sameMajor && deviceMinor >= target.minor;
    rule = "a cubin runs on the same major version from its own minor version on";
  } else {
    runs = deviceMajor > target.major || (sameMajor && deviceMinor >= target.minor);
    rule = "PTX runs on its own compute capability and later ones";
  }
  if (runs)
    return Success{};
  return makeError(TILE_ERROR_ARCHITECTURE,
                   "the {} is compiled for {} but the device has compute capability {}.{} (sm_{}{}); {}; compile with "
                   "--target=sm_{}{}",
                   isPtx ? "PTX" : "cubin", targetName, deviceMajor, deviceMinor, deviceMajor, deviceMinor, rule,
                   deviceMajor, deviceMinor);
}

} // namespace tile::runtime
