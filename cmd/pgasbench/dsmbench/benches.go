package dsmbench

// The table of what is measured on a job. A bench is a body that every PE runs. PE 0 measures; the last PE has written
// what PE 0 reads.

import "slices"

var benches = []bench{
	{"read-fault", "the first read of a block that the last PE has written, of which a notice has told; a Get of as many bytes", bySize(readFault)},
	{"slow-read", "the same without a notice: a lease first", bySize(slowRead)},
	{"write-fault", "the first write to a block that PE 0 does not have; a Get of as many bytes", bySize(writeFault)},
	{"upgrade", "the first write to a block that PE 0 has read; a Get of as many bytes", bySize(upgrade)},
	{"view", "View of 16 MiB that the last PE has written; one Get of 16 MiB", bySize(view)},
	{"release-run", "a release, for each of 64 blocks in a row that PE 0 wrote last; a copy of a block", bySize(releaseRun)},
	{"release-spread", "the same, every second block", bySize(releaseSpread)},
	{"release-moved", "a release of 1, 8, 64 blocks that move to PE 0; three atomics that fetch and a Get of as many bytes", bySize(releaseMoved)},
	{"barrier", "Region.Barrier with nothing written; World.Barrier", barrier},
	{"at-soft", "At of an element that PE 0 has, in mode Soft; a load", atSoft},
	{"slice-paged", "a read of Slice that PE 0 has, in mode Paged; a load", slicePaged},
	{"merge", "figure 1: 1, 10, 50, 100 % of a block changed: get and merge; packed diff to its home; a put of each run", bySize(mergeAtWriter)},
}

// bySize runs body for each size of blocks.
func bySize(body func(m *meter, block int) error) func(m *meter) error {
	return func(m *meter) error {
		for _, block := range slices.Sorted(slices.Values(m.blocks)) {
			if err := body(m, block); err != nil {
				return err
			}
		}
		return nil
	}
}
