// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes the "cost" object of a manifest as JSON.
#pragma once

#include "Runtime/Cost.h"
#include "Runtime/JsonReader.h"
#include "Runtime/ProgramsCost.h"

namespace tile::runtime {

Json costJson(const CostSpec &cost);
Json costJson(const ProgramsCost &cost);

/// readCost and readPrograms return nullopt if "cost" is for another model; newer versions may define further models.
std::optional<CostSpec> readCost(const Json &json, std::optional<Error> &error);
std::optional<ProgramsCost> readPrograms(const Json &json, std::optional<Error> &error);

} // namespace tile::runtime
