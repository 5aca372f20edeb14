// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code that .sync instructions of a warp share: waiting until all lanes of the member mask have arrived.
#pragma once

#include "Simulator/Exec/Decoding.h"

#include <algorithm>

namespace tile::sim {

class WarpOperation : public Operation {
public:
  explicit WarpOperation(Source<uint32_t> members) : members(members) {}

  /// Lanes with the same member mask are a group; each group exchanges its values separately.
  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const final;
  std::string describeWait(const Warp &warp, const Fragment &fragment) const override;

protected:
  /// The non-exited lanes of the group; all of them are active.
  virtual void exchange(Warp &warp, LaneMask group) const = 0;

private:
  Source<uint32_t> members;
};

Result<OperationPtr> decodeShuffle(Decoding &d);

} // namespace tile::sim
