// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The assignment of programs to warps: "#: schedule = pingpong", --schedule=pingpong.
#pragma once

#include <optional>
#include <string_view>

namespace tile::frontend {

enum class Schedule {
  Cooperative, ///< all warps of a CTA together
  PingPong,    ///< one of two warp groups, which alternate between programs
  Open,        ///< `auto`
};

constexpr std::optional<Schedule> parseSchedule(std::string_view name) {
  if (name == "cooperative")
    return Schedule::Cooperative;
  if (name == "pingpong")
    return Schedule::PingPong;
  return name == "auto" ? std::optional(Schedule::Open) : std::nullopt;
}

} // namespace tile::frontend
