// Package containers gives the PEs of a job arrays, maps, queues and the like, whose elements are spread over the
// symmetric heaps of the members.
//
// # Making one
//
// Each New… is collective over all PEs of the World, because its memory comes from the symmetric heap. The members are
// the PEs of the team of option [Over], or all PEs without it. A PE that is no member passes Over(nil), and may call
// nothing of the result but Free. PE numbers are those of the team. Free is collective over all PEs, too.
//
// Elements, keys and values are plain: they hold no pointers, strings, slices or maps. Strings are keys and values by
// way of an arena of bytes.
//
// # What kind of call
//
// Every method says which of these it is:
//
//   - local: it touches memory of this PE only
//   - one-sided: this PE accesses other PEs' memory, and they take no part
//   - collective: all members call it, in the same order, each with its own arguments
//
// # Goroutines
//
// A Counter, Tickets, a Bloom, Queues, and the Get and Put of an Array may be used by any number of goroutines of a PE
// at once. Of all else one goroutine at a time is in a call: a Queue has one that pushes and one that pops, a
// DistObject one that publishes and one that fetches. A second goroutine panics with *pgas.UsageError, which names its
// line and that of the call that is under way. Only the Send of a Mailbox does so in programs alone that are checked
// (PGAS_CHECK=1).
//
// # Errors
//
// Misuse panics with *pgas.UsageError. What blocks takes a context.Context and returns the errors of package pgas:
// *pgas.PeerError if a PE of the job is lost, the cause of ctx if it ends first. One-sided calls that have no error
// result panic with *pgas.PeerError. A New… whose members give sizes that take different memory returns an error that
// says so on all PEs. After an error of a collective call the container can only be freed.
//
// # Where to read
//
//	doc.go                this text
//	options.go            Option, Over
//	array.go              Array: elements spread over the members; layout.go: where each is
//	array_range.go        many consecutive elements at once, and loops
//	array_gather.go       Gather; array_update.go: Scatter, Count, AddAll, Combine …
//	array_moves.go        what these need between them
//	array_sort.go         a sample sort; array_scan.go: prefix sums and reductions
//	array_copy.go         redistribution; array_saved.go: the elements as an item of package ckpt
//	npy.go                SaveNPY, LoadNPY: an array in a file of NumPy; npy_head.go: the head of such a file
//	bytes_unsafe.go       elements as bytes
//	map.go                Map: a hash table; StringMap: map_strings.go; TextMap: map_texts.go
//	map_layout.go         its memory; map_memory.go: how it is reached; map_words_unsafe.go: keys and values as words
//	map_find.go           its finds; map_write.go: its writes; map_split.go: its growth; map_iterate.go: loops over it
//	map_batch.go          what all members have for it at once; map_promise.go: that nobody writes
//	map_snapshot.go       its elements in files; map_saved.go: as an item of package ckpt
//	mailbox.go            Mailbox: small items from any member to any, many in one message
//	queue.go              Queue: a bounded queue at one member, or at each; the protocol
//	queue_ticket.go       its tickets; queue_push.go, queue_pop.go: producers and consumers
//	pool.go               WorkPool: tasks that make tasks; pool_deque.go: a member's deque
//	pool_steal.go         stealing; pool_end.go: how the members learn that no task is left; pool_for.go: RunFor
//	counter.go            Counter: a sum; tickets.go: Tickets: unique numbers
//	dist.go               DistObject: a value of each member
//	bloom.go              Bloom: a filter of keys; bloom_size.go: how large; bloom_hash.go: hashes
//	exclusive.go          one goroutine at a time
//	pace.go               polling words of other PEs; free.go: giving memory back
//	saved.go              what items of package ckpt have in common; layout_saved.go: elements that have a layout
//	counter_saved.go      the items; tickets_saved.go, dist_saved.go, bloom_saved.go, queue_saved.go, pool_saved.go
//	map_strings_saved.go  a StringMap; map_texts_saved.go: a TextMap
//
// Package internal/carry has the members, their memory, and the rings by which items travel. Package coherent has the
// array over the coherent memory of package dsm. Package model has Promela models of the deque and of the end of a
// WorkPool, and of a Map whose segment is split.
//
//ci:long nocgo=short
package containers
