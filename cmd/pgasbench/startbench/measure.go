package startbench

// One job under measurement, and all of them.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// result is what the jobs of one size cost.
type result struct {
	PEs, Hosts int
	Ready      float64 // ms from the call of pgasrun until the last PE was ready
	Together   float64 // ms until the first barrier was over
	Connected  float64 // ms until every PE had put to every other
	Ended      float64 // ms until pgasrun had ended
	CPU        float64 // ms, of all processes of the job
	PECPU      float64 // ms of CPU time of a PE until it printed, on average
	Share      float64 // MiB of a PE, on average
	Own        float64 // MiB that a PE has for itself, on average
	Files      float64 // descriptors of the PE that has most
	Threads    float64 // threads of a PE, on average
}

// Main measures what the command line asks for and prints it.
func Main(ctx context.Context, o *Options, out, progress io.Writer) error {
	hosts, closeHosts, err := o.makeHosts()
	if err != nil {
		return err
	}
	defer closeHosts()
	var all []result
	for _, s := range o.points() {
		fmt.Fprintf(progress, "%d PEs on %d hosts, %d jobs\n", s.PEs, s.Hosts, o.rounds)
		r, err := o.measure(ctx, s, hosts)
		if err != nil {
			return fmt.Errorf("%d PEs on %d hosts: %w", s.PEs, s.Hosts, err)
		}
		all = append(all, r)
	}
	if o.json {
		enc := json.NewEncoder(out)
		for _, r := range all {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
	} else if err := printTable(out, all, o.connect); err != nil {
		return err
	}
	if o.model == nil {
		return nil
	}
	return o.printModel(out, all)
}

// makeHosts makes as many hosts as the largest job needs, if that is more than one.
func (o *Options) makeHosts() (names []string, closeHosts func(), err error) {
	most := slices.Max(o.hosts)
	if most == 1 {
		return nil, func() {}, nil
	}
	if err := netns.Usable(); err != nil {
		return nil, nil, fmt.Errorf("-hosts %d: %w", most, err)
	}
	hosts, err := netns.New(most)
	if err != nil {
		return nil, nil, err
	}
	return hosts.Names, func() { hosts.Close() }, nil
}

// measure returns the medians of the jobs of one size.
func (o *Options) measure(ctx context.Context, s size, hosts []string) (result, error) {
	var all []result
	for range o.rounds {
		r, err := o.run(ctx, s, hosts)
		if err != nil {
			return result{}, err
		}
		all = append(all, r)
	}
	median := func(of func(*result) *float64) float64 {
		slices.SortFunc(all, func(a, b result) int { return cmp.Compare(*of(&a), *of(&b)) })
		return *of(&all[len(all)/2])
	}
	m := result{PEs: s.PEs, Hosts: s.Hosts}
	for _, of := range []func(*result) *float64{
		func(r *result) *float64 { return &r.Ready }, func(r *result) *float64 { return &r.Together },
		func(r *result) *float64 { return &r.Connected }, func(r *result) *float64 { return &r.Ended },
		func(r *result) *float64 { return &r.CPU }, func(r *result) *float64 { return &r.PECPU },
		func(r *result) *float64 { return &r.Share }, func(r *result) *float64 { return &r.Own },
		func(r *result) *float64 { return &r.Files }, func(r *result) *float64 { return &r.Threads },
	} {
		*of(&m) = median(of)
	}
	return m, nil
}

// arguments returns those of pgasrun for a job.
func (s size) arguments(self string, hosts []string) []string {
	if s.Hosts == 1 {
		return []string{"-n", fmt.Sprint(s.PEs), self}
	}
	var list []string
	for i, name := range hosts[:s.Hosts] {
		list = append(list, fmt.Sprintf("%s:%d", name, (i+1)*s.PEs/s.Hosts-i*s.PEs/s.Hosts))
	}
	return []string{"-hosts", strings.Join(list, ","), "-launch", netns.Template, self}
}

// run runs one job.
func (o *Options) run(ctx context.Context, s size, hosts []string) (result, error) {
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	mode := "start"
	if o.connect {
		mode = "connect"
	}
	cmd := exec.CommandContext(ctx, o.pgasrun, s.arguments(self, hosts)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), peEnv+"="+mode)
	if os.Getenv("PGAS_HEAP_MAX") == "" {
		cmd.Env = append(cmd.Env, "PGAS_HEAP_MAX=16m") // the address space of a job of many PEs
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	ended := time.Since(began)
	var reports []report
	for dec := json.NewDecoder(&stdout); ; {
		var r report
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return result{}, fmt.Errorf("a PE printed something else than its report: %w", err)
		}
		reports = append(reports, r)
	}
	if len(reports) != s.PEs {
		return result{}, fmt.Errorf("%d PEs have reported", len(reports))
	}
	r := summarize(s, began.UnixNano(), reports)
	r.Ended = ms(int64(ended))
	r.CPU = ms(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
	return r, nil
}

// summarize returns what the PEs of a job, which was begun at a time, have said.
func summarize(s size, began int64, reports []report) result {
	r := result{PEs: s.PEs, Hosts: s.Hosts}
	n := float64(len(reports))
	for _, p := range reports {
		r.Ready = max(r.Ready, ms(p.Ready-began))
		r.Together = max(r.Together, ms(p.Together-began))
		r.Connected = max(r.Connected, ms(p.Connected-began))
		r.Files = max(r.Files, float64(p.Files))
		r.PECPU += ms(p.CPU) / n
		r.Share += float64(p.Share) / (1 << 20) / n
		r.Own += float64(p.Own) / (1 << 20) / n
		r.Threads += float64(p.Threads) / n
	}
	return r
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }
