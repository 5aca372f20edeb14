// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that pass through shared memory in panels, where there is not enough of it for all of them at once.
//
//   cta.local_store %x, %b              cta.panel_store %x, %p {panel = 0}
//   %y = cta.local_load %b       ==>    %y0 = cta.panel_load %p {panel = 0}
//                                       cta.panel_store %x, %p {panel = 1}
//                                       %y = cta.panel_load %p or %y0 {panel = 1}
//
// So do conversions, reductions and whatever else threads store and load, operands of scalar dots (panels along K),
// sources of gathers, and histograms. It takes more barriers, and instructions that are executed by some threads only,
// but less memory.
#pragma once

#include "Transforms/Cta/SharedPlacement.h"

#include <memory>

namespace tile {

/// An exchange through one buffer, or through several with the same users.
class PanelExchange {
public:
  virtual ~PanelExchange() = default;
  /// Whether the buffer is one of this exchange.
  virtual bool owns(cta::AllocOp alloc) const = 0;
  /// Whether panels can be smaller.
  virtual bool canHalve() const = 0;
  /// Makes two panels of each.
  virtual void halve() = 0;
};

class PanelExchanges {
public:
  explicit PanelExchanges(KernelOp kernel);
  ~PanelExchanges();

  /// Makes panels of one of the largest buffers that make the placement as large as it is, or smaller ones. False if
  /// there is none.
  bool narrow(const SharedPlacement &placement);

private:
  llvm::SmallVector<std::unique_ptr<PanelExchange>> exchanges;
};

} // namespace tile
