package carriage

import "github.com/gopgas/gopgas/pgas/transport"

// Forget gives back the rings of a channel, which has been quieted and carries no more operations.
func (c *Carriage) Forget(via transport.Channel) {
	c.slotMu.Lock()
	defer c.slotMu.Unlock()
	if slot, ok := c.slots[via]; ok {
		delete(c.slots, via)
		c.free = append(c.free, slot)
	}
}
