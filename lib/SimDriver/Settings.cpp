// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimDriver/Settings.h"

#include <charconv>
#include <fmt/format.h>

namespace tile::sim {

using runtime::makeError;

namespace {

/// The parts of a target such as sm_100a: the number 100, and the letter, or 0 if there is none.
struct Architecture {
  unsigned number = 0;
  char letter = 0;
};

std::optional<Architecture> parse(std::string_view target) {
  constexpr std::string_view prefix = "sm_";
  if (!target.starts_with(prefix))
    return std::nullopt;
  target.remove_prefix(prefix.size());
  Architecture parsed;
  const auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), parsed.number);
  const std::string_view letter = target.substr(end - target.data());
  if (error != std::errc() || (!letter.empty() && letter != "a" && letter != "f"))
    return std::nullopt;
  parsed.letter = letter.empty() ? 0 : letter.front();
  return parsed;
}

} // namespace

runtime::Result<Settings> Settings::read(const char *target, const char *check, const char *order) {
  Settings settings;
  if (target && *target) {
    const std::optional<Architecture> parsed = parse(target);
    if (!parsed || parsed->number < 50 || parsed->number > 999)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "TILE_SIM_DEVICE is '{}'; expected a target such as sm_100a",
                       target);
    settings.target = target;
    settings.major = int(parsed->number / 10);
    settings.minor = int(parsed->number % 10);
  }
  const std::string_view how = check ? check : "";
  if (how == "warn")
    settings.check = Check::Warn;
  else if (how == "off")
    settings.check = Check::Off;
  else if (!how.empty() && how != "fail")
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "TILE_SIM_CHECK is '{}'; expected fail, warn or off", how);
  const std::string_view seed = order ? order : "";
  uint64_t first = 0;
  const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), first);
  if (!seed.empty() && (error != std::errc() || end != seed.data() + seed.size()))
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "TILE_SIM_ORDER is '{}'; expected a number", seed);
  if (!seed.empty())
    settings.order = first;
  return settings;
}

/// PTX ISA, ".target": code for a target without a letter runs on that GPU and on all later ones; with `a` it runs only
/// on that GPU, and with `f` also on GPUs of the same family with a higher minor version.
bool Settings::runs(std::string_view moduleTarget) const {
  const std::optional<Architecture> module = parse(moduleTarget);
  if (target.empty() || !module)
    return target.empty();
  const unsigned device = unsigned(10 * major + minor);
  if (module->letter == 'a')
    return module->number == device;
  return module->number <= device && (module->letter == 0 || module->number / 10 == unsigned(major));
}

} // namespace tile::sim
