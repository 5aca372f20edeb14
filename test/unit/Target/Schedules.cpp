// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Schedules.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace tile::target {
namespace {

/// "p64x128_k128": p or c, the tile, then the cluster, or the K tile if it is not 64.
std::optional<Measurement> parseSchedule(const std::string &name) {
  char kind = 0;
  unsigned m = 0, n = 0;
  if (std::sscanf(name.c_str(), "%c%ux%u", &kind, &m, &n) != 3)
    return std::nullopt;
  auto isPowerOfTwo = [](unsigned value) { return (value & (value - 1)) == 0; };
  if (!isPowerOfTwo(m) || name == "c128x256_2x1")
    return std::nullopt; // 128x256 was also measured without a cluster
  // With this compiler 64x128 tiles are faster by steps of 64 (1024x1024x8192: 34.5 us against 35.7).
  if (name.ends_with("k128"))
    return std::nullopt;
  Measurement row{};
  row.pingPong = kind == 'p';
  row.config = {m, n, 64, 8, row.pingPong ? 4u : 8u, 4, true};
  return row;
}

GemmProblem problemOf(const std::string &shape) {
  long m = 0, n = 0, k = 0;
  std::sscanf(shape.c_str(), "%ldx%ldx%ld", &m, &n, &k);
  return {.m = m, .n = n, .k = k, .element = MmaType::BF16, .aKMajor = true, .bKMajor = true};
}

void sortBySize(std::vector<MeasuredShape> &shapes) {
  std::sort(shapes.begin(), shapes.end(), [](const MeasuredShape &a, const MeasuredShape &b) {
    auto size = [](const GemmProblem &p) { return double(p.m) * p.n * p.k; };
    return size(a.problem) < size(b.problem);
  });
}

} // namespace

double MeasuredShape::bestRatio() const {
  double best = 0;
  for (const Measurement &row : rows)
    best = std::max(best, row.ratio);
  return best;
}

std::optional<double> MeasuredShape::ratioOf(const GemmConfig &config) const {
  std::optional<double> best;
  for (const Measurement &row : rows) {
    bool isSame =
        row.config.blockM == config.blockM && row.config.blockN == config.blockN && row.config.blockK == config.blockK;
    if (isSame && (row.pingPong || row.config.numWarps == config.numWarps))
      best = std::max(best.value_or(0), row.ratio);
  }
  return best;
}

std::vector<MeasuredShape> readSchedules(const std::string &path) {
  std::map<std::string, MeasuredShape> shapes;
  std::map<std::string, std::vector<double>> cublas;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line); // the header
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string shape, schedule;
    double ratio = 0, swizzle = 0, microseconds = 0, peer = 0;
    if (!(fields >> shape >> schedule >> ratio >> swizzle >> microseconds >> peer))
      continue;
    cublas[shape].push_back(peer);
    std::optional<Measurement> row = parseSchedule(schedule);
    if (!row)
      continue;
    row->ratio = ratio;
    MeasuredShape &entry = shapes[shape];
    entry.name = shape;
    entry.problem = problemOf(shape);
    entry.problem.splitTail = false;
    entry.rows.push_back(*row);
  }
  std::vector<MeasuredShape> result;
  for (auto &[name, shape] : shapes) {
    std::vector<double> &times = cublas[name];
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    for (Measurement &row : shape.rows)
      row.microseconds = times[times.size() / 2] / row.ratio;
    result.push_back(std::move(shape));
  }
  sortBySize(result);
  return result;
}

std::vector<MeasuredShape> readTiles(const std::string &path) {
  std::map<std::string, MeasuredShape> shapes;
  std::ifstream file(path);
  std::string line, shape, tile;
  std::getline(file, line); // the header
  for (double microseconds, peer; file >> shape >> tile >> microseconds >> peer;) {
    Measurement row{};
    row.config.groupM = 8;
    row.config.numStages = 4;
    row.config.wgmma = true;
    std::sscanf(tile.c_str(), "%ux%ux%u-w%u", &row.config.blockM, &row.config.blockN, &row.config.blockK,
                &row.config.numWarps);
    row.microseconds = microseconds;
    row.ratio = peer / microseconds;
    MeasuredShape &entry = shapes[shape];
    entry.name = shape;
    entry.problem = problemOf(shape);
    entry.problem.aKMajor = entry.problem.bKMajor = true;
    entry.rows.push_back(row);
  }
  std::vector<MeasuredShape> result;
  for (auto &[name, entry] : shapes)
    result.push_back(std::move(entry));
  sortBySize(result);
  return result;
}

} // namespace tile::target
