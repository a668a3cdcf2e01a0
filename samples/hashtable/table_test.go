package main

// The hashtable against a Go map, on every kind of PE: with hashes that collide, tables that are too
// small, and identifiers of every length. The words of a run come from a seed; WORDCOUNT_SEED replays one.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/source"
)

// seedVar hands the seed to the processes of a test.
const seedVar = "WORDCOUNT_SEED"

func TestMain(m *testing.M) {
	if os.Getenv(seedVar) == "" {
		os.Setenv(seedVar, strconv.FormatInt(time.Now().UnixNano(), 10))
	}
	os.Exit(m.Run())
}

func seed(t *testing.T) uint64 {
	n, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", seedVar, err)
	}
	t.Logf("%s=%d go test -run '^%s$' replays this", seedVar, n, t.Name())
	return n
}

// A trial is one table and what is put into it.
type trial struct {
	name               string
	slots, heap, pages int
	hash               func(string) uint64
	words              func(r *rand.Rand) string
	perPE              int  // words seen by each PE
	parcels            bool // counts for other PEs travel as parcels
	grows              bool // the table must have grown
}

func oneHash(string) uint64     { return 42 }
func fewHashes(s string) uint64 { return hashName(s) % 3 * 0x0101010101010101 }

// shortWords returns words that differ in few places: many are equal, and most fit a key.
func shortWords(r *rand.Rand) string { return randomName(r, "ab_Xé", 1+r.IntN(9)) }

// likeWords returns words that are long, of one length, and alike but for their ends.
func likeWords(r *rand.Rand) string { return fmt.Sprintf("aVeryLongIdentifier%03d", r.IntN(300)) }

// unicodeWords returns words of letters that take one to four bytes.
func unicodeWords(r *rand.Rand) string { return randomName(r, "xβй世界𝒳ñ", 1+r.IntN(6)) }

// longWords cross pages, and some are too long for a parcel.
func longWords(r *rand.Rand) string {
	n := []int{1, 7, 8, 100, pageBytes - 1, pageBytes, pageBytes + 1, 3 * pageBytes, boxBytes - 30, boxBytes, 2 * boxBytes}[r.IntN(11)]
	return strings.Repeat("x", n-1) + string(rune('a'+r.IntN(3)))
}

func randomName(r *rand.Rand, letters string, n int) string {
	from := []rune(letters)
	name := make([]rune, n)
	for i := range name {
		name[i] = from[r.IntN(len(from))]
	}
	return string(name)
}

var trials = []trial{
	{name: "roomy", slots: 1 << 12, heap: 1 << 10, pages: 64, hash: hashName, words: shortWords, perPE: 5000},
	{name: "tiny", slots: 1, heap: 1, pages: 1, hash: hashName, words: shortWords, perPE: 1000, grows: true},
	{name: "alike", slots: 100, heap: 100, pages: 8, hash: hashName, words: likeWords, perPE: 2000},
	{name: "one-hash", slots: 64, heap: 2000, pages: 64, hash: oneHash, words: likeWords, perPE: 150},
	{name: "one-hash-tiny", slots: 2, heap: 3, pages: 1, hash: oneHash, words: shortWords, perPE: 70, grows: true},
	{name: "few-hashes", slots: 7, heap: 5, pages: 4, hash: fewHashes, words: likeWords, perPE: 200, grows: true},
	{name: "unicode", slots: 1000, heap: 10, pages: 4, hash: hashName, words: unicodeWords, perPE: 3000},
	{name: "long", slots: 16, heap: 64, pages: 4, hash: hashName, words: longWords, perPE: 60, grows: true},
	{name: "parcels", slots: 1 << 12, heap: 1 << 10, pages: 64, hash: hashName, words: shortWords, perPE: 5000, parcels: true},
	{name: "parcels-tiny", slots: 3, heap: 1, pages: 1, hash: hashName, words: unicodeWords, perPE: 3000, parcels: true, grows: true},
	{name: "parcels-long", slots: 16, heap: 64, pages: 4, hash: fewHashes, words: longWords, perPE: 60, parcels: true, grows: true},
}

func TestTable(t *testing.T) {
	for _, tr := range trials {
		t.Run(tr.name, func(t *testing.T) {
			s := seed(t)
			pgastest.Run(t, 4, func(ctx context.Context, w *pgas.World) error { return tr.run(ctx, w, s) })
		})
	}
}

// run counts the words of all PEs in the table and, on PE 0, in a map.
func (tr *trial) run(ctx context.Context, w *pgas.World, seed uint64) error {
	c, err := tr.counter(ctx, w)
	if err != nil {
		return err
	}
	const merges = 7 // before the last one
	i := 0
	eachWord(tr, seed, w.PE(), func(name string) {
		c.see(name)
		if i++; err == nil && i%(tr.perPE/merges) == 0 {
			err = c.merge(ctx)
		}
	})
	if err != nil {
		return err
	}
	if err := c.run(ctx); err != nil {
		return err
	}
	if tr.grows && c.grown == 0 {
		return fmt.Errorf("the table did not grow: the trial tries nothing")
	}
	return tr.compare(ctx, c, seed)
}

func (tr *trial) counter(ctx context.Context, w *pgas.World) (*counter, error) {
	c := &counter{w: w, batch: 1 << 20, words: map[string]*word{}, warn: func(error) {}}
	tallies, err := AllocTally(ctx, w, 1)
	if err != nil {
		return nil, err
	}
	c.tally = tallies.At(0)
	if c.mail, err = newMailman(ctx, w, c.tally, func(pe int) bool { return tr.parcels && pe != w.PE() }); err != nil {
		return nil, err
	}
	c.table, err = newTable(ctx, w, tr.slots, tr.heap, tr.pages, tr.hash)
	return c, err
}

// eachWord calls f for the words that pe sees.
func eachWord(tr *trial, seed uint64, pe int, f func(name string)) {
	r := rand.New(rand.NewPCG(seed, uint64(pe)))
	for range tr.perPE {
		f(tr.words(r))
	}
}

// compare holds the table against a map, and the totals against both.
func (tr *trial) compare(ctx context.Context, c *counter, seed uint64) error {
	var mine []byte
	c.table.own(func(_ uint64, name string, n int64) {
		mine = source.AppendFrequency(mine, source.Frequency{Name: name, Count: n})
	})
	lists, err := pgas.Gather(ctx, c.w.Team(), mine, 0)
	if err != nil {
		return err
	}
	r, err := summarize(ctx, c, time.Second)
	if err != nil || c.w.PE() != 0 {
		return err
	}
	got := source.AllFrequencies(lists)
	want := map[string]int64{}
	for pe := range c.w.NPEs() {
		eachWord(tr, seed, pe, func(name string) { want[name]++ })
	}
	v := source.Compare(got, want)
	if v.Err() != nil || v.Agree != len(want) {
		return fmt.Errorf("%w: %.300q", v.Err(), v.Sample)
	}
	return tr.checkTotals(r, want)
}

func (tr *trial) checkTotals(r *Result, want map[string]int64) error {
	var all []source.Frequency
	for name, n := range want {
		all = append(all, source.Frequency{Name: name, Count: n})
	}
	top := source.MostFrequent(all)
	switch n := int64(len(want)); {
	case r.Distinct != n || r.Entries != n:
		return fmt.Errorf("%d distinct, %d entries, want %d", r.Distinct, r.Entries, n)
	case r.Identifiers != int64(r.PEs*tr.perPE):
		return fmt.Errorf("%d identifiers, want %d", r.Identifiers, r.PEs*tr.perPE)
	case !slices.Equal(r.Top, top):
		return fmt.Errorf("top is %v, want %v", r.Top, top)
	}
	return nil
}

// TestHeapFull: what cannot grow says so, on every PE, and names what would help.
func TestHeapFull(t *testing.T) {
	tr := trial{slots: 1 << 20, heap: 1 << 22, pages: 1, hash: hashName}
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		_, err := tr.counter(ctx, w)
		if err == nil || !strings.Contains(err.Error(), "-table 1048576 -heap 4194304 needs PGAS_HEAP_MAX=12") {
			return fmt.Errorf("got error %v", err)
		}
		return nil
	})
}

// TestGrowthStops: a table that outgrows the symmetric heap is an error, not a hang or a loss.
func TestGrowthStops(t *testing.T) {
	tr := trial{slots: 1, heap: 1, pages: 1 << 13, hash: hashName, perPE: 1 << 19}
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		c, err := tr.counter(ctx, w)
		if err != nil {
			return err
		}
		for i := range tr.perPE {
			c.see(strconv.FormatInt(int64(i*2+w.PE()), 36))
		}
		if err := c.run(ctx); err == nil || !strings.Contains(err.Error(), "needs PGAS_HEAP_MAX=") {
			return fmt.Errorf("got error %v", err)
		}
		return nil
	})
}
