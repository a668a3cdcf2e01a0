package join

import (
	"cmp"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// What the ways to a job share.

// Environment holds the variables of a process by their names.
type Environment map[string]string

// NewEnvironment returns the variables in environ, which is as os.Environ returns it.
func NewEnvironment(environ []string) Environment {
	env := Environment{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	return env
}

// shown returns those of the named variables that are set, with their values: "A=1 B=2".
func (e Environment) shown(names ...string) string {
	var set []string
	for _, name := range names {
		if e[name] != "" {
			set = append(set, name+"="+e[name])
		}
	}
	return strings.Join(set, " ")
}

// bootTimeout returns how long the processes of a job wait for each other.
func bootTimeout(set boot.Settings) time.Duration {
	return cmp.Or(set.BootTimeout, boot.DefaultBootTimeout)
}

// PMIxClient is this process as a client of a PMIx server. Package pmix has one.
type PMIxClient interface {
	// Place returns the rank of this process, the number of processes, and the name of this host.
	Place() (rank, size int, host string)
	// Share returns the text of rank 0 on every process. It is collective. It returns the server's error.
	Share(text string) (string, error)
	// Close takes leave of the server.
	Close()
}
