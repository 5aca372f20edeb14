// Kernels that ping-pong rejects are unchanged, and a remark says why.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(cta-ping-pong))' --split-input-file --verify-diagnostics -o - | FileCheck %s
// CHECK-NOT: cta.team

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// Without a request there is no remark.
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: num_warps must be 4}}
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 8 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 8> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: the kernel uses clusters}}
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong, cluster = array<i32: 2, 1, 1>, cluster_ctas = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: the consumer does not just compute whole programs}}
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    %cta = tile.program_id 0
    %ctas = tile.num_programs 0
    scf.for %p = %c0 to %count step %ctas : i32 {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: the consumer does not just compute whole programs}}
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
    tile.print "end" %count : i32
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: the consumer does not just compute whole programs}}
tile.kernel @parts(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c1 = arith.constant 1 : i32
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists, %first, %end, %piece, %pieces) in (%count, %c1, %c1) steps (%k) #tile.work<order = grid, tail = <sum = 5, piece = 8, fixed = 18>> {
    }
  } role <producer, warps = 4, one_thread> {
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: programs use more than one ring}}
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %other = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%other] : !ring
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: programs use more than one ring}}
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %other = cta.ring_acquire %ring : !ring
      cta.ring_commit %ring[%other] : !ring
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#bytes = #cta.layout<[128], offset = [[1], [2], [4], [8], [16], [32], [64]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: a tensor map that the kernel encodes}}
tile.kernel @k(%count: i32, %k: i32, %q: !tile.ptr<f16>, %place: !tile.ptr<i8>, %ld: i64, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %staging = cta.alloc : !cta.buffer<128xi8, #bytes>
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      %map = cta.make_tensor_map %q, [%k, %k], [%ld, %ld] at %place via %staging {box = array<i64: 64, 64>, swizzle = 128 : i32} : !tile.ptr<f16>, !tile.ptr<i8>, !cta.buffer<128xi8, #bytes> -> !d
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: the buffers of two teams do not fit}}
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %panels = cta.alloc : !cta.buffer<64x64xf16, #s, slots = 14>
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %k step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// The other team would not know how many steps to skip.
// expected-remark @below {{no ping-pong: programs may have different numbers}}
tile.kernel @k(%count: i32, %k: i32, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      scf.for %i = %c0 to %p step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

#s = #cta.layout<[64, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!d = !tile.desc<64x64xf16>
!b = !cta.buffer<64x64xf16, #s>
!ring = !cta.ring<1 x [!b]>

// expected-remark @below {{no ping-pong: programs may have different numbers}}
tile.kernel @k(%count: i32, %k: i32, %q: !tile.ptr<i32>, %d: !d {tile.tensor_map = #tile.tensor_map<base = "a">})
    attributes {num_warps = 4 : i32, ping_pong} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = cta.ring_alloc : !ring
  cta.warp_roles role <consumer, warps = 4> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %slot = cta.ring_wait %ring : !ring
      cta.ring_release %ring[%slot] : !ring
    }
  } role <producer, warps = 4, one_thread> {
    tile.programs (%p, %py, %pz, %exists) in (%count, %c1, %c1) #tile.work<order = grid> {
      %n = tile.load %q : !tile.ptr<i32>
      scf.for %i = %c0 to %n step %c1 : i32 {
        %slot = cta.ring_acquire %ring : !ring
        %b = cta.ring_buffers %ring[%slot] : !ring
        cta.tma_load %d[%p, %i], %b, %ring[%slot] : !d, !b, !ring
        cta.ring_commit %ring[%slot] : !ring
      }
    }
  }
  tile.return
}

// -----

// expected-remark @below {{no ping-pong: the kernel has no producer warp}}
tile.kernel @k() attributes {num_warps = 4 : i32, ping_pong} {
  tile.return
}

// -----

// expected-remark @below {{no ping-pong: the kernel has roles other than}}
tile.kernel @third_role() attributes {num_warps = 4 : i32, ping_pong} {
  cta.warp_roles role <consumer, warps = 4> {
  } role <producer, warps = 4, one_thread> {
  } role <store, warps = 4, one_thread> {
  }
  tile.return
}
