package boot

// How a job travels from the launcher to its PEs: a few variables in their environment, and inherited file
// descriptors for the secret, which must not be seen in an environment, and the segment, which has no name. Both
// sides of that private contract are in this file, so that they cannot drift apart.

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/version"
)

// startedByPE is why a process has the variables of a PE, but not its files.
const startedByPE = "a PE or a wrapper that closes files has started this process, not the launcher: clear PGAS_* in its environment"

// SecretBytes is the size of a job's secret.
const SecretBytes = 32

// Membership says whether a PE has joined or left its job. A PE publishes it in State.Membership for the launcher.
type Membership uint32

// The memberships. A PE that exits with status 0 between Joined and Left has abandoned the other PEs.
const (
	NotJoined Membership = iota // the process has not called Init yet, and perhaps never will
	Joined                      // between Init and Close
	Left                        // after Close: its exit hangs no other PE, whatever the status
)

// Join tells the launcher that this PE is a member of the job from now on: if it exits without Leave,
// whatever the exit status, the job has failed.
func (j *Job) Join() { j.state().Membership.Store(uint32(Joined)) }

// Leave tells the launcher that no PE waits for this one any more.
func (j *Job) Leave() {
	j.state().Membership.Store(uint32(Left))
	if j.member != nil {
		j.member.leave()
	}
}

func (j *Job) state() *State { return j.Segment.States[j.PE-j.Host().First] }

func singleton(set Settings) (*Job, error) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	heap, room := RoundHeap(set.HeapMax), Room()
	if set.HeapMax == 0 {
		heap = DefaultHeapMax(1, HostMemory(), room)
	}
	if err := CheckHeap(1, heap, room); err != nil {
		return nil, err
	}
	f, err := CreateSegment(1, 0, 1, HostCores(), heap)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	seg, err := MapSegment(f)
	if err != nil {
		return nil, err
	}
	return &Job{ID: "singleton", NPEs: 1, Hosts: []Host{{Name: name, PEs: 1}}, Segment: seg, Settings: set}, nil
}

func launched(vars map[string]string, set Settings) (*Job, error) {
	if vars[envSegmentFD] == "" {
		return nil, fmt.Errorf("%s=%s, but nothing else of pgasrun is in the environment: %s", envJobID, vars[envJobID], startedByPE)
	}
	j := &Job{ID: vars[envJobID], Launched: true, Settings: set}
	var err error
	number := func(name string) (n int) {
		if err == nil {
			if n, err = strconv.Atoi(vars[name]); err != nil || n < 0 {
				err = fmt.Errorf("%s=%q is not a number, though %s is set: start the program with pgasrun, or unset both", name, vars[name], envJobID)
			}
		}
		return n
	}
	j.PE, j.NPEs, j.HostIndex = number(envPE), number(envNPEs), number(envHostIndex)
	segmentFD, secretFD := number(envSegmentFD), -1
	if err != nil {
		return nil, err
	}
	list := vars[envHosts]
	if list == hostsBehindSecret {
		if fd := number(envSecretFD); err == nil {
			list, err = readHosts(fd)
		}
		if err != nil {
			return nil, err
		}
	}
	if j.Hosts, err = decodeHosts(list); err != nil {
		return nil, err
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	var addrs []string
	if vars[envBootAddr] != "" {
		addrs = strings.Split(vars[envBootAddr], ",")
		if secretFD = number(envSecretFD); err != nil {
			return nil, err
		}
	}
	if vars[envProfileFD] != "" {
		if fd := number(envProfileFD); err == nil {
			j.Profiles, err = inheritProfilePipe(fd)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := j.inherit(segmentFD, secretFD, addrs); err != nil {
		return nil, err
	}
	if vars[envRecordFD] != "" {
		if fd := number(envRecordFD); err == nil {
			err = j.inheritRecord(fd)
		}
		if err != nil {
			j.Segment.Close()
			return nil, err
		}
	}
	return j, nil
}

// inheritRecord maps the memory for what this PE records of itself. It stays mapped until the process ends.
func (j *Job) inheritRecord(fd int) error {
	f, err := inherit(fd, envRecordFD)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := record.Map(f)
	if err != nil {
		return err
	}
	if h := j.Host(); m.JobPEs() != j.NPEs || m.First() != h.First || m.PEs() != h.PEs {
		m.Close()
		return fmt.Errorf("%s=%d has the records of another job: start the program with pgasrun", envRecordFD, fd)
	}
	j.Record = m.PE(j.PE)
	return nil
}

// inherit maps the segment and, in a job that has one, makes the exchange.
func (j *Job) inherit(segmentFD, secretFD int, addrs []string) (err error) {
	if j.Segment, err = inheritSegment(segmentFD); err != nil {
		return err
	}
	if err = j.claim(); err == nil && len(addrs) > 0 {
		if j.Secret, err = readSecret(secretFD); err == nil {
			c := NewExchange(j.ID, j.PE, j.Secret, addrs).(*client)
			c.silence = j.Settings.PeerTimeout
			j.Exchange = c
		}
	}
	if err != nil {
		j.Segment.Close()
	}
	return err
}

// check returns an error if the variables contradict each other.
func (j *Job) check() error {
	last := j.Hosts[len(j.Hosts)-1]
	switch {
	case last.First+last.PEs != j.NPEs:
		return fmt.Errorf("%s=%d, but the hosts in %s have %s: start all of them with one pgasrun", envNPEs, j.NPEs, envHosts, plural.Count(last.First+last.PEs, "PE"))
	case j.HostIndex >= len(j.Hosts):
		return fmt.Errorf("%s=%d, but %s names %s", envHostIndex, j.HostIndex, envHosts, plural.Count(len(j.Hosts), "host"))
	case j.PE < j.Host().First || j.PE >= j.Host().First+j.Host().PEs:
		return fmt.Errorf("%s=%d is not one of the PEs of host %s", envPE, j.PE, j.Host().Name)
	}
	return nil
}

// claim makes this process the owner of its PE's page in the segment. It returns an error if another process is:
// two owners would corrupt each other.
func (j *Job) claim() error {
	h := j.Segment.Header
	if int(h.NPEs) != j.NPEs || int(h.First) != j.Host().First || int(h.Local) != j.Host().PEs {
		return fmt.Errorf("the host segment is that of another job (%s from %d on, of %d): start the program with pgasrun", plural.Count(h.Local, "PE"), h.First, h.NPEs)
	}
	if st := j.state(); !st.Process.CompareAndSwap(0, int64(os.Getpid())) {
		return fmt.Errorf("PE %d is taken by process %d already: %s", j.PE, st.Process.Load(), startedByPE)
	}
	return nil
}

func inheritSegment(fd int) (*Segment, error) {
	f, err := inherit(fd, envSegmentFD)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return MapSegment(f)
}

// inherit returns the file of a descriptor that the launcher has left open for this process and no other.
func inherit(fd int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || !nameless(fd) {
		return nil, fmt.Errorf("%s=%d is not the file that pgasrun handed down: the program has called Init before, or %s", name, fd, startedByPE)
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name), nil
}

// nameless reports whether a descriptor is that of a memfd, as all files are that the launcher hands down. A process
// that a PE starts has another file under that number, or none.
func nameless(fd int) bool {
	target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return err != nil || strings.HasPrefix(target, "/memfd:")
}

// readSecret reads the job's secret. It reads by position, because the PEs of a host share one open file.
func readSecret(fd int) ([]byte, error) {
	f, err := inherit(fd, envSecretFD)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	secret := make([]byte, SecretBytes)
	if _, err := f.ReadAt(secret, 0); err != nil {
		return nil, fmt.Errorf("reading the secret of the job: %w", err)
	}
	return secret, nil
}

// The kernel takes strings of 128 KiB in an environment. A list of hosts that is not much shorter is handed down in the file of
// the secret, behind it.
const (
	longestHosts      = 64 << 10
	hostsBehindSecret = "@" + envSecretFD
	maxHostEntry      = 300 // a name of DNS, a number of PEs, and what is between
)

// HandedDown returns the contents of the file whose descriptor is PEVars.SecretFD.
func HandedDown(secret []byte, hosts []Host) []byte {
	return append(slices.Clone(secret), encodeHosts(hosts)...)
}

// readHosts returns the list of hosts behind the secret. It leaves the descriptor for readSecret.
func readHosts(fd int) (string, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size <= SecretBytes || st.Size > SecretBytes+MaxPEs*maxHostEntry {
		return "", fmt.Errorf("%s=%d is not the file that pgasrun handed down with the hosts: %s", envSecretFD, fd, startedByPE)
	}
	list := make([]byte, st.Size-SecretBytes)
	for n := 0; n < len(list); {
		k, err := unix.Pread(fd, list[n:], int64(SecretBytes+n))
		if err != nil || k == 0 {
			return "", fmt.Errorf("reading the hosts of the job: %w", cmp.Or[error](err, io.ErrUnexpectedEOF))
		}
		n += k
	}
	return string(list), nil
}

// PEVars are the variables of one PE of a launched job.
type PEVars struct {
	ID        string
	PE        int
	Hosts     []Host
	HostIndex int
	SegmentFD int
	BootAddrs []string // empty when the job has no exchange; so is SecretFD
	SecretFD  int
	ProfileFD int // 0: no profiles are collected
	RecordFD  int // 0: PEs record nothing
}

// Environ returns what the launcher adds to the environment of a PE.
func (v PEVars) Environ() []string {
	last := v.Hosts[len(v.Hosts)-1]
	list := encodeHosts(v.Hosts)
	if len(list) > longestHosts {
		list = hostsBehindSecret
	}
	env := []string{
		envJobID + "=" + v.ID,
		envPE + "=" + strconv.Itoa(v.PE),
		envNPEs + "=" + strconv.Itoa(last.First+last.PEs),
		envHosts + "=" + list,
		envHostIndex + "=" + strconv.Itoa(v.HostIndex),
		envSegmentFD + "=" + strconv.Itoa(v.SegmentFD),
		envLauncherVersion + "=" + version.Current(),
	}
	if len(v.BootAddrs) > 0 {
		env = append(env, envBootAddr+"="+strings.Join(v.BootAddrs, ","), envSecretFD+"="+strconv.Itoa(v.SecretFD))
	}
	if v.ProfileFD != 0 {
		env = append(env, envProfileFD+"="+strconv.Itoa(v.ProfileFD))
	}
	if v.RecordFD != 0 {
		env = append(env, envRecordFD+"="+strconv.Itoa(v.RecordFD))
	}
	return env
}

// JobMarks returns the environment entries by which the processes of a job on one of its hosts are found. A process has
// all of them unless it has removed them. The host is one of them because two names of hosts may stand for one machine.
func JobMarks(id string, host int) []string {
	return []string{envJobID + "=" + id, envHostIndex + "=" + strconv.Itoa(host)}
}

// encodeHosts returns the list that decodeHosts reads.
func encodeHosts(hosts []Host) string {
	var parts []string
	for _, h := range hosts {
		parts = append(parts, h.Entry())
	}
	return strings.Join(parts, ",")
}

// decodeHosts reads what encodeHosts has written. Lists that people write are read by ParseHosts.
func decodeHosts(list string) ([]Host, error) {
	var hosts []Host
	first := 0
	for part := range strings.SplitSeq(list, ",") {
		at := strings.LastIndexByte(part, ':')
		if at <= 0 {
			return nil, fmt.Errorf("%s=%q is not a list of host:PEs", envHosts, list)
		}
		pes, err := strconv.Atoi(part[at+1:])
		if err != nil || pes < 1 || pes > MaxPEs-first {
			return nil, fmt.Errorf("%s=%q: %q is not a number of PEs", envHosts, list, part[at+1:])
		}
		name := strings.NewReplacer("[", "", "]", "").Replace(part[:at]) // an address of IPv6 has brackets here
		hosts = append(hosts, Host{Name: name, First: first, PEs: pes})
		first += pes
	}
	return hosts, nil
}

// MaxPEs bounds the PEs of a job: far beyond what one launcher can start, far below what overflows.
const MaxPEs = 1 << 20
