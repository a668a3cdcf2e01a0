package node

// How messages call a word of the heap.

import "fmt"

// WordName returns what messages call the word at offset off: its name, if it has one, and its offset.
func (n *Node) WordName(off uint64) string { return n.PlaceName("the word", off) }

// NameOf returns the name of the word at offset off, or "" if it has none.
func (n *Node) NameOf(off uint64) string { return n.Names.at(off) }

// PlaceName returns what messages call the thing (what) at offset off.
func (n *Node) PlaceName(what string, off uint64) string {
	if name := n.Names.at(off); name != "" {
		return fmt.Sprintf("%s (offset %#x)", name, off)
	}
	return fmt.Sprintf("%s at offset %#x", what, off)
}
