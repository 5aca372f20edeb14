// RUN: tile-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{pointee is 'i7' but must be an integer or float of 1 to 64 bits, or a pointer}}
tile.kernel @pointee(%p: !tile.ptr<i7>) {
  tile.return
}

// -----

// expected-error @below {{block has rank 6; a descriptor has rank 1 to 5}}
tile.kernel @rank(%d: !tile.desc<2x2x2x2x2x2xf16>) {
  tile.return
}

// -----

// expected-error @below {{block size is 0 but must be at least 1}}
tile.kernel @size(%d: !tile.desc<0xf16>) {
  tile.return
}

// -----

// expected-error @below {{element is '!tile.ptr<f16>' but must be an integer or float of 1 to 64 bits}}
tile.kernel @element(%d: !tile.desc<8x!tile.ptr<f16>>) {
  tile.return
}

// -----

// expected-error @below {{padding is NaN, which 'i32' does not have}}
tile.kernel @nan(%d: !tile.desc<8xi32, nan>) {
  tile.return
}
