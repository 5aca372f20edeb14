// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the bits of the results of two artifacts by their manifests.
#pragma once

#include "Runtime/Artifact.h"

namespace tile::runner {

/// Returns the value of an order, or "unknown"; artifacts of older compilers have "not recorded".
std::string describeOrder(const runtime::Order &order);

/// Prints the order of each variant, as text or as JSON.
void printOrders(const runtime::Artifact &artifact, bool isJson);

/// Returns why a call may use variants of different names in two artifacts; empty if both choose in the same way.
std::string explainChoice(const runtime::Artifact &first, const runtime::Artifact &second);

} // namespace tile::runner
