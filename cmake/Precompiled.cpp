// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the precompiled header once; every LLVM/MLIR library reuses it (cmake/TileLibrary.cmake).
