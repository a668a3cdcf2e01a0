//go:build cgo

package ucp

// PEs as processes of their own, in network namespaces where there are any: the test binary runs itself.
// The parent is their exchange, over pipes: a child writes "put KEY HEX", "fence" or "get KEY" on its
// standard output and reads answers on its standard input; all else it writes is a result.

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

const (
	roleEnv  = "PGAS_UCP_TEST_ROLE"
	peEnv    = "PGAS_UCP_TEST_PE"
	wayEnv   = "PGAS_UCP_TEST_WAY"
	heapSize = 16 << 20
)

// role is what a child process does as one of two PEs. It calls report for what the parent wants to know.
type role func(ctx context.Context, t *Transport, job *boot.Job, report func(format string, args ...any)) error

func TestMain(m *testing.M) {
	if name := os.Getenv(roleEnv); name != "" {
		os.Exit(childMain(name))
	}
	os.Exit(m.Run())
}

func childMain(name string) int {
	pe, _ := strconv.Atoi(os.Getenv(peEnv))
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	if err := child(ctx, pe, roles[name]); err != nil {
		fmt.Fprintf(os.Stdout, "error %v\n", err)
		return 1
	}
	return 0
}

func child(ctx context.Context, pe int, run role) error {
	job := &boot.Job{ID: "test", PE: pe, NPEs: 2, HostIndex: pe, Launched: true, Secret: []byte("secret of a test"),
		Hosts:    []boot.Host{{Name: "h0", First: 0, PEs: 1}, {Name: "h1", First: 1, PEs: 1}},
		Segment:  boot.NewSegment(1, runtime.NumCPU(), heapSize),
		Exchange: &pipeExchange{in: bufio.NewReader(os.Stdin), out: os.Stdout}}
	job.Segment.Header.First = uint32(pe)
	settings := ways[os.Getenv(wayEnv)]
	if d, err := time.ParseDuration(os.Getenv("PGAS_PEER_TIMEOUT")); err == nil {
		settings.PeerTimeout = d
	}
	t, err := Open(ctx, job, settings)
	if err != nil {
		return err
	}
	defer t.Close()
	return run(ctx, t, job, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
}

type pipeExchange struct {
	in  *bufio.Reader
	out io.Writer
}

func (p *pipeExchange) answer() (string, error) {
	line, err := p.in.ReadString('\n')
	return strings.TrimSpace(line), err
}

func (p *pipeExchange) Put(_ context.Context, key string, value []byte) error {
	_, err := fmt.Fprintf(p.out, "put %s %x\n", key, value)
	return err
}

func (p *pipeExchange) Fence(context.Context) error {
	fmt.Fprintln(p.out, "fence")
	_, err := p.answer()
	return err
}

func (p *pipeExchange) Get(_ context.Context, key string) ([]byte, error) {
	fmt.Fprintln(p.out, "get", key)
	line, err := p.answer()
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(line)
}

func (p *pipeExchange) Close() error { return nil }

// family is the two children and what they have reported.
type family struct {
	cmds    [2]*exec.Cmd
	results chan string
	wg      sync.WaitGroup
}

// netns reports whether there are two namespaces to run children in.
func netns() bool {
	for _, ns := range []string{"pe0", "pe1"} {
		if _, err := os.Stat("/run/netns/" + ns); err != nil {
			return false
		}
	}
	return os.Geteuid() == 0
}

// startFamily runs roles[names[pe]] as PE pe. The children die with the test.
func startFamily(t testing.TB, names [2]string, hosts bool, env ...string) *family {
	t.Helper()
	f := &family{results: make(chan string, 1000)}
	exchange := newTable(2)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for pe, name := range names {
		argv := []string{self}
		if hosts {
			// One CPU each, as the peers that this is compared with have; but the Go scheduler must not
			// think that there is only one, or its monitor takes it away during every wait.
			argv = append([]string{"ip", "netns", "exec", "pe" + strconv.Itoa(pe), "taskset", "-c", strconv.Itoa(pe % runtime.NumCPU())}, argv...)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), roleEnv+"="+name, peEnv+"="+strconv.Itoa(pe))
		cmd.Env = append(append(cmd.Env, "GOMAXPROCS=2"), env...)
		cmd.Stderr = os.Stderr
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		f.cmds[pe] = cmd
		f.wg.Go(func() { f.serve(pe, exchange, in, out) })
	}
	go func() { f.wg.Wait(); close(f.results) }()
	t.Cleanup(func() {
		for _, cmd := range f.cmds {
			cmd.Process.Kill()
		}
		f.wg.Wait()
		for _, cmd := range f.cmds {
			cmd.Wait()
		}
	})
	return f
}

// hasEnded is what a family reports last of a child, after its number.
const hasEnded = " has ended"

func (f *family) serve(pe int, exchange *table, in io.Writer, out io.Reader) {
	ctx := context.Background()
	defer func() { f.results <- strconv.Itoa(pe) + hasEnded }()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		words := strings.Fields(line)
		switch {
		case len(words) == 3 && words[0] == "put":
			value, _ := hex.DecodeString(words[2])
			exchange.Put(ctx, words[1], value)
		case line == "fence":
			exchange.Fence(ctx)
			fmt.Fprintln(in)
		case len(words) == 2 && words[0] == "get":
			value, _ := exchange.Get(ctx, words[1])
			fmt.Fprintf(in, "%x\n", value)
		default:
			f.results <- fmt.Sprintf("%d %s", pe, line)
		}
	}
}
