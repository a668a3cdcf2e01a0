package transport

import "fmt"

// PeerError reports that a PE of the job has died or cannot be reached. Err says what happened to it.
type PeerError struct {
	PE   int
	Host string
	Err  error // what happened to the PE
}

func (e *PeerError) Error() string {
	return fmt.Sprintf("PE %d on host %s: %v", e.PE, e.Host, e.Err)
}

func (e *PeerError) Unwrap() error { return e.Err }
