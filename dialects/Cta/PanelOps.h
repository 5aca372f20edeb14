// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on panels of tensors; see PanelOps.td.
#pragma once

#include "Cta/CtaDialect.h"

#define GET_OP_CLASSES
#include "Cta/PanelOps.h.inc"
