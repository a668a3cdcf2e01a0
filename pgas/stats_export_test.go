package pgas

import "github.com/gopgas/gopgas/pgas/internal/node"

// FastPath returns what accesses on c find on their fast path: how many heaps and how many tables of words, and whether
// something that counts is in the way of the others.
func FastPath(c *Context) (heaps, words int, counts bool) {
	_, counts = c.local.Channel.(*node.Recorded)
	return len(c.bases), len(c.words), counts
}
