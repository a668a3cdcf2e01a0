package transport

// Describer is implemented by channels that can say how they reach a PE.
type Describer interface {
	// Connection returns what the network's library prints about the connection to pe, which it makes if there is none,
	// and whether the network itself carries out gets and large puts on it. Before an operation to pe is complete, the
	// text may be about the setup of the connection. It is empty if pe is lost.
	Connection(pe int) (text string, native bool)
}
