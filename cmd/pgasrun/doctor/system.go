package doctor

// What a check may ask of the host. Tests make a System of files of their own and of functions that answer as they
// like.

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/version"
)

// System is a host, as far as the checks see it.
type System struct {
	Root     string                            // the root of its file system, with /proc, /sys and /dev
	Environ  []string                          // each variable as NAME=value
	LookPath func(name string) (string, error) // where a command is
	// Limit returns a limit of this process, unix.RLIM_INFINITY without one.
	Limit func(resource int) (uint64, error)
	// Space returns the bytes of a file system.
	Space func(path string) (total, free uint64, err error)
	Pager func() error // whether userfaultfd can serve coherent memory
	CPUs  func() []int // the CPUs that this process may run on, nil if unknown
	// ClockState returns whether the host's clock is synchronized, and its largest error.
	ClockState func() (synchronized bool, maxErrUs int64, err error)
	Interfaces func() ([]Interface, error)
	Memory     uint64 // bytes that processes may use, as PEs count it
	Gopgas     string // version of gopgas in this program
	Go         string // version of Go that it was built with
}

// Interface is a network interface.
type Interface struct {
	Name     string
	Loopback bool
	MTU      int
	Addrs    []string
}

// Here returns this host.
func Here() *System {
	return &System{
		Root: "/", Environ: os.Environ(), LookPath: exec.LookPath, Limit: limit, Space: space, Pager: pager,
		CPUs: boot.AllowedCPUs, ClockState: clockState, Interfaces: interfaces,
		Memory: boot.HostMemory(), Gopgas: version.Current(), Go: runtime.Version(),
	}
}

func limit(resource int) (uint64, error) {
	var l unix.Rlimit
	err := unix.Getrlimit(resource, &l)
	return l.Cur, err
}

func space(path string) (total, free uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	return s.Blocks * uint64(s.Bsize), s.Bavail * uint64(s.Bsize), nil
}

// clockState asks the kernel whether something (NTP, PTP) keeps its clock.
func clockState() (bool, int64, error) {
	var t unix.Timex
	_, err := unix.Adjtimex(&t)
	return t.Status&unix.STA_UNSYNC == 0, int64(t.Maxerror), err
}

// interfaces lists the interfaces that are up and have an address.
func interfaces() ([]Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var up []Interface
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil || len(addrs) == 0 || i.Flags&net.FlagUp == 0 {
			continue
		}
		x := Interface{Name: i.Name, Loopback: i.Flags&net.FlagLoopback != 0, MTU: i.MTU}
		for _, a := range addrs {
			x.Addrs = append(x.Addrs, a.String())
		}
		up = append(up, x)
	}
	return up, nil
}

// read returns the text of a file without the space around it, or "" if it cannot be read.
func (s *System) read(name string) string {
	b, err := os.ReadFile(filepath.Join(s.Root, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number reads a file that holds one number.
func (s *System) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(s.read(name), 10, 64)
	return n, err == nil
}

// list returns the names of the entries of a directory, in order. A directory that is not there has none.
func (s *System) list(dir string) []string {
	entries, err := os.ReadDir(filepath.Join(s.Root, dir))
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func (s *System) exists(name string) bool {
	_, err := os.Stat(filepath.Join(s.Root, name))
	return !errors.Is(err, fs.ErrNotExist)
}

// chosen returns which of the words of a setting the kernel has chosen: b of "a [b] c".
func chosen(setting string) string {
	_, rest, _ := strings.Cut(setting, "[")
	word, _, _ := strings.Cut(rest, "]")
	return word
}

// env returns the value of a variable.
func (s *System) env(name string) string {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(s.Environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// command returns the path of a command, or "".
func (s *System) command(name string) string {
	path, err := s.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
