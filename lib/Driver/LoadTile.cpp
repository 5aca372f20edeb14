// .tile text -> tile dialect, by the front end.
#include "Driver/Compilation.h"

namespace tile::driver {

bool Compilation::loadTile() {
  return fail(Outcome::Rejected, "this build has no front end; give a .mlir file");
}

} // namespace tile::driver
