package racecheck

// What is not seen where there is no room for it. Then races are missed, and none is invented.

import (
	"fmt"
	"sync/atomic"
)

// The bounds.
const (
	// mostWords is how many words have clocks of their own. All others have one together, so races may be missed.
	mostWords = 1 << 20
	// mostCalls is how many calls of a team a detector keeps apart. Of earlier ones it keeps one clock for all.
	mostCalls = 64
	// mostContexts is how many contexts of a PE are told apart. More of them share the last slot: they count as one.
	mostContexts = 32
	// mostSpans is how many ranges of a PE's memory are remembered that a context has operations under way to. With
	// more, neighbours become one. Its operations count as if all of their streams came before a later one on these
	// bytes: what is reported can only become less. A program that accesses no such bytes before its next quiet loses
	// nothing, and is not told.
	mostSpans = 32
	// mostFetched is how many words are remembered that atomics under way bring the values of. Those between count as
	// fetched too if there are more.
	mostFetched = 64
	// mostBuffers is how many buffers of operations under way are remembered.
	mostBuffers = 1 << 14
	// mostNotes is how many keys of notes a PE keeps. Notes with further keys count as out of order, and as told again
	// when they are tried again: more than they say can come before them.
	mostNotes = 1 << 16
)

// Unseen is a kind of what is not seen from some moment on.
type Unseen uint8

// The kinds.
const (
	UnseenAccesses Unseen = iota // to memory of a PE
	UnseenWords                  // which word outside the shadow has released something
	UnseenCalls                  // which call of a team has
	UnseenContexts               // the order of the operations of a PE's many contexts
	UnseenRanges                 // the order of many operations under way
	UnseenBuffers                // of operations under way
	UnseenNotes                  // the order of notes
	UnseenOrders                 // which note or call has released something
	UnseenAnswer                 // of another PE
	UnseenRelease                // by a lock of a connection
	kindsOfUnseen
)

// Line returns what the program reads of a kind, once.
func (u Unseen) Line() string {
	return "from now on races may be missed: " + [kindsOfUnseen]string{
		UnseenAccesses: "the shadow has no room for accesses to some memory, and later ones are not compared with them",
		UnseenWords: fmt.Sprintf("more than %d words of atomic updates are not in the shadow, and those beyond count as one: "+
			"a wait for the wrong one of them is not seen", mostWords),
		UnseenCalls: fmt.Sprintf("a PE is more than %d calls of a team behind another PE, and the first of them count as one: "+
			"an access after a call that another call orders is not seen", mostCalls),
		UnseenContexts: fmt.Sprintf("a PE has more than %d contexts, and those from the %dnd on count as one: "+
			"a quiet or a fence that is missing on one of them is not seen", mostContexts, mostContexts),
		UnseenRanges: fmt.Sprintf("a context accesses bytes of a PE again, with operations under way to more than %d "+
			"places there, and neighbours count as one: a fence that is missing between two of them is not seen; a Quiet in between makes room", mostSpans),
		UnseenBuffers: fmt.Sprintf("a PE has more than %d buffers of operations under way: "+
			"a use of one of the first ones before its completion is not seen; a Quiet in between makes room", mostBuffers),
		UnseenNotes: fmt.Sprintf("a PE has sent notifications with more than %d tags and places, and further ones count as in any order: "+
			"a wait for the wrong one of them is not seen", mostNotes),
		UnseenOrders: "there is no room for all notifications and collectives that no PE has waited for yet, and they count as one: " +
			"a wait for the wrong one of them is not seen",
		UnseenRelease: "what a PE has told by a lock of a connection cannot be read, and counts as nothing",
		UnseenAnswer:  "a PE has not answered what it knows, and counts as knowing nothing",
	}[u]
}

// First adds u to what PEs have told, and reports whether it was not there.
func (u Unseen) First(told *atomic.Uint32) bool {
	return told.Load()&(1<<u) == 0 && told.Or(1<<u)&(1<<u) == 0
}
