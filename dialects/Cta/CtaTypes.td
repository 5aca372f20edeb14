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
    `slots` tiles (1 if not given), one after the other; inside a tile `layout` maps the element offset to coordinates.

    A size that is no power of two has a layout for the next one; it must be the size of the layout's slowest dimension,
    so that what is beyond lies at the end and takes no memory.

    Example: `!cta.buffer<2x4xf16, #cta.layout<[2, 4], offset = [[0, 1], [0, 2], [1, 0]]>, slots = 3>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t", "shape of a tile">:$shape, "::mlir::Type":$elementType,
                        "::tile::cta::LayoutAttr":$layout, DefaultValuedParameter<"int64_t", "1">:$slots);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether the layout is for more elements than the tile has.
    bool isPadded() const;
    /// Bytes of one tile, and of all slots.
    int64_t getBytesPerSlot() const;
    int64_t getBytes() const { return getBytesPerSlot() * getSlots(); }
    /// Of the elements of one slot, without gaps between them.
    int64_t getBlockBytes() const;
    /// The same buffer with another number of slots.
    BufferType withSlots(int64_t slots) const;
    /// The same matrices seen with their dimensions exchanged.
    BufferType transposed() const;
    /// One of `count` equal parts of a tile that follow each other in memory: of its rows, or else of its columns; null
    /// if neither do.
    BufferType getPart(int64_t count) const;
    /// The dimension that getPart divides; there must be such a part, of more than one.
    unsigned getPartAxis(int64_t count) const { return getPart(count).getShape().front() == getShape().front() ? 1 : 0; }
  }];
}

def Cta_RingType : TypeDef<CtaDialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "circular buffer in shared memory that warp roles fill and others read";
  let description = [{
    `slots` slots, each with room for one tile of all `buffers`.

    Example: `!cta.ring<3 x [<64x32xf16, #s>, <32x64xf16, #s>]>`
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"::tile::cta::BufferType", "of a slot">:$buffers);
  let assemblyFormat = "`<` $slots `x` ` ` `[` $buffers `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of the buffers of all slots, in bytes.
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
    Loops and branches may carry it.

    Example: `!cta.ring_slot`
  }];
}

def Cta_TokenType : TypeDef<CtaDialect, "Token"> {
  let mnemonic = "token";
  let summary = "a product of warp groups that may be in flight, or none";
  let description = [{
    What needs the product to be complete names its token: `cta.await`, which makes its sum readable, and
    `cta.ring_release`, which lets its operands be overwritten. `cta-insert-waits` makes of that how many products may be
    incomplete where. Loops and branches may carry it; it is in no register.

    Example: `!cta.token`
  }];
}

def Cta_MbarrierType : TypeDef<CtaDialect, "Mbarrier"> {
  let mnemonic = "mbarrier";
  let summary = "ring of barriers in shared memory";
  let description = [{
    `slots` mbarrier objects of 8 bytes, one after the other (PTX ISA, "mbarrier").

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
