// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/Environment.h"

#include <charconv>
#include <string>

using tile::runtime::Error;
using tile::runtime::makeError;
using tile::runtime::Result;

namespace tile::dist {
namespace {

struct Launcher {
  const char *rank, *size, *localRank;
};
constexpr Launcher launchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

class Reader {
public:
  Reader(tile_dist_variable get, void *user) : get(get), user(user) {}

  std::string text(const char *name) const {
    const char *value = get(user, name);
    return value ? value : "";
  }
  Result<int> number(const char *name) const {
    const std::string value = text(name);
    int result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (value.empty() || error != std::errc() || end != value.data() + value.size() || result < 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} is '{}'; expected a number", name, value);
    return result;
  }

private:
  tile_dist_variable get;
  void *user;
};

} // namespace

std::string firstHost(std::string_view list) {
  const size_t end = list.find_first_of("[,");
  std::string host(list.substr(0, end));
  if (end == std::string_view::npos || list[end] == ',')
    return host;
  const std::string_view numbers = list.substr(end + 1);
  return host.append(numbers.substr(0, numbers.find_first_of("-,]")));
}

Result<Launch> readLaunch(tile_dist_variable get, void *user) {
  const Reader reader(get, user);
  for (const Launcher &launcher : launchers) {
    if (reader.text(launcher.rank).empty())
      continue;
    Launch launch;
    Result<int> rank = reader.number(launcher.rank), size = reader.number(launcher.size);
    if (!rank || !size)
      return (rank ? size : rank).error();
    launch.rank = *rank;
    launch.size = *size;
    if (launch.rank >= launch.size)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} is {} but {} is {}", launcher.rank, *rank, launcher.size,
                       *size);
    launch.localRank = launch.rank;
    if (!reader.text(launcher.localRank).empty()) {
      Result<int> local = reader.number(launcher.localRank);
      if (!local)
        return local.error();
      launch.localRank = *local;
    }
    std::string host = reader.text("MASTER_ADDR"), port = reader.text("MASTER_PORT");
    if (host.empty())
      host = firstHost(reader.text("SLURM_JOB_NODELIST"));
    if (host.empty()) // mpirun on a single host
      host = "127.0.0.1";
    if (port.empty()) {
      port = "29400";
    } else {
      // torchrun itself listens on MASTER_PORT, so use the next one.
      Result<int> number = reader.number("MASTER_PORT");
      if (!number)
        return number.error();
      constexpr int largest = 65534;
      if (*number < 1 || *number > largest)
        return makeError(TILE_ERROR_INVALID_ARGUMENT,
                         "MASTER_PORT is {}; expected 1 to {}, since rank 0 listens on the following port", *number,
                         largest);
      port = std::to_string(*number + 1);
    }
    launch.address = host + ":" + port;
    return launch;
  }
  // In shells, schedulers set their own variables but no rank, so these are ignored. WORLD_SIZE is set by launchers
  // only.
  if (const std::string size = reader.text("WORLD_SIZE"); !size.empty() && size != "1")
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "WORLD_SIZE is {} but RANK is not set", size);
  return Launch();
}

} // namespace tile::dist
