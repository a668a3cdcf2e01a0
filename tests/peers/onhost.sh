#!/bin/sh
# onhost.sh HOST COMMAND...: runs a command on a network namespace that stands in for a host, and gives
# it a CPU as a host has: that of the digit at the end of its name. Without it the kernel puts the PEs of
# both hosts on one CPU now and then, and what is measured is its scheduler. It is our launch template.
host=$1
shift
cpu=$(($(printf %s "$host" | tail -c 1) % $(nproc)))
exec taskset -c "$cpu" ip netns exec "$host" "$@"
