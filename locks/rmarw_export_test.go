package locks

// MaxTR is the greatest T_R.
const MaxTR = maxTR

// CounterFields are the fields of a counter's state.
func CounterFields(word int64) (readers, tickets int64, isWanted, isTaken bool) {
	return readersIn(word), ticketsOf(word), modeOf(word) == wanted, modeOf(word) == taken
}

// WithTickets is the state of an open counter with so many tickets.
func WithTickets(n int64) int64 { return n * oneTicket }
