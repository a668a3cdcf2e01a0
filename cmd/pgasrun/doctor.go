package main

// pgasrun doctor: it runs pgasdoctor as a job of one PE on each host, and makes a report of what that prints. Whatever
// keeps the job from running is a problem of the report, and this host is examined all the same.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/cmd/pgasrun/doctor"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/version"
)

const doctorHelp = `pgasrun doctor says what this host and others offer to a job, and what is wrong with each remedy.

usage: pgasrun doctor [flags]

  pgasrun doctor                                 this host, or those of Slurm's allocation
  pgasrun doctor -hosts a,b -launch 'ssh {host}' two hosts, and the network between them
  pgasrun doctor -hosts a,b -stage               the same; copies pgasrun and pgasdoctor there first
  pgasrun doctor -netns 2                        two hosts made of network namespaces on this machine, as for a job
  pgasrun doctor -json > report.json             what a bug report attaches
  srun --mpi=pmix -N 4 pgasdoctor > lines; pgasrun doctor -from lines
                                                 of a job that another launcher has started

It runs pgasdoctor, which is beside pgasrun, on PATH, or built by go, as a job of one PE on each host.
The exit status is 0 without problems, 1 with, 2 for a wrong command line. docs/use/doctor.md explains each line.

`

// doctorOptions are the command line of pgasrun doctor.
type doctorOptions struct {
	hosts   placement
	pe      peOptions
	program string
	json    bool
	from    string
}

// runDoctor is pgasrun doctor.
func runDoctor(args []string, out io.Writer) (int, error) {
	d, err := parseDoctor(args)
	if err != nil {
		return statusUsage, err
	}
	report := doctor.Report{Version: doctor.Version, Gopgas: version.Current(), Hosts: []doctor.Host{}, Pairs: []doctor.Pair{}, Job: doctor.Job{Hosts: []string{}}}
	if d.from != "" {
		err = d.read(&report)
	} else {
		err = d.examine(&report)
	}
	if err != nil {
		return statusUsage, err
	}
	report.Conclude()
	if err := d.print(out, &report); err != nil {
		return statusFailed, fmt.Errorf("printing the report: %w", err)
	}
	if len(report.Found) > 0 {
		return statusFailed, nil
	}
	return 0, nil
}

func parseDoctor(args []string) (*doctorOptions, error) {
	d := new(doctorOptions)
	s := d.flags()
	if err := s.parse(args); err != nil {
		return d, err
	}
	if err := d.hosts.check(s); err != nil {
		return d, err
	}
	switch {
	case s.NArg() > 0:
		return d, fmt.Errorf("doctor %s: it takes flags alone; name hosts by -hosts %s", s.Arg(0), s.Arg(0))
	case d.pe.timeout <= 0:
		return d, errors.New("-timeout: give more than 0, as in -timeout 5m")
	}
	return d, nil
}

// doctorUsage is what -h prints.
func doctorUsage() string { return doctorHelp + new(doctorOptions).flags().help() }

func (d *doctorOptions) flags() *flagSet {
	s := newFlags("pgasrun doctor", "`pgasrun doctor -h` lists the flags", retired)
	d.hosts.template, d.hosts.fanOut = launch.DefaultTemplate, launch.DefaultFanOut
	d.pe.timeout, d.pe.grace = 5*time.Minute, time.Second
	s.text(flagsAlone, &d.hosts.hosts, "hosts", "examine these `hosts`: name,name; localhost is this one. @FILE reads them from a file, one a line")
	s.text(flagsAlone, &d.hosts.netns, "netns", "make `HOSTS` of network namespaces on this machine, examine them and remove them; the HOSTSxPEs of a job means the same; needs root")
	s.text(flagsAlone, &d.hosts.template, "launch", usageLaunch)
	s.truth(flagsAlone, &d.hosts.stage, "stage", "copy pgasrun and pgasdoctor to the cache directory of each host, unless they are there")
	s.text(flagsAlone, &d.hosts.bootAddr, "boot-addr", usageBootAddr)
	s.text(flagsAlone, &d.program, "program", "the `file` of pgasdoctor on the hosts (default: beside pgasrun, on PATH, or built by go)")
	s.text(flagsAlone, &d.from, "from", "read what pgasdoctor has printed from a `file`, - for standard input, and run nothing")
	s.truth(flagsAlone, &d.json, "json", "print the report as one JSON object")
	s.truth(flagsAlone, &d.pe.verbose, "v", "say each step")
	s.period(flagsAlone, &d.pe.timeout, "timeout", "end the measurements after `time`")
	return s
}

func (d *doctorOptions) print(w io.Writer, r *doctor.Report) error {
	if !d.json {
		return r.Print(w)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// read makes the report of what pgasdoctor has printed before.
func (d *doctorOptions) read(r *doctor.Report) error {
	in := io.ReadCloser(os.Stdin)
	if d.from != "-" {
		f, err := os.Open(d.from)
		if err != nil {
			return fmt.Errorf("-from: %w", err)
		}
		in = f
	}
	defer in.Close()
	var err error
	if r.Job.Output, err = r.Collect(in); err != nil {
		return fmt.Errorf("-from %s: %w", d.from, err)
	}
	for _, h := range r.Hosts {
		r.Job.Hosts = append(r.Job.Hosts, h.Name)
	}
	if !r.Job.Ran {
		r.Job.Error, r.Job.Remedy = unfinished, "look at what it has printed; run it again"
	}
	return nil
}

const unfinished = "pgasdoctor has not measured every pair of hosts"

// examine runs the job and makes the report. An error is one of the command line.
func (d *doctorOptions) examine(r *doctor.Report) error {
	hosts, err := d.hosts.place()
	if err != nil {
		return err
	}
	if _, err := launch.SplitTemplate(d.hosts.template); err != nil {
		return err
	}
	hosts, d.hosts.spares = append(hosts, d.hosts.spares...), nil // they are examined, too
	for i := range hosts {
		hosts[i].PEs = 1
		r.Job.Hosts = append(r.Job.Hosts, hosts[i].Name)
	}
	if err := d.measure(r, hosts); err != nil {
		r.Job.Ran = false
		r.Job.Error, r.Job.Remedy = oneLine(err.Error()), remedyOf(err.Error()+strings.Join(r.Job.Output, "\n"))
	}
	if !examined(r.Hosts) {
		name, err := os.Hostname()
		if err != nil {
			name = launch.Local
		}
		r.Hosts = slices.Insert(r.Hosts, 0, doctor.Host{Name: name, PE: -1, Checks: doctor.Examine(doctor.Here())})
	}
	return nil
}

// examined reports whether a PE has examined this host.
func examined(hosts []doctor.Host) bool {
	isHere := join.ThisHost()
	return slices.ContainsFunc(hosts, func(h doctor.Host) bool { return isHere(h.Name) })
}

// measure runs pgasdoctor on the hosts and adds what it finds to the report.
func (d *doctorOptions) measure(r *doctor.Report, hosts []boot.Host) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	path, err := findDoctor(d.program, signals)
	if err != nil {
		return err
	}
	ctx, cancel := d.pe.context()
	defer cancel()
	var out, said bytes.Buffer // the launcher writes to one of them at a time
	spec := d.pe.spec(hosts, path, nil)
	d.hosts.reach(&spec)
	spec.Stdin, spec.Stdout, spec.Stderr, spec.Signals = nil, &out, &said, signals
	if d.hosts.netns != "" {
		remove, err := makeHosts(d.hosts.netns, &spec, signals)
		if err != nil {
			return err
		}
		defer remove()
		for i, h := range spec.Hosts {
			r.Job.Hosts[i] = h.Name
		}
	}
	res, err := launch.Run(ctx, spec)
	others, collectErr := r.Collect(&out)
	r.Job.Output = lastLines(append(others, strings.Split(said.String(), "\n")...))
	switch {
	case err != nil:
		return err
	case res.First != nil:
		r.Job.Output = append(r.Job.Output, lastLines(strings.Split(res.First.Others, "\n"))...)
		return failure(res.First)
	case collectErr != nil:
		return collectErr
	case res.Status != 0 || !r.Job.Ran:
		return fmt.Errorf("%s: it has ended with status %d", unfinished, res.Status)
	}
	return nil
}

// failure is the failure of a PE as an error of one line.
func failure(f *launch.Failure) error {
	what, _, _ := strings.Cut(f.String(), "\n")
	if len(f.Tail) == 0 {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %s", what, f.Tail[len(f.Tail)-1])
}

const doctorPackage = version.Module + "/cmd/pgasdoctor"

// findDoctor returns the path of pgasdoctor: the one given by -program, the file beside this program, or the one on
// PATH. If there is none it is built.
func findDoctor(given string, signals <-chan os.Signal) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	if path := installedDoctor(); path != "" {
		return path, nil
	}
	p, err := packageProgram(doctorPackage)
	if err == nil {
		err = p.build(signals)
	}
	if err != nil {
		return "", fmt.Errorf("there is no pgasdoctor beside pgasrun or on PATH, and building it failed: %w", err)
	}
	return p.path, nil
}

// installedDoctor returns the path of the pgasdoctor beside this program, of that on PATH, or "".
func installedDoctor() string {
	const name = "pgasdoctor"
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return beside
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if path, err = filepath.Abs(path); err != nil {
		return ""
	}
	return path
}

// mostLines is how much of what a job prints is in the report.
const mostLines = 40

// lastLines returns the last lines that are not empty.
func lastLines(lines []string) []string {
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	return lines[max(0, len(lines)-mostLines):]
}

// oneLine returns a report of the launcher as one line.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.TrimSpace(text), func(r rune) bool { return r == '\n' }), "; ")
}

// remedies are for what jobs fail of before they can say what to do.
var remedies = []struct{ sign, remedy string }{
	{"without cgo", "install libucx-dev and a C compiler, and `CGO_ENABLED=1 go install " + doctorPackage + "@latest`"},
	{"loading shared libraries: libuc", "install UCX on every host: libucx0 of Debian and Ubuntu, ucx of Fedora and RHEL"},
	{"there is no pgasdoctor", "`go install " + doctorPackage + "@latest`, which puts it beside pgasrun; it needs cgo and libucx-dev for jobs on several hosts"},
	{"-timeout allows", doctor.RemedyUnreachable + "; many hosts need a longer -timeout"},
	{"the hosts must reach each other", doctor.RemedyUnreachable + ", or give -boot-addr"},
	{"killed by signal 9", "find what has killed it: `dmesg` on its host tells whether the kernel has, for want of memory"},
	{"can no longer be reached", doctor.RemedyUnreachable},
	{"does not answer", doctor.RemedyUnreachable},
	{"stopped by", "let it run to its end"},
}

// remedyOf returns what to do about a job that did not run. The launcher's own messages say it.
func remedyOf(text string) string {
	for _, r := range remedies {
		if strings.Contains(text, r.sign) {
			return r.remedy
		}
	}
	return "as the message says; -v shows each step, and docs/use/ssh.md what ssh needs"
}
