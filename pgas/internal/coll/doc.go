// Package coll is what the members of a team do together, on bytes of symmetric memory. Package pgas checks the arguments of
// the program and names the errors.
//
// The files, bottom up:
//
//	memory_unsafe.go      views of symmetric memory, scratch buffers
//	ops.go                the operators of reductions
//	slot_unsafe.go        a group's slot in every heap: arrivals, sync words, mailboxes
//	group.go, common.go   a Group: its members, by host
//	options.go            what the caller of a collective asks for
//	call.go               numbered calls and their tags; when a slot may be used again
//	localsync.go          arrivals, ready, done and release between the PEs of a host
//	mailbox_unsafe.go     messages between the leaders of hosts
//	staging_unsafe.go     areas for messages that are too large for mailboxes
//	barrier.go            barriers
//	exchange.go           how the PEs of a host show each other data
//	allequal.go           whether all members bring the same record; the records of all
//	abort.go, mismatch.go, report_unsafe.go, leaving.go, deadlock.go
//	                      calls that cannot complete, and the reason that every member gets
//	request.go            non-blocking calls
//	split.go              groups made of groups
//	broadcast.go, collect.go, alltoall.go, alltoallv.go
//	                      the collectives that move data
//	reduce.go, reduce_leaders.go, reduce_staged.go, scan.go
//	                      the collectives that combine data
package coll
