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

void Timing::print(llvm::raw_ostream &os) const {
  auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
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
