// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// "cost" of a manifest as JSON.
#pragma once

#include "Runtime/Cost.h"
#include "Runtime/JsonReader.h"

namespace tile::runtime {

Json costJson(const CostSpec &cost);

/// Nothing for a model that only newer versions know.
std::optional<CostSpec> readCost(const Json &json, std::optional<Error> &error);

} // namespace tile::runtime
