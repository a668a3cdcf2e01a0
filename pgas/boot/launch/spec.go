package launch

// What to run where, its defaults, and what is wrong with it.

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
	"golang.org/x/sys/unix"
)

// Local is the name of the launcher's own host. Its agent is started without a template. With DefaultTemplate, so is
// that of a host which has this one's name, or one of its addresses.
const Local = "localhost"

// DefaultTemplate starts an agent on another host if Spec.Template is empty. A host whose ssh has a
// question to ask fails at once, instead of waiting for an answer on a terminal.
const DefaultTemplate = "ssh -o BatchMode=yes {host}"

// Spec says what to run where. Hosts and Program are required, the rest has defaults.
type Spec struct {
	Hosts   []boot.Host // the hosts of the job, in which Run fills in First
	Program string      // path of the executable, the same on every host
	Args    []string    // its arguments, without its name
	Dir     string      // working directory; default: this process's
	Env     []string    // "NAME=value" for every PE, on top of the environment (see forwarded)
	Stdin   io.Reader   // the input of PE 0; the other PEs, and all if nil, have none
	// Stdout and Stderr get whole lines of every PE. If they are the same writer, of a type that can be compared
	// with ==, one goroutine at a time calls its Write.
	Stdout, Stderr io.Writer

	Tag bool // start every line with the number of its PE
	// Terminal says that Stderr is a terminal, on whose last line the progress of the job is shown.
	Terminal bool
	// Output, if not nil, gets the same, of each PE by itself, but for its progress: a piece ends with a line unless
	// that is very long, or the last. It is valid during the call, for which the output of a host's PEs waits. It is
	// called from several goroutines, but for each PE from one.
	Output func(pe int, s Stream, piece []byte)

	Template string   // the template of a command that runs a command on {host}
	Agent    []string // command that calls Agent or MaybeAgent; default: this executable, "agent"
	Stage    bool     // copy Agent and Program to the cache directory of each other host, and run them from there
	// agents that the launcher, and each host that relays for others, starts at most; default: DefaultFanOut
	FanOut   int
	BootAddr string // address of the first host where PEs of the others find it; default: try all

	ConnectTimeout time.Duration // the time until every agent has answered; default: PGAS_BOOT_TIMEOUT, or 30s
	Grace          time.Duration // the time between SIGTERM and SIGKILL; default 1s
	HintDelay      time.Duration // the time from a signal to end, to the hint that a second one kills; default 3s
	KeepGoing      bool          // a PE's failure ends no other PE; what others have to wait for returns it
	Survive        int           // how often all PEs may be started again, after one was killed or lost
	// SurviveMin, if not 0, lets a job with Survive go on without a host that is lost and has no spare, if at least so
	// many PEs are left. They get new numbers.
	SurviveMin int
	// Spares are hosts without PEs, for Survive. If a host is lost, a spare with at least as many PEs takes its place.
	Spares  []boot.Host
	Unbound bool // PEs run on any CPU, even if there is one for each
	// nothing in the job moves for so long: Stderr gets what each PE is blocked in, once; default: it does not
	Stall   time.Duration
	Signals <-chan os.Signal // forwarded to every PE; SIGQUIT prints what each is blocked in instead

	// Stats has the PEs record what they do, and the agents look at what they are blocked in: see Result.Stats.
	Stats bool
	// Live, if not nil, is called once, before the job starts, with a function that returns what is known of the job at
	// any time, also when it has ended. PEs record what they do then, and agents are asked for it all the time.
	Live func(now func() Snapshot)

	// Trace, if not nil, has each PE record Events events at most, and gets them at the end of the job, piece by piece.
	// It is called from several goroutines, but for each PE from one.
	Trace  func(PETrace)
	Events int

	// Profiles, if not nil, has each PE make profiles of itself, and gets their pieces; one without data says that the
	// profile is complete. It is called from several goroutines, but for each PE from one.
	Profiles func(pe int, k boot.ProfileKind, data []byte)

	Logf func(format string, args ...any) // called for each step, from several goroutines; may be nil

	start    func(spawn.Line) (*spawn.Link, error) // starts an agent; default: StartCommand
	own      func(host string) bool                // IsHere of Template; nil before complete
	settings boot.Settings                         // the settings of the environment that the PEs get
	staging  *spawn.Staging                        // the hosts' copies; not nil if Stage
	files    spawn.Files                           // the files that are staged
}

// Stream is one that a PE writes.
type Stream uint8

// The streams.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

// complete checks the spec and fills in defaults.
func (s *Spec) complete() error {
	if err := CheckHosts(s.Hosts); err != nil {
		return err
	}
	if err := s.checkSpares(); err != nil {
		return err
	}
	if err := s.checkSurviveMin(); err != nil {
		return err
	}
	if err := s.completeAgents(); err != nil {
		return err
	}
	var err error
	if s.settings, err = boot.ParseSettings(append(os.Environ(), s.Env...)); err != nil {
		return err
	}
	if s.Dir, s.Program, err = whereItRuns(s.Dir, s.Program); err != nil {
		return err
	}
	if s.Stall < 0 {
		return fmt.Errorf("a stall of %v: it must be 0 or more", s.Stall)
	}
	s.ConnectTimeout = cmp.Or(s.ConnectTimeout, s.settings.BootTimeout, 30*time.Second)
	s.HintDelay = cmp.Or(s.HintDelay, 3*time.Second)
	s.Grace = cmp.Or(s.Grace, defaultGrace)
	if s.Logf == nil {
		s.Logf = logNothing
	}
	return nil
}

// completeAgents checks what says how agents start, and fills in its defaults.
func (s *Spec) completeAgents() error {
	s.Template = cmp.Or(s.Template, DefaultTemplate)
	s.own = IsHere(s.Template)
	if _, err := SplitTemplate(s.Template); err != nil {
		return err
	}
	if s.Agent == nil {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding the launcher's own program: %w", err)
		}
		s.Agent = []string{self, "agent"}
	}
	if s.start == nil {
		s.start = spawn.StartCommand
	}
	if s.Stage {
		s.staging = &spawn.Staging{} // prepareStaging names the files
	}
	if s.FanOut < 0 {
		return fmt.Errorf("a fan-out of %d: it must be 1 or more", s.FanOut)
	}
	s.FanOut = cmp.Or(s.FanOut, DefaultFanOut)
	return nil
}

// defaultGrace is the time between SIGTERM and SIGKILL if the user names none.
const defaultGrace = time.Second

// logNothing is the Logf of a job that is not to log.
func logNothing(string, ...any) {}

// whereItRuns returns the working directory and the path of the program of a job: of this process if dir is empty.
func whereItRuns(dir, program string) (string, string, error) {
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return "", "", fmt.Errorf("finding the working directory: %w", err)
		}
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	return dir, program, nil
}

// CheckHosts checks the hosts of a job and fills in the number of their first PEs. The error names a host that is
// listed twice, is misspelt or has no PE, or too many.
func CheckHosts(hosts []boot.Host) error {
	if len(hosts) == 0 {
		return errors.New("a job needs at least one host")
	}
	first, seen := 0, map[string]bool{}
	for i := range hosts {
		h := &hosts[i]
		if err := join.CheckHostName(h.Name); err != nil {
			return err
		}
		if seen[h.Name] {
			twice := boot.Host{Name: h.Name, PEs: 2 * h.PEs}
			return fmt.Errorf("host %s is listed twice: give it one entry with all of its PEs, such as %s", h.Name, twice.Entry())
		}
		if h.PEs < 1 || h.PEs > boot.MaxPEs-first {
			return fmt.Errorf("host %s cannot run %s: a host runs at least one, a job at most %d", h.Name, plural.Count(h.PEs, "PE"), boot.MaxPEs)
		}
		seen[h.Name] = true
		h.First = first
		first += h.PEs
	}
	return nil
}

// checkSpares checks the spares of a job.
func (s *Spec) checkSpares() error {
	if len(s.Spares) == 0 {
		return nil
	}
	if s.Survive == 0 {
		return fmt.Errorf("host %s is a spare, and no PE of this job is started again when it is lost: give -survive N, such as -survive 20, or leave the spare out", s.Spares[0].Name)
	}
	if err := CheckHosts(slices.Clone(s.Spares)); err != nil {
		return fmt.Errorf("a spare: %w", err)
	}
	for _, h := range s.Spares {
		if slices.ContainsFunc(s.Hosts, func(o boot.Host) bool { return o.Name == h.Name }) {
			return fmt.Errorf("host %s runs PEs, and cannot be a spare, too: name another host as the spare", h.Name)
		}
	}
	return nil
}

// checkSurviveMin checks SurviveMin.
func (s *Spec) checkSurviveMin() error {
	last := s.Hosts[len(s.Hosts)-1]
	if pes := last.First + last.PEs; s.SurviveMin < 0 || s.SurviveMin > pes || s.SurviveMin > 0 && s.Survive == 0 {
		return fmt.Errorf("a job of %s that is started again %s cannot go on with at least %d: give Survive, and a SurviveMin from 1 to %d, or 0 for all PEs", plural.Count(pes, "PE"), plural.Count(s.Survive, "time"), s.SurviveMin, pes)
	}
	return nil
}

// IsHere returns a function that reports whether a host's agent is started by the launcher itself, without the
// template. A template of the user's may mean something else by this host's name: a container, say.
func IsHere(template string) func(host string) bool {
	if template == DefaultTemplate {
		return join.ThisHost()
	}
	return func(host string) bool { return host == Local }
}

// isHere reports whether the launcher itself starts the agent of host.
func (s *Spec) isHere(host string) bool { return host == Local || s.own != nil && s.own(host) }

// SplitTemplate splits a command template into words, as a shell does with blanks and quotes. The error is about a
// quote without its end, or a template without {host}.
func SplitTemplate(template string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range template {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inWord {
				words, inWord = append(words, word.String()), false
				word.Reset()
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("the launch template %q has a quote without its end", template)
	case !strings.Contains(template, "{host}"):
		return nil, fmt.Errorf("the launch template %q must contain {host}, as in 'ssh {host}'", template)
	}
	return words, nil
}

// forwarded are the variables that PEs of every host get from the launcher's environment: those that
// tune this runtime, UCX and Go. On its own host PEs inherit everything.
var forwarded = [...]string{"PGAS_*", "SHMEM_*", "SMA_*", "UCX_*", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GORACE", "GOCOVERDIR"}

// Forwarded lists the variables of the launcher's environment that PEs of every host get. A final * stands for any
// ending.
func Forwarded() []string { return forwarded[:] }

// Environ returns what is added to the environment of every PE, on every host.
func (s *Spec) Environ() []string {
	var env []string
	for _, kv := range boot.StripEnv(os.Environ()) {
		name, _, _ := strings.Cut(kv, "=")
		for _, pattern := range forwarded {
			prefix, open := strings.CutSuffix(pattern, "*")
			if name == prefix || open && strings.HasPrefix(name, prefix) {
				env = append(env, kv)
			}
		}
	}
	if s.Terminal && os.Getenv(boot.EnvProgress) == "" {
		env = append(env, boot.EnvProgress+"=bar")
	}
	return append(env, s.Env...)
}

// command returns the command line of the agent of host.
func (s *Spec) command(host string) spawn.Line {
	template, _ := SplitTemplate(s.Template) // complete has checked it
	c := spawn.Command{Agent: s.Agent, Template: template, Staging: s.staging}
	if s.isHere(host) {
		return c.Here()
	}
	return c.On(host)
}

// stagedOn returns the hash of the program if it is staged on host, or "".
func (s *Spec) stagedOn(host string) string {
	if s.staging == nil || s.isHere(host) {
		return ""
	}
	return s.staging.Program.Hash
}

// prepareStaging hashes the files that are to be staged, if any are.
func (s *Spec) prepareStaging() error {
	if !s.Stage {
		return nil
	}
	var err error
	s.staging, s.files, err = spawn.NewStaging(s.Agent, s.Program)
	return err
}

// DefaultFanOut is how many agents a launcher or a relay starts if Spec.FanOut is 0.
const DefaultFanOut = 32

// Result is how a job ended.
type Result struct {
	Status int         // the worst exit status of a PE; 128+N for signal N
	Ran    bool        // the PEs of the first host had been started
	First  *Failure    // the first PE that failed, if one did
	Clocks []HostClock // the clocks of the hosts, in their order, if there was a trace
	Stats  []PEStats   // the statistics by PE, if Spec.Stats asked for them; none of hosts whose agents were lost
	PEs    int         // the number of PEs; 0: the job has not begun
	// Recoveries is how often all PEs were started again (Spec.Survive). All other fields are of the last start.
	Recoveries int
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}
