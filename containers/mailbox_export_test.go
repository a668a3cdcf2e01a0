package containers

// LoseItem does to the counts what two goroutines do that send at the same time: one item fewer is there than was sent.
func (b *Mailbox[T]) LoseItem() { b.counted.Sent++ }

// LoseNumber does what two goroutines do that count at the same time.
func (b *Mailbox[T]) LoseNumber() { b.counted.Sent-- }
