package compare

// Which releases the figures are of. The peers' programs are compiled in the run, so these are asked for there too.

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
)

// A release is how the version of something is found.
type release struct {
	name    string
	wanted  func(n needs) bool
	pattern *regexp.Regexp // its first group is the version
	argv    []string
}

var releases = []release{
	{"Open MPI", func(n needs) bool { return n.osh || n.mpi || n.kernels }, regexp.MustCompile(`\(Open MPI\) (\S+)`), []string{"mpirun", "--version"}},
	{"MPICH", func(n needs) bool { return n.mpich }, regexp.MustCompile(`(?m)Version:\s+(\S+)`), []string{"mpiexec.mpich", "--version"}},
	{"UCX", func(needs) bool { return true }, regexp.MustCompile(`^([\d.]+)`), []string{"pkg-config", "--modversion", "ucx"}},
	{"gcc", func(needs) bool { return true }, regexp.MustCompile(`^([\d.]+)`), []string{"gcc", "-dumpfullversion"}},
}

// versions returns the names and versions of what the jobs use: UCX and gcc are below ours, too.
func versions(ctx context.Context, t *tools, jobs []job) (found []string) {
	var want needs
	for _, j := range jobs {
		if t.lacks(j.needs) == nil {
			want = want.and(j.needs)
		}
	}
	for _, r := range releases {
		if !r.wanted(want) {
			continue
		}
		out, err := exec.CommandContext(ctx, r.argv[0], r.argv[1:]...).Output()
		if m := r.pattern.FindSubmatch(out); err == nil && m != nil {
			found = append(found, r.name+" "+string(m[1]))
		}
	}
	return found
}

// releasesUsed returns the sentence of the report about them.
func (f *figures) releasesUsed() string {
	if len(f.versions) == 0 {
		return ""
	}
	return "Measured with " + strings.Join(f.versions, ", ") + ".\n"
}

// releasesRow is the same as a row of the report that has no sides.
func (f *figures) releasesRow() verdict {
	return verdict{Row: "versions", Reached: "-", Versions: f.versions}
}
