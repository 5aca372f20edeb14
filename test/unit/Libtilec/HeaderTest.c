/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The headers are C11. */
#include "tile/tilec.h"

tilec_status compileNothing(void);

tilec_status compileNothing(void) {
  tilec_request request = TILEC_REQUEST_INIT;
  tilec_result *result = NULL;
  return tilec_compile(NULL, &request, &result);
}
