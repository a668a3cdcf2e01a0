package containers

// The head of a file of NumPy: six bytes of magic, two of the version of the format, the length of the text, and the
// text of a Python dictionary, in which the keys are these three:
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 3), }
//
// The elements follow. numpy.lib.format describes versions 1, 2 and 3. They differ in the length, of two bytes or of
// four, and in the names of fields.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

const (
	npyMagic     = "\x93NUMPY"
	npyMostText  = 1 << 16 // bytes of text; NumPy itself reads 10,000
	npyMostDims  = 64      // NumPy has arrays of at most as many
	npyAlignment = 64      // of the first element
	npyGrowth    = 21      // digits that the first dimension may have without moving the elements
)

// npyHead describes the elements of a file.
type npyHead struct {
	dtype   string // "<f8"
	fortran bool   // the first index is the fastest
	shape   []int
}

func (h *npyHead) String() string {
	return fmt.Sprintf("shape %s and dtype %s", npyTuple(h.shape), h.dtype)
}

// npyTuple writes a tuple as Python does.
func npyTuple(shape []int) string {
	var b strings.Builder
	for i, n := range shape {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d,", n)
	}
	if len(shape) == 1 {
		return "(" + b.String() + ")"
	}
	return "(" + strings.TrimSuffix(b.String(), ",") + ")"
}

// npyDtypes are the dtypes of the kinds of elements.
var npyDtypes = map[reflect.Kind]string{
	reflect.Bool: "|b1",
	reflect.Int8: "|i1", reflect.Int16: "<i2", reflect.Int32: "<i4", reflect.Int64: "<i8", reflect.Int: "<i8",
	reflect.Uint8: "|u1", reflect.Uint16: "<u2", reflect.Uint32: "<u4", reflect.Uint64: "<u8", reflect.Uint: "<u8",
	reflect.Float32: "<f4", reflect.Float64: "<f8", reflect.Complex64: "<c8", reflect.Complex128: "<c16",
}

// npyHeadOf returns the head of n elements of type t. ok is false if NumPy has no such elements.
func npyHeadOf(t reflect.Type, n int) (h npyHead, ok bool) {
	h.shape = []int{n}
	for ; t.Kind() == reflect.Array; t = t.Elem() {
		h.shape = append(h.shape, t.Len())
	}
	h.dtype, ok = npyDtypes[t.Kind()]
	return h, ok && len(h.shape) <= npyMostDims
}

// encode returns the head as NumPy writes it, which is in version 1.
func (h *npyHead) encode() []byte {
	order := "False"
	if h.fortran {
		order = "True"
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", h.dtype, order, npyTuple(h.shape))
	if len(h.shape) > 0 {
		text += strings.Repeat(" ", npyGrowth-len(strconv.Itoa(h.shape[0])))
	}
	const before = len(npyMagic) + 4
	text += strings.Repeat(" ", npyAlignment-(before+len(text)+1)%npyAlignment) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte(npyMagic+"\x01\x00"), uint16(len(text)))
	return append(b, text...)
}

// readNPYHead reads the head of a file, and returns how many bytes it has. It takes no more memory than a head may
// have.
func readNPYHead(r io.Reader) (h npyHead, bytes int64, err error) {
	start := make([]byte, len(npyMagic)+4, len(npyMagic)+6)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:len(npyMagic)]) != npyMagic {
		return h, 0, errors.New("no file of NumPy: it does not begin as numpy.save begins one")
	}
	long := uint32(binary.LittleEndian.Uint16(start[8:]))
	switch version := start[len(npyMagic)]; version {
	case 1:
	case 2, 3:
		start = start[:cap(start)]
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return h, 0, errors.New("a file of NumPy that ends within its head")
		}
		long = binary.LittleEndian.Uint32(start[8:])
	default:
		return h, 0, fmt.Errorf("a file of NumPy in version %d of the format: versions 1, 2 and 3 can be read", version)
	}
	if long > npyMostText {
		return h, 0, fmt.Errorf("a damaged file of NumPy: its head has %d bytes, and %d is the most", long, npyMostText)
	}
	text := make([]byte, long)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, 0, errors.New("a file of NumPy that ends within its head")
	}
	err = h.decode(string(text))
	return h, int64(len(start)) + int64(long), err
}

// decode reads the text of a head.
func (h *npyHead) decode(text string) error {
	p := npyText{text}
	bad := func(what string) error {
		return fmt.Errorf("a damaged file of NumPy: its head has %s at %.20q", what, p.rest)
	}
	if !p.take("{") {
		return bad("no dictionary")
	}
	seen := map[string]bool{}
	for !p.take("}") {
		key, ok := p.quoted()
		if !ok || seen[key] || !p.take(":") {
			return bad("no new key")
		}
		seen[key] = true
		switch key {
		case "descr":
			if p.next("[") {
				return errors.New("a file of a structured dtype: save each field in a file of its own, as x[\"name\"]")
			}
			h.dtype, ok = p.dtype()
		case "fortran_order":
			h.fortran = p.take("True")
			ok = h.fortran || p.take("False")
		case "shape":
			h.shape, ok = p.shape()
		default:
			ok = false
		}
		if !ok {
			return bad(fmt.Sprintf("no valid %.20q", key))
		}
		if !p.take(",") && !p.next("}") {
			return bad("no comma")
		}
	}
	if len(seen) != 3 || strings.TrimSpace(p.rest) != "" {
		return bad("not the three keys and nothing else")
	}
	return nil
}

// npyText reads the text of a head.
type npyText struct{ rest string }

// next reports whether token comes next, after space.
func (p *npyText) next(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	return strings.HasPrefix(p.rest, token)
}

// take takes token if it comes next.
func (p *npyText) take(token string) bool {
	if !p.next(token) {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

// quoted takes a string without escapes.
func (p *npyText) quoted() (text string, ok bool) {
	for _, quote := range [...]string{"'", `"`} {
		if p.next(quote) {
			text, p.rest, ok = strings.Cut(p.rest[1:], quote)
			return text, ok && !strings.ContainsAny(text, "\\\n")
		}
	}
	return "", false
}

// dtype takes the dtype of simple elements. The order of one byte does not matter.
func (p *npyText) dtype() (dtype string, ok bool) {
	dtype, ok = p.quoted()
	if !ok || len(dtype) < 3 || len(dtype) > 20 || !strings.Contains("<>|=", dtype[:1]) {
		return "", false
	}
	if dtype[2:] == "1" {
		dtype = "|" + dtype[1:]
	}
	return dtype, true
}

// shape takes a tuple of numbers. Python 2 wrote an L after each.
func (p *npyText) shape() (shape []int, ok bool) {
	if !p.take("(") {
		return nil, false
	}
	shape = []int{}
	for !p.take(")") {
		p.next("")
		digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
		n, err := strconv.Atoi(p.rest[:digits])
		if err != nil || len(shape) == npyMostDims {
			return nil, false
		}
		shape, p.rest = append(shape, n), p.rest[digits:]
		p.take("L")
		if !p.take(",") && !p.next(")") {
			return nil, false
		}
	}
	return shape, true
}
