package join

// The processes of a job assemble at the exchange, which rank 0 serves. What they need for that is a ticket; the
// Rendezvous carries it from rank 0 to the others.
//
//	1  rank 0 listens, makes the ticket and serves the exchange
//	2  every process gets the ticket, connects, proves that it holds the secret, and says what it is: a newcomer
//	3  when all have come, the server compares them, numbers the PEs host by host, and tells each its place
//	4  the first PE of each host makes the host's segment and hands its descriptor to the others (handover.go)
//
// Afterwards the connections stay: a process that ends closes its own (member.go).
//
// A launcher may deal its ranks to the hosts like cards. The PEs of a host are numbered without gaps, so a PE's number
// may differ from its rank. Rank 0 is always PE 0.

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/version"
)

// ticket is what a process must know to come to the exchange.
type ticket struct {
	ID     string
	Secret []byte
	Addrs  []string
}

// meeting is a job as a launcher describes it to one of its processes.
type meeting struct {
	rank, size int
	host       string   // this host's name
	told       []string // the host of each rank, if the launcher says so; else nil
	strict     bool     // told is the user's word: every process must have been told the same, and it must be true
	child      bool     // the launcher's daemon on this host is the parent of its processes
	// listen makes rank 0's listeners and returns their addresses.
	listen func() ([]net.Listener, []string, error)
	// share returns rank 0's ticket on every process. mine is that of rank 0, nil elsewhere.
	share func(ctx context.Context, mine *ticket) (*ticket, error)
}

// newcomer is what a process says of itself to the server.
type newcomer struct {
	Version string // the version of this module: first, since another version may mean something else by the rest
	Build   string // the build of the program
	Rank    int
	Size    int
	Host    string
	Machine string // a number that processes have in common if they can share memory
	Process int
	Memory  uint64 // the memory of its host
	Room    boot.HeapRoom
	HeapMax uint64 // the heap size that its environment sets, or 0
	Race    bool   // its environment asks for reports of races
	CPUs    []int  // the CPUs that it may use
	Quota   int    // how many of its CPUs it may use at a time, or 0
	Told    string // if meeting.told is strict, which list the newcomer was told
	Place   string // the host of this rank in that list
}

func (n newcomer) String() string {
	return fmt.Sprintf("rank %d (process %d on %s)", n.Rank, n.Process, n.Host)
}

// place is the server's answer.
type place struct {
	PE        int
	Hosts     []boot.Host
	HostIndex int
	Cores     int // CPUs that the PEs of the host may use together
	HeapMax   uint64
}

// assemble makes the job of this process, by a meeting with the others.
func assemble(ctx context.Context, m *meeting, set boot.Settings) (*boot.Job, error) {
	j, mem, err := assembleMember(ctx, m, set)
	if err != nil {
		return nil, err
	}
	if err := claim(j); err != nil {
		mem.abandon()
		return nil, err
	}
	// A program that this PE starts inherits the launcher's variables. This one keeps it from joining in this PE's
	// place.
	os.Setenv(boot.EnvJobID, j.ID)
	if m.child {
		go mem.watchParent(os.Getppid())
	}
	return j, nil
}

// assembleMember is assemble without what only a process can do.
func assembleMember(ctx context.Context, m *meeting, set boot.Settings) (*boot.Job, *member, error) {
	if m.size < 1 || m.size > boot.MaxPEs || m.rank < 0 || m.rank >= m.size {
		return nil, nil, fmt.Errorf("this is rank %d of %d: the launcher contradicts itself", m.rank, m.size)
	}
	within := bootTimeout(set)
	ctx, cancel := context.WithTimeoutCause(ctx, within+answerTime, fmt.Errorf("the job has not assembled within %v: is each of its %d processes running? (%s)", within, m.size, boot.EnvBootTimeout))
	defer cancel()
	t, server, err := m.serve(ctx, within, set.PeerTimeout)
	if err != nil {
		return nil, nil, err
	}
	mem := newMember(t, m.rank, server, within)
	mem.client.silence = set.PeerTimeout
	p, err := mem.join(ctx, m.newcomer(set))
	if err != nil {
		mem.abandon()
		return nil, nil, err
	}
	j := &boot.Job{ID: t.ID, PE: p.PE, NPEs: m.size, Hosts: p.Hosts, HostIndex: p.HostIndex, Launched: true, Settings: set}
	if j.Segment, err = shareSegment(ctx, j, &p, t.Secret); err != nil {
		mem.abandon()
		return nil, nil, err
	}
	if set.Networked(len(j.Hosts)) {
		j.Exchange, j.Secret = memberExchange{mem.client}, t.Secret
	}
	j.Member = mem
	mem.watch(j)
	return j, mem, nil
}

// answerTime is how much longer a process waits than the server: the server's error names the ranks that are missing.
const answerTime = 5 * time.Second

// serve returns the ticket of the job and, on rank 0, the server of its exchange.
func (m *meeting) serve(ctx context.Context, within, silence time.Duration) (*ticket, *Server, error) {
	if m.rank != 0 {
		t, err := m.share(ctx, nil)
		return t, nil, err
	}
	const ownFiles = 16 // memory, listeners, and what the network opens
	what := fmt.Sprintf("the process of PE 0, which serves the exchange of %s,", plural.Count(m.size, "PE"))
	if err := boot.NeedFiles(what, ownFiles+m.size); err != nil {
		return nil, nil, err
	}
	lns, addrs, err := m.listen()
	if err != nil {
		return nil, nil, err
	}
	t, err := m.share(ctx, &ticket{ID: newJobID(), Secret: newNonce(), Addrs: addrs})
	if err != nil {
		closeAll(lns)
		return nil, nil, err
	}
	s := newServer(lns, ServerConfig{ID: t.ID, Secret: t.Secret, NPEs: m.size, Callers: m.size, PEs: m.size, Silence: silence}, func(string, ...any) {})
	s.assemble(m.told, within)
	return t, s, nil
}

func newJobID() string {
	b := make([]byte, 8)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// newcomer describes this process.
func (m *meeting) newcomer(set boot.Settings) newcomer {
	n := newcomer{
		Version: version.Current(), Build: buildID(), Rank: m.rank, Size: m.size, Host: m.host, Machine: machineName(),
		Process: os.Getpid(), Memory: boot.HostMemory(), Room: boot.Room(), HeapMax: set.HeapMax, Race: set.Race, CPUs: boot.AllowedCPUs(), Quota: boot.CPUQuota(),
	}
	if m.strict {
		n.Told, n.Place = digest(m.told), m.told[m.rank]
	}
	return n
}

// digest names a list: a job of n processes would otherwise send it n times to the server.
func digest(list []string) string {
	sum := sha256.Sum256(encodeJSON(list))
	return hex.EncodeToString(sum[:8])
}

// machineName names what processes must have in common to share memory: the kernel, and the network namespace, in which
// one hands the segment's descriptor to the others.
func machineName() string {
	kernel, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, err2 := os.Readlink("/proc/self/ns/net")
	if errors.Join(err1, err2) != nil {
		return "process " + strconv.Itoa(os.Getpid()) // shares with no other
	}
	return strings.TrimSpace(string(kernel)) + " " + namespace
}

// buildID returns what identifies the program of this process: the build ID that the Go linker has written, or the size
// of a program without one.
func buildID() string {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return ""
	}
	defer f.Close()
	for _, name := range []string{".note.go.buildid", ".note.gnu.build-id"} {
		if s := f.Section(name); s != nil {
			if note, err := s.Data(); err == nil && len(note) > noteHead {
				return hex.EncodeToString(note[noteHead:])
			}
		}
	}
	info, err := os.Stat("/proc/self/exe")
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), " bytes")
}

// noteHead are the bytes of an ELF note before its text.
const noteHead = 16

// plan compares the newcomers, by rank, and returns the place of each. It returns an error if they cannot be one job.
func plan(all []newcomer) ([]place, error) {
	if err := compare(all); err != nil {
		return nil, err
	}
	hosts, ranks := group(all)
	heapMax := commonHeap(all, hosts, ranks)
	if err := checkHeaps(all, hosts, ranks, heapMax); err != nil {
		return nil, err
	}
	places := make([]place, len(all))
	for i, members := range ranks {
		cores := map[int]bool{}
		for _, rank := range members {
			for _, cpu := range all[rank].CPUs {
				cores[cpu] = true
			}
		}
		usable := max(1, len(cores))
		if quota := all[members[0]].Quota; quota > 0 {
			usable = min(usable, quota)
		}
		for local, rank := range members {
			places[rank] = place{PE: hosts[i].First + local, Hosts: hosts, HostIndex: i, Cores: usable, HeapMax: heapMax}
		}
	}
	return places, nil
}

// compare returns an error if newcomers run different versions or programs, or were told different jobs.
func compare(all []newcomer) error {
	zero := all[0]
	for _, n := range all {
		switch {
		case n.Version != zero.Version:
			return fmt.Errorf("%v has version %s of gopgas, but %v has %s: install the same program on every host", n, n.Version, zero, zero.Version)
		case n.Size != zero.Size:
			return fmt.Errorf("%v was told of %d processes, but %v of %d: start all of them as one job", n, n.Size, zero, zero.Size)
		case n.Build != zero.Build:
			return fmt.Errorf("%v runs another build of the program than %v: install the same file on every host", n, zero)
		case n.HeapMax != zero.HeapMax:
			return fmt.Errorf("%v has %s=%d, but %v has %d: set the same for every process", n, boot.EnvHeapMax, n.HeapMax, zero, zero.HeapMax)
		case n.Race != zero.Race:
			with, without := n, zero
			if zero.Race {
				with, without = zero, n
			}
			return fmt.Errorf("%v has PGAS_CHECK=race, but %v does not: set the same for every process", with, without)
		case n.Told != zero.Told:
			return fmt.Errorf("%v was told other hosts than %v: start all processes with the same list of hosts", n, zero)
		}
	}
	return compareHosts(all)
}

// compareHosts returns an error if processes that were told that they share a host do not.
func compareHosts(all []newcomer) error {
	at := map[string]newcomer{}
	for _, n := range all {
		if n.Place == "" {
			return nil // the launcher does not say
		}
		if other, ok := at[n.Place]; ok && other.Machine != n.Machine {
			return fmt.Errorf("%v and %v are on one host (%s) by the list of hosts, but cannot share memory: correct the list", other, n, n.Place)
		}
		at[n.Place] = n
	}
	return nil
}

// group returns the hosts of the job, in the order of their least ranks, and the ranks on each.
func group(all []newcomer) (hosts []boot.Host, ranks [][]int) {
	index := map[string]int{}
	for rank, n := range all {
		key := n.Host + " " + n.Machine
		i, ok := index[key]
		if !ok {
			i = len(hosts)
			index[key] = i
			hosts, ranks = append(hosts, boot.Host{Name: n.Host}), append(ranks, nil)
		}
		hosts[i].PEs++
		ranks[i] = append(ranks[i], rank)
	}
	for i := 1; i < len(hosts); i++ {
		hosts[i].First = hosts[i-1].First + hosts[i-1].PEs
	}
	return hosts, ranks
}

// commonHeap returns the size that every heap may have: offsets mean the same on every PE.
func commonHeap(all []newcomer, hosts []boot.Host, ranks [][]int) uint64 {
	if set := all[0].HeapMax; set != 0 {
		return boot.UserHeap(set, all[0].Race, len(all))
	}
	least := ^uint64(0)
	for i, h := range hosts {
		for _, rank := range ranks[i] {
			least = min(least, boot.DefaultHeapMax(h.PEs, all[rank].Memory, all[rank].Room))
		}
	}
	return least
}

// checkHeaps returns an error if the processes of a host cannot map its heaps.
func checkHeaps(all []newcomer, hosts []boot.Host, ranks [][]int, heapMax uint64) error {
	for i, h := range hosts {
		for _, rank := range ranks[i] {
			if err := boot.CheckHeap(h.PEs, heapMax, all[rank].Room); err != nil {
				return fmt.Errorf("%v: %w", all[rank], err)
			}
		}
	}
	return nil
}

// encodeJSON returns v, which has only fields that JSON can have.
func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
