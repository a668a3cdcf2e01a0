package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasrun/doctor"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestExamine: the first PE of each host reports it once, and its connection to each other host once, in the order of
// the turns. PE 0 says that all is done.
func TestExamine(t *testing.T) {
	t.Run("one host", func(t *testing.T) { pgastest.RunProcesses(t, 2, reports(1)) })
	t.Run("late", func(t *testing.T) { pgastest.RunLate(t, 5, 3, reports(3)) })
	t.Run("network", func(t *testing.T) { pgastest.RunHosts(t, 5, 3, reports(3)) })
}

// reports returns a body that examines a job on so many hosts, and checks what this PE reports.
func reports(hosts int) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		pes := representatives(w)
		if len(pes) != hosts {
			return fmt.Errorf("PEs %v stand for %d hosts", pes, hosts)
		}
		var out bytes.Buffer
		if err := examine(ctx, w, &out); err != nil {
			return err
		}
		var r doctor.Report
		others, err := r.Collect(&out)
		if err != nil || len(others) > 0 || r.Job.Ran != (w.PE() == 0) {
			return fmt.Errorf("%q besides %+v: %w", others, r, err)
		}
		if !slices.Contains(pes, w.PE()) {
			pes = []int{w.PE()} // it has no host and no pair
		} else if len(r.Hosts) != 1 || r.Hosts[0].PE != w.PE() || r.Hosts[0].Name != w.Host() {
			return fmt.Errorf("PE %d on %s reports %+v", w.PE(), w.Host(), r)
		}
		return checkPairs(w, pes, r.Pairs)
	}
}

// checkPairs checks that this PE has measured its connection to each other PE of pes, in their order.
func checkPairs(w *pgas.World, pes []int, pairs []doctor.Pair) error {
	pes = slices.DeleteFunc(pes, func(pe int) bool { return pe == w.PE() })
	if len(pairs) != len(pes) {
		return fmt.Errorf("PE %d reports %d pairs, not those with PEs %v", w.PE(), len(pairs), pes)
	}
	for i, p := range pairs {
		to := pes[i]
		switch {
		case p.From != w.PE() || p.To != to || p.FromHost != w.Host() || p.ToHost != w.HostOf(to) || p.Transport != w.TransportTo(to):
			return fmt.Errorf("PE %d to %d: %+v", w.PE(), to, p)
		case p.PutNs <= 0 || p.GetNs <= 0 || p.SignalNs <= 0 || p.PutMBs <= 0 || p.ErrorNs <= 0 || p.Problem != "":
			return fmt.Errorf("not measured: %+v", p)
		case p.OffsetNs < -p.ErrorNs || p.OffsetNs > p.ErrorNs:
			return fmt.Errorf("the clocks of one machine differ by more than the error: %+v", p)
		case p.Transport == "ucp" && !slices.ContainsFunc(p.Lanes, func(l doctor.Lane) bool { return l.Transport == "tcp" && l.Device != "" && l.Uses != "" }):
			return fmt.Errorf("no lane of TCP: %+v", p)
		case p.NativeWhy == "" || p.NICWhy == "":
			return fmt.Errorf("not said how it is reached: %+v", p)
		}
	}
	return nil
}

func TestMedian(t *testing.T) {
	calls := 0
	if ns, err := medianOf(func() error { calls++; return nil }); err != nil || ns < 0 || calls < warmUps+least || calls > warmUps+most {
		t.Errorf("%v, %v after %d calls", ns, err, calls)
	}
	broken := errors.New("broken")
	for _, at := range []int{1, warmUps + 2} {
		calls = 0
		_, err := medianOf(func() error {
			if calls++; calls == at {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) || calls != at {
			t.Errorf("call %d fails: %v after %d calls", at, err, calls)
		}
	}
}

func TestResources(t *testing.T) {
	const text = `#
# UCP context
#
#     component 0  :  self
#            md 0  :  component 0  self
#      resource 0  :  md 0  dev 0  flags -- self/memory0
#      resource 1  :  md 1  dev 1  flags -- tcp/eth0
#      resource 2  :  md 1  dev 1  flags -- tcp/eth0
#      resource 3  :  md 4  dev 2  flags -- rc_verbs/mlx5_0:1
# memory: 0.02MB, file descriptors: 2
`
	if got, want := resources(text), []string{"self/memory0", "tcp/eth0", "rc_verbs/mlx5_0:1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := resources("nothing\n\n"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestTransports(t *testing.T) {
	for _, c := range []struct {
		found, cards []string
		state        doctor.State
		value        string
	}{
		{[]string{"self/memory0", "tcp/eth0"}, nil, doctor.OK, "self/memory0 tcp/eth0"},
		{[]string{"tcp/eth0", "rc_mlx5/mlx5_0:1"}, []string{"mlx5_0"}, doctor.OK, "tcp/eth0 rc_mlx5/mlx5_0:1"},
		{[]string{"tcp/eth0", "tcp/rc_0"}, []string{"mlx5_0", "mlx5_1"}, doctor.Problem, "tcp/eth0 tcp/rc_0: none of mlx5_0, mlx5_1"},
	} {
		got := transports(c.found, c.cards)
		if got.State != c.state || got.Value != c.value || (got.State == doctor.OK) != (got.Remedy == "") {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// TestUCX: UCX tells its versions and transports here, or why not.
func TestUCX(t *testing.T) {
	for _, c := range ucxChecks() {
		if c.Value == "" || (c.State != doctor.OK) == (c.Remedy == "") {
			t.Errorf("%+v", c)
		}
	}
}
