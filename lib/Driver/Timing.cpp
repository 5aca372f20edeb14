// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the table of times.
#include "Driver/Timing.h"

#include "llvm/Support/Format.h"

namespace tile::driver {

Timing::Scope::Scope(Timing &timing, llvm::StringRef phase)
    : timing(timing), row(timing.rows.size()), start(Clock::now()) {
  timing.rows.push_back({phase.str(), false, {}});
}

Timing::Scope::~Scope() {
  timing.rows[row].time = Clock::now() - start;
}

void Timing::addPass(llvm::StringRef name, Clock::duration time) {
  rows.push_back({name.str(), true, time});
}

static double seconds(Timing::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

std::vector<Timing::Slow> Timing::stepsOver(double limit) const {
  std::vector<Slow> slow;
  for (const Row *row = rows.data(), *end = row + rows.size(); row != end; ++row) {
    if (row->isPass || seconds(row->time) < limit)
      continue;
    slow.push_back({row->name, seconds(row->time), ""});
    for (const Row *pass = row + 1; pass != end && pass->isPass; ++pass)
      if (2 * pass->time > row->time)
        slow.back().slowestPass = pass->name;
  }
  return slow;
}

void Timing::print(llvm::raw_ostream &os) const {
  double total = seconds(Clock::now() - begin);
  os << "   Seconds   Share  Phase\n";
  for (const Row &row : rows) {
    double time = seconds(row.time);
    os << llvm::format("%10.4f", time);
    if (row.isPass)
      os << "            " << row.name << '\n';
    else
      os << llvm::format("  %4.0f %%  ", total > 0 ? 100 * time / total : 0) << row.name << '\n';
  }
  os << llvm::format("%10.4f   100 %%  total\n", total);
}

} // namespace tile::driver
