// Package coll is what the members of a team do together, on bytes of symmetric memory. Package pgas checks the
// arguments of the program and names the errors.
//
// The files, bottom up; each uses only those before it, which `go run ./tests/layers ./pgas/internal/coll` shows:
//
//	memory_unsafe.go, ops.go      views of symmetric memory; the operators of reductions
//	cpu_unsafe.go                 which CPU a goroutine runs on
//	prefetch_asm_unsafe.go, prefetch_none_unsafe.go, slot_unsafe.go
//	                              a group's slot in every heap: arrivals, sync words, mailboxes, and the lines that come early
//	digest.go, stagingpool.go, cause.go, common.go, options.go, request.go
//	                              values that later files use
//	callstate.go, callnames.go    calls and their tags; how messages describe a call
//	group.go, misuse.go           a Group: its members, by host; operands, and what is wrong with them
//	races.go              what the detector of races learns of a call
//	call.go, wake.go              numbered calls: when a slot may be used again; waking the PEs of this host
//	report_unsafe.go, peers.go, mismatch.go, leaving.go, deadlock.go, check.go
//	                              calls that cannot complete, and the reason that every member gets
//	abort.go                      waits inside a call whose context may end
//	localsync.go, mailbox_unsafe.go, merge.go
//	                              arrivals, ready, done and release on a host; messages between hosts
//	barrier.go                    barriers
//	start.go, turn.go, sync.go    how a call begins
//	library.go                    calls whose work a library above package pgas does
//	exchange.go, joint.go, allequal.go, staging_unsafe.go, split.go, gather_spread.go, gather.go
//	                              data that PEs of a host show each other, and copy jointly; records; staging areas; groups made of groups;
//	                              Go memory from all members
//	broadcast.go, broadcast_value.go, collect.go, alltoall.go, alltoallv.go
//	                              the collectives that move data
//	reduction.go, reduce_mailboxes.go, reduce_leaders.go, reduce_staged.go, reduce_staged_linear.go, scan.go, reduce.go,
//	reduce_value.go
//	                              the collectives that combine data
package coll
