// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes tensors through shared memory in panels if shared memory cannot hold all of them at once.
//
//   cta.local_store %x, %b              cta.panel_store %x, %p {panel = 0}
//   %y = cta.local_load %b       ==>    %y0 = cta.panel_load %p {panel = 0}
//                                       cta.panel_store %x, %p {panel = 1}
//                                       %y = cta.panel_load %p or %y0 {panel = 1}
//
// This applies to conversions, reductions and all other stores and loads by threads, to operands of scalar dots (panels
// along K), to sources of gathers, and to histograms. Exchanges in panels take more barriers, and predicated
// instructions, but less memory.
#pragma once

#include "Transforms/Cta/SharedPlacement.h"

#include <memory>

namespace tile {

/// An exchange through one buffer, or through several with the same users.
class PanelExchange {
public:
  virtual ~PanelExchange() = default;
  /// Returns true if the buffer belongs to this exchange.
  virtual bool owns(cta::AllocOp alloc) const = 0;
  /// Returns true if the panels can be halved.
  virtual bool canHalve() const = 0;
  /// Splits each panel into two.
  virtual void halve() = 0;
};

class PanelExchanges {
public:
  explicit PanelExchanges(KernelOp kernel);
  ~PanelExchanges();

  /// Shrinks the panels of one of the largest buffers that determine the size of the placement, or introduces panels.
  /// Returns false if there is no such buffer.
  bool narrow(const SharedPlacement &placement);

private:
  llvm::SmallVector<std::unique_ptr<PanelExchange>> exchanges;
};

} // namespace tile
