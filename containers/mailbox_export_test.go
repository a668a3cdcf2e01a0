package containers

// LoseItem does to the batch for a member what two goroutines do that send at the same time: an item is lost.
func (b *Mailbox[T]) LoseItem(pe int) {
	out := &b.rings.out[pe]
	out.staged = out.staged[:len(out.staged)-1]
}

// LoseNumber does what two goroutines do that count at the same time.
func (b *Mailbox[T]) LoseNumber() { b.counted.sent-- }
