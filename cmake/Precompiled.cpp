// Builds the precompiled header once; every LLVM/MLIR library reuses it (cmake/TileLibrary.cmake).
