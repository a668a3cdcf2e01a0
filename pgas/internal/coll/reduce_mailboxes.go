package coll

// How many mailboxes and staging areas reductions between hosts take, and what fits them.

import "math/bits"

// doublingMailboxes is how many mailboxes doubling takes: a message in each round, and one to and from those
// hosts that are beyond the last power of two.
func doublingMailboxes(hosts, bytes int) int {
	if hosts == 1 {
		return 0
	}
	messages := bits.Len(uint(hosts)) - 1
	if hosts&(hosts-1) != 0 {
		messages += 2
	}
	return mailboxesFor(bytes) * messages
}

// reductionMailboxes is how many mailboxes a reduction takes between hosts.
func reductionMailboxes(way Algorithm, hosts, bytes int) int {
	switch way {
	case RecursiveDoubling:
		if mailboxesFit(hosts, bytes) {
			return doublingMailboxes(hosts, bytes)
		}
		return stagingMailboxes(hosts, bytes)
	case Ring:
		return 2*hosts - 1
	}
	need := linearMailboxes(hosts)
	if linearPartsFit(hosts, bytes/hosts) {
		need = hosts + max(2*hosts, need) // the first to find out about places
	}
	return need
}

// linearMailboxes is how many mailboxes Linear takes without places.
func linearMailboxes(hosts int) int { return bits.Len(uint(hosts-1)) + hosts }

// linearPartsFit reports whether a half of a place holds the parts of that many bytes which the other leaders put
// there.
func linearPartsFit(hosts, bytes int) bool {
	return hosts <= stagingHosts && (hosts-1)*bytes <= stagingBytes/2
}

// mostHosts is how many hosts Linear and Ring can do with the mailboxes of a call.
const mostHosts = (maxMailboxes - 8) / 2

// mailboxesFit reports whether doubling goes through mailboxes.
func mailboxesFit(hosts, bytes int) bool {
	return bytes <= doublingMax && doublingMailboxes(hosts, bytes) <= maxMailboxes
}

// stagingParts is into how many parts of equal size a half of a place is divided: one for each message that
// a leader gets in a call, but for the result, which goes where it belongs.
func stagingParts(hosts int) int {
	parts := bits.Len(uint(hosts)) - 1
	if hosts&(hosts-1) != 0 {
		parts++
	}
	return parts
}

// stagingFits reports whether leaders can exchange that many bytes through their places.
func stagingFits(hosts, bytes int) bool {
	return hosts > 1 && hosts <= stagingHosts && bytes <= stagingBytes/2/stagingParts(hosts)&^63 &&
		stagingMailboxes(hosts, bytes) <= maxMailboxes
}

func pieces(bytes int) int { return (bytes + stagingPiece - 1) / stagingPiece }

// stagingMailboxes is how many mailboxes that takes, with those to find out about places, and with those of Linear,
// which is for when there are none.
func stagingMailboxes(hosts, bytes int) int {
	return hosts + max((stagingParts(hosts)+1)*pieces(bytes), linearMailboxes(hosts))
}

const (
	// doublingMax is up to how many bytes doubling goes through mailboxes. Beyond it goes through staging areas;
	// with more than two hosts it moves more bytes then than Linear, whose two more trips pay off.
	doublingMax = 8 << 10
	// pairMax is the same for two hosts, where doubling moves no more bytes than Linear but both ways at once.
	pairMax = 128 << 10
	// ringFrom is from how many hosts on Linear's messages all at once hinder each other.
	ringFrom = 16
)
