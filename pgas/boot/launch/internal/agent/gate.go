package agent

// Processes that outlive their term. When a term ends early, the agent ends the PEs of its host. A process that has
// said that it stays leaves its term, and waits at the gate for the next one. There it counts as ended: nothing of it
// touches the memory of the term any more. The agent hands it what a new process would inherit. A process that does
// not reach the gate in time is killed, and a new one takes its place.

import (
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// gate is where processes wait between two terms.
type gate struct {
	heard   chan said        // what processes say
	ended   chan struct{}    // closed when the agent ends
	waiting map[int]*process // by the index of their PE on this host
}

// said is a message of a process.
type said struct {
	by   *process
	what join.TermMessage
}

// follow passes on what p says, until p or the agent has ended.
func (g *gate) follow(p *process) {
	for {
		m, err := p.link.Hear()
		if err != nil {
			return
		}
		select {
		case g.heard <- said{p, m}:
		case <-g.ended:
			return
		}
	}
}

// add adds process p of PE i of this host.
func (g *gate) add(i int, p *process) {
	if g.waiting == nil {
		g.waiting = map[int]*process{}
	}
	g.waiting[i] = p
}

// take removes the process that waits to be PE i of this host, and returns it; nil: there is none.
func (g *gate) take(i int) *process {
	p := g.waiting[i]
	delete(g.waiting, i)
	return p
}

// noteExit removes the process with a number, which has ended.
func (g *gate) noteExit(pid int) {
	for i, p := range g.waiting {
		if p.pid == pid {
			g.take(i).end()
		}
	}
}

// all returns the processes that wait.
func (g *gate) all() []*process { return slices.Collect(maps.Values(g.waiting)) }

// TermLink is the agent's end of the connection to a process: a join.TermLink, or that of a simulation.
type TermLink interface {
	Hear() (join.TermMessage, error)
	End() error
	Begin(v boot.PEVars, files []int) error
	Close()
}

// process is the process of a PE.
type process struct {
	pid     int
	number  atomic.Uint32  // its PE in this term
	readers sync.WaitGroup // the goroutines that read its output
	link    TermLink       // nil: it cannot outlive its term
	stays   bool           // it is to outlive its term
	atGate  bool           // it waits for the next term
	doomed  bool           // it has been killed, or has ended
	used    time.Duration  // the CPU time that it has used in earlier terms
}

// end notes that p has ended, or that nothing more is wanted of it.
func (p *process) end() {
	p.doomed = true
	if p.link != nil {
		p.link.Close()
	}
}

// leave asks p to leave its term, and reports whether it is to be expected at the gate.
func (p *process) leave() bool { return p.stays && p.link.End() == nil }

// begin makes p, which is at the gate, a PE of the next term, as TermLink.Begin does.
func (p *process) begin(v boot.PEVars, files []int) error {
	p.number.Store(uint32(v.PE))
	p.atGate = false
	p.used, _ = usage(p.pid)
	return p.link.Begin(v, files)
}

// relay returns a function that sends pieces of one stream of p to the launcher.
func (p *process) relay(out *frame.Sender, k frame.Kind) func(piece []byte) {
	return func(piece []byte) {
		out.Send(k, binary.BigEndian.AppendUint32(nil, p.number.Load()), piece)
	}
}
