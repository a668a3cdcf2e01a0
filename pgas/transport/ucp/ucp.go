//go:build cgo

package ucp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

// Settings are what a user can change. What is zero is as the job's settings say, and as suits the host
// where they say nothing.
type Settings struct {
	// PeerTimeout is how long a PE may be silent before it is reported as lost; 0 for 30 s. A PE that has died is
	// reported at once.
	PeerTimeout time.Duration
	// Spin is how long a thread polls for arrivals before it sleeps; 0 for what suits the host.
	Spin time.Duration
	// Connections is how many connections to other PEs a channel keeps at most; 0 for the engine's default.
	Connections int
	// RMA is how gets and large puts go; the zero value lets what UCX reports of its lanes decide.
	RMA engine.RMA
	// NICAtomics: every atomic and every signal is UCX's own, so that they are one domain with those of
	// a NIC. All PEs of a job must agree, and use no others.
	NICAtomics bool
}

// filled returns s with what it leaves open taken from the job's settings.
func (s Settings) filled(job boot.Settings) Settings {
	if s.PeerTimeout == 0 {
		s.PeerTimeout = job.PeerTimeout
	}
	if s.Spin == 0 {
		s.Spin = job.Spin
	}
	if s.Connections == 0 {
		s.Connections = job.Connections
	}
	if s.RMA == engine.Auto {
		s.RMA = map[boot.RMA]engine.RMA{boot.RMAAM: engine.AM, boot.RMANative: engine.Native}[job.RMA]
	}
	s.NICAtomics = s.NICAtomics || job.AMO == boot.AMONIC
	return s
}

// Transport is the UCX transport of one PE.
type Transport struct {
	job    *boot.Job
	engine *engine.Engine
	blame  blame
	ctx    context.Context // the context that ends with Close
	cancel context.CancelFunc

	mu        sync.Mutex
	addresses [][]byte // addresses by PE; nil until asked for
}

// Open starts the transport and publishes its address. It is collective: it returns when every PE of the
// job has called it. It fails if the job has no exchange or no secret, if PGAS_ACCEPT_FROM names no address, if UCX
// cannot open the network, if the exchange fails, and with the cause of ctx.
func Open(ctx context.Context, job *boot.Job, settings Settings) (*Transport, error) {
	if job.Exchange == nil && job.NPEs > 1 {
		return nil, errors.New("opening the UCX transport: the job has no exchange through which its PEs could find each other")
	}
	if err := waitForNetwork(ctx, job); err != nil {
		return nil, fmt.Errorf("opening the UCX transport: %w", err)
	}
	hosts, err := exchangeHosts(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("opening the UCX transport: %w", err)
	}
	if len(job.Secret) == 0 && job.NPEs > 1 {
		return nil, errors.New("opening the UCX transport: the job has no secret by which its PEs could know each other")
	}
	config := configOf(job, settings.filled(job.Settings))
	if err := confine(&config, job, hosts); err != nil {
		return nil, fmt.Errorf("opening the UCX transport: %w", err)
	}
	e, err := engine.Open(config)
	if err != nil {
		return nil, fmt.Errorf("opening the UCX transport: %w: check that UCX_TLS, UCX_NET_DEVICES and other UCX_ variables name what this host has (ucx_info -d lists it), or unset them", err)
	}
	if e.OpenRMA() && job.PE == 0 {
		fmt.Fprintln(os.Stderr, "pgas: PGAS_RMA=native or PGAS_AMO=nic without a network card: UCX reads and writes any memory of a PE, not only its heap, for any process that can connect to its ports from a host of this job (docs/use/security.md)")
	}
	if warning := engine.Warning(); warning != "" && job.PE == 0 {
		fmt.Fprintln(os.Stderr, "pgas: "+warning)
	}
	t := &Transport{job: job, engine: e, addresses: make([][]byte, job.NPEs)}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.blame.job, t.blame.closed = job, t.ctx.Done()
	t.blame.way = wayOf(hosts[job.HostIndex], config.Own)
	t.addresses[job.PE] = e.Address()
	if err := t.publish(ctx); err != nil {
		t.Close()
		return nil, err
	}
	t.watch()
	return t, nil
}

func configOf(job *boot.Job, settings Settings) engine.Config {
	head := job.Segment.Header
	local := job.PE - int(head.First)
	log := job.Record.ServeLog()
	state := job.Segment.States[local]
	peers := job.NPEs - int(head.Local)
	if settings.NICAtomics {
		peers = job.NPEs // those of this host by loopback
	}
	return engine.Config{
		PE:             job.PE,
		Key:            keyOf(job),
		NPEs:           job.NPEs,
		Heap:           job.Segment.Heap(local),
		Waiting:        &state.Waiting,
		ForGroup:       &state.WaitingForGroup,
		Doorbell:       &state.Doorbell,
		Failed:         &head.Failed,
		Messages:       job.Record.MessageCounters(),
		Accused:        &head.Accused,
		Bell:           &head.AccusedBell,
		Contention:     job.Contention().Words(),
		NoteQueue:      boot.NoteQueueOff,
		Oversubscribed: head.Local > head.Cores,
		Alone:          head.Local == 1,
		Spin:           settings.Spin,
		PeerTimeout:    settings.PeerTimeout,
		Connections:    settings.Connections,
		Peers:          peers,
		RMA:            settings.RMA,

		NICAtomics: settings.NICAtomics,

		ServeLog: log.Events, ServeNext: log.Next, ServeCapacity: log.Capacity, ServeTag: log.Tag,
	}
}

// confine restricts the engine to the job's interfaces and addresses.
func confine(c *engine.Config, job *boot.Job, hosts []hostInfo) error {
	more, all, err := job.Settings.AcceptedFrom()
	if err != nil {
		return err
	}
	c.Devices, c.Own = devices(hosts, job.HostIndex, ownInterfaces())
	c.Hosts = sources(hosts, job.HostIndex, c.NICAtomics)
	if !all {
		c.Sources = append(slices.Clip(c.Hosts), more...)
	}
	return nil
}

// keyOf derives the engines' key from the job's secret. In a job of one PE no other process needs it.
func keyOf(job *boot.Job) (k [engine.KeyBytes]byte) {
	if len(job.Secret) == 0 {
		rand.Read(k[:])
		return k
	}
	h := hmac.New(sha256.New, job.Secret)
	h.Write([]byte("gopgas: lanes of UCX " + job.ID))
	copy(k[:], h.Sum(nil))
	return k
}

func key(pe int) string { return "ucp/" + strconv.Itoa(pe) }

func (t *Transport) publish(ctx context.Context) error {
	if t.job.Exchange == nil {
		return nil
	}
	if err := t.job.Exchange.Put(ctx, key(t.job.PE), t.engine.Address()); err != nil {
		return fmt.Errorf("publishing the UCX address of PE %d: %w", t.job.PE, err)
	}
	if err := t.job.Exchange.Fence(ctx); err != nil {
		return fmt.Errorf("waiting for the other PEs to open the UCX transport: %w", err)
	}
	return nil
}

// address returns the address of pe's engine, or nil if it cannot be had; operations to pe are then
// reported as lost.
func (t *Transport) address(pe int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.addresses[pe]; a != nil {
		return a
	}
	a, err := t.job.Exchange.Get(t.ctx, key(pe))
	if err != nil {
		return nil
	}
	t.addresses[pe] = a
	return a
}

// Name returns "ucp".
func (t *Transport) Name() string { return "ucp" }

// Heap returns nil: nothing is mapped.
func (t *Transport) Heap(int) []byte { return nil }

// Channel opens a channel with an origin worker of its own. It fails as engine.Engine.Channel does.
func (t *Transport) Channel(private bool) (transport.Channel, error) {
	c, err := t.engine.Channel(private, t.address)
	if err != nil {
		return nil, fmt.Errorf("opening a channel of the UCX transport: %w", err)
	}
	return &channel{c, &t.blame}, nil
}

// WaitWord serves other PEs until the local word compares true with value, or about d has passed.
func (t *Transport) WaitWord(word transport.Word, cmp transport.Cmp, value uint64, signed bool, d time.Duration) bool {
	return t.engine.WaitWord(word.Off, word.Bytes, int(cmp), value, signed, d)
}

// WaitDoorbell serves other PEs until one was served, the doorbell is no longer seen, or about d has passed.
func (t *Transport) WaitDoorbell(seen uint32, d time.Duration) { t.engine.WaitDoorbell(seen, d) }

// Fault returns a *transport.PeerError about the first PE that cannot be reached or does not answer, or nil. It is that
// of transport.Progresser.
func (t *Transport) Fault(ctx context.Context) (lost error, decided bool) {
	err := t.engine.Lost()
	if err == nil { // as at every wait: no errors.As, which allocates
		return nil, true
	}
	var peer *engine.LostError
	if !errors.As(err, &peer) {
		return err, true
	}
	return t.blame.fault(ctx, peer)
}

var _ transport.Progresser = (*Transport)(nil)

// Served returns the number of messages of other PEs that this PE has applied.
func (t *Transport) Served() uint64 { return t.engine.Served() }

// Leave makes channels that close from now on wait until their targets know of it, for as long as a PE may be silent.
func (t *Transport) Leave() { t.engine.Leave() }

// Drain closes the channels of this PE that are left, and blocks until no channel of another PE leads to this one, a PE
// of the job is lost, the job is to end, or ctx ends. What answers the last operations of other PEs has then left this
// PE.
func (t *Transport) Drain(ctx context.Context) {
	t.engine.CloseChannels()
	const first, last = 20 * time.Microsecond, 2 * time.Millisecond
	for nap := first; t.engine.Inbound() > 0 && ctx.Err() == nil; nap = min(2*nap, last) {
		if t.job.Segment.Header.Failed.Load() != 0 || t.job.EndRequested() || t.engine.Lost() != nil {
			return
		}
		time.Sleep(nap)
	}
}

var _ transport.Drainer = (*Transport)(nil)

// Close ends the service: every PE must have finished its operations on this one before.
func (t *Transport) Close() error {
	t.cancel()
	return t.engine.Close()
}
