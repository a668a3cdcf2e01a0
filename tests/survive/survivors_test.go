package survive

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

var recoveries = flag.Int("recoveries", 30, "how many terms the processes of TestSurvivors outlive")

// patient is a -grace that no process of a loaded machine needs: one that took longer would be replaced.
const patient = "10m"

// TestSurvivors: processes outlive the terms of a job that loses a PE in each, on one host or on two. A connection that
// they made before the first term answers in each, and they have no more files, threads and memory in the end.
func TestSurvivors(t *testing.T) {
	for _, where := range [][]string{{"-n", "3"}, {"-netns", "2x2"}} {
		t.Run(where[0], func(t *testing.T) {
			if err := netns.Usable(); where[0] == "-netns" && err != nil {
				t.Skip(err)
			}
			every := max(1, *recoveries/3)
			j := startJob(t, slices.Concat(where, []string{"-survive", strconv.Itoa(*recoveries), "-grace", patient}), "keeper", "-kills", strconv.Itoa(*recoveries), "-every", strconv.Itoa(every))
			status, out := j.end(), j.out.String()
			if status != 0 || !strings.Contains(out, fmt.Sprintf("%d steps\n", *recoveries+1)) {
				t.Fatalf("status %d\n%s", status, out)
			}
			states := map[int][]state{} // by PE
			for _, m := range had.FindAllStringSubmatch(out, -1) {
				n := numbers(m[1:])
				states[n[0]] = append(states[n[0]], state{n[1], n[2:]})
			}
			if len(states) < 2 {
				t.Fatalf("too few PEs have outlived a term:\n%s", out)
			}
			for pe, s := range states {
				first, last := s[0], s[len(s)-1]
				if last.term != *recoveries+1 || first.term != every {
					t.Errorf("PE %d was not one process from term %d to term %d: %v", pe, every, *recoveries+1, s)
				}
				for i, what := range []string{"files", "threads", "goroutines", "mappings"} {
					if grown := last.has[i] - first.has[i]; grown > 4 && grown >= (last.term-first.term)/2 {
						t.Errorf("PE %d has %d more %s in term %d than in term %d: %v", pe, grown, what, last.term, first.term, s)
					}
				}
				if grown := last.has[4] - first.has[4]; grown > 64<<20 {
					t.Errorf("PE %d has %d bytes more in term %d than in term %d: %v", pe, grown, last.term, first.term, s)
				}
			}
			t.Logf("%v", states)
		})
	}
}

// TestSurvivorDoes: a process that does not leave its term in time is replaced. One that uses memory of an earlier term
// crashes. What a process has started lives as long as the process. One that has left its term in vain says why.
func TestSurvivorDoes(t *testing.T) {
	for _, test := range []struct {
		does, grace string
		status      int
		want, not   string
	}{
		{"computes", "100ms", 0, "4 steps", "PE 0 term 4 "}, // others may be replaced, too
		{"keeps", patient, 2, "unexpected fault address", "4 steps"},
		{"spawns", patient, 0, "PE 0 term 4 ", "finished"},
		{"fails", patient, 1, ": PE 0 on host localhost: exited with status 1", "steps"}, // say the others
	} {
		t.Run(test.does, func(t *testing.T) {
			j := startJob(t, []string{"-n", "3", "-survive", "3", "-grace", test.grace}, "keeper", "-kills", "3", "-does", test.does)
			if status, out := j.end(), j.out.String(); status != test.status || !strings.Contains(out, test.want) || strings.Contains(out, test.not) {
				t.Errorf("status %d, and %q is to be in the output, and %q not:\n%s", status, test.want, test.not, out)
			}
		})
	}
}

// state is what a process has in a term.
type state struct {
	term int
	has  []int
}

var had = regexp.MustCompile(`PE ([0-9]+) term ([0-9]+) files ([0-9]+) threads ([0-9]+) goroutines ([0-9]+) maps ([0-9]+) resident ([0-9]+)`)

func numbers(text []string) (n []int) {
	for _, s := range text {
		i, _ := strconv.Atoi(s)
		n = append(n, i)
	}
	return n
}

// startJob starts a job, which end waits for.
func startJob(t *testing.T, flags []string, program string, args ...string) *aJob {
	j := &aJob{t: t, program: program, mark: fmt.Sprintf("TEST_SURVIVE_MARK=%d.%d", os.Getpid(), rand.Uint64()), done: make(chan struct{})}
	j.start(slices.Concat(flags, []string{filepath.Join(bin, program)}, args))
	return j
}

// TestAnswersOn: a client of a PE keeps its connection while the other PEs are killed, one after the other, and each of
// its requests has its answer.
func TestAnswersOn(t *testing.T) {
	const kills = 5
	j := startJob(t, []string{"-n", "3", "-survive", strconv.Itoa(kills), "-grace", patient, "-checkpoint", filepath.Join(t.TempDir(), "cuts")}, "mapservice", "-listen", "localhost:0", "-capacity", "1000")
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	address := ""
	for address == "" {
		for _, m := range served.FindAllStringSubmatch(j.out.String(), -1) {
			if m[1] == "0" {
				address = m[2]
			}
		}
		if limit.Err() != nil {
			t.Fatalf("PE 0 does not serve:\n%s", j.out.String())
		}
		time.Sleep(5 * time.Millisecond) // for the job to start
	}
	conn, err := (&net.Dialer{}).DialContext(limit, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{DialContext: once(conn)}}
	defer c.CloseIdleConnections()
	ask := func(method, value string) string {
		q, _ := http.NewRequestWithContext(limit, method, "http://"+address+"/key", strings.NewReader(value))
		r, err := c.Do(q)
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", method, value, err, j.out.String())
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s %q, %v\n%s", method, value, r.Status, text, err, j.out.String())
		}
		return string(text)
	}
	killed := map[int]bool{}
	for i := range 20 * kills {
		if i%20 == 10 {
			killed[j.killOther(t, killed)] = true
		}
		ask(http.MethodPut, strconv.Itoa(i))
		if got := ask(http.MethodGet, ""); got != strconv.Itoa(i) {
			t.Fatalf("the key has %q, and %d was put\n%s", got, i, j.out.String())
		}
	}
	j.cmd.Process.Signal(syscall.SIGTERM)
	if status, out := j.end(), j.out.String(); status != 75 || strings.Count(out, "all PEs are started again") != kills {
		t.Errorf("status %d\n%s", status, out)
	}
}

// once returns a function that returns conn the first time, and then errors: a client that dials again has lost its
// connection.
func once(conn net.Conn) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		if conn == nil {
			return nil, fmt.Errorf("the connection was lost")
		}
		c := conn
		conn = nil
		return c, nil
	}
}

// killOther kills a PE that is not PE 0 and was not killed before, and returns its process.
func (j *aJob) killOther(t *testing.T, killed map[int]bool) int {
	pes, _ := j.kinds()
	for _, pid := range pes {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && !killed[pid] && !bytes.Contains(env, []byte("\x00PGAS_PE=0\x00")) {
			syscall.Kill(pid, syscall.SIGKILL)
			return pid
		}
	}
	t.Fatalf("no other PE runs:\n%s", j.out.String())
	return 0
}
