// Where tilec's messages go.
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace tile {

/// Standard error, line by line, in colours where it is a terminal that wants them.
llvm::raw_ostream &messages();

} // namespace tile
