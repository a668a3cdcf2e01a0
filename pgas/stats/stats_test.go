package stats_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/stats"
)

// counted returns what a PE has recorded in memory, as its agent reads it.
func counted() record.Counts {
	now := time.Duration(0)
	p := record.New(3, 0, 3, 0).PE(1)
	p.Start(func() time.Duration { now += time.Millisecond; return now })
	p.NameLevels([]string{"machine", "host"})
	p.Operation(record.Put, 2, 100)
	p.Operation(record.Put, 2, 20)
	p.Operation(record.Put, 1, 8)
	p.Operation(record.Runtime, 0, 0)
	p.EndWait(p.BeginWait("lock", 2, 0, 0))
	p.EndWait(p.BeginWait("barrier", -1, 0, 0))
	p.EndWait(p.BeginWait("barrier", 0, 0, 0))
	for c := range record.NumCounters {
		p.Set(c, uint64(c)+1)
	}
	return p.Counts()
}

// TestOf: each number that a PE has recorded is where its name says, and sums are of all peers.
func TestOf(t *testing.T) {
	n := func(c record.Counter) uint64 { return uint64(c) + 1 }
	traffic := func(ops, bytes uint64) stats.Traffic { return stats.Traffic{Operations: ops, Bytes: bytes} }
	want := stats.PE{
		PE: 1, Recorded: true, Heap: stats.Heap{InUse: n(record.HeapInUse), High: n(record.HeapHigh)},
		Kinds: map[string]stats.Traffic{"put": traffic(3, 128), "runtime": traffic(1, 0)},
		Peers: []stats.Peer{
			{PE: 0, Kinds: map[string]stats.Traffic{"runtime": traffic(1, 0)}, Blocked: time.Millisecond},
			{PE: 1, Kinds: map[string]stats.Traffic{"put": traffic(1, 8)}},
			{PE: 2, Kinds: map[string]stats.Traffic{"put": traffic(2, 120)}, Blocked: time.Millisecond},
		},
		Messages: stats.Messages{Sent: n(record.Messages), Bytes: n(record.MessageBytes), Operations: n(record.MessageOps)},
		Blocked:  map[string]stats.Wait{"lock": {Count: 1, Time: time.Millisecond}, "barrier": {Count: 2, Time: 2 * time.Millisecond}},
		Locks: stats.Locks{Alone: n(record.LocksAlone), Waited: n(record.LocksWaited), HandOvers: []stats.HandOver{
			{Level: "machine", Count: n(record.LockMoves)}, {Level: "host", Count: n(record.LockMoves + 1)},
		}},
		Notes:    stats.Notes{Matched: n(record.NotesMatched), Unexpected: n(record.NotesUnexpected)},
		Coherent: stats.Coherent{Faults: n(record.Faults), Fetched: n(record.PagesFetched), Released: n(record.PagesReleased)},
	}
	got := stats.Of(counted())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.Total() != traffic(4, 128) || got.Peers[2].Total() != traffic(2, 120) {
		t.Errorf("sums %+v, %+v", got.Total(), got.Peers[2].Total())
	}
	if causes := got.Causes(); !reflect.DeepEqual(causes, []string{"barrier", "lock"}) {
		t.Errorf("causes %v", causes)
	}
}

// TestMessages: how full messages leave, also if there are none.
func TestMessages(t *testing.T) {
	m := stats.Messages{Sent: 4, Bytes: 100, Operations: 6}
	if m.MeanBytes() != 25 || m.MeanOperations() != 1.5 || (stats.Messages{}).MeanBytes() != 0 {
		t.Errorf("%v bytes and %v operations", m.MeanBytes(), m.MeanOperations())
	}
}

// TestJSON: objects have names, for what has been counted and for what has not.
func TestJSON(t *testing.T) {
	for want, of := range map[string]any{
		`{"pe":0,"recorded":true,"heap":{"in_use_bytes":0,"high_bytes":0},"kinds":{},"peers":[],"messages":{"sent":0,"bytes":0,"operations":0},"blocked":{},` +
			`"locks":{"alone":0,"waited":0,"hand_overs":[]},"notes":{"matched":0,"unexpected":0},"coherent":{"faults":0,"pages_fetched":0,"pages_released":0}}`: stats.Of(record.Counts{}),
		`{"pe":2,"kinds":{"put":{"operations":2,"bytes":120}},"blocked_ns":1000000}`: stats.Of(counted()).Peers[2],
	} {
		if text, err := json.Marshal(of); err != nil || string(text) != want {
			t.Errorf("%v\n%s, want\n%s", err, text, want)
		}
	}
}
