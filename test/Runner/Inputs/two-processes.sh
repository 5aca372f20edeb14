# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Starts a command twice, as torchrun starts two ranks. Fails if one of the two fails.
export WORLD_SIZE=2 MASTER_PORT=$((20000 + $$ % 10000))
RANK=0 LOCAL_RANK=0 "$@" &
RANK=1 LOCAL_RANK=1 "$@"
status=$?
wait $! && exit $status
