// Package memory keeps the images of a job in the memory of its hosts, where the PEs of the next term find them. On
// several hosts each image is on two: that of its PE, and that of a buddy, a PE of the host that is half of all hosts
// further. So the death of any PEs loses no image, and the death of a host loses none that its buddies do not have.
//
// Images of PEs of other hosts are read by asking: see serve.go.
//
// A term may have fewer hosts than the one before, and other numbers of PEs. The PEs of a host have the same places in
// its memory then. They find there the images of the PEs that were numbered otherwise: a cut of another number of PEs,
// which is read where it is. The first cut of this term is made in the other slots. So the older cut stays until the
// new one is safe, as any cut does.
package memory

//	memory.go    the images of this host, and which there are on all
//	serve.go     reads those of other hosts
//	copy.go      copies images between hosts
//	journal.go   what a PE has done since its last image

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/internal/cuts/vault"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
)

// A Memory is a PE's part of it.
type Memory struct {
	w     *pgas.World
	hosts []boot.Host
	vault *vault.Vault
	own   [2]image.Frame // of this PE: those of even and of odd versions
	wards []int          // the PEs whose images this PE keeps, too
	stale []place        // where there are images of a term with other numbers, and this term keeps none

	journals []kept // of all PEs, when Find has found them

	mapping sync.Mutex            // held while slots are mapped
	slots   map[place]*vault.Slot // which this PE has mapped

	asking
}

// asking is what a PE needs to ask and to answer.
type asking struct {
	questions pgas.Sym[question]    // one of each PE
	asked     pgas.Sym[pgas.Signal] // the number of that question
	bell      pgas.Sym[pgas.Signal] // how many questions have come
	answer    pgas.Sym[byte]        // that this PE gets, and behind it the one that it gives
	answered  pgas.Sym[pgas.Signal] // twice the number of the answer that this PE has got, and 1 if there are no bytes

	mu     sync.Mutex // held while a question is asked
	number uint64     // of the last question that this PE has asked

	rung    uint64      // how many questions have been seen
	told    []uint64    // the number of the last question of each PE that was answered
	serving atomic.Bool // other PEs may ask
}

// A question asks for bytes of what a slot has of a cut, or for what of it was not sent.
type question struct {
	Cut    image.Cut
	Row    uint64
	Which  uint64 // of the slots of the row
	Unsent uint64 // not 0: the size of the image, and the ranges that Frame.Unsent returns
	Offset uint64
	Size   uint64
}

// place is where a slot is.
type place struct {
	pe    int // whose place it is
	row   int
	which int
}

// New returns the Memory of a PE of hosts. f is the memory of its host. New maps where the images of this PE are, so
// that the collective calls that follow do not fail at some PEs only.
func New(w *pgas.World, f *os.File, hosts []boot.Host) (*Memory, error) {
	m := &Memory{w: w, hosts: hosts, slots: map[place]*vault.Slot{}}
	var err error
	if m.vault, err = vault.Open(f, m.hosts[m.hostOf(w.PE())].PEs); err != nil {
		return nil, err
	}
	if len(hosts) > 1 {
		err = m.findWards()
	}
	if err == nil {
		m.stale, err = m.others()
	}
	for _, p := range m.places() {
		if err == nil {
			_, err = m.slot(p)
		}
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// others returns the places of this PE that have something and are none of places.
func (m *Memory) others() (found []place, err error) {
	used, err := m.vault.Used(m.w.PE() - m.hosts[m.hostOf(m.w.PE())].First)
	now := m.places()
	for _, u := range used {
		if p := (place{m.w.PE(), u[0], u[1]}); !slices.Contains(now, p) {
			found = append(found, p)
		}
	}
	return found, err
}

// findWards finds the PEs that have this PE as their buddy.
func (m *Memory) findWards() error {
	for pe := range m.w.NPEs() {
		if buddy, _ := m.buddyOf(pe); buddy == m.w.PE() {
			m.wards = append(m.wards, pe)
		}
	}
	return m.mustHaveRows()
}

// mustHaveRows returns an error if a host has too few PEs to keep the images of another one.
func (m *Memory) mustHaveRows() error {
	for _, h := range m.hosts {
		if buddy, row := m.buddyOf(h.First + h.PEs - 1); row >= vault.Rows {
			to := m.hosts[m.hostOf(buddy)]
			return fmt.Errorf("host %s has %s, and cannot keep the images of %s: give hosts that are half of all hosts apart more equal numbers of PEs",
				to.Name, plural.Count(to.PEs, "PE"), plural.Count(h.PEs, "PE"))
		}
	}
	return nil
}

// Close gives back what is mapped. The images stay.
func (m *Memory) Close() {
	for _, s := range m.slots {
		s.Close()
	}
	clear(m.slots)
}

// hostOf returns the index of the host of a PE.
func (m *Memory) hostOf(pe int) int {
	return sort.Search(len(m.hosts), func(i int) bool { return m.hosts[i].First > pe }) - 1
}

func (m *Memory) isLocal(pe int) bool { return m.hostOf(pe) == m.hostOf(m.w.PE()) }

// buddyOf returns the PE that keeps the images of another one, too, and the row of its place where it does. There are
// several hosts.
func (m *Memory) buddyOf(pe int) (buddy, row int) {
	h := m.hostOf(pe)
	to := m.hosts[(h+len(m.hosts)/2)%len(m.hosts)]
	i := pe - m.hosts[h].First
	return to.First + i%to.PEs, 1 + i/to.PEs
}

// slot returns a slot of this host.
func (m *Memory) slot(p place) (*vault.Slot, error) {
	m.mapping.Lock()
	defer m.mapping.Unlock()
	if s := m.slots[p]; s != nil {
		return s, nil
	}
	s, err := m.vault.Slot(p.pe-m.hosts[m.hostOf(p.pe)].First, p.row, p.which)
	if err == nil {
		m.slots[p] = s
	}
	return s, err
}

// which returns which of two slots the image of a cut is in.
func which(c image.Cut) int { return int(c.Version % 2) }

func (m *Memory) ownPlace(c image.Cut) place { return place{m.w.PE(), 0, which(c)} }

// Frame returns the frame of this PE's image of a cut that is about to be made, with room for sections. The image that
// was in its slot is gone then.
func (m *Memory) Frame(h image.Head, sections []image.Section) (*image.Frame, error) {
	s, err := m.slot(m.ownPlace(h.Cut))
	if err != nil {
		return nil, err
	}
	s.Clear()
	f := &m.own[which(h.Cut)]
	return f, f.Lay(h, sections, s.Grow)
}

// Keep says that this PE's image of a cut is whole.
func (m *Memory) Keep(h image.Head) error {
	s, err := m.slot(m.ownPlace(h.Cut))
	if err == nil {
		s.Set(vault.Mark{Cut: h.Cut, Job: h.Job, PE: uint32(h.PE), PEs: uint32(h.PEs), Bytes: uint64(len(m.own[which(h.Cut)].Bytes()))})
	}
	return err
}

// Own returns this PE's image of a cut, which it has.
func (m *Memory) Own(c image.Cut) []byte {
	s, err := m.slot(m.ownPlace(c))
	if err != nil {
		return nil
	}
	m.mapping.Lock()
	defer m.mapping.Unlock()
	b, _ := s.Bytes()
	return b
}

// Safe notes that all images of a cut are where they belong. It frees what nobody needs then: the cuts of a term with
// other numbers, and the journals of earlier terms.
func (m *Memory) Safe(c image.Cut) {
	m.own[which(c)].Sent()
	m.eachOf(c, func(s *vault.Slot, _ int) { s.Safe().Store(1) })
	m.mapping.Lock()
	defer m.mapping.Unlock()
	for _, p := range m.stale {
		_ = m.slots[p].Free() // otherwise its memory is used until the job ends
		delete(m.slots, p)
	}
	m.stale = nil
}

// CountStart counts a term that begins from a cut.
func (m *Memory) CountStart(c image.Cut) {
	m.eachOf(c, func(s *vault.Slot, _ int) { s.Starts().Add(1) })
}

// eachOf calls f for each image of a cut that this PE has, with the number of the PE that has saved it.
func (m *Memory) eachOf(c image.Cut, f func(s *vault.Slot, pe int)) {
	for _, p := range m.places() {
		if s, err := m.slot(p); err == nil {
			if mark, ok := s.Mark(); ok && mark.Cut == c {
				f(s, int(mark.PE))
			}
		}
	}
}

// places returns where this PE keeps images.
func (m *Memory) places() []place {
	all := []place{{m.w.PE(), 0, 0}, {m.w.PE(), 0, 1}}
	for _, pe := range m.wards {
		_, row := m.buddyOf(pe)
		all = append(all, place{m.w.PE(), row, 0}, place{m.w.PE(), row, 1})
	}
	return append(all, m.stale...)
}

// kept is an image or a journal that a PE has.
type kept struct {
	Mark   vault.Mark // where Bytes is the size of the image, or of the records
	Place  place
	Starts uint64
	Safe   bool
}

// A Kept is a cut of which some images are there.
type Kept struct {
	Cut    image.Cut
	Job    uint64
	PEs    int    // how many have saved
	Starts uint64 // how many terms have begun from it
	Safe   bool   // all images of it were where they belong
	Lost   []int  // the PEs whose images are not there
	at     map[int]place
	sizes  map[int]uint64
	mended bool // each PE has its own image
}

// Find returns what all PEs have, the newest cut first. It is collective.
func (m *Memory) Find(ctx context.Context) ([]*Kept, error) {
	var mine []kept
	var wrong error // of this PE
	for _, p := range m.places() {
		s := m.slots[p] // which New has mapped
		mark, ok := s.Mark()
		if !ok {
			continue
		}
		if p.which >= vault.Journals {
			b, err := s.Bytes()
			if err != nil {
				wrong = fmt.Errorf("a journal in memory: %w", err)
				continue
			}
			mark.Bytes = uint64(vault.EndOf(b, vault.Tag(mark)))
		}
		mine = append(mine, kept{mark, p, s.Starts().Load(), s.Safe().Load() != 0})
	}
	all, err := pgas.AllGather(ctx, m.w.Team(), mine)
	if err != nil {
		return nil, err
	}
	images := slices.Concat(all...)
	isJournal := func(x kept) bool { return x.Place.which >= vault.Journals }
	for _, x := range images {
		if isJournal(x) {
			m.journals = append(m.journals, x)
		}
	}
	return newest(slices.DeleteFunc(images, isJournal)), wrong
}

// Began returns the term of the first start of the PEs by this launcher, as the PEs that have called Know count terms,
// or 0 if no host knows it. forgotten is true if all hosts that knew were lost at once, and with them what earlier
// terms have saved. The memory of this host was made in the launcher's term since, and this is its term now: a host
// also knows that nothing is lost if its memory is of the first term. Began is collective.
func (m *Memory) Began(ctx context.Context, since, now int) (first uint64, forgotten bool, err error) {
	const unknown = math.MaxUint64
	first = m.slots[place{m.w.PE(), 0, 0}].Known().Load()
	switch {
	case first != 0:
	case since <= 1:
		first = unknown - 1
	default:
		first = unknown
	}
	first, err = pgas.MinValue(ctx, m.w.Team(), first)
	if first >= unknown-1 {
		return 0, first == unknown && now > 1, err
	}
	return first, false, err
}

// Know notes that this host knows what earlier terms have saved, the first of which was first.
func (m *Memory) Know(first uint64) { m.slots[place{m.w.PE(), 0, 0}].Known().Store(first) }

// newest returns the cuts of which images are there.
func newest(all []kept) (found []*Kept) {
	type key struct {
		cut image.Cut
		job uint64
	}
	by := map[key]*Kept{}
	for _, x := range all {
		if x.Mark.PE >= x.Mark.PEs {
			continue
		}
		name := key{x.Mark.Cut, x.Mark.Job}
		k := by[name]
		if k == nil {
			k = &Kept{Cut: x.Mark.Cut, Job: x.Mark.Job, PEs: int(x.Mark.PEs), at: map[int]place{}, sizes: map[int]uint64{}}
			by[name] = k
			found = append(found, k)
		}
		k.Starts, k.Safe = max(k.Starts, x.Starts), k.Safe || x.Safe
		pe := int(x.Mark.PE)
		if _, there := k.at[pe]; !there || x.Place.row == 0 { // its own place rather than that of its buddy
			k.at[pe], k.sizes[pe] = x.Place, x.Mark.Bytes
		}
	}
	for _, k := range found {
		for pe := range k.PEs {
			if _, there := k.at[pe]; !there {
				k.Lost = append(k.Lost, pe)
			}
		}
	}
	slices.SortFunc(found, func(a, b *Kept) int { return cmp.Or(b.Cut.Compare(a.Cut), cmp.Compare(a.Job, b.Job)) })
	return found
}
