package containers

// A Bloom filter spread over the members, blocked so that a key touches two words of one member.
//
// The words of a member are in blocks of a cache line. A key's hash selects a block of some member, two of its 8 words,
// and some bits in each: to add it is two atomic ors, and to look for it two atomic reads, at once. A filter whose
// keys' bits may be anywhere would be smaller for the same rate of false positives, and its keys would touch as many
// members as they have bits. bloom_size.go computes how large a blocked filter must be.

import (
	"context"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

const (
	bloomBlock = 8  // words of a block
	bloomBurst = 64 // keys whose words are read at once
)

// Bloom is a set of keys of the plain type K that may say yes for a key which was not added. Two keys are the same if
// their bytes are. Members need not synchronize to use it: bits are only ever set. Any number of goroutines of a member
// may add and look up at once; Union and Count are collectives of the team, in which goroutines of a PE take turns.
type Bloom[K any] struct {
	members carry.Members
	memory  carry.Memory
	words   pgas.AtomicSlice[uint64]
	local   pgas.Slice[uint64]
	all     int           // the blocks of all members, which depend on the keys and the rate alone
	blocks  int           // the blocks of each member; the last ones have fewer
	each    int           // bits of a key in each of two words
	adds    atomic.Uint64 // how often this member has added
	// what adds was before a fence; if it is that now, what was added is there for this member's reads
	fenced atomic.Uint64
	reads  sync.Pool // scratch, each a *bloomReads
}

// bloomReads is the reads of a burst of keys.
type bloomReads struct {
	at    [bloomBurst]bloomPlace
	found [bloomBurst][2]uint64
}

// bloomPlace is where a key's bits are.
type bloomPlace struct {
	pe    int
	word  [2]int
	masks [2]uint64
}

// NewBloom makes an empty filter for about keys keys, of which a look-up of a key that was not added says yes with a
// probability of rate. It is collective over all PEs of the World, which pass the same numbers.
//
// It returns the errors of pgas.Alloc. It panics with *pgas.UsageError unless keys is from 1 to 2^40 and rate from 1e-9
// to 0.5, and if K is not plain, has no bytes, or has gaps between its fields (their bytes are not part of the value).
// Option: Over.
func NewBloom[K any](ctx context.Context, w *pgas.World, keys int, rate float64, opts ...Option) (*Bloom[K], error) {
	const op = "NewBloom"
	s := settingsOf(op, opts)
	b := &Bloom[K]{members: carry.MembersOf(ctx, op, w, !s.over, s.team)}
	if keys < 1 || keys > 1<<40 {
		carry.Misuse(op, "%d keys: give a number from 1 to 2^40", keys)
	}
	if !(rate >= bloomLeastRate && rate <= bloomMostRate) {
		carry.Misuse(op, "a rate of %v: give a number from %v to %v", rate, bloomLeastRate, bloomMostRate)
	}
	bloomMustHash[K](op)
	if err := carry.MustBePlain[K](ctx, w); err != nil {
		return nil, err
	}
	perKey, each := bloomSize(rate)
	b.all, b.each = int(math.Ceil(float64(keys)*perKey))+1, each
	if b.members.N > 0 {
		b.blocks = (b.all + b.members.N - 1) / b.members.N
	}
	b.memory.Members = &b.members
	words := carry.Reserve[uint64](&b.memory, bloomBlock*b.blocks)
	if err := b.memory.Allocate(ctx, s.over); err != nil || b.members.Team == nil {
		return b, err
	}
	b.local = carry.Cleared[uint64](&b.memory, words, bloomBlock*b.blocks)
	b.words = pgas.AtomicsOf(b.local)
	b.reads.New = func() any { return new(bloomReads) }
	return b, b.memory.Ready(ctx)
}

func (b *Bloom[K]) check(op string) {
	if b == nil {
		carry.Misuse(op, "the container is nil or zero: make one with a New… function")
	}
	b.members.MustBeMember(op)
}

// place returns where the bits of key are.
func (b *Bloom[K]) place(key K) (p bloomPlace) {
	h := bloomHash(key)
	block, _ := bits.Mul64(h, uint64(b.all))
	p.pe = int(block / uint64(b.blocks))
	first := bloomBlock * int(block%uint64(b.blocks))
	h = bloomMix(h)
	one := int(h % bloomBlock)
	other := (one + 1 + int(h>>8%(bloomBlock-1))) % bloomBlock
	p.word = [2]int{first + one, first + other}
	for i := range p.masks {
		h = bloomMix(h)
		for bit := range b.each {
			p.masks[i] |= 1 << (h >> (6 * bit) % 64)
		}
	}
	return p
}

// Add adds key. It is one-sided: two atomic ors at one member, for which Add does not wait. They are complete at the
// next Quiet or barrier of the members; this member finds the key at once. The loss of the member is reported by the
// next call that blocks.
func (b *Bloom[K]) Add(key K) {
	b.check("Bloom.Add")
	p := b.place(key)
	b.members.MustLive(p.pe)
	for i, word := range p.word {
		b.words.At(word).Or(p.pe, p.masks[i])
	}
	b.adds.Add(1)
}

// AddAll adds keys, as Add does one by one.
func (b *Bloom[K]) AddAll(keys []K) {
	b.check("Bloom.AddAll")
	for _, key := range keys {
		b.Add(key)
	}
}

// MayHave reports whether key may have been added: no is certain, if Add and then a Quiet of the member that would have
// added it came before. It is one-sided: two atomic reads at one member, at once. It panics with *pgas.PeerError if
// that member is lost.
func (b *Bloom[K]) MayHave(key K) bool {
	b.check("Bloom.MayHave")
	r := b.begin()
	defer b.reads.Put(r)
	b.read(r, 0, key)
	b.members.Ctx.MustQuiet()
	return r.has(0)
}

// MayHaveAll returns what MayHave would for each of keys, appended to into. The reads of up to 64 keys are under way at
// once.
func (b *Bloom[K]) MayHaveAll(keys []K, into []bool) []bool {
	b.check("Bloom.MayHaveAll")
	r := b.begin()
	defer b.reads.Put(r)
	for len(keys) > 0 {
		n := min(len(keys), bloomBurst)
		for i, key := range keys[:n] {
			b.read(r, i, key)
		}
		b.members.Ctx.MustQuiet()
		for i := range n {
			into = append(into, r.has(i))
		}
		keys = keys[n:]
	}
	return into
}

// begin begins reads, of all that this member has added.
func (b *Bloom[K]) begin() *bloomReads {
	if adds := b.adds.Load(); b.fenced.Load() != adds {
		b.members.Ctx.Fence()
		b.fenced.Store(adds)
	}
	return b.reads.Get().(*bloomReads)
}

// read begins to read the words of key as number i of a burst.
func (b *Bloom[K]) read(r *bloomReads, i int, key K) {
	p := b.place(key)
	if err := b.members.LostBehind(context.Background(), p.pe); err != nil {
		panic(err)
	}
	r.at[i] = p
	for j, word := range p.word {
		b.words.At(word).FetchNB(p.pe, &r.found[i][j])
	}
}

// has reports whether all bits of key number i were read.
func (r *bloomReads) has(i int) bool {
	m := &r.at[i].masks
	return r.found[i][0]&m[0] == m[0] && r.found[i][1]&m[1] == m[1]
}

// Union adds all keys of other, which has the same members and was made for the same numbers. It is collective over the
// members, and contains a barrier before, so that what members have added to other is there, and one after. It moves
// nothing else. It returns the errors of pgas.Team.Barrier, and panics with *pgas.UsageError if the filters do not fit
// together.
func (b *Bloom[K]) Union(ctx context.Context, other *Bloom[K]) error {
	const op = "Bloom.Union"
	b.check(op)
	other.check(op)
	b.members.MustBelong(ctx, op)
	if other.members.Team != b.members.Team || other.all != b.all || other.each != b.each {
		carry.Misuse(op, "the other filter has other members, or was made for other numbers: make both with the same arguments")
	}
	if err := b.meet(ctx, op); err != nil {
		return err
	}
	for i := range b.local.Len() {
		if word := other.words.At(i).Fetch(b.members.Me); word != 0 {
			b.words.At(i).Or(b.members.Me, word)
		}
	}
	return b.meet(ctx, op)
}

// meet is a barrier of the members that is part of their call of op.
func (b *Bloom[K]) meet(ctx context.Context, op string) error {
	return b.members.Team.Joint(ctx, op, b.memory.Object(), true, func(context.Context) error { return nil })
}

// Count estimates how many keys were added, each counted once, from the bits that are set. It is collective over the
// members: a barrier, and a reduction of one number. It returns the errors of pgas.Team.Barrier and pgas.SumReduce. The
// estimate is +Inf if all bits are set.
func (b *Bloom[K]) Count(ctx context.Context) (float64, error) {
	const op = "Bloom.Count"
	b.check(op)
	b.members.MustBelong(ctx, op)
	if err := b.meet(ctx, op); err != nil {
		return 0, err
	}
	set := 0
	for i := range b.local.Len() {
		set += bits.OnesCount64(b.words.At(i).Fetch(b.members.Me))
	}
	set, err := pgas.SumValue(ctx, b.members.Team, set)
	all := float64(64 * bloomBlock * b.all)
	return -all / float64(2*b.each) * math.Log1p(-float64(set)/all), err
}

// Bytes returns the symmetric memory that the filter takes at each member. It is local.
func (b *Bloom[K]) Bytes() int {
	b.check("Bloom.Bytes")
	return 8 * b.local.Len()
}

// Free frees the memory of the filter. It is collective over all PEs of the World.
func (b *Bloom[K]) Free(ctx context.Context) error {
	if b == nil || b.members.World == nil {
		carry.Misuse("Bloom.Free", "the container is nil or zero: make one with a New… function")
	}
	return freeMemory(ctx, "Bloom.Free", &b.memory)
}
