package main

// What UCX says on this host: its versions, and the transports and devices that it offers.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/cmd/pgasrun/doctor"
	"github.com/gopgas/gopgas/ucx"
)

// ucxChecks returns the checks of this host that need UCX.
func ucxChecks() []doctor.Check {
	const version = "ucx"
	if !ucx.Available {
		return []doctor.Check{{Name: version, Value: "none: pgasdoctor was built without cgo", State: doctor.Note,
			Remedy: "jobs on several hosts need it: install libucx-dev and a C compiler, and build with CGO_ENABLED=1"}}
	}
	versions := fmt.Sprintf("%s at build, %s at run", ucx.Built(), ucx.Version())
	c, err := ucx.NewContext(ucx.Params{Features: ucx.FeatureAM | ucx.FeatureWakeup})
	if err != nil {
		return []doctor.Check{{Name: version, Value: versions + ": " + err.Error(), State: doctor.Problem,
			Remedy: "install the release of libucx that the program was built with, and unset UCX_ variables that name what this host has not; `ucx_info -d` lists it"}}
	}
	defer c.Close()
	checks := []doctor.Check{{Name: version, Value: versions, State: doctor.OK}}
	if warning := c.Warnings(); warning != "" {
		checks[0] = doctor.Check{Name: version, Value: versions + ": " + warning, State: doctor.Note, Remedy: "correct the UCX_ variable that it names; docs/packages/ucx.md lists the releases that are tested"}
	}
	var text strings.Builder
	if err := c.Print(&text); err != nil {
		return checks
	}
	return append(checks, transports(resources(text.String()), doctor.Here().Cards()))
}

// ofCards are the transports of network cards, by how their names begin.
var ofCards = []string{"rc_", "dc_", "ud_", "gga_", "ugni_", "srd"}

// transports checks that UCX offers transports of the host's cards, if it has cards.
func transports(found, cards []string) doctor.Check {
	check := doctor.Check{Name: "ucx transports", Value: strings.Join(found, " "), State: doctor.OK}
	used := slices.ContainsFunc(found, func(resource string) bool {
		return slices.ContainsFunc(ofCards, func(prefix string) bool { return strings.HasPrefix(resource, prefix) })
	})
	if len(cards) == 0 || used {
		return check
	}
	check.Value += ": none of " + strings.Join(cards, ", ")
	check.State = doctor.Problem
	check.Remedy = "install UCX's modules for cards (ucx-ib of Fedora and RHEL; a build with --with-verbs) and rdma-core; unset UCX_TLS and UCX_NET_DEVICES, which may exclude them; see the checks of rdma cards and of locked memory"
	return check
}

// resources reads the transports and devices out of what UCX prints about a context: a line for each of them ends with
// both, as in "rc_verbs/mlx5_0:1".
func resources(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if !strings.Contains(line, "resource") || len(words) == 0 {
			continue
		}
		if last := words[len(words)-1]; strings.Contains(last, "/") && !slices.Contains(found, last) {
			found = append(found, last)
		}
	}
	return found
}
