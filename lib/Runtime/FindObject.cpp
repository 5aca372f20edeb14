// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Provides _dl_find_object on machines with glibc 2.34.
//
// The unwinder that is linked into tile-run and libtilert asks glibc for the loaded object that contains a code
// address. The unwinder's fast path needs a function of glibc 2.35. With this replacement the installed binaries run on
// older systems such as Red Hat Enterprise Linux 9. It is called only while an exception propagates.
#include <dlfcn.h>
#include <features.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35) && defined(__x86_64__)

#include <cstdint>
#include <link.h>

namespace {

struct Search {
  uintptr_t address;
  dl_find_object *found;
};

int visit(dl_phdr_info *info, size_t, void *data) {
  const Search &search = *static_cast<const Search *>(data);
  const ElfW(Phdr) *text = nullptr, *frames = nullptr;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    if (header.p_type == PT_LOAD && search.address - (info->dlpi_addr + header.p_vaddr) < header.p_memsz)
      text = &header;
    else if (header.p_type == PT_GNU_EH_FRAME)
      frames = &header;
  }
  if (!text || !frames)
    return 0;
  *search.found = {};
  search.found->dlfo_map_start = reinterpret_cast<void *>(info->dlpi_addr + text->p_vaddr);
  search.found->dlfo_map_end = reinterpret_cast<void *>(info->dlpi_addr + text->p_vaddr + text->p_memsz);
  search.found->dlfo_eh_frame = reinterpret_cast<void *>(info->dlpi_addr + frames->p_vaddr);
  return 1;
}

} // namespace

extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void *address, dl_find_object *found) noexcept {
  Search search{reinterpret_cast<uintptr_t>(address), found};
  return dl_iterate_phdr(visit, &search) ? 0 : -1;
}

#endif
