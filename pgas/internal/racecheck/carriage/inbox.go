package carriage

// The ring of a stream, as its target reads it. What it reads may be anything: another process has written it.

import (
	"encoding/binary"
	"hash/crc32"
	"sync/atomic"
)

// A frame begins with its length and a sum of its bytes, of 4 bytes each. It has the size of its bytes and these 8,
// rounded up.
const frameHead = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf returns the sum of a frame's bytes, and of its position: old bytes of the ring are no frame.
func sumOf(at uint64, body []byte) uint32 { return crc32.Update(uint32(at>>3)|1, castagnoli, body) }

// frameSize returns the size of a frame of n bytes.
func frameSize(n uint64) uint64 { return (frameHead + n + 7) &^ 7 }

type inbox struct {
	decoder
	ring     []byte
	tail     *atomic.Uint64
	head     *atomic.Uint64
	at       uint64 // position of the next frame
	max      uint64 // bytes of the largest frame
	messages []byte // bytes of frames that were read, and not the messages in them
	torn     bool   // nothing is read any more
}

// read reads all frames that have arrived, and none that arrives meanwhile: a fast sender would keep the reader from
// other rings and from the program. It calls each with every message in them, and reports whether there were any. It
// returns an error if the bytes make no sense, or that of each.
func (in *inbox) read(each func(in *inbox, message []byte) error) (any bool, err error) {
	for tail := in.tail.Load(); in.at != tail && !in.torn; {
		any = true
		if err := in.readFrame(tail - in.at); err != nil {
			return any, err
		}
		if err := in.split(each); err != nil {
			return any, err
		}
	}
	return any, nil
}

// readFrame adds the bytes of the next frame to in.messages, and lets the sender use its room again. have is the number
// of bytes up to the tail.
func (in *inbox) readFrame(have uint64) error {
	size := uint64(len(in.ring))
	from := in.at & (size - 1)
	if have > size || have%8 != 0 || have < frameHead {
		return errTorn
	}
	n := uint64(binary.LittleEndian.Uint32(in.ring[from:]))
	if total := frameSize(n); n > in.max || total > have || total > size-from {
		return errTorn
	}
	body := in.ring[from+frameHead:][:n]
	in.messages = append(in.messages, body...)
	if body = in.messages[uint64(len(in.messages))-n:]; sumOf(in.at, body) != binary.LittleEndian.Uint32(in.ring[from+4:]) {
		return errTorn
	}
	in.at += frameSize(n)
	in.head.Store(in.at)
	return nil
}

// split calls each with every whole message, and drops those.
func (in *inbox) split(each func(in *inbox, message []byte) error) error {
	rest := in.messages
	for {
		n, used := binary.Uvarint(rest)
		if used < 0 || used > 0 && (n == 0 || n > maxMessage) {
			return errTorn
		}
		if used == 0 || n > uint64(len(rest)-used) {
			in.messages = append(in.messages[:0], rest...)
			return nil
		}
		if err := each(in, rest[used:][:n]); err != nil {
			return err
		}
		rest = rest[used+int(n):]
	}
}
