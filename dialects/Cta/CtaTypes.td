// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of the cta dialect: buffers, rings and barriers in shared memory.
#ifndef CTA_TYPES_TD
#define CTA_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "Cta/LayoutAttr.td"
include "Tile/TileTypes.td"

def Cta_BufferType : TypeDef<CtaDialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "array of equally shaped tiles in shared memory";
  let description = [{
    A buffer has `slots` tiles (1 by default), which are stored one after another. Within a tile, `layout` maps the
    element offset to coordinates. If a size is not a power of two, the layout has the next larger power of two. Only
    the layout's slowest dimension may have such a size, so the padding lies at the end and takes no memory.

    Example: `!cta.buffer<2x4xf16, #cta.layout<[2, 4], offset = [[0, 1], [0, 2], [1, 0]]>, slots = 3>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t", "shape of a tile">:$shape, "::mlir::Type":$elementType,
                        "::tile::cta::LayoutAttr":$layout, DefaultValuedParameter<"int64_t", "1">:$slots);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns true if the layout covers more elements than the tile has.
    bool isPadded() const;
    /// Return the size in bytes of one tile, and of all slots.
    int64_t getBytesPerSlot() const;
    int64_t getBytes() const { return getBytesPerSlot() * getSlots(); }
    /// Returns the size in bytes of the elements of one slot, without padding between them.
    int64_t getBlockBytes() const;
    /// Returns the same buffer with another number of slots.
    BufferType withSlots(int64_t slots) const;
    /// Returns a buffer type for the same matrices with their dimensions swapped.
    BufferType transposed() const;
    /// Returns the type of one of `count` equal parts of a tile, each of which is consecutive in memory: ranges of rows
    /// if possible, otherwise ranges of columns; null if neither is possible.
    BufferType getPart(int64_t count) const;
    /// Returns the dimension that getPart divides. Such a part must exist, and `count` must be greater than 1.
    unsigned getPartAxis(int64_t count) const {
      return getPart(count).getShape().front() == getShape().front() ? 1 : 0;
    }
  }];
}

def Cta_TensorMemoryType : TypeDef<CtaDialect, "TensorMemory"> {
  let mnemonic = "tensor_memory";
  let summary = "accumulator or left operand in tensor memory";
  let description = [{
    A matrix in tensor memory, as `tcgen05.mma` writes and reads it (PTX ISA, "Data path layout organization"): 128 rows
    are stored in the 128 lanes; further rows are stored in the following columns of 32 bits. Accumulators have 32-bit
    elements; an accumulator of 64 rows uses lanes 0 to 15 of each quarter of the lanes. Operands have at least 128
    rows, and each column contains several of their narrower elements. `slots` is the number of such matrices, which are
    stored one after another.

    Example: `!cta.tensor_memory<128x256xf32, slots = 2>`, `!cta.tensor_memory<128x64xf16>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t", "rows and columns">:$shape, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"int64_t", "1">:$slots);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the number of elements of a row that are stored in a column of 32 bits.
    unsigned getElementsPerColumn() const;
    /// Return the number of columns of one slot, and of all slots.
    unsigned getColumnsPerSlot() const;
    unsigned getColumns() const { return getSlots() * getColumnsPerSlot(); }
    /// Returns the same accumulator with another number of slots.
    TensorMemoryType withSlots(int64_t slots) const;
    /// Returns the layout in which `warps` warps load and store the matrix.
    LayoutAttr getRegisterLayout(unsigned warps) const;
  }];
}

def Cta_RingType : TypeDef<CtaDialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "circular buffer in shared memory that some warp roles fill and others read";
  let description = [{
    The ring has `slots` slots, each with space for one tile of each of the `buffers`.

    Example: `!cta.ring<3 x [<64x32xf16, #s>, <32x64xf16, #s>]>`
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"::tile::cta::BufferType", "of a slot">:$buffers);
  let assemblyFormat = "`<` $slots `x` ` ` `[` $buffers `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the size in bytes of the buffers of all slots.
    int64_t getBytes() const {
      int64_t bytes = 0;
      for (BufferType buffer : getBuffers())
        bytes += getSlots() * buffer.getBytes();
      return bytes;
    }
  }];
}

def Cta_RingSlotType : TypeDef<CtaDialect, "RingSlot"> {
  let mnemonic = "ring_slot";
  let summary = "a slot of a ring that a role has taken, or none";
  let description = [{
    Loops and branches may carry slots.

    Example: `!cta.ring_slot`
  }];
}

def Cta_TokenType : TypeDef<CtaDialect, "Token"> {
  let mnemonic = "token";
  let summary = "an asynchronous wgmma that may be in flight, or none";
  let description = [{
    Operations that require the wgmma to be complete take its token: `cta.await`, after which the wgmma's accumulator
    can be read, and `cta.ring_release`, after which its operands can be overwritten. From the tokens,
    `cta-insert-waits` derives how many wgmmas may be pending at each wait. Loops and branches may carry tokens; they
    occupy no register.

    Example: `!cta.token`
  }];
}

def Cta_MbarrierType : TypeDef<CtaDialect, "Mbarrier"> {
  let mnemonic = "mbarrier";
  let summary = "ring of barriers in shared memory";
  let description = [{
    The ring consists of `slots` mbarrier objects of 8 bytes, one after another (PTX ISA, "mbarrier").

    Example: `!cta.mbarrier<4>`
  }];
  let parameters = (ins "int64_t":$slots);
  let assemblyFormat = "`<` $slots `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t bytesPerSlot = 8;
    int64_t getBytes() const { return getSlots() * bytesPerSlot; }
  }];
}

#endif
