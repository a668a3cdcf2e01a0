package join

// The server's side of a job that assembles, and of what its members tell each other afterwards: which PE is lost, and
// that a PE ends the job. A server under pgasrun has no assembly: pgasrun's agents do all this.

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// assembly is the part of a Server that knows what its clients are. Server.mu guards it.
type assembly struct {
	told   []string // the host that the launcher says of each rank, or nil
	within time.Duration
	timer  *time.Timer

	come    map[int]newcomer
	askers  map[int]reply // they wait for their place
	refusal error         // the job cannot assemble: the answer to all
	peOf    []int         // the PE of each rank, when all have come
	hostOf  []int         // the host of each rank, when all have come
	asks    map[int]int64 // how often members of each host have asked whether the server answers
	left    map[int]bool  // ranks that have left the job, or failed
	failed  bool          // a failure has been announced
	ending  bool          // a member has called GlobalExit: all end

	telling sync.Mutex // held until members have been told of a failure
}

// assemble runs s for newcomers, from when it can tell what they are. After within, those that have come are told which
// have not.
func (s *Server) assemble(told []string, within time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.assembly = &assembly{told: told, within: within, come: map[int]newcomer{}, askers: map[int]reply{}, left: map[int]bool{}}
	s.assembly.timer = time.AfterFunc(within, func() { s.refuseAll(s.missing()) })
	s.listen()
}

// missing returns the error that names the ranks which have not come.
func (s *Server) missing() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.assembly
	var names []string
	for rank := range s.NPEs {
		if _, ok := a.come[rank]; ok {
			continue
		}
		name := strconv.Itoa(rank)
		if len(a.told) == s.NPEs {
			name += " (on " + a.told[rank] + ")"
		}
		names = append(names, name)
	}
	const most = 8
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%d of %d processes have come within %v; missing: rank %s: see in the launcher's output why they have not started, or raise %s", len(a.come), s.NPEs, a.within, strings.Join(names, ", "), boot.EnvBootTimeout)
}

// refuseAll tells every process that the job cannot assemble. It has no effect on a job that has.
func (s *Server) refuseAll(why error) {
	s.mu.Lock()
	a := s.assembly
	if a.peOf != nil || a.refusal != nil {
		s.mu.Unlock()
		return
	}
	a.refusal = why
	a.timer.Stop()
	askers := a.askers
	s.mu.Unlock()
	for _, rank := range fromLast(askers) {
		askers[rank].answer(msgError, []byte(why.Error()))
	}
}

// fromLast returns the ranks of m, rank 0 last: its process has the server and may end with its answer.
func fromLast(m map[int]reply) []int {
	ranks := make([]int, 0, len(m))
	for rank := range m {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	slices.Reverse(ranks)
	return ranks
}

// come records a newcomer. With the last one it tells all of them their places.
func (s *Server) come(caller reply, rank int, value []byte) {
	var n newcomer
	if err := json.Unmarshal(value, &n); err != nil || n.Rank != rank {
		s.refuseAll(fmt.Errorf("rank %d says of itself what this version of gopgas does not understand: install the same program on every host", rank))
	}
	s.mu.Lock()
	a := s.assembly
	if a.refusal != nil {
		s.mu.Unlock()
		caller.answer(msgError, []byte(a.refusal.Error()))
		return
	}
	a.come[rank], a.askers[rank] = n, caller
	complete := len(a.come) == s.NPEs
	s.mu.Unlock()
	if complete {
		s.tellPlaces()
	}
}

func (s *Server) tellPlaces() {
	s.mu.Lock()
	a := s.assembly
	all := make([]newcomer, s.NPEs)
	for rank, n := range a.come {
		all[rank] = n
	}
	places, err := plan(all)
	if err == nil {
		a.timer.Stop()
		a.peOf, a.hostOf, a.asks = make([]int, s.NPEs), make([]int, s.NPEs), map[int]int64{}
		for rank, p := range places {
			a.peOf[rank], a.hostOf[rank] = p.PE, p.HostIndex
		}
		s.narrow(s.comeAt(all, places))
	}
	s.mu.Unlock()
	if err != nil {
		s.refuseAll(err)
		return
	}
	for _, rank := range fromLast(a.askers) {
		a.askers[rank].answer(msgOK, encodeJSON(places[rank]))
	}
}

// comeAt returns the addresses of this host at which processes of other hosts have come, and those that the user has
// sent to a fixed address: what is started again comes there. Processes of this host that had a choice may have taken
// any. Callers hold mu.
func (s *Server) comeAt(all []newcomer, places []place) (addrs []string) {
	for rank := 1; rank < len(all); rank++ {
		l := s.links[rank]
		if l == nil || places[rank].HostIndex == 0 && all[rank].Told == "" {
			continue
		}
		if addr := l.conn.LocalAddr().String(); !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// gone handles the end of a rank's connection. A process that ends without leaving has failed.
func (s *Server) gone(rank int) {
	s.mu.Lock()
	a := s.assembly
	assembled, left, closed := a.peOf != nil, a.left[rank], s.closed
	s.mu.Unlock()
	switch {
	case closed || left:
	case !assembled:
		s.refuseAll(fmt.Errorf("rank %d has ended before the job had assembled", rank))
	default:
		s.announce(a.peOf[rank], boot.GoneHow)
	}
}

// handleMember executes what a member says to the server, for which there is no answer.
func (s *Server) handleMember(rank int, m message) {
	s.mu.Lock()
	a := s.assembly
	assembled := a.peOf != nil
	s.mu.Unlock()
	if !assembled {
		return
	}
	switch m.kind {
	case msgLeave:
		s.leave(rank)
	case msgEnding:
		s.endingOf(rank, m.value)
	case msgAccuse:
		s.accused(m.value)
	case msgExit:
		s.exitAll(m.value)
	}
}

// leave records that no PE waits for rank any more. When rank 0 leaves, its process may end, and the server with it:
// the others are told that this is no failure.
func (s *Server) leave(rank int) {
	s.mu.Lock()
	s.assembly.left[rank] = true
	s.mu.Unlock()
	if rank == 0 {
		s.broadcast(message{kind: msgServerLeaves})
	}
}

// asked records that a member has asked whether the server answers.
func (s *Server) asked(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.assembly; a.peOf != nil {
		a.asks[a.hostOf[rank]]++
	}
}

// questionsOf returns how often members of a host have asked that.
func (s *Server) questionsOf(host int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.assembly.asks[host]
}

// endingOf handles the announcement of a PE that it ends because of an error. If it has lost another PE, that one is
// the cause.
func (s *Server) endingOf(rank int, value []byte) {
	why, peer, ok := decodePair(value)
	if !ok {
		return
	}
	s.mu.Lock()
	pe := s.assembly.peOf[rank]
	s.mu.Unlock()
	if boot.EndReason(why) == boot.EndLost && peer < uint64(s.NPEs) && int(peer) != pe {
		s.announce(int(peer), boot.LostHow)
		return
	}
	s.announce(pe, boot.GoneHow)
}

// accused handles the accusation of a PE by another. If a link has failed, PEs at each of its ends accuse those at the
// other; the accuser that other PEs answer is right.
func (s *Server) accused(value []byte) {
	var x boot.Accusation
	if json.Unmarshal(value, &x) != nil || x.PE < 0 || x.PE >= s.NPEs {
		return
	}
	if x.Certain {
		s.announce(x.PE, x.How())
		return
	}
	time.AfterFunc(boot.AccusationDelay, func() { s.announce(x.PE, x.How()) })
}

// firstMember returns the first PE of a host that has not left the job, or -1.
func (s *Server) firstMember(h boot.Host) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for pe := h.First; pe < h.First+h.PEs; pe++ {
		if !s.assembly.left[slices.Index(s.assembly.peOf, pe)] {
			return pe
		}
	}
	return -1
}

// announce tells every member that pe has failed. Only the first failure is announced: the others are likely its
// consequences. It returns when members have been told of a failure, of this one or of an earlier one: a process of PE
// 0 that ends sooner would seem to be the first that failed.
func (s *Server) announce(pe int, how uint64) {
	a := s.assembly
	a.telling.Lock()
	defer a.telling.Unlock()
	s.mu.Lock()
	rank := slices.Index(a.peOf, pe)
	first := !a.failed && !a.ending && !s.closed && !a.left[rank]
	a.failed = a.failed || first
	s.mu.Unlock()
	if first {
		s.broadcast(message{kind: msgFailed, value: encodePair(uint64(pe), how)})
	}
}

// exitAll tells every member to end its process, for a PE that has called GlobalExit.
func (s *Server) exitAll(value []byte) {
	s.mu.Lock()
	first := !s.assembly.ending
	s.assembly.ending = true
	s.mu.Unlock()
	if first {
		s.broadcast(message{kind: msgExit, value: value})
	}
}

// broadcast sends m to every member, to rank 0 last.
func (s *Server) broadcast(m message) {
	s.mu.Lock()
	links := map[int]reply{}
	for rank, l := range s.links {
		links[rank] = reply{link: l}
	}
	s.mu.Unlock()
	for _, rank := range fromLast(links) {
		if links[rank].link.send(m) != nil {
			links[rank].link.conn.Close()
		}
	}
}

func encodePair(a, b uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, a), b)
}

func decodePair(value []byte) (a, b uint64, ok bool) {
	if len(value) != 16 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:]), true
}
