package transport

// CPUChanneler is implemented by transports on which the CPU or the NIC can execute an atomic.
type CPUChanneler interface {
	// CPUChannel opens a channel as Channel does. The CPU executes its atomics, on words of PEs of the same
	// host only.
	CPUChannel(private bool) (Channel, error)
}
