package dsm

// Mode Paged is not there yet.

import (
	"errors"
	"fmt"
	"os"
)

func (r *Region) pageable() error { return errors.New("not built in") }

func (r *Region) openPaged() error { return r.pageable() }

// whySoft returns why page faults cannot be used.
func (r *Region) whySoft() string {
	if r.simulated() {
		return "not in the simulator"
	}
	if err := r.pageable(); err != nil {
		return err.Error()
	}
	return "Options.Mode or " + EnvMode + " asks for Soft"
}

// warn says once why accesses are checked by software.
func (r *Region) warn(why error) {
	fmt.Fprintf(os.Stderr, "pgas: coherent memory is checked by software: %v (or use only View, Update, At and Set, and set %s=soft)\n", why, EnvMode)
}
