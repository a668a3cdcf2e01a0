#!/bin/sh
# agent.sh HOST COMMAND...: what Open MPI calls instead of ssh when hosts are network namespaces. Like
# ssh, it hands the command to a shell. The command gets a host name of its own, because Open MPI tells
# hosts apart by it. It gets no CPU of its own, as onhost.sh would give: Open MPI's daemon shares it with
# the PE then, and a quiet takes milliseconds.
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0" && eval "$*"' "$host" "$@"
