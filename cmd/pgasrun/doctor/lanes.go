package doctor

// The lanes of a connection, as UCX prints them (ucp_ep_print_info):
//
//	lane[0]:  3:tcp/eth0.0 md[1]  -> addr[0].md[1]/tcp/sysdev[255] rma_bw#0 am am_bw#0
//	lane[1]:  5:rc_mlx5/mlx5_0:1.0 md[4] -> addr[1].md[4]/ib/sysdev[0] rma#0 amo#0
//
// UCX has no call that tells them. What cannot be read is left out, so that another release's text does no harm.

import (
	"regexp"
	"slices"
	"strings"
)

var (
	laneLine = regexp.MustCompile(`lane\[\d+\]:\s+\d+:([^/\s]+)/(\S+)\.\d+\s(.*)$`)
	laneUse  = regexp.MustCompile(`^(am|am_bw|rma|rma_bw|amo|tag|keepalive|cm|rkey_ptr|device)(#\d+)?$`)
)

// Lanes reads the lanes of an endpoint out of UCX's text.
func Lanes(text string) []Lane {
	all := []Lane{}
	for line := range strings.Lines(text) {
		m := laneLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		l := Lane{Transport: m[1], Device: m[2]}
		var uses []string
		for word := range strings.FieldsSeq(m[3]) {
			if use := laneUse.FindStringSubmatch(word); use != nil {
				uses = append(uses, use[1])
			}
		}
		l.Uses = strings.Join(uses, " ")
		all = append(all, l)
	}
	return all
}

// has reports whether UCX uses the lane for one of these.
func (l Lane) has(uses ...string) bool {
	return slices.ContainsFunc(strings.Fields(l.Uses), func(u string) bool { return slices.Contains(uses, u) })
}

// of returns the transports and devices of the lanes that UCX uses for one of these, each once.
func of(all []Lane, uses ...string) string {
	var found []string
	for _, l := range all {
		if name := l.Transport + "/" + l.Device; l.has(uses...) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}

// Explain fills in why RMA and atomics go as they do. rma is PGAS_RMA (auto, am or native), amo PGAS_AMO (cpu or nic),
// tls UCX_TLS, each as it is in effect.
func (p *Pair) Explain(rma, amo, tls string) {
	memory, atomics := of(p.Lanes, "rma", "amo"), of(p.Lanes, "amo")
	p.NICCapable = atomics != ""
	p.NativeWhy = whyRMA(p.Native, rma, memory, lanes(p.Lanes))
	p.NICWhy = whyAtomics(amo, atomics, memory)
	if tls != "" && memory == "" {
		p.NativeWhy += "; UCX_TLS=" + tls + " bounds the choice"
	}
}

func whyRMA(native bool, rma, memory, all string) string {
	switch {
	case native && memory != "":
		return "UCX reads and writes remote memory itself over " + memory
	case native:
		return "PGAS_RMA=native asks for it, and UCX emulates it by messages: no lane of " + all + " does it; auto is faster"
	case rma == "am":
		return "PGAS_RMA=am asks for active messages" + also(memory)
	case memory == "":
		return "active messages: no lane of " + all + " reads and writes remote memory by itself, as those of RDMA cards do"
	}
	return "active messages, although " + memory + " reads and writes remote memory"
}

func also(memory string) string {
	if memory == "" {
		return ""
	}
	return "; " + memory + " could read and write remote memory itself (PGAS_RMA=auto)"
}

func whyAtomics(amo, atomics, memory string) string {
	switch {
	case amo == "nic" && atomics != "":
		return "PGAS_AMO=nic: " + atomics + " executes them"
	case amo == "nic":
		return "PGAS_AMO=nic asks for it, and no lane has a NIC that executes them: UCX emulates them; PGAS_AMO=cpu is faster"
	case atomics != "":
		return "the target's CPU executes them (PGAS_AMO=cpu); " + atomics + " could (PGAS_AMO=nic)"
	case memory != "":
		return "the target's CPU executes them (PGAS_AMO=cpu); no lane has a NIC that could"
	}
	return "the target's CPU executes them (PGAS_AMO=cpu); no lane is that of a NIC that could"
}
