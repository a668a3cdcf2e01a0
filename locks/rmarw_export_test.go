package locks

// MaxTR is the greatest T_R.
const MaxTR = maxTR

// CounterFields returns the fields of a counter's state.
func CounterFields(word int64) (readers, tickets int64, isWanted, isTaken bool) {
	return readersIn(word), ticketsOf(word), modeOf(word) == wanted, modeOf(word) == taken
}

// WithTickets returns the state of an open counter with n tickets.
func WithTickets(n int64) int64 { return n * oneTicket }
