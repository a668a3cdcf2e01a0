package join

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// How a process that pgasrun's agent has started becomes its PE: what it has inherited, and the check that it is the
// only one.

// launched makes the job of a PE that an agent has started. The variables and files are this process's alone, so that
// launched succeeds once.
func launched(vars map[string]string, set boot.Settings) (*boot.Job, error) {
	v, err := boot.ParsePEVars(vars)
	if err != nil {
		return nil, err
	}
	j := &boot.Job{ID: v.ID, PE: v.PE, NPEs: v.NPEs(), Hosts: v.Hosts, HostIndex: v.HostIndex, Launched: true, Settings: set}
	if v.ProfileFD != 0 {
		if j.Profiles, err = inheritProfilePipe(v.ProfileFD); err != nil {
			return nil, err
		}
	}
	if j.Segment, err = inheritSegment(v.SegmentFD); err != nil {
		return nil, err
	}
	if err := open(j, &v); err != nil {
		j.Segment.Close()
		return nil, err
	}
	return j, nil
}

// nextJob returns the function that makes the job of a later term.
func nextJob(set boot.Settings) func(Environment) (*boot.Job, error) {
	return func(vars Environment) (*boot.Job, error) { return launched(vars, set) }
}

// open takes the place of j in its segment, makes the exchange if the job has one, and takes the memory that it was
// handed.
func open(j *boot.Job, v *boot.PEVars) (err error) {
	if err := claim(j); err != nil {
		return err
	}
	if len(v.BootAddrs) > 0 {
		if j.Secret, err = readSecret(v.SecretFD); err != nil {
			return err
		}
		c := NewExchange(j.ID, j.PE, j.Secret, v.BootAddrs).(*client)
		c.silence = j.Settings.PeerTimeout
		j.Exchange = c
	}
	if v.ImagesFD != 0 {
		j.ImagesTerm, j.Term = v.ImagesTerm, v.Term
		if j.Images, err = inherit(v.ImagesFD, boot.EnvImagesFD); err != nil {
			return err
		}
	}
	if v.TermsFD != 0 {
		if j.Terms, err = inheritTerms(v.TermsFD, nextJob(j.Settings)); err != nil {
			return err
		}
	}
	if v.RecordFD != 0 {
		return inheritRecord(j, v.RecordFD)
	}
	return nil
}

// inheritRecord maps the memory for what this PE records of itself.
func inheritRecord(j *boot.Job, fd int) error {
	f, err := inherit(fd, boot.EnvRecordFD)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := record.Map(f)
	if err != nil {
		return err
	}
	if h := j.Host(); m.JobPEs() != j.NPEs || m.First() != h.First || m.PEs() != h.PEs {
		m.Close()
		return fmt.Errorf("%s=%d has the records of another job: start the program with pgasrun", boot.EnvRecordFD, fd)
	}
	j.Record = m.PE(j.PE)
	return nil
}

// claim makes this process the owner of its PE's page in the segment. It returns an error if another process is:
// two owners would corrupt each other.
func claim(j *boot.Job) error {
	h := j.Segment.Header
	if int(h.NPEs) != j.NPEs || int(h.First) != j.Host().First || int(h.Local) != j.Host().PEs {
		return fmt.Errorf("the host segment is that of another job (%s from %d on, of %d): start the program with pgasrun", plural.Count(h.Local, "PE"), h.First, h.NPEs)
	}
	if st := j.State(); !st.Process.CompareAndSwap(0, int64(os.Getpid())) {
		return fmt.Errorf("PE %d is taken by process %d already: %s", j.PE, st.Process.Load(), boot.StartedByPE)
	}
	return nil
}

func inheritSegment(fd int) (*boot.Segment, error) {
	f, err := inherit(fd, boot.EnvSegmentFD)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return boot.MapSegment(f)
}

// inherit returns the file of a descriptor that the launcher has left open for this process and no other.
func inherit(fd int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || !nameless(fd) {
		return nil, fmt.Errorf("%s=%d is not the file that pgasrun handed down: the program has called Init before, or %s", name, fd, boot.StartedByPE)
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name), nil
}

// nameless reports whether a descriptor is that of a memfd, as all files are that the launcher hands down. A process
// that a PE starts has another file under that number, or none.
func nameless(fd int) bool {
	target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return err != nil || strings.HasPrefix(target, "/memfd:")
}

// readSecret reads the job's secret. It reads by position, because the PEs of a host share one open file.
func readSecret(fd int) ([]byte, error) {
	f, err := inherit(fd, boot.EnvSecretFD)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	secret := make([]byte, boot.SecretBytes)
	if _, err := f.ReadAt(secret, 0); err != nil {
		return nil, fmt.Errorf("reading the secret of the job: %w", err)
	}
	return secret, nil
}

// inheritProfilePipe returns the pipe that the launcher has left open for this process.
func inheritProfilePipe(fd int) (*boot.ProfilePipe, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil, fmt.Errorf("%s=%d is not the pipe that pgasrun handed down: %s", boot.EnvProfileFD, fd, boot.StartedByPE)
	}
	unix.CloseOnExec(fd)
	return boot.NewProfilePipe(os.NewFile(uintptr(fd), boot.EnvProfileFD)), nil
}
