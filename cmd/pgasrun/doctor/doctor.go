// Package doctor says what a host offers to a job and what is wrong with it: the report of `pgasrun doctor`.
//
//	doctor.go        the report: hosts, pairs of hosts, problems
//	system.go        what a check may ask of the host, so that tests can replace the host
//	checks.go        the table of checks
//	check_*.go       the checks
//	pager_unsafe.go  whether page faults can be served
//	ucx.go, lanes.go which UCX a program has; the lanes of a connection, as UCX prints them
//	lines.go         what pgasdoctor prints
//	text.go          the report for people
//
// A check never fails: what it cannot read, it says it does not know. So a report exists for every host, and a bug
// report can attach it. The checks of one host need neither UCX nor cgo, since pgasrun runs where there is neither.
// What needs UCX and other hosts, command pgasdoctor measures, as a job of one PE on each host.
//
//ci:nocgo=short
package doctor

import (
	"cmp"
	"slices"
)

// Version is that of the report. It changes when a field changes its meaning or goes; a field that is new does not
// change it.
const Version = 1

// State is what a check has found.
type State string

// The states of a check.
const (
	OK      State = "ok"      // as a job likes it
	Note    State = "note"    // a job runs, but slower than it could or without something that it may not need
	Problem State = "problem" // a job fails, or may
)

// Check is one line of a report.
type Check struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	State  State  `json:"state"`
	Remedy string `json:"remedy,omitempty"` // what to do; never empty if there is a problem
}

// Host is what has been found on one host.
type Host struct {
	Name   string  `json:"name"`
	PE     int     `json:"pe"` // the PE that has looked, -1 if pgasrun has, without a job
	Checks []Check `json:"checks"`
}

// Report is what `pgasrun doctor -json` prints.
type Report struct {
	Version int     `json:"version"`
	Gopgas  string  `json:"gopgas"` // the version of pgasrun
	Job     Job     `json:"job"`
	Hosts   []Host  `json:"hosts"`
	Pairs   []Pair  `json:"pairs"`
	Found   []Found `json:"problems"`
}

// Job says whether the job that measures could run.
type Job struct {
	Hosts  []string `json:"hosts"`           // the hosts that were asked for
	Ran    bool     `json:"ran"`             // it has measured everything
	Error  string   `json:"error,omitempty"` // why not
	Remedy string   `json:"remedy,omitempty"`
	Output []string `json:"output,omitempty"` // what its PEs have printed besides
}

// Pair is a connection from one host to another, as the PE of the first has measured it.
type Pair struct {
	From       int     `json:"from"` // the PE that measures
	To         int     `json:"to"`   // the PE that is measured
	FromHost   string  `json:"from_host"`
	ToHost     string  `json:"to_host"`
	Transport  string  `json:"transport"`         // the transport of gopgas
	Lanes      []Lane  `json:"lanes"`             // the lanes of UCX
	Native     bool    `json:"native_rma"`        // gets and large puts are UCX's own
	NativeWhy  string  `json:"native_rma_why"`    // why, or why not
	NICAtomics bool    `json:"nic_atomics"`       // atomics are UCX's own in this job
	NICCapable bool    `json:"nic_capable"`       // UCX has a lane on which a NIC executes atomics
	NICWhy     string  `json:"nic_atomics_why"`   // why, or why not
	PutNs      float64 `json:"put_ns"`            // 8-byte put and quiet: median
	GetNs      float64 `json:"get_ns"`            // 8-byte get: median
	SignalNs   float64 `json:"signal_ns"`         // half a ping-pong of 8-byte puts with signal: median
	PutMBs     float64 `json:"put_mbytes_per_s"`  // puts of 1 MiB: megabytes (1e6) a second, median
	OffsetNs   int64   `json:"clock_offset_ns"`   // the clock of To less that of From
	ErrorNs    int64   `json:"clock_error_ns"`    // the most by which OffsetNs may be wrong
	Problem    string  `json:"problem,omitempty"` // why nothing was measured
}

// Lane is one of the lanes over which UCX reaches a host.
type Lane struct {
	Transport string `json:"transport"` // a transport of UCX, such as tcp or rc_mlx5
	Device    string `json:"device"`
	Uses      string `json:"uses"` // the uses as UCX names them: am, am_bw, rma, rma_bw, amo
}

// Found is a problem of the report, with its place.
type Found struct {
	Where  string `json:"where"` // a host, two hosts, or the job
	What   string `json:"what"`
	Remedy string `json:"remedy"`
}

// Conclude fills in the problems: those of the job, of every host and of every pair.
func (r *Report) Conclude() {
	r.Found = []Found{}
	if r.Job.Error != "" {
		r.Found = append(r.Found, Found{"the job", r.Job.Error, r.Job.Remedy})
	}
	for _, h := range r.Hosts {
		for _, c := range h.Checks {
			if c.State == Problem {
				r.Found = append(r.Found, Found{h.Name, c.Name + ": " + c.Value, c.Remedy})
			}
		}
	}
	for _, p := range r.Pairs {
		if p.Problem != "" {
			r.Found = append(r.Found, Found{p.FromHost + " to " + p.ToHost, p.Problem, RemedyUnreachable})
		}
	}
}

// RemedyUnreachable is what to do if hosts do not reach each other.
const RemedyUnreachable = "allow TCP connections on all ports between the hosts of a job, or name the interface that they share in UCX_NET_DEVICES"

// sort puts hosts and pairs in the order of their PEs.
func (r *Report) sort() {
	slices.SortStableFunc(r.Hosts, func(a, b Host) int { return a.PE - b.PE })
	slices.SortStableFunc(r.Pairs, func(a, b Pair) int { return cmp.Or(a.From-b.From, a.To-b.To) })
}
