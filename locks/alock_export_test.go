package locks

// Contends reports whether l's PE is the head of its cohort and has let the other one go first. home is the
// handle of the home's PE. It looks at the simulator's memory.
func Contends(l, home *ALock) bool {
	return l.state.Ref().Local().Status == contend && home.state.Ref().Local().Victim == l.cohort
}

// Holds reports whether l's PE has the lock. It reads the simulator's memory, as Waits does.
func Holds(l *ALock) bool { return l.gate.held }

// Waits reports whether l's PE waits in the queue of its cohort.
func Waits(l *ALock) bool { return l.state.Ref().Local().Status == waiting }
