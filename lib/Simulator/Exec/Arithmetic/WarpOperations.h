// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code shared by the .sync instructions of a warp, which wait until all lanes of the member mask have arrived.
#pragma once

#include "Simulator/Exec/Decoding.h"

#include <algorithm>

namespace tile::sim {

class WarpOperation : public Operation {
public:
  explicit WarpOperation(Source<uint32_t> members) : members(members) {}

  /// Executes the operation for each group of lanes with the same member mask; the groups exchange values separately.
  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const final;
  std::string describeWait(const Warp &warp, const Fragment &fragment) const override;

protected:
  /// Exchanges values among the lanes of the group that have not exited, all of which are active.
  virtual void exchange(Warp &warp, LaneMask group) const = 0;

private:
  Source<uint32_t> members;
};

Result<OperationPtr> decodeShuffle(Decoding &d);

} // namespace tile::sim
