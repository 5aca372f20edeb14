// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the .sync instructions of a warp share: waiting until all lanes of the member mask are there.
#pragma once

#include "Simulator/Exec/Decoding.h"

#include <algorithm>

namespace tile::sim {

class WarpOperation : public Operation {
public:
  explicit WarpOperation(Source<uint32_t> members) : members(members) {}

  /// Lanes with the same member mask are a group; each group exchanges its values by itself.
  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const final;
  std::string describeWait(const Warp &warp, const Fragment &fragment) const override;

protected:
  /// All living lanes of the group, which are active.
  virtual void exchange(Warp &warp, LaneMask group) const = 0;

private:
  Source<uint32_t> members;
};

Result<OperationPtr> decodeShuffle(Decoding &d);

} // namespace tile::sim
