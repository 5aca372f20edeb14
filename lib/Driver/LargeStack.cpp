// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses pthreads, because std::thread cannot set a stack size.
#include "Driver/LargeStack.h"

#include <pthread.h>

void tile::driver::runOnLargeStack(llvm::function_ref<void()> work) {
  constexpr size_t stackBytes = size_t(1) << 30;
  auto enter = [](void *data) -> void * {
    (*static_cast<llvm::function_ref<void()> *>(data))();
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  if (pthread_attr_setstacksize(&attributes, stackBytes) || pthread_create(&thread, &attributes, enter, &work))
    enter(&work);
  else
    pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}
