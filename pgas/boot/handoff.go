package boot

// How a job travels from the launcher to its PEs: a few variables in their environment, and inherited file
// descriptors for the secret, which must not be seen in an environment, and the segment, which has no name. Both
// sides of that private contract are in this file, so that they cannot drift apart.

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/version"
)

// startedByPE is why a process has the variables of a PE, but not its files.
const StartedByPE = "a PE or a wrapper that closes files has started this process, not the launcher: clear PGAS_* in its environment"

// SecretBytes is the size of a job's secret.
const SecretBytes = 32

// The kernel takes strings of 128 KiB in an environment. A list of hosts that is not much shorter is handed down in the
// file of the secret, behind the secret.
const (
	longestHosts      = 64 << 10
	hostsBehindSecret = "@" + EnvSecretFD
	maxHostEntry      = 300 // a name of DNS, a number of PEs, and what is between
)

// HandedDown returns the contents of the file whose descriptor is PEVars.SecretFD.
func HandedDown(secret []byte, hosts []Host) []byte {
	return append(slices.Clone(secret), encodeHosts(hosts)...)
}

// readHosts returns the list of hosts behind the secret. It leaves the descriptor open.
func readHosts(fd int) (string, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size <= SecretBytes || st.Size > SecretBytes+MaxPEs*maxHostEntry {
		return "", fmt.Errorf("%s=%d is not the file that pgasrun handed down with the hosts: %s", EnvSecretFD, fd, StartedByPE)
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
	ImagesFD  int // 0: no memory outlives the PEs
	Term      int // 0: no other term follows
	// the term in which that memory was made
	ImagesTerm int
	TermsFD    int    // 0: the process ends with its term
	Mark       string // see JobMark
}

// Environ returns what the launcher adds to the environment of a PE.
func (v PEVars) Environ() []string {
	list := encodeHosts(v.Hosts)
	if len(list) > longestHosts {
		list = hostsBehindSecret
	}
	env := []string{
		EnvJobID + "=" + v.ID,
		EnvPE + "=" + strconv.Itoa(v.PE),
		envNPEs + "=" + strconv.Itoa(v.NPEs()),
		EnvHosts + "=" + list,
		envHostIndex + "=" + strconv.Itoa(v.HostIndex),
		EnvSegmentFD + "=" + strconv.Itoa(v.SegmentFD),
		EnvLauncherVersion + "=" + version.Current(),
		JobMark(v.Mark),
	}
	if len(v.BootAddrs) > 0 {
		env = append(env, envBootAddr+"="+strings.Join(v.BootAddrs, ","), EnvSecretFD+"="+strconv.Itoa(v.SecretFD))
	}
	if v.ProfileFD != 0 {
		env = append(env, EnvProfileFD+"="+strconv.Itoa(v.ProfileFD))
	}
	if v.RecordFD != 0 {
		env = append(env, EnvRecordFD+"="+strconv.Itoa(v.RecordFD))
	}
	if v.ImagesFD != 0 {
		env = append(env, EnvImagesFD+"="+strconv.Itoa(v.ImagesFD), EnvImagesTerm+"="+strconv.Itoa(v.ImagesTerm), EnvTerm+"="+strconv.Itoa(v.Term))
	}
	if v.TermsFD != 0 {
		env = append(env, EnvTermsFD+"="+strconv.Itoa(v.TermsFD))
	}
	return env
}

// NPEs returns the number of PEs of the job.
func (v PEVars) NPEs() int {
	last := v.Hosts[len(v.Hosts)-1]
	return last.First + last.PEs
}

// ParsePEVars returns what Environ has encoded in vars, the environment of a process by the variables' names. It reads
// a long list of hosts from the file of the secret, which stays open. It returns an error if a variable is missing or
// malformed, the variables contradict each other, or the file is not the launcher's.
func ParsePEVars(vars map[string]string) (PEVars, error) {
	if vars[EnvSegmentFD] == "" {
		return PEVars{}, fmt.Errorf("%s=%s, but nothing else of pgasrun is in the environment: %s", EnvJobID, vars[EnvJobID], StartedByPE)
	}
	v, list, npes := PEVars{ID: vars[EnvJobID]}, vars[EnvHosts], 0
	if vars[envBootAddr] != "" {
		v.BootAddrs = strings.Split(vars[envBootAddr], ",")
	}
	withSecret := len(v.BootAddrs) > 0 || list == hostsBehindSecret
	for _, number := range []struct {
		to   *int
		name string
		must bool
	}{
		{&v.PE, EnvPE, true}, {&npes, envNPEs, true}, {&v.HostIndex, envHostIndex, true}, {&v.SegmentFD, EnvSegmentFD, true},
		{&v.SecretFD, EnvSecretFD, withSecret}, {&v.ProfileFD, EnvProfileFD, false}, {&v.RecordFD, EnvRecordFD, false},
		{&v.ImagesFD, EnvImagesFD, false}, {&v.ImagesTerm, EnvImagesTerm, false}, {&v.Term, EnvTerm, false},
		{&v.TermsFD, EnvTermsFD, false},
	} {
		value := vars[number.name]
		if value == "" && !number.must {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return v, fmt.Errorf("%s=%q is not a number, though %s is set: start the program with pgasrun, or unset both", number.name, value, EnvJobID)
		}
		*number.to = n
	}
	var err error
	if list == hostsBehindSecret {
		if list, err = readHosts(v.SecretFD); err != nil {
			return v, err
		}
	}
	if v.Hosts, err = decodeHosts(list); err != nil {
		return v, err
	}
	return v, v.check(npes)
}

// check returns an error if the variables contradict each other. npes is the number of PEs that they give.
func (v PEVars) check(npes int) error {
	switch sum := v.NPEs(); {
	case sum != npes:
		return fmt.Errorf("%s=%d, but the hosts in %s have %s: start all of them with one pgasrun", envNPEs, npes, EnvHosts, plural.Count(sum, "PE"))
	case v.HostIndex >= len(v.Hosts):
		return fmt.Errorf("%s=%d, but %s names %s", envHostIndex, v.HostIndex, EnvHosts, plural.Count(len(v.Hosts), "host"))
	}
	if h := v.Hosts[v.HostIndex]; v.PE < h.First || v.PE >= h.First+h.PEs {
		return fmt.Errorf("%s=%d is not one of the PEs of host %s", EnvPE, v.PE, h.Name)
	}
	return nil
}

// JobMark returns the environment entry by which the processes of a job on one of its hosts are found. A process has it
// unless it has removed it. A mark names a job and an agent, since two names of hosts may stand for one machine. It is
// the same in all terms: a process keeps its environment, and may outlive its term.
func JobMark(mark string) string { return envMark + "=" + mark }

// Entry returns h as an entry of a list.
func (h Host) Entry() string {
	name := h.Name
	if user, host := name[:strings.LastIndexByte(name, '@')+1], name[strings.LastIndexByte(name, '@')+1:]; strings.ContainsRune(host, ':') {
		name = user + "[" + host + "]"
	}
	return name + ":" + strconv.Itoa(h.PEs)
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
			return nil, fmt.Errorf("%s=%q is not a list of host:PEs", EnvHosts, list)
		}
		pes, err := strconv.Atoi(part[at+1:])
		if err != nil || pes < 1 || pes > MaxPEs-first {
			return nil, fmt.Errorf("%s=%q: %q is not a number of PEs", EnvHosts, list, part[at+1:])
		}
		name := strings.NewReplacer("[", "", "]", "").Replace(part[:at]) // an address of IPv6 has brackets here
		hosts = append(hosts, Host{Name: name, First: first, PEs: pes})
		first += pes
	}
	return hosts, nil
}
