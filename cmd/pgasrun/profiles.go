package main

// -pprof: the profiles that the PEs send, one file for each kind and PE, and the CPU profile of the whole job, in which
// every sample has a label with the number of its PE.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/pprof/profile"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// jobProfile is the file of the merged CPU profiles.
const jobProfile = "job.cpu.pprof"

// profiles are the files of one job.
type profiles struct {
	dir  string
	npes int
	news io.Writer

	failed bool // the job has ended with an error of the launcher

	mu    sync.Mutex // guards the fields below
	begun bool       // a piece has come
	over  bool       // the job has ended: pieces that a host whose output is stuck still sends are dropped
	files map[profileName]*profileFile
	full  bool // a file could not be written, and this has been said
}

// profileName says which profile it is.
type profileName struct {
	pe   int
	kind boot.ProfileKind
}

type profileFile struct {
	f        *os.File
	complete bool
	failed   bool
}

// open prepares the directory. Profiles of another job, which would be taken for these, are removed when the first
// piece of one of these has come.
func (p *profiles) open(job *launch.Spec) error {
	p.npes, p.files = npes(job.Hosts), map[profileName]*profileFile{}
	if err := os.MkdirAll(p.dir, 0o777); err != nil {
		return fmt.Errorf("-pprof %s: cannot make it (%w): name another directory", p.dir, errors.Unwrap(err))
	}
	const each = 5 // job.cpu.pprof is made at the end
	if err := boot.NeedFiles("-pprof, which has five files for each PE,", each*p.npes); err != nil {
		return err
	}
	probe, err := os.CreateTemp(p.dir, ".pgasrun-*")
	if err != nil {
		return fmt.Errorf("-pprof %s: cannot write there (%w): name another directory", p.dir, errors.Unwrap(err))
	}
	probe.Close()
	os.Remove(probe.Name())
	return nil
}

// attach has the launcher pass on the PEs' profiles.
func (p *profiles) attach(job *launch.Spec) { job.Profiles = p.piece }

// finish completes the files when the job has ended.
func (p *profiles) finish(end *ending) {
	p.failed = end.err != nil
	p.conclude()
}

// ours matches the names of the files of a job.
var ours = regexp.MustCompile(`^(job\.cpu\.pprof|pe[0-9]+\.((cpu|heap|mutex)\.pprof|trace))$`)

// begin removes the profiles of another job, when it is first called.
func (p *profiles) begin() {
	if p.begun {
		return
	}
	p.begun = true
	files, err := os.ReadDir(p.dir)
	for _, f := range files {
		if err == nil && ours.MatchString(f.Name()) {
			err = os.Remove(filepath.Join(p.dir, f.Name()))
		}
	}
	if err != nil {
		p.cannotWrite(err)
	}
}

// piece is launch.Spec.Profiles.
func (p *profiles) piece(pe int, k boot.ProfileKind, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.begin()
	f := p.file(profileName{pe, k})
	switch {
	case f.failed:
	case len(data) == 0:
		f.complete = true
	default:
		if _, err := f.f.Write(data); err != nil {
			f.failed = true
			p.cannotWrite(err)
		}
	}
}

// file returns the file of a profile. The first call creates it.
func (p *profiles) file(name profileName) *profileFile {
	f, made := p.files[name]
	if made {
		return f
	}
	f = new(profileFile)
	p.files[name] = f
	var err error
	if f.f, err = boot.CreateAnew(p.path(name)); err != nil {
		f.failed = true
		p.cannotWrite(err)
	}
	return f
}

func (p *profiles) path(name profileName) string {
	return filepath.Join(p.dir, name.kind.FileName(name.pe))
}

// cannotWrite says once that there is no room, or whatever the reason is. The job goes on.
func (p *profiles) cannotWrite(err error) {
	if !p.full {
		fmt.Fprintf(p.news, "pgasrun: -pprof: %v: profiles that cannot be written are dropped, and the job goes on\n", err)
	}
	p.full = true
}

// conclude closes the files, merges the CPU profiles, and says what there is. It reports whether every profile is
// complete.
func (p *profiles) conclude() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if len(p.files) == 0 && p.failed {
		return false // the job has not started, and that has been said
	}
	p.begin()
	missing := map[boot.ProfileKind][]int{}
	for pe := range p.npes {
		for _, k := range boot.ProfileKinds {
			if !p.close(profileName{pe, k}) {
				missing[k] = append(missing[k], pe)
			}
		}
	}
	if len(missing[boot.CPUProfile]) < p.npes {
		if err := p.merge(missing[boot.CPUProfile]); err != nil {
			p.cannotWrite(err)
		} else {
			fmt.Fprintf(p.news, "pgasrun: the profiles are in %s: go tool pprof -http=: %s\n", p.dir, filepath.Join(p.dir, jobProfile))
		}
	}
	p.sayMissing(missing)
	return len(missing) == 0
}

// sayMissing names the PEs without a complete profile, in a line for all kinds of which they are the same.
func (p *profiles) sayMissing(missing map[boot.ProfileKind][]int) {
	said := map[string][]string{}
	var order []string
	for _, k := range boot.ProfileKinds {
		if pes := missing[k]; len(pes) > 0 {
			which := launch.Ranges(pes)
			if said[which] == nil {
				order = append(order, which)
			}
			said[which] = append(said[which], k.String())
		}
	}
	for _, which := range order {
		fmt.Fprintf(p.news, "pgasrun: no complete profile (%s) of PE %s: it has to leave the job, by Main or World.Close; a longer -grace may give it the time\n", strings.Join(said[which], ", "), which)
	}
}

// close closes the file of a profile, and reports whether the profile is complete. Part of a trace may be of use; part
// of another profile cannot be read, and is removed.
func (p *profiles) close(name profileName) bool {
	f := p.files[name]
	if f == nil || f.f == nil {
		return false
	}
	if err := f.f.Close(); err != nil && !f.failed {
		f.failed = true
		p.cannotWrite(err)
	}
	whole := f.complete && !f.failed
	if !whole && name.kind != boot.ExecutionTrace {
		os.Remove(p.path(name))
	}
	return whole
}

// merge writes the CPU profile of the job, of all PEs but some.
func (p *profiles) merge(without []int) error {
	var all []*profile.Profile
	for pe := range p.npes {
		if slices.Contains(without, pe) {
			continue
		}
		one, err := readProfile(p.path(profileName{pe, boot.CPUProfile}))
		if err != nil {
			return err
		}
		for _, s := range one.Sample {
			if s.Label == nil {
				s.Label = map[string][]string{}
			}
			s.Label["pe"] = []string{strconv.Itoa(pe)}
		}
		all = append(all, one)
	}
	job, err := profile.Merge(all)
	if err != nil {
		return fmt.Errorf("merging the CPU profiles: %w", err)
	}
	f, err := boot.CreateAnew(filepath.Join(p.dir, jobProfile))
	if err != nil {
		return err
	}
	return errors.Join(job.Write(f), f.Close())
}

func readProfile(path string) (*profile.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	one, err := profile.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return one, nil
}
