// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An address on which no process listens.
#pragma once

#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

/// Returns "127.0.0.1:PORT" with a port that the system has just allocated and freed.
inline std::string freeAddress() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  bind(descriptor, reinterpret_cast<sockaddr *>(&address), length);
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length);
  close(descriptor);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}
