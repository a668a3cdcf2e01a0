package agent

// What an agent does before its PEs run: check that they can run, make the segment, start them.

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/cuts/vault"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// The descriptors of a PE after its standard three. Where there is no secret, nothing has its descriptor.
const (
	segmentFD = 3
	secretFD  = 4
	profileFD = 5
	recordFD  = 6
	imagesFD  = 7
	termsFD   = 8

	noFile = ^uintptr(0)
)

// prepare checks what can be checked before any host starts.
func (a *Agent) prepare() (frame.Ready, error) {
	answer, err := a.machine.Check(a)
	if err != nil {
		return frame.Ready{}, err
	}
	a.room = answer.Room
	if a.cfg.Secret != nil {
		if a.exchange, err = listenForExchange(a.cfg, a.machine); err != nil {
			return frame.Ready{}, err
		}
		answer.Addrs = a.exchange.addrs
	}
	return answer, nil
}

func (thisMachine) Check(a *Agent) (frame.Ready, error) {
	c := &a.cfg
	if c.Staged != "" {
		if err := useStaged(c, a.logf); err != nil {
			return frame.Ready{}, err
		}
	}
	if err := checkFiles(c); err != nil {
		return frame.Ready{}, err
	}
	if err := CheckDir(c.Dir); err != nil {
		return frame.Ready{}, err
	}
	if err := os.Chdir(c.Dir); err != nil {
		return frame.Ready{}, fmt.Errorf("the working directory %s cannot be entered: %w", c.Dir, errors.Unwrap(err))
	}
	if err := spawn.CheckProgram(c.Program); err != nil {
		return frame.Ready{}, err
	}
	answer := frame.Ready{Memory: boot.HostMemory(), Room: boot.Room(), Clock: frame.ClockID(), Machine: frame.MachineID(), CPUs: boot.AllowedCPUs()}
	if answer.Hash = c.Staged; c.Hash && answer.Hash == "" {
		var err error
		if answer.Hash, err = spawn.HashFile(c.Program); err != nil {
			return frame.Ready{}, err
		}
	}
	return answer, nil
}

// checkFiles returns an error if the agent cannot have open what its PEs need: the pipes of their output and profiles,
// their connections to the exchange, and those of other hosts.
func checkFiles(c *frame.Config) error {
	const ownFiles = 12 // memory, listeners, and the pipes of a PE that is being started
	pes, each, others := c.Hosts[c.Host].PEs, 2, 0
	if c.Profiles || c.Term > 0 { // a job with terms has no profiles
		each++
	}
	if c.Secret != nil {
		each++
		others, _ = exchangePart(c.Hosts, c.Host, c.FanOut)
	}
	return boot.NeedFiles(fmt.Sprintf("the agent, for %s and %s,", plural.Count(pes, "PE"), plural.Count(others, "other host")), ownFiles+pes*each+others)
}

// CheckDir returns an error if PEs cannot start in dir.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("the working directory %s must exist on every host: %w: make it there, or give -wdir another one", dir, errors.Unwrap(err))
	case !info.IsDir():
		return fmt.Errorf("the working directory %s is no directory: give -wdir another one", dir)
	}
	return nil
}

// start makes the segment and starts every PE of this host.
func (a *Agent) start(st frame.Start) error {
	host, last := a.cfg.Hosts[a.cfg.Host], a.cfg.Hosts[len(a.cfg.Hosts)-1]
	if err := boot.CheckHeap(host.PEs, st.HeapMax, a.room); err != nil {
		return err
	}
	segment, err := boot.CreateSegment(last.First+last.PEs, host.First, host.PEs, st.Cores, st.HeapMax)
	if err != nil {
		return err
	}
	if a.heaps = segment; a.cfg.Term == 0 {
		defer segment.Close()
	}
	if a.segment, err = boot.MapControl(segment, host.PEs); err != nil {
		return err
	}
	a.segment.Header.StallAfter.Store(int64(a.cfg.Stall))
	var addrs []string
	if a.exchange != nil {
		addrs = a.exchange.serve(a.cfg, st.Parent, a.reportLostHost, a.logf)
	}
	a.pes, a.startedAt = make([]pe, host.PEs), boot.Clock()
	if a.cfg.Record {
		if err := a.createRecord(last.First+last.PEs, host); err != nil {
			return err
		}
		defer a.recordFile.Close()
	}
	return a.machine.StartPEs(a, segment, addrs)
}

// createRecord makes the memory for what the PEs of this host record of themselves.
func (a *Agent) createRecord(npes int, host boot.Host) (err error) {
	if a.recordFile, err = record.Create(npes, host.First, host.PEs, a.cfg.Events); err == nil {
		a.record, err = record.Map(a.recordFile)
	}
	return err
}

func (thisMachine) StartPEs(a *Agent, segment SegmentFile, addrs []string) error {
	files := []uintptr{0, 0, 0, segment.Fd(), noFile, noFile, noFile, noFile, noFile}
	if a.cfg.Secret != nil {
		secret, err := secretFile(boot.HandedDown(a.cfg.Secret, a.cfg.Hosts))
		if err != nil {
			return err
		}
		defer secret.Close()
		files[secretFD] = secret.Fd()
	}
	if a.recordFile != nil {
		files[recordFD] = a.recordFile.Fd()
	}
	if err := a.keepImages(); err != nil {
		return err
	}
	if a.images != nil {
		files[imagesFD] = a.images.Fd()
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	base := inherited(&a.cfg)
	a.memoryKills = boot.CountMemoryKills()
	if share := boot.GoMemoryShare(len(a.pes)); share > 0 {
		a.logf("control groups leave %s of memory: GOMEMLIMIT of a PE is %s unless set", boot.BytesText(boot.HostMemory()), boot.BytesText(uint64(share)))
	}
	cpus := Binding(len(a.pes), a.cfg.Unbound)
	for i := range a.pes {
		v := a.vars(i, addrs)
		if a.handOver(i, v, files) {
			continue
		}
		p := Process{Program: a.cfg.Program, Args: a.cfg.Args, Env: append(base[:len(base):len(base)], v.Environ()...), Files: files, CPUs: cpus[i]}
		if err := a.startPE(i, p, null.Fd()); err != nil {
			return err
		}
	}
	return nil
}

// vars returns the variables of PE i of this host.
func (a *Agent) vars(i int, addrs []string) boot.PEVars {
	v := boot.PEVars{
		ID: a.cfg.ID, PE: a.cfg.Hosts[a.cfg.Host].First + i, Hosts: a.cfg.Hosts, HostIndex: a.cfg.Host,
		SegmentFD: segmentFD, BootAddrs: addrs, SecretFD: secretFD, Mark: a.cfg.Mark,
	}
	if a.cfg.Profiles {
		v.ProfileFD = profileFD
	}
	if a.cfg.Record {
		v.RecordFD = recordFD
	}
	if a.images != nil {
		v.ImagesFD, v.ImagesTerm, v.Term, v.TermsFD = imagesFD, a.imagesTerm, a.cfg.Term, termsFD
	}
	return v
}

// HandOver makes the process that is at the gate for PE i of a's host the PE, and reports whether it was there.
func (a *Agent) HandOver(i int, addrs []string) bool { return a.handOver(i, a.vars(i, addrs), noFiles) }

// noFiles are the files of a process that inherits none.
var noFiles = []uintptr{noFile, noFile, noFile, noFile, noFile, noFile, noFile, noFile, noFile}

// handOver makes the process that is at the gate for PE i of this host the PE, and reports whether it was there. files
// is as in Process.
func (a *Agent) handOver(i int, v boot.PEVars, files []uintptr) bool {
	p := a.gate.take(i)
	if p == nil {
		return false
	}
	var fds []int
	for _, fd := range []*int{&v.SegmentFD, &v.SecretFD, &v.RecordFD, &v.ImagesFD} {
		if *fd != 0 && files[*fd] != noFile {
			fds = append(fds, int(files[*fd]))
			*fd = len(fds)
		}
	}
	v.TermsFD = 0 // it has the connection
	if err := p.begin(v, fds); err != nil {
		a.logf("process %d does not wait for its next term: %v", p.pid, err)
		a.machine.Signal(p.pid, unix.SIGKILL)
		p.end()
		return false
	}
	a.pes[i] = pe{pid: p.pid, process: p}
	return true
}

// startPE starts PE i of this host as p says. It overwrites in p.Files the standard input, and the descriptors of the
// profiles and the terms.
func (a *Agent) startPE(i int, p Process, null uintptr) (err error) {
	number, proc := a.cfg.Hosts[a.cfg.Host].First+i, new(process)
	p.Files[0] = null
	if number == 0 {
		peIn, in, err := outboundPipe()
		if err != nil {
			return err
		}
		defer unix.Close(peIn)
		go a.feed(in, a.input)
		p.Files[0] = uintptr(peIn)
	}
	if a.cfg.Profiles {
		profiles, peProfiles, err := inboundPipe()
		if err != nil {
			return err
		}
		defer unix.Close(peProfiles)
		p.Files[profileFD] = uintptr(peProfiles)
		proc.readers.Go(func() { a.relayProfiles(number, profiles) })
	}
	if a.images != nil {
		link, fd, err := join.NewTermLink()
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		p.Files[termsFD], proc.link = uintptr(fd), link
	}
	proc.number.Store(uint32(number))
	p.Stdout, p.Stderr = proc.relay(a.out, frame.FromStdout), proc.relay(a.out, frame.FromStderr)
	proc.pid, err = p.Start(&proc.readers)
	a.pes[i] = pe{pid: proc.pid, process: proc}
	if proc.link != nil && err == nil {
		go a.gate.follow(proc)
	}
	return err
}

// keepImages makes the memory in which the PEs of this term leave what those of the next one go on from.
func (a *Agent) keepImages() (err error) {
	if a.cfg.Term > 0 && a.images == nil {
		a.imagesTerm = a.cfg.Term
		if a.images, err = memoryFile("pgas-images"); err != nil {
			err = fmt.Errorf("memory for images: %w", err)
		}
	}
	return err
}

// keepJournals keeps, in the memory for images, what PEs of other hosts have put into the heaps of the PEs of this one,
// which have ended: their journals since a cut. The PEs of the next term may need them, and no heap outlives a term.
func (a *Agent) keepJournals() error {
	if a.images == nil {
		return nil
	}
	most := a.segment.Header.HeapMax
	for i, st := range a.segment.States {
		at, bytes, n := st.Journals.At.Load(), st.Journals.Bytes.Load(), st.Journals.Count.Load()
		if n > 2*(vault.Rows-1) || bytes > most || n*bytes > most || at > most-n*bytes {
			return fmt.Errorf("PE %d says that %d journals of %d bytes are at %d of its heap, which has %d", a.cfg.Hosts[a.cfg.Host].First+i, n, bytes, at, most)
		}
		if n == 0 {
			continue // a program without journals needs no vault
		}
		v, err := vault.Open(a.images, len(a.pes))
		if err != nil {
			return err
		}
		for k := range n {
			journal := io.NewSectionReader(a.heaps, int64(a.segment.HeapOffset(i)+at+k*bytes), int64(bytes))
			if err := v.KeepJournal(i, 1+int(k)/2, journal); err != nil {
				return err
			}
		}
	}
	return nil
}

// memoryFile returns a file in memory that has no name: only processes that inherit its descriptor can read it.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// secretFile returns a memoryFile with the given contents.
func secretFile(contents []byte) (*os.File, error) {
	f, err := memoryFile("pgas-secret")
	if err != nil {
		return nil, fmt.Errorf("handing down the secret: %w", err)
	}
	if _, err := f.WriteAt(contents, 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("handing down the secret: %w", err)
	}
	return f, nil
}
