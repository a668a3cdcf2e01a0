#!/bin/sh
# agent.sh HOST COMMAND...: what Open MPI calls instead of ssh when hosts are network namespaces. Like
# ssh, it hands the command to a shell. The command gets a host name of its own, because Open MPI tells
# hosts apart by it.
host=$1
shift
exec "$(dirname "$0")/onhost.sh" "$host" unshare --uts sh -c 'hostname "$0" && eval "exec $*"' "$host" "$@"
