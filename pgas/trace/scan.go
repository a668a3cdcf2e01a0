package trace

// Scanning the events of a file. Package encoding/json takes microseconds for an event, and a trace has millions. So
// the text of each event is cut out, and what looks as Write has written it is read here. Everything else goes to
// encoding/json.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
)

// valueReader reads JSON values that follow each other.
type valueReader struct {
	in    *bufio.Reader
	value []byte
}

// token returns the next byte that is no white space.
func (v *valueReader) token() (byte, error) {
	for {
		b, err := v.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b, nil
		}
	}
}

// object returns the text of the object whose first byte has been read. It is valid until the next call.
func (v *valueReader) object() ([]byte, error) {
	v.value = append(v.value[:0], '{')
	at, depth, quoted := 1, 1, false
	for {
		part, err := v.in.ReadSlice('}')
		v.value = append(v.value, part...)
		for ; at < len(v.value); at++ {
			switch c := v.value[at]; {
			case quoted && c == '\\':
				at++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{':
				depth++
			case c == '}':
				depth--
			}
		}
		if depth == 0 {
			return v.value, nil
		}
		if err != nil && err != bufio.ErrBufferFull {
			return nil, io.ErrUnexpectedEOF
		}
	}
}

// members goes through the members of an object.
type members struct {
	rest       []byte
	key, value []byte // the key and value of a string without its quotes
	odd        bool   // the object has something that Write does not write
}

// next goes to the next member. It reports false behind the last, and where odd is set.
func (m *members) next() bool {
	if m.odd {
		return false
	}
	if len(m.rest) < 4 || m.rest[0] != '{' && m.rest[0] != ',' || m.rest[1] != '"' {
		m.odd = string(m.rest) != "}"
		return false
	}
	end := bytes.IndexByte(m.rest[2:], '"') + 2
	if end < 2 || end+2 >= len(m.rest) || m.rest[end+1] != ':' {
		m.odd = true
		return false
	}
	m.key, m.rest = m.rest[2:end], m.rest[end+2:]
	switch m.rest[0] {
	case '"':
		end = bytes.IndexByte(m.rest[1:], '"') + 1
		if end < 1 {
			m.odd = true
			return false
		}
		m.value, m.rest = m.rest[1:end], m.rest[end+1:]
	case '{':
		end = bytes.IndexByte(m.rest, '}') + 1
		m.value, m.rest = m.rest[:end], m.rest[end:]
	default:
		if end = bytes.IndexAny(m.rest, ",}"); end < 1 {
			m.odd = true
			return false
		}
		m.value, m.rest = m.rest[:end], m.rest[end:]
	}
	m.odd = bytes.IndexByte(m.value, '\\') >= 0
	return !m.odd
}

func (m *members) number() int {
	n, err := strconv.Atoi(string(m.value))
	m.odd = m.odd || err != nil
	return n
}

func (m *members) unsigned() uint64 {
	n, err := strconv.ParseUint(string(m.value), 10, 64)
	m.odd = m.odd || err != nil
	return n
}

// texts has each text of a trace once.
type texts map[string]string

func (t texts) of(b []byte) string {
	s, ok := t[string(b)]
	if !ok {
		s = string(b)
		t[s] = s
	}
	return s
}

// scan reads an event as Write writes it, and reports whether text is one.
func (t texts) scan(text []byte, e *fileEvent) bool {
	m := members{rest: text}
	for m.next() {
		switch string(m.key) {
		case "ph":
			e.Ph = t.of(m.value)
		case "tid":
			e.Tid = m.number()
		case "ts":
			e.Ts = json.Number(m.value)
		case "id":
			e.ID = m.number()
		case "name":
			e.Name = t.of(m.value)
		case "args":
			m.odd = !t.scanArgs(m.value, e)
		case "pid", "dur", "cat", "bp":
		default:
			return false
		}
	}
	return !m.odd
}

// scanArgs is scan for what the event is about.
func (t texts) scanArgs(text []byte, e *fileEvent) bool {
	m, a := members{rest: text}, &e.Args
	for m.next() {
		switch string(m.key) {
		case "kind":
			a.Kind = m.number()
		case "what":
			a.What = t.of(m.value)
		case "ns":
			a.Ns = int64(m.number())
		case "PE":
			pe := m.number()
			a.PE = &pe
		case "seq":
			a.Seq = m.unsigned()
		case "value":
			a.Value = m.unsigned()
		case "word":
			a.Word = t.of(m.value)
		case "line":
			a.Line = t.of(m.value)
		case "total":
			a.Total = m.unsigned()
		case "from":
			a.From = m.number()
		case "to":
			a.To = m.number()
		case "open":
			a.Open, m.odd = true, string(m.value) != "true"
		default:
			return false
		}
	}
	return !m.odd
}
