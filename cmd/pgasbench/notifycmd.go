package main

// `pgasbench notify`: notified access as its paper measures it (Belli, Hoefler: Notified Access, IPDPS 2015,
// section V), by the PEs of this job or by simulated ones. It measures the benches of notified.go, what the
// calls cost, and how much of a transfer can be hidden behind computation; and it fits LogGP parameters.

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/pgas/topo"
)

// noteCurves are the benches that have a curve in the plots, for puts and for gets.
var noteCurves = []string{"notify-pingpong", "signal-pingpong", "flag-pingpong", "quiet-pingpong", "get-notify-pingpong", "get-flag-pingpong"}

var noteRates = []string{"notify-rate", "signal-rate"}

type notifyOptions struct {
	sizes     []int
	plan      result.Plan
	json      bool
	plot      string
	simulated bool
	pes       int
	machine   string
	topology  string
	seed      uint64
}

// machines are the costs that -machine names.
var machines = map[string]sim.Costs{"aries": sim.Aries, "connectx3": sim.ConnectX3, "mt25208": sim.MT25208}

func notifyHelp() string {
	var flags strings.Builder
	fs, _, _ := notifyFlags()
	fs.SetOutput(&flags)
	fs.PrintDefaults()
	return `DESCRIPTION
  Measure notified access as its paper does, on the PEs of a job or in the simulator: latency and bandwidth
  against other ways to tell a target of data, the rate of many PEs into one, how much of a transfer hides
  behind computation, and LogGP parameters.

USAGE
  pgasrun -n 2 pgasbench notify [flags]
  pgasbench notify -sim [flags]

PE 0 works with the last PE, and all others send to the last PE when rates are measured.

EXAMPLES
  $ pgasrun -n 2 pgasbench notify -plot notify.svg      # figures 3 and 4a of the paper, on this host
  $ pgasrun -hosts a:1,b:1 -launch 'ssh {host}' pgasbench notify
  $ pgasbench notify -sim -topo cache:1 -pes 2          # two hosts of the paper's machine
  $ pgasbench notify -sim -topo cache:2 -pes 2          # two PEs of one host there
  $ pgasrun -n 2 pgasbench notify -json > today.jsonl

FLAGS
` + flags.String()
}

func notifyFlags() (*flag.FlagSet, *notifyOptions, *texts) {
	fs := flags.New("pgasbench notify")
	o, t := &notifyOptions{}, &texts{}
	fs.StringVar(&t.sizes, "sizes", "8,64,512,4k,8k,32k,64k,256k,1m,4m", "operand `bytes`, 8 to 4m, divided by commas")
	flags.DurationVar(fs, &t.point, "time", 50*time.Millisecond, "`time` for each point")
	flags.BoolVar(fs, &o.json, "json", false, "print one JSON object a line")
	fs.StringVar(&o.plot, "plot", "", "draw latency, bandwidth and overlap by size to `file`, .svg or .png")
	flags.BoolVar(fs, &o.simulated, "sim", false, "simulate the PEs, without pgasrun")
	flags.IntVar(fs, &o.pes, "pes", 2, "with -sim: `number` of PEs")
	fs.StringVar(&o.machine, "machine", "aries", "with -sim: what operations cost, on `which` machine: "+strings.Join(slices.Sorted(maps.Keys(machines)), ", "))
	fs.StringVar(&o.topology, "topo", "", "with -sim: `levels` of the machine, as PGAS_TOPO has them, with a count for each (default a host for each PE)")
	flags.Uint64Var(fs, &o.seed, "seed", 1, "with -sim: `number` from which all random ones follow")
	return fs, o, t
}

func parseNotify(args []string) (*notifyOptions, error) {
	fs, o, t := notifyFlags()
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	var err error
	if o.sizes, err = parseSizes(t.sizes); err != nil {
		return nil, err
	}
	if o.sizes[0] < 8 {
		return nil, fmt.Errorf("-sizes %s: the least is 8 bytes, which carry the number of their operation", t.sizes)
	}
	if t.point <= 0 || t.point > time.Hour {
		return nil, fmt.Errorf("-time %v: give each point more than nothing and at most an hour, such as 100ms", t.point)
	}
	o.plan = result.Standard(t.point)
	if o.plot != "" && !strings.HasSuffix(o.plot, ".svg") && !strings.HasSuffix(o.plot, ".png") {
		return nil, fmt.Errorf("-plot %s: the name must end in .svg or .png", o.plot)
	}
	return o, o.checkSimulated(fs)
}

func (o *notifyOptions) checkSimulated(fs *flag.FlagSet) (err error) {
	fs.Visit(func(f *flag.Flag) {
		if !o.simulated && slices.Contains([]string{"pes", "machine", "topo", "seed"}, f.Name) {
			err = fmt.Errorf("-%s is for -sim: a real job is as pgasrun makes it", f.Name)
		}
	})
	switch {
	case err != nil || !o.simulated:
		return err
	case os.Getenv("PGAS_PE") != "":
		return fmt.Errorf("-sim simulates all PEs by itself: leave pgasrun away")
	case o.pes < 2 || o.pes > 1<<12:
		return fmt.Errorf("-pes %d: give a number from 2 to %d", o.pes, 1<<12)
	case machines[o.machine].Network == nil:
		return fmt.Errorf("-machine %s: give one of %s", o.machine, strings.Join(slices.Sorted(maps.Keys(machines)), ", "))
	case o.topology != "":
		if _, err := topo.Parse(o.topology); err != nil {
			return fmt.Errorf("-topo %s: %w", o.topology, err)
		}
	}
	// time is virtual, and the same for every repetition
	o.plan.Point, o.plan.Least, o.plan.Most, o.plan.Tries = time.Microsecond, 3, 3, 1
	return nil
}

// simulateNotify measures with simulated PEs.
func simulateNotify(ctx context.Context, o *notifyOptions, stdout, stderr io.Writer) error {
	costs := machines[o.machine]
	cfg := sim.Config{Seed: o.seed, Topology: o.topology, Costs: &costs, HeapMax: 64 << 20}
	_, err := sim.Run(ctx, cfg, o.pes, func(ctx context.Context, w *pgas.World) error {
		return measureNotify(ctx, w, o, stdout, stderr)
	})
	return err
}

// measureNotify measures everything. It is collective; PE 0 prints.
func measureNotify(ctx context.Context, w *pgas.World, o *notifyOptions, stdout, stderr io.Writer) error {
	if w.NPEs() < 2 {
		return fmt.Errorf("there is no PE to notify: it takes two PEs (pgasrun -n 2 pgasbench notify)")
	}
	r, err := newRunner(ctx, w, o.plan, slices.Max(o.sizes))
	if err != nil {
		return err
	}
	if o.simulated {
		r.clock = w.Now
	}
	var report noteReport
	out := newOutput(&options{json: o.json}, w.PE() == 0, stdout)
	all := append(slices.Clone(noteCurves), noteRates...)
	news := newProgress(stderr, w.PE() == 0 && !o.simulated, len(all)*len(o.sizes), time.Now)
	for _, name := range all {
		b := benchNamed(name)
		for _, size := range b.sizes.of(o.sizes) {
			news.at(name, size)
			res, err := r.point(b, size)
			if err == nil {
				err = out.add(res)
			}
			if err != nil {
				return err
			}
			report.results = append(report.results, res)
		}
	}
	for _, size := range o.sizes {
		news.at("notify-overlap", size)
		v, err := r.overlap(size, o.simulated)
		if err != nil {
			return err
		}
		report.overlaps = append(report.overlaps, v)
	}
	if report.calls, err = r.callCosts(); err != nil || w.PE() != 0 {
		return err
	}
	report.fit = fitLogGP(report.results, report.calls)
	return report.write(o, stdout)
}

// write prints what is not a row of the table of benches, and draws the plot.
func (p *noteReport) write(o *notifyOptions, out io.Writer) error {
	if o.json {
		to := json.NewEncoder(out)
		for _, v := range p.overlaps {
			if err := to.Encode(v); err != nil {
				return err
			}
		}
		if err := to.Encode(p.calls); err != nil {
			return err
		}
		if err := to.Encode(p.fit); err != nil {
			return err
		}
	} else if err := p.text(out); err != nil {
		return err
	}
	if o.plot == "" {
		return nil
	}
	return p.draw(o.plot)
}

func (p *noteReport) text(out io.Writer) error {
	var b strings.Builder
	b.WriteString("\nof a notified put, the part that computation can hide:\n")
	for _, v := range p.overlaps {
		fmt.Fprintf(&b, "%9d bytes  %4.0f %%   (%s of %s remain)\n", v.Bytes, 100*v.Ratio, result.Duration(v.Overhead), result.Duration(v.Latency))
	}
	c, f := p.calls, p.fit
	fmt.Fprintf(&b, "\ncalls: New %s, Free %s, Start %s, notified put %s, Start and Wait for one that has come %s\n",
		result.Duration(c.New), result.Duration(c.Free), result.Duration(c.Start), result.Duration(c.Put), result.Duration(c.Take))
	fmt.Fprintf(&b, "LogGP (%s): o_s %s, o_r %s\n", f.Via, result.Duration(c.Put), result.Duration(c.Take))
	for _, r := range f.Ranges {
		fmt.Fprintf(&b, "  %d to %d bytes: L %s, G %s a byte (r² %.3f)\n", r.Least, r.Most, result.Duration(r.L), result.Digits(r.G)+" ns", r.R2)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
