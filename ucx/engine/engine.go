//go:build cgo

package engine

// The life of an engine, as Go sees it.

/*
#cgo pkg-config: ucx
#cgo CFLAGS: -D_GNU_SOURCE -std=gnu11 -O2 -Wall -Wextra
#cgo noescape engine_kick
#cgo nocallback engine_kick
#cgo noescape engine_wait_word
#cgo nocallback engine_wait_word
#cgo noescape engine_wait_doorbell
#cgo nocallback engine_wait_doorbell
#include <stdlib.h>
#include <sys/socket.h>
#include "engine.h"
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/gopgas/gopgas/ucx/release"
)

// Config is what an engine works on.
type Config struct {
	PE, NPEs int
	Key      [KeyBytes]byte // key of the job: a process that has it may read and write the heap
	Heap     []byte         // this PE's heap, which others read and write
	Waiting  *atomic.Uint64 // 0, 1 for any, or the boot.WatchRange on which a waiter sleeps
	ForGroup *atomic.Uint64 // not 0: a waiter sleeps until members of a team on this host arrive; may be nil
	Doorbell *atomic.Uint32 // futex word, bumped and woken when what Waiting says has been updated
	Failed   *atomic.Uint64 // 0, or 1 + a PE that has died
	// counts messages that carry operations, their bytes and the operations; may be nil
	Messages *[3]atomic.Uint64
	Accused  *atomic.Uint64 // boot.Header.Accused: tells the launcher of a silent PE; nil: it is not told
	Bell     *atomic.Uint32 // futex word, bumped and woken when Accused has changed
	// boot.Contention: what waiters know of other programs on their CPUs; nil: they do not ask
	Contention     *[5]atomic.Int64
	NoteQueue      uint64        // where in Heap the queue of notes is (pgas/transport/shm has one); 0: none
	Oversubscribed bool          // there are more PEs than CPUs
	Alone          bool          // no other PE is on this host, so all waits progress the engine
	Spin           time.Duration // how long a thread polls before it sleeps; 0 for a suitable time
	PeerTimeout    time.Duration // how long a peer may owe an answer; 0 for 30 s
	Connections    int           // most connections of a channel, and of the service worker; 0 for DefaultConnections
	Peers          int           // PEs to which channels may connect; 0: NPEs
	RMA            RMA           // how gets and large puts go
	// NICAtomics: every atomic is UCX's own, executed by the NIC if it can. All engines of a job must
	// agree, and no PE may use the CPU's atomics on the same words.
	NICAtomics bool
	// Devices are the interfaces that UCX may use besides network cards, separated by commas; "" for all.
	// UCX_NET_DEVICES wins.
	Devices string
	// ServeLog is where the service thread logs when it was awake; nil: it keeps no log. A Go pointer to it stays
	// valid. It has ServeCapacity events, ServeNext counts those that were to be logged, and ServeTag ends each.
	ServeLog                unsafe.Pointer
	ServeNext               *atomic.Uint64
	ServeCapacity, ServeTag uint64
	// Sources are the addresses whose connections UCX's listeners hear; none: any address's.
	Sources []netip.Prefix
	// Hosts are the addresses of the other hosts, to which UCX may connect: a connection that does not come about is
	// given up before PeerTimeout. None: Sources.
	Hosts []netip.Prefix
	// Own are addresses of this host that UCX takes on their interfaces, in place of the first of each; the first 16
	// count.
	Own []netip.Addr
}

// firstNumber is where the numbers of messages, notes and slots start. Tests set it.
var firstNumber = uint32(C.FIRST_NUMBER)

// kernelFilters has the kernel drop the packets of strangers, if it may. Tests clear it.
var kernelFilters = true

// DefaultConnections is the Connections of a Config that does not say.
const DefaultConnections = 1024

// KeyBytes is the size of a job's key.
const KeyBytes = 16

// Engine is one PE's end of the network.
type Engine struct {
	c       *C.engine_t
	config  Config
	address []byte
	pins    runtime.Pinner // what C keeps of Config
	deep    *uint32
	ticks   *uint64
	waits   atomic.Uint32 // number of waiting calls so far

	mu       sync.Mutex
	channels map[*Channel]struct{}
	closed   bool
	outsides []*C.struct_outside // channels for threads that are not Go's
}

// ErrClosed is the error of calls on an engine or a channel that has been closed.
var ErrClosed = errors.New("the engine is closed")

// Open starts an engine. Others reach it by its Address. It fails if the heap is empty, if there is no key, if UCX
// cannot open the network or is of a release that the engine does not work with, and if the kernel has no memory, no
// thread or no filter for it.
func Open(config Config) (*Engine, error) {
	e, err := prepare(config)
	if err != nil {
		return nil, err
	}
	if err := e.start(); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// start starts the service thread.
func (e *Engine) start() error {
	if errno := C.engine_start(e.c); errno != 0 {
		return fmt.Errorf("starting the service thread: %w", syscall.Errno(errno))
	}
	return nil
}

// twoProcessors sees to it that the Go scheduler has two processors, unless the user has said how many.
// Where a process is bound to one CPU it has one, and a wait that takes more than 20 µs in C then has it taken
// away, with a thread to wake and another to switch to before the wait can return: on a CPU that several
// PEs share, that took longer than the messages. With an idle processor beside it, the monitor leaves it.
func twoProcessors() {
	if runtime.GOMAXPROCS(0) < 2 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2)
	}
}

// running returns the release of UCX in use.
func running() release.Version {
	var major, minor, patch C.uint
	C.ucp_get_version(&major, &minor, &patch)
	return release.Version{Major: int(major), Minor: int(minor), Patch: int(patch)}
}

// Warning returns a line about a release of UCX that is newer than those which the engine knows, and otherwise nothing.
func Warning() string { return release.Warning(running()) }

// prepare makes an engine that does not serve yet.
func prepare(config Config) (*Engine, error) {
	if err := release.Check(release.Version{Major: C.UCP_API_MAJOR, Minor: C.UCP_API_MINOR}, running()); err != nil {
		return nil, err
	}
	if err := config.complete(); err != nil {
		return nil, err
	}
	twoProcessors()
	e := &Engine{config: config, channels: map[*Channel]struct{}{}}
	e.pinShared()
	cc := e.shared()
	e.shareServeLog(&cc)
	e.switches(&cc)
	e.network(&cc)
	defer C.free(unsafe.Pointer(cc.devices))
	var msg [256]C.char
	if e.c = C.engine_open(&cc, &msg[0], C.size_t(len(msg))); e.c == nil {
		e.pins.Unpin()
		return nil, errors.New(C.GoString(&msg[0]))
	}
	e.deep = (*uint32)(C.engine_deep(e.c))
	e.ticks = (*uint64)(C.engine_ticks(e.c))
	var n C.size_t
	pos := C.engine_address(e.c, &n)
	e.address = C.GoBytes(pos, C.int(n))
	return e, nil
}

// complete checks the configuration and fills in defaults.
func (c *Config) complete() error {
	if len(c.Heap) == 0 {
		return errors.New("the heap is empty: an engine needs one to serve")
	}
	if c.Key == [KeyBytes]byte{} {
		return errors.New("the engine has no key: it would serve any process that reaches it")
	}
	if c.Spin == 0 {
		c.Spin = 50 * time.Microsecond // where there are more PEs than CPUs, every poll hands the CPU on
	}
	if c.Connections <= 0 {
		c.Connections = DefaultConnections
	}
	if c.PeerTimeout == 0 {
		c.PeerTimeout = 30 * time.Second
	}
	return nil
}

// pinShared pins the memory of the configuration that C keeps pointers to.
func (e *Engine) pinShared() {
	c := &e.config
	e.pins.Pin(&c.Heap[0])
	e.pins.Pin(c.Waiting)
	if c.ForGroup != nil {
		e.pins.Pin(c.ForGroup)
	}
	e.pins.Pin(c.Doorbell)
	e.pins.Pin(c.Failed)
	if c.Contention != nil {
		e.pins.Pin(c.Contention)
	}
	if c.Messages != nil {
		e.pins.Pin(c.Messages)
	}
	if c.Accused != nil {
		e.pins.Pin(c.Accused)
		e.pins.Pin(c.Bell)
	}
}

// shared returns the configuration for C with what stands in memory that other processes read, and the numbers.
func (e *Engine) shared() C.struct_engine_config {
	c := &e.config
	cc := C.struct_engine_config{
		heap:              (*C.char)(unsafe.Pointer(&c.Heap[0])),
		heap_bytes:        C.uint64_t(len(c.Heap)),
		waiting:           (*C.uint64_t)(unsafe.Pointer(c.Waiting)),
		waiting_for_group: (*C.uint64_t)(unsafe.Pointer(c.ForGroup)),

		doorbell:   (*C.uint32_t)(unsafe.Pointer(c.Doorbell)),
		failed:     (*C.uint64_t)(unsafe.Pointer(c.Failed)),
		messages:   (*C.uint64_t)(unsafe.Pointer(c.Messages)),
		contention: (*C.struct_contention)(unsafe.Pointer(c.Contention)),
		accused:    (*C.uint64_t)(unsafe.Pointer(c.Accused)),

		accused_bell: (*C.uint32_t)(unsafe.Pointer(c.Bell)),

		notes:           C.uint64_t(c.NoteQueue),
		pe:              C.uint32_t(c.PE),
		npes:            C.uint32_t(c.NPEs),
		first:           C.uint32_t(firstNumber),
		spin_ns:         C.int64_t(c.Spin),
		peer_timeout_ns: C.int64_t(c.PeerTimeout),
		connections:     C.uint32_t(c.Connections),
		rma:             C.int(c.RMA),
	}
	for i := range cc.key {
		cc.key[i] = C.uint64_t(binary.LittleEndian.Uint64(c.Key[8*i:]))
	}
	return cc
}

// shareServeLog has C record what it serves, if the configuration has memory for that.
func (e *Engine) shareServeLog(cc *C.struct_engine_config) {
	c := &e.config
	if c.ServeLog == nil {
		return
	}
	cc.serve_log, cc.serve_next = (*C.struct_serve_event)(c.ServeLog), (*C.uint64_t)(unsafe.Pointer(c.ServeNext))
	cc.serve_capacity, cc.serve_tag = C.uint64_t(c.ServeCapacity), C.uint64_t(c.ServeTag)
	e.pins.Pin(c.ServeLog)
	e.pins.Pin(c.ServeNext)
}

// switches turns on in cc what the configuration, the release of UCX and the build ask for.
func (e *Engine) switches(cc *C.struct_engine_config) {
	if e.config.Oversubscribed {
		cc.oversubscribed = 1
	}
	if e.config.NICAtomics {
		cc.nic = 1
	}
	if running().Has(release.EmulatedAtomics) {
		cc.old_protocols = 1
	}
	if !kernelFilters {
		cc.unfiltered = 1
	}
}

// network states in cc the devices, and the addresses that may connect. The caller frees cc.devices.
func (e *Engine) network(cc *C.struct_engine_config) {
	c := &e.config
	if c.Devices != "" {
		cc.devices = C.CString(c.Devices)
	}
	if sources := cSources(c.Sources); len(sources) > 0 {
		cc.sources, cc.nsources = &sources[0], C.uint32_t(len(sources))
		e.pins.Pin(cc.sources)
	}
	if hosts := cSources(c.Hosts); len(hosts) > 0 {
		cc.hosts, cc.nhosts = &hosts[0], C.uint32_t(len(hosts))
		e.pins.Pin(cc.hosts)
	}
	for i, a := range c.Own[:min(len(c.Own), len(cc.own))] {
		cc.own[i] = cSources([]netip.Prefix{netip.PrefixFrom(a, a.BitLen())})[0]
		cc.nown++
	}
}

func cSources(prefixes []netip.Prefix) []C.struct_engine_source {
	var sources []C.struct_engine_source
	for _, p := range prefixes {
		s := C.struct_engine_source{family: C.AF_INET, bits: C.uint8_t(p.Bits())}
		if p.Addr().Is6() {
			s.family = C.AF_INET6
		}
		for i, b := range p.Addr().AsSlice() {
			s.bytes[i] = C.uint8_t(b)
		}
		sources = append(sources, s)
	}
	return sources
}

// OpenRMA reports whether UCX was opened with remote memory access that no card carries out. A process that
// reaches UCX's ports can then read and write any memory of this process.
func (e *Engine) OpenRMA() bool { return C.engine_open_rma(e.c) != 0 }

// Address returns what others need to reach this engine.
func (e *Engine) Address() []byte { return e.address }

// Lost returns a *LostError about the first PE that cannot be reached or does not answer, or nil. A wait for something
// that a PE was to send checks it, because no operation of the waiter would report the loss.
func (e *Engine) Lost() error {
	lost := uint64(C.engine_lost(e.c))
	if lost == 0 {
		return nil
	}
	return lostError(int(uint32(lost))-1, int32(lost>>32))
}

// Watch sends heartbeats to pe, whose engine has the given address, while this PE waits. A witness gets them only
// while another PE seems to be silent. heartbeat.c has the protocol.
func (e *Engine) Watch(pe int, address []byte, witness bool) {
	isWitness := C.int(0)
	if witness {
		isWitness = 1
	}
	C.engine_watch(e.c, C.uint32_t(pe), unsafe.Pointer(unsafe.SliceData(address)), C.size_t(len(address)), isWitness)
}

// Served returns the number of requests of other PEs that this PE has applied.
func (e *Engine) Served() uint64 { return uint64(C.engine_served(e.c)) }

// Inbound returns the number of channels of other PEs that have a lane to this one, as far as it has heard of their
// ends.
func (e *Engine) Inbound() int { return int(C.engine_inbound(e.c)) }

// Leave says that this PE leaves the job together with the others. Channels that close from now on wait for their
// targets to hear of it, for as long as a PE may be silent.
func (e *Engine) Leave() { C.engine_leave(e.c) }

// rejected returns the number of records in such requests that were out of bounds or not understood.
func (e *Engine) rejected() uint64 { return uint64(C.engine_rejected(e.c)) }

// Refused returns the number of messages that cannot have come from this job. They were dropped.
func (e *Engine) Refused() uint64 { return uint64(C.engine_refused(e.c)) }

// serviceLaneSent returns the number of messages that went by the service lane.
func (e *Engine) serviceLaneSent() uint64 { return uint64(C.engine_service_lane_sent(e.c)) }

// stopServing has the engine apply and answer nothing, as if its process had been stopped, until again is called.
func (e *Engine) stopServing() (again func()) {
	for C.engine_stop_serving(e.c) == 0 {
		runtime.Gosched()
	}
	return func() { C.engine_serve_again(e.c) }
}

// deliver hands a request to an engine that has not been started, as if it had come by the network, and
// returns how many have been applied by then.
func (e *Engine) deliver(message []byte) int {
	return int(C.engine_deliver(e.c, unsafe.Pointer(unsafe.SliceData(message)), C.size_t(len(message))))
}

// opening returns the message with which PE pe would open a lane to the engine at address, and the tags of that
// lane: of requests, and of answers.
func (e *Engine) opening(address []byte, pe, target, lane uint32) (message []byte, tags [2]uint64) {
	var out [2]C.uint64_t
	message = make([]byte, headBytes+C.sizeof_struct_wire_open)
	C.engine_opening(e.c, unsafe.Pointer(unsafe.SliceData(address)), C.uint32_t(pe), C.uint32_t(target), C.uint32_t(lane),
		unsafe.Pointer(unsafe.SliceData(message)), &out[0])
	return message, [2]uint64{uint64(out[0]), uint64(out[1])}
}

// spendLanes sets the number of lanes that this PE has opened to pe.
func (e *Engine) spendLanes(pe int, lanes uint32) {
	C.engine_spend_lanes(e.c, C.uint32_t(pe), C.uint32_t(lanes))
}

// sipHash calls sip_hash.
func sipHash(key [KeyBytes]byte, message []byte) (hash [2]uint64) {
	words := [2]C.uint64_t{C.uint64_t(binary.LittleEndian.Uint64(key[:])), C.uint64_t(binary.LittleEndian.Uint64(key[8:]))}
	var out [2]C.uint64_t
	C.sip_hash(&words[0], unsafe.Pointer(unsafe.SliceData(message)), C.size_t(len(message)), &out[0])
	return [2]uint64{uint64(out[0]), uint64(out[1])}
}

// WaitWord serves others until the word of this PE's heap at off, of 4 or 8 bytes, compares true with
// value, or about d has passed, and reports whether it compares true. cmp is a transport.Cmp. What any
// channel of this engine has gathered leaves first.
func (e *Engine) WaitWord(off uint64, bytes, cmp int, value uint64, signed bool, d time.Duration) bool {
	e.touchScheduler()
	isSigned := C.int(0)
	if signed {
		isSigned = 1
	}
	return C.engine_wait_word(e.c, C.uint64_t(off), C.uint32_t(bytes), C.int(cmp), C.uint64_t(value), isSigned, C.int64_t(d)) != 0
}

// WaitDoorbell serves others until something has been served, the doorbell is no longer seen, or about d has
// passed. What any channel of this engine has gathered leaves first.
func (e *Engine) WaitDoorbell(seen uint32, d time.Duration) {
	e.touchScheduler()
	C.engine_wait_doorbell(e.c, C.uint32_t(seen), C.int64_t(d))
}

// touchScheduler lets the Go scheduler see this goroutine now and then. One that has been in and out of C for
// 10 ms without that counts as running for too long: the runtime's monitor then wakes every 20 µs to take
// its processor away whenever it finds it in C, which doubles the time of a round trip.
func (e *Engine) touchScheduler() {
	const often = 64
	if e.waits.Add(1)%often == 0 {
		runtime.Gosched()
	}
}

// CloseChannels closes what channels are left. No goroutine may be using them.
func (e *Engine) CloseChannels() {
	e.mu.Lock()
	left := slices.Collect(maps.Keys(e.channels))
	e.mu.Unlock()
	for _, c := range left {
		c.Close()
	}
}

// Close ends the service and closes what channels are left. No goroutine may be using the engine. It returns nil.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.CloseChannels()
	C.engine_close(e.c)
	e.freeOutsides()
	e.pins.Unpin()
	return nil
}
