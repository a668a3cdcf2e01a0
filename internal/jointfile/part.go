package jointfile

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// A client of NFS may send the whole page that a program has written a part of, as far as the file is long. So two
// clients that write to one page can undo each other's bytes. It sends what was written and no more if the file was
// opened with O_DSYNC. A part therefore goes to the file by two descriptors: whole blocks by one of the usual kind, and
// what lies in a block that has bytes of another part by one with O_DSYNC.

// dataSync has each write return when its bytes are on the disk.
const dataSync = syscall.O_DSYNC

const (
	block = 64 << 10 // as long as a page of any machine, or a multiple
	piece = 8 << 20  // what is written in one go, between two looks at the context
)

// part writes bytes start to end of a file, end excluded, in their order.
type part struct {
	ctx           context.Context
	file, careful *os.File // careful is for blocks that have bytes of other parts
	start, end    int64
	total         int64 // the bytes of all parts
	at            int64 // what comes next
}

func (p *part) Write(b []byte) (n int, err error) {
	if int64(len(b)) > p.end-p.at {
		return 0, errors.New("a part has more bytes than were announced")
	}
	for n < len(b) && err == nil {
		if err = context.Cause(p.ctx); err != nil {
			break
		}
		file, end := p.next()
		k := int(min(int64(len(b)-n), end-p.at))
		k, err = file.WriteAt(b[n:n+k], p.at)
		n += k
		p.at += int64(k)
	}
	return n, err
}

// next returns what the next bytes are written by, and where the next piece ends.
func (p *part) next() (file *os.File, end int64) {
	low := p.at &^ (block - 1)
	if low < p.start || low+block > p.end && p.end < p.total {
		return p.careful, min(low+block, p.end)
	}
	end = p.end
	if p.end < p.total {
		end = p.end &^ (block - 1)
	}
	return p.file, min(end, p.at+piece)
}
