package boot

// Settings come from the environment alone. This file has the one table of all variables; the documentation and
// `pgasrun env` print it. A name that starts with PGAS_ and is not in the table is an error, because a misspelt
// setting that does nothing costs a day.
//
// The variables of the OpenSHMEM specification have the meaning that it gives them. A user may have set them for
// every implementation at once, so a PGAS_ variable about the same setting takes precedence, and other names that
// start with SHMEM_ are no error: they tune another implementation. The specification still has its old SMA_ names;
// one counts if its SHMEM_ successor is not set. A variable that is set to nothing counts as not set.

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// variable is one row of the table.
type variable struct {
	Name    string
	Default string // as the user would write it, or words in parentheses
	Unit    string
	Meaning string
	For     audience
}

// audience says for whom a variable is.
type audience uint8

// The audiences.
const (
	forUsers      audience = iota
	forDevelopers          // PrintVariables lists it only if it is set, or if it lists all
	forLauncher            // the launcher sets it for its own processes
)

// Alias returns the name that the specification had for v before, or "".
func (v variable) Alias() string {
	if rest, ok := strings.CutPrefix(v.Name, specPrefix); ok {
		return oldPrefix + rest
	}
	return ""
}

const (
	ownPrefix  = "PGAS_"
	specPrefix = "SHMEM_"
	oldPrefix  = "SMA_"
)

// The variables, by the name the code uses.
const (
	EnvHeapMax     = "PGAS_HEAP_MAX"
	envRMA         = "PGAS_RMA"
	envAMO         = "PGAS_AMO"
	envPeerTimeout = "PGAS_PEER_TIMEOUT"
	envNotesMax    = "PGAS_NOTES_MAX"
	envSpin        = "PGAS_SPIN"
	envCheck       = "PGAS_CHECK"
	envRaceExit    = "PGAS_RACE_EXIT"
	envRaceForm    = "PGAS_RACE"
	envQuiet       = "PGAS_QUIET_SINGLETON"
	envAcceptFrom  = "PGAS_ACCEPT_FROM"
	envConnections = "PGAS_CONNECTIONS"
	envDSM         = "PGAS_DSM"
	envDSMFaults   = "PGAS_DSM_FAULTS"
	envDSMStats    = "PGAS_DSM_STATS"
	envStats       = "PGAS_STATS"
	EnvCheckpoint  = "PGAS_CHECKPOINT"
	EnvProgress    = "PGAS_PROGRESS" // how package progress shows how far the PEs are

	EnvBoot        = "PGAS_BOOT"
	EnvRendezvous  = "PGAS_RENDEZVOUS"
	EnvSecretFile  = "PGAS_SECRET_FILE"
	EnvHost        = "PGAS_HOST"
	EnvMungeSocket = "PGAS_MUNGE_SOCKET"

	envSymmetricSize = "SHMEM_SYMMETRIC_SIZE"
	envVersion       = "SHMEM_VERSION"
	envInfo          = "SHMEM_INFO"
	envDebug         = "SHMEM_DEBUG"

	EnvJobID     = "PGAS_JOB_ID"
	EnvPE        = "PGAS_PE"
	envNPEs      = "PGAS_NPES"
	EnvHosts     = "PGAS_HOSTS"
	envHostIndex = "PGAS_HOST_INDEX"
	EnvSegmentFD = "PGAS_SEGMENT_FD"
	envBootAddr  = "PGAS_BOOT_ADDR"
	EnvSecretFD  = "PGAS_SECRET_FD"
	EnvProfileFD = "PGAS_PROFILE_FD"
	EnvRecordFD  = "PGAS_RECORD_FD"
	EnvImagesFD  = "PGAS_IMAGES_FD"
	EnvTerm      = "PGAS_TERM"

	EnvImagesTerm = "PGAS_IMAGES_TERM"
	EnvTermsFD    = "PGAS_TERMS_FD"
	envMark       = "PGAS_MARK"

	EnvLauncherVersion = "PGAS_LAUNCHER_VERSION"

	// EnvBootTimeout is how long the processes of a job wait for each other.
	EnvBootTimeout = "PGAS_BOOT_TIMEOUT"

	// EnvTopo describes the topology.
	EnvTopo = "PGAS_TOPO"

	// EnvProfiles is the directory for the profiles of PEs that no pgasrun -pprof collects.
	EnvProfiles = "PGAS_PPROF"

	// EnvAgent makes a program that calls launch.MaybeAgent an agent of the launcher.
	EnvAgent = "PGAS_LAUNCH_AGENT"
)

// notSet is the default of a variable that is a switch: any value turns it on.
const notSet = "(not set)"

var variables = [...]variable{
	{EnvHeapMax, "(this host's memory)", "bytes, suffix k, m, g or t", "most that the symmetric heap of one PE may grow to", forUsers},
	{envRMA, "auto", "auto, am or native", "how puts and gets travel between hosts: active messages, the network's own, or what suits its lanes", forUsers},
	{envAMO, "cpu", "cpu or nic", "what executes atomics: the target's CPU, or the network (local ones too)", forUsers},
	{envPeerTimeout, "30s", "duration", "how long a PE may be silent before it counts as dead, in a job of several hosts; 100ms at least", forUsers},
	{envNotesMax, "1048576", "number", "notifications that a PE keeps that no request has waited for; initiators of more wait", forDevelopers},
	{envSpin, "auto", "duration", "how long a wait spins before it sleeps; 0 never spins", forDevelopers},
	{envCheck, "0", "0, 1 or race", "1: each access is checked against the allocations that live, and freed memory is not mapped; race: races between PEs are reported, too (docs/use/races.md)", forUsers},
	{envRaceExit, "66", "0 to 255", "the exit status of a job with PGAS_CHECK=race that has reported a race and has not failed otherwise; 0: reports do not change it", forUsers},
	{envRaceForm, "strands", "strands or plain", "how package pgastest shows operations to the race detector: as work that goes on after their calls, or, plain, as loads and stores of the initiator (docs/use/races.md)", forUsers},
	{envAcceptFrom, "(the job's hosts)", "address/bits,… or any", "further addresses that may connect to the network's ports of a PE, where addresses are translated between hosts", forUsers},
	{envConnections, "1024", "number", "connections to other PEs that a context keeps; before it makes one more it closes those that it has, and makes them again when they are used", forDevelopers},
	{envDSM, "auto", "auto, shared, paged or soft", "how coherent regions (package dsm) detect accesses: memory that all PEs share, page faults, checks in accessors, or what suits the job", forUsers},
	{envDSMFaults, "signal", "signal or thread", "what serves the page faults of a coherent region: the faulting thread, in a handler of SIGBUS, or one thread for all, which serves those of system calls too", forDevelopers},
	{envDSMStats, "0", "0 or 1", "1: when a coherent region closes, PE 0 prints its statistics on standard error", forDevelopers},
	{envStats, "0", "0 or 1", "1: PEs count what they do, for World.Stats, and pgasrun prints it at the end, as with -stats", forUsers},
	{EnvCheckpoint, "(none)", "directory", "where package ckpt keeps what a program saves, and finds it when the job is started again; all hosts have it in common. pgasrun -checkpoint sets it", forUsers},
	{EnvProgress, "auto", "auto, bar, lines or off", "how the progress of the job (package progress) is shown: as a bar, as lines now and then, not at all, or as a bar on a terminal and as lines elsewhere", forUsers},
	{EnvProfiles, "(none)", "directory", "each PE writes its CPU, heap and mutex profile and its execution trace there, on its own host, when it leaves the job; pgasrun -pprof collects them instead", forUsers},
	{EnvTopo, "(as found)", "level:count,…", "the levels of the topology, from the PEs outwards, as in numa:4,host,rack:2", forUsers},
	{envQuiet, "0", "0 or 1", "1: a program started by hand does not say that it is a job of one PE", forUsers},
	{EnvBoot, "auto", "auto, pgasrun, static, pmix, pmi2, slurm or single", "how a process learns of its job: by what its environment offers, or by one way alone (docs/use/clusters.md)", forUsers},
	{EnvBootTimeout, "60s", "duration", "how long the processes of a job wait for all of them to come, and pgasrun for its hosts to answer (30s there)", forUsers},
	{EnvPE, "(none)", "number", "static start: which PE this process is", forUsers},
	{EnvHosts, "(none)", "host:PEs,… or @file", "static start: the hosts of the job in PE order", forUsers},
	{EnvHost, "(none)", "number or name", "static start by `pgasrun static`: which of the hosts this is; it starts all PEs of it", forUsers},
	{EnvRendezvous, "(none)", "host:port", "where the process of PE 0 serves the exchange, in a static start or under Slurm", forUsers},
	{EnvSecretFile, "(none)", "file", "the secret by which the processes of a job know each other, in a static start or under Slurm without munge: 32 bytes or more that only its owner may read, or a file of root that this group may", forUsers},
	{EnvMungeSocket, "(munge's own)", "file", "the socket of munge, under `srun --mpi=none`", forDevelopers},
	{envSymmetricSize, "(this host's memory)", "bytes, 1.5g too", "as PGAS_HEAP_MAX, which wins", forUsers},
	{envVersion, notSet, "anything", "PE 0 says on standard error which version this is", forUsers},
	{envInfo, notSet, "anything", "PE 0 prints this table on standard error", forUsers},
	{envDebug, notSet, "anything", "every PE says on standard error what it allocates, opens and leaves", forUsers},

	{EnvJobID, "(none)", "hex", "the job", forLauncher},
	{envNPEs, "(none)", "number", "PEs in the job", forLauncher},
	{envHostIndex, "(none)", "number", "which of them this is", forLauncher},
	{EnvSegmentFD, "(none)", "file descriptor", "memory shared by the PEs of this host", forLauncher},
	{envBootAddr, "(none)", "address:port,…", "where the exchange of the job may be reached", forLauncher},
	{EnvSecretFD, "(none)", "file descriptor", "the secret of the job", forLauncher},
	{EnvProfileFD, "(none)", "file descriptor", "where the profiles of a PE go", forLauncher},
	{EnvRecordFD, "(none)", "file descriptor", "memory for what the PEs of this host record of themselves", forLauncher},
	{EnvImagesFD, "(none)", "file descriptor", "memory of this host in which package ckpt keeps what the PEs of the next term go on from", forLauncher},
	{EnvImagesTerm, "(none)", "number", "the term in which that memory was made, on this host", forLauncher},
	{EnvTerm, "(none)", "number", "the term of the job, from 1 on: how often its PEs were started", forLauncher},
	{EnvTermsFD, "(none)", "file descriptor", "where the agent of this host tells a PE of the end of a term, and of the next one", forLauncher},
	{envMark, "(none)", "text", "the job and the agent, by which the processes of the job on this host are found at its end", forLauncher},
	{EnvLauncherVersion, "(none)", "version", "that of the pgasrun which has started the job", forLauncher},
	{EnvAgent, "(none)", "1 or 2", "this process is an agent of the launcher: 1 with its guard, 2 without", forLauncher},
}

// Settings are what the user may tune. The zero value of each field but HeapMax is its default.
type Settings struct {
	HeapMax        uint64        // the most bytes of a heap; 0: DefaultHeapMax of the host
	RMA            RMA           // how puts and gets travel between hosts
	AMO            AMO           // what executes atomics
	PeerTimeout    time.Duration // silence of another host's PE that counts as its death; 0: the default
	NotesMax       int           // notifications that a PE keeps that no request has waited for; 0: DefaultNotesMax
	Spin           time.Duration // how long a wait spins; 0: chosen by the runtime; NeverSpin: not at all
	Check          bool          // check each access to symmetric memory
	Race           bool          // report races between PEs; Check is set, too
	RaceExit       int           // status of a job that has reported a race; 0: DefaultRaceExit; NoRaceExit: its own
	RaceForm       RaceForm      // how operations of goroutine PEs look to the race detector
	Topo           string        // what the user says of the topology: package topo reads it
	AcceptFrom     string        // addresses besides the job's hosts that may connect: AcceptedFrom reads it
	Connections    int           // connections that a context keeps; 0: the default
	DSM            DSM           // how coherent regions detect accesses
	DSMFaults      DSMFaults     // what serves page faults of coherent regions
	Stats          bool          // PEs count what they do, and the launcher prints it
	Checkpoint     string        // the directory of package ckpt; "": none
	Progress       Progress      // how package progress shows how far the PEs are
	DSMStats       bool          // print the statistics of coherent regions
	Profiles       string        // the directory for this PE's profiles; "": only the launcher may want some
	QuietSingleton bool          // do not say that this is a job of one
	BootTimeout    time.Duration // how long processes wait for each other at the start; 0: the default
	Version        bool          // say which version this is
	Info           bool          // print the table of variables
	Debug          bool          // say what the runtime does
}

// Networked reports whether the PEs of a job on that many hosts need a transport between hosts, and therefore
// an exchange to find each other. They do on several hosts, and if NICs execute atomics.
func (s Settings) Networked(hosts int) bool { return hosts > 1 || s.AMO == AMONIC }

// AcceptedFrom returns the addresses besides those of the job's hosts from which a PE accepts connections; all
// reports whether it accepts every address. It returns an error if s.AcceptFrom is malformed.
func (s Settings) AcceptedFrom() (ranges []netip.Prefix, all bool, err error) {
	if s.AcceptFrom == "" || s.AcceptFrom == "any" {
		return nil, s.AcceptFrom == "any", nil
	}
	for part := range strings.SplitSeq(s.AcceptFrom, ",") {
		p, err := netip.ParsePrefix(part)
		if a, e := netip.ParseAddr(part); e == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, false, errors.New("must be any, or addresses and ranges such as 10.1.0.0/16,192.0.2.7")
		}
		ranges = append(ranges, p.Masked())
	}
	return ranges, false, nil
}

// RaceForm says how the operations of PEs that are goroutines look to Go's race detector.
type RaceForm uint8

// The forms.
const (
	RaceStrands RaceForm = iota // work that goes on after the call that begins it
	RacePlain                   // loads and stores of the initiator
)

var raceFormNames = []string{"strands", "plain"}

// DefaultRaceExit is the RaceExit of a job that does not set one: the status of Go's race detector.
const DefaultRaceExit = 66

// NoRaceExit as Settings.RaceExit leaves the status of a job as it is without reports.
const NoRaceExit = -1

// NeverSpin as Settings.Spin makes every wait sleep at once.
const NeverSpin time.Duration = -1

// DefaultPeerTimeout is the PeerTimeout of a job that does not set one.
const DefaultPeerTimeout = 30 * time.Second

// DefaultConnections is the Connections of a job that does not set it. ucx/engine has the same.
const DefaultConnections = 1024

// DefaultNotesMax is the NotesMax of a job that does not set one: some 25 MB of a PE's memory.
const DefaultNotesMax = 1 << 20

// RMA says how puts and gets travel between hosts.
type RMA uint8

// The ways of RMA.
const (
	RMAAuto   RMA = iota // by what the network reports of its lanes
	RMAAM                // active messages, served by the target's service thread
	RMANative            // the network's own put and get
)

// AMO says what executes atomics: CPUs or NICs. It is one of the two for all atomics of a job, because operations of a
// CPU and of a NIC are not atomic to each other.
type AMO uint8

// The ways of AMO.
const (
	AMOCPU AMO = iota // the CPU of the target: plain atomic instructions on its host
	AMONIC            // the network, also for words of the same host
)

// DSM says how a coherent region detects the accesses of the program.
type DSM uint8

// The ways of DSM.
const (
	DSMAuto   DSM = iota // by where the PEs are, and what the hosts permit
	DSMShared            // not at all: all PEs map the same memory
	DSMPaged             // by page faults
	DSMSoft              // by checks in accessors
)

// DSMFaults says what serves the page faults of a coherent region.
type DSMFaults uint8

// The servers of DSMFaults.
const (
	DSMSignal DSMFaults = iota // the faulting thread, in a handler of SIGBUS
	DSMThread                  // a thread for all
)

var (
	rmaNames = []string{"auto", "am", "native"}
	amoNames = []string{"cpu", "nic"}
	dsmNames = []string{"auto", "shared", "paged", "soft"}

	checkNames = []string{"0", "1", "race"}

	dsmFaultsNames = []string{"signal", "thread"}

	bootNames = []string{BootAuto, "pgasrun", "static", "pmix", "pmi2", "slurm", "single"}
)

// BootWays returns the values of PGAS_BOOT.
func BootWays() []string { return slices.Clone(bootNames) }

func (r RMA) String() string { return rmaNames[r] }
func (a AMO) String() string { return amoNames[a] }
func (d DSM) String() string { return dsmNames[d] }

func (d DSMFaults) String() string { return dsmFaultsNames[d] }

// ParseSettings returns the settings in environ, which is as os.Environ returns it. The last of several assignments
// counts. It returns an error if a PGAS_* variable does not exist, or a value is malformed.
func ParseSettings(environ []string) (Settings, error) {
	vars, err := ourVariables(environ)
	if err != nil {
		return Settings{}, err
	}
	return settings(vars)
}

func settings(vars map[string]string) (Settings, error) {
	var s Settings
	var err error
	read := func(name string, parse func(value string) error) {
		value, from := effective(vars, name)
		if value == "" || err != nil {
			return
		}
		if e := parse(value); e != nil {
			err = fmt.Errorf("%s=%s: %w", from, value, e)
		}
	}
	mark := func(flag *bool) func(string) error {
		return func(string) error { *flag = true; return nil }
	}
	read(envSymmetricSize, func(v string) (e error) { s.HeapMax, e = ParseSymmetricSize(v); return })
	read(EnvHeapMax, func(v string) (e error) { s.HeapMax, e = ParseBytes(v); return })
	read(envRMA, func(v string) error { i, e := oneOf(v, rmaNames); s.RMA = RMA(i); return e })
	read(envAMO, func(v string) error { i, e := oneOf(v, amoNames); s.AMO = AMO(i); return e })
	read(envPeerTimeout, func(v string) (e error) { s.PeerTimeout, e = peerTimeout(v); return })
	read(envConnections, func(v string) (e error) { s.Connections, e = aboveZero(v); return })
	read(envNotesMax, func(v string) (e error) { s.NotesMax, e = aboveZero(v); return })
	read(envSpin, func(v string) (e error) { s.Spin, e = spin(v); return })
	read(envCheck, func(v string) error { i, e := oneOf(v, checkNames); s.Check, s.Race = i > 0, i == 2; return e })
	read(envRaceExit, func(v string) (e error) { s.RaceExit, e = raceExit(v); return })
	read(envRaceForm, func(v string) error { i, e := oneOf(v, raceFormNames); s.RaceForm = RaceForm(i); return e })
	read(envAcceptFrom, func(v string) error { s.AcceptFrom = v; _, _, e := s.AcceptedFrom(); return e })
	read(envDSM, func(v string) error { i, e := oneOf(v, dsmNames); s.DSM = DSM(i); return e })
	read(envDSMFaults, func(v string) error { i, e := oneOf(v, dsmFaultsNames); s.DSMFaults = DSMFaults(i); return e })
	read(envDSMStats, func(v string) (e error) { s.DSMStats, e = onOrOff(v); return })
	read(EnvProfiles, func(v string) error { s.Profiles = v; return nil })
	read(envStats, func(v string) (e error) { s.Stats, e = onOrOff(v); return })
	read(EnvCheckpoint, func(v string) error { s.Checkpoint = v; return nil })
	read(EnvProgress, func(v string) error { i, e := oneOf(v, progressNames); s.Progress = Progress(i); return e })
	read(EnvTopo, func(v string) error { s.Topo = v; return nil })
	read(envQuiet, func(v string) (e error) { s.QuietSingleton, e = onOrOff(v); return })
	read(EnvBoot, func(v string) error { _, e := oneOf(v, bootNames); return e })
	read(EnvBootTimeout, func(v string) (e error) { s.BootTimeout, e = bootTimeout(v); return })
	read(envVersion, mark(&s.Version))
	read(envInfo, mark(&s.Info))
	read(envDebug, mark(&s.Debug))
	return s, err
}

// ourVariables returns the values of the table's variables, and of their old names, in environ. The error is
// about a PGAS_* variable that does not exist.
func ourVariables(environ []string) (vars map[string]string, err error) {
	vars = map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case known(name):
			vars[name] = value
		case strings.HasPrefix(name, ownPrefix) && err == nil:
			err = fmt.Errorf("there is no variable %s: did you mean %s? (`pgasrun env` lists them all)", name, nearest(name))
		}
	}
	return vars, err
}

// effective returns the value of a variable of the table, "" if it is not set, and the name under which it is set.
func effective(vars map[string]string, name string) (value, from string) {
	if vars[name] == "" {
		if rest, ok := strings.CutPrefix(name, specPrefix); ok {
			name = oldPrefix + rest
		}
	}
	return vars[name], name
}

func known(name string) bool {
	return slices.ContainsFunc(variables[:], func(v variable) bool { return name != "" && (v.Name == name || v.Alias() == name) })
}

// nearest returns the user's variable for which name most likely is a misspelling.
func nearest(name string) string {
	best, least := "", 1<<30
	for _, v := range variables {
		if d := edits(name, v.Name); v.For != forLauncher && d < least {
			best, least = v.Name, d
		}
	}
	return best
}

// The costs of turning the written name into the intended one: users leave letters out (HEAP) more often
// than they add or change them.
const (
	costInsert  = 1
	costDelete  = 2
	costReplace = 2
)

// edits returns the least cost of turning a into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j * costInsert
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] += costDelete
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change += costReplace
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+costInsert, row[j+1]+costDelete)
		}
	}
	return row[len(b)]
}

func oneOf(v string, names []string) (int, error) {
	i := slices.Index(names, v)
	if i < 0 {
		return 0, fmt.Errorf("must be one of %s", strings.Join(names, ", "))
	}
	return i, nil
}

func onOrOff(v string) (bool, error) {
	i, err := oneOf(v, []string{"0", "1"})
	return i == 1, err
}

func raceExit(v string) (int, error) {
	n, err := strconv.ParseUint(v, 10, 8)
	if err != nil {
		return 0, errors.New("must be an exit status from 0 to 255; 0: reports do not change the status")
	}
	if n == 0 {
		return NoRaceExit, nil
	}
	return int(n), nil
}

// minPeerTimeout is the shortest PeerTimeout: a PE that shares its CPU with other PEs may not run for tens of
// milliseconds.
const minPeerTimeout = 100 * time.Millisecond

func peerTimeout(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < minPeerTimeout {
		return 0, fmt.Errorf("must be a duration of %v or more, such as 30s: a shorter one gives up PEs that are only busy", minPeerTimeout)
	}
	return d, nil
}

// bootAuto is the value of PGAS_BOOT that forces nothing.
const BootAuto = "auto"

// DefaultBootTimeout is the BootTimeout of a job that does not set one.
const DefaultBootTimeout = time.Minute

func bootTimeout(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second {
		return 0, errors.New("must be a duration of 1s or more, such as 60s")
	}
	return d, nil
}

func aboveZero(v string) (int, error) {
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("must be a number from 1 to %d", 1<<31-1)
	}
	return int(n), nil
}

func spin(v string) (time.Duration, error) {
	if v == "auto" {
		return 0, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("must be auto, 0 or a duration such as 20us")
	}
	if d == 0 {
		return NeverSpin, nil
	}
	return d, nil
}

// ParseBytes returns the number of bytes of a size such as 4096, 64k, 16m, 2g or 1t (powers of 1024, either case). It
// returns an error for everything else.
func ParseBytes(v string) (uint64, error) {
	digits, shift := v, 0
	if v != "" {
		if i := strings.IndexByte("kmgt", v[len(v)-1]|0x20); i >= 0 {
			digits, shift = v[:len(v)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == 0 || bits.Len64(n)+shift > 62 {
		return 0, fmt.Errorf("must be a number of bytes, such as 64m or 2g")
	}
	return n << shift, nil
}

// ParseSymmetricSize returns the number of bytes of a size in the specification's form: an integer or a decimal
// fraction, then perhaps one of k, m, g and t (powers of 1024, either case). It ignores what follows that letter. A
// fraction of a byte counts as one. It returns an error for everything else.
func ParseSymmetricSize(v string) (uint64, error) {
	digits, shift := v, 0
	if i := strings.IndexAny(v, "kKmMgGtT"); i >= 0 {
		digits, shift = v[:i], 10*(strings.IndexByte("kmgt", v[i]|0x20)+1)
	}
	f, err := strconv.ParseFloat(digits, 64)
	bytes := math.Ceil(math.Ldexp(f, shift))
	if err != nil || strings.Trim(digits, "0123456789.eE+-") != "" || !(bytes >= 0 && bytes < 1<<62) {
		return 0, fmt.Errorf("must be a number of bytes, such as 64m or 1.5g")
	}
	return max(1, uint64(bytes)), nil // 0 is allowed, and means the least that there is
}

// HostCores returns the number of CPUs that this process may use.
func HostCores() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 1
	}
	return max(1, set.Count())
}

// AllowedCPUs returns the CPUs that this thread may run on, or nil if the kernel does not say.
func AllowedCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cpus []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// StripEnv returns environ without the variables that tell a process its place in a job. A PE starts a program that is
// no PE of this job with it.
func StripEnv(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == EnvPE || name == EnvHost || name == EnvHosts || slices.ContainsFunc(variables[:], func(v variable) bool { return v.For == forLauncher && v.Name == name })
	})
}
