package carriage

// The clocks of words, where a PE that acquires one from afar reads it without the help of its PE. Each PE has a row
// for each other PE in each of some buckets of words, itself included: all that this PE has released into words of the
// bucket. The releaser writes the row as it does a record: before the operation, with a fence. So there is one writer,
// and a reader joins the rows of a bucket. Words that share a bucket share a clock, so that a race may be missed.
//
// Most words that a PE releases into are its own, and no other PE ever acquires them. So the row of a PE's own words
// says at first that the PE must be asked. A question has the PE write the row, and keep it up for some more releases.

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/transport"
)

const (
	// A row begins with its version, its length and a sum of both and its bytes.
	rowHead = 16
	// mustAsk is the length of a row that says that its PE must be asked: its clock has no room, or was not written.
	mustAsk = 1<<32 - 1
	// noClock is the length of a row whose writer has lost records.
	noClock = 1<<32 - 2
)

// mostRows is how many rows of other PEs are kept as they were read. They are read again if there are more.
const mostRows = 1 << 14

// keptUp is for how many releases a PE keeps up a row of its own words after a question.
const keptUp = 1 << 10

func bucketOf(word uint64) int { return int(word>>3) & (buckets - 1) }

// rows is what a PE keeps of the rows that it writes and reads.
type rows struct {
	mu      sync.Mutex
	written []*racecheck.Released // by target and bucket
	own     [buckets]ownRow
	version uint64
	scratch []byte

	readMu sync.Mutex
	read   map[rowKey]readRow
	bytes  []byte
}

// ownRow says what the row of a PE's own words holds.
type ownRow struct {
	left int  // for how many releases more the row is kept up
	asks bool // the row says that the PE must be asked
}

// rowKey names a row of this PE, if it writes it, or else of another PE: by its bucket and by the PE that has the other
// part.
type rowKey struct{ to, bucket, writer int }

// readRow is a row as it was read last.
type readRow struct {
	version uint64
	clock   *racecheck.Clock
}

// writeRow writes the row of a word before a release into it by an operation of o. Of two PEs neither reads what it has
// written itself, or what it can ask its own detector.
func (c *Carriage) writeRow(via transport.Channel, to int, r *racecheck.Record) {
	if c.NPEs == 2 && to != c.PE {
		return
	}
	bucket := bucketOf(r.Off)
	c.rows.mu.Lock()
	defer c.rows.mu.Unlock()
	if c.lost.Load() {
		c.putRow(via, to, bucket, c.rows.head(), noClock)
		return
	}
	row := c.rows.of(to*buckets + bucket)
	if !row.Add(r) {
		return
	}
	if to == c.PE {
		own := &c.rows.own[bucket]
		if own.left == 0 {
			if !own.asks {
				own.asks = true
				c.putRow(via, to, bucket, c.rows.head(), mustAsk)
			}
			return
		}
		own.left--
	}
	c.putReleased(via, to, bucket, row)
}

// keepUp writes the row of one of this PE's own words, of which another PE has asked, and has it kept up.
func (c *Carriage) keepUp(word uint64) {
	bucket := bucketOf(word)
	c.rows.mu.Lock()
	defer c.rows.mu.Unlock()
	if own := &c.rows.own[bucket]; own.asks && !c.lost.Load() {
		*own = ownRow{left: keptUp}
		c.putReleased(c.Near, c.PE, bucket, c.rows.of(c.PE*buckets+bucket))
	}
}

// head returns room for the head of a row. The caller has locked r.mu.
func (r *rows) head() []byte { return append(r.scratch[:0], make([]byte, rowHead)...) }

// putReleased writes what this PE has released into the words of a bucket. The caller has locked c.rows.mu.
func (c *Carriage) putReleased(via transport.Channel, to, bucket int, row *racecheck.Released) {
	b := row.Append(c.rows.head())
	if len(b) > rowBytes {
		c.putRow(via, to, bucket, b[:rowHead], mustAsk)
		return
	}
	c.putRow(via, to, bucket, b, uint32(len(b)-rowHead))
}

// putRow writes a row, which has n as its length. The caller has locked c.rows.mu.
func (c *Carriage) putRow(via transport.Channel, to, bucket int, b []byte, n uint32) {
	c.rows.version++
	binary.LittleEndian.PutUint64(b, c.rows.version)
	binary.LittleEndian.PutUint32(b[8:], n)
	binary.LittleEndian.PutUint32(b[12:], sumOfRow(b))
	via.Put(to, c.Base+c.row(bucket, c.PE), b)
	c.rows.scratch = b
}

// of returns what this PE has released into the words of a bucket. The caller has locked r.mu.
func (r *rows) of(i int) *racecheck.Released {
	if r.written[i] == nil {
		r.written[i] = new(racecheck.Released)
	}
	return r.written[i]
}

func sumOfRow(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[rowHead:])
}

// readRows returns the clock of a word of another PE. asked says that the PE must be asked instead.
func (c *Carriage) readRows(ctx context.Context, to int, word uint64, known *racecheck.Clock) (clock *racecheck.Clock, asked bool, err error) {
	via := c.Far
	if c.IsNear(to) {
		via = c.Near
	}
	c.rows.readMu.Lock()
	defer c.rows.readMu.Unlock()
	if c.rows.read == nil {
		c.rows.read, c.rows.bytes = map[rowKey]readRow{}, make([]byte, c.NPEs*rowBytes)
	}
	bucket := bucketOf(word)
	for w := c.begin(); ; {
		if err := via.Get(ctx, to, c.rows.bytes, c.Base+c.row(bucket, 0)); err != nil {
			return nil, false, err
		}
		clock, asked, whole := c.joinRows(to, bucket, known)
		if whole || c.lost.Load() {
			return clock, asked, nil
		}
		if !c.pause(ctx, &w, to) {
			return nil, false, ctx.Err()
		}
	}
}

// joinRows joins the rows of a bucket, which were read. It reports false if one of them is being written.
func (c *Carriage) joinRows(to, bucket int, known *racecheck.Clock) (clock *racecheck.Clock, asked, whole bool) {
	for pe := range c.NPEs {
		b := c.rows.bytes[pe*rowBytes:][:rowBytes]
		version, n := binary.LittleEndian.Uint64(b), uint64(binary.LittleEndian.Uint32(b[8:]))
		if version == 0 || pe == c.PE {
			continue
		}
		k := rowKey{to, bucket, pe}
		before := c.rows.read[k]
		if before.version == version {
			clock = clock.Join(before.clock)
			continue
		}
		b = b[:min(rowHead+n, rowBytes)]
		if n == mustAsk || n == noClock {
			b = b[:rowHead]
		}
		if sumOfRow(b) != binary.LittleEndian.Uint32(b[12:]) {
			return nil, false, false
		}
		switch n {
		case mustAsk:
			asked = true
		case noClock:
			c.giveUp()
		default:
			row, err := racecheck.ParseReleased(b[rowHead:], c.NPEs, known)
			if err != nil {
				c.Lose(fmt.Sprintf("a clock of PE %d cannot be read: %v", pe, errTorn))
				return nil, false, true
			}
			if len(c.rows.read) >= mostRows {
				clear(c.rows.read)
			}
			c.rows.read[k] = readRow{version, row}
			clock = clock.Join(row)
		}
	}
	return clock, asked, true
}
