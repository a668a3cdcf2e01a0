package source

// A scanner of identifiers that is several times as fast as go/scanner, because it makes no tokens of what stands
// between them. It knows well-formed source. Where it meets anything else, or what is rare, it leaves the rest of the
// file to go/scanner: so both find the same identifiers, and say the same of the source.

import (
	"bytes"
	"math"
	"unicode"
	"unicode/utf8"
)

// unknown is the end of what this scanner leaves to go/scanner.
const unknown = -1

// What can begin with a byte.
const (
	beginsNothing = iota // that this scanner knows
	beginsToken          // one that ends with this byte or that means nothing here, or a space
	beginsName
	beginsNumber
	beginsString
	beginsRaw
	beginsRune
	beginsComment
	beginsFraction
	beginsRuneName // an identifier, perhaps, whose first letter is not ASCII
)

var begins = func() (kinds [256]uint8) {
	for c := range kinds {
		switch {
		case c >= utf8.RuneSelf:
			kinds[c] = beginsRuneName
		case isNameByte(byte(c)) && !isDigit(byte(c)):
			kinds[c] = beginsName
		case isDigit(byte(c)):
			kinds[c] = beginsNumber
		}
	}
	for _, c := range []byte(" \t\r\n+-*%&|^<>=!()[]{},;:~") {
		kinds[c] = beginsToken
	}
	for c, kind := range map[byte]uint8{'"': beginsString, '`': beginsRaw, '\'': beginsRune, '/': beginsComment, '.': beginsFraction} {
		kinds[c] = kind
	}
	return kinds
}()

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isOctal(c byte) bool { return '0' <= c && c <= '7' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isNameByte reports whether c is an ASCII letter, a digit or _.
func isNameByte(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

var byteOrderMark = []byte("\ufeff")

// EachName calls f for each identifier of src, in order, and reports whether src is well-formed. Both are as in
// EachIdentifier. f must not keep name.
func EachName(src []byte, f func(name []byte)) (wellFormed bool) {
	at := 0
	if utf8.Valid(src) && bytes.IndexByte(src, 0) < 0 && !bytes.Contains(src, byteOrderMark) {
		at = eachSimple(src, f)
	}
	if at == len(src) {
		return true
	}
	wellFormed, _ = EachIdentifier(src[at:], math.MaxInt, func(name string) { f([]byte(name)) })
	return wellFormed
}

// eachSimple calls f for identifiers until it meets what it does not know, and returns where that is.
func eachSimple(src []byte, f func(name []byte)) (at int) {
	for at < len(src) {
		end, isName := unknown, false
		switch begins[src[at]] {
		case beginsToken:
			at++
			continue
		case beginsName:
			end, isName = endOfName(src, at), true
		case beginsRuneName:
			if r, _ := utf8.DecodeRune(src[at:]); unicode.IsLetter(r) {
				end, isName = endOfName(src, at), true
			}
		default:
			end = endOfOther(src, at)
		}
		if end == unknown {
			return at
		}
		if isName && !isKeyword(src[at:end]) {
			f(src[at:end])
		}
		at = end
	}
	return at
}

// endOfOther returns where what begins at a byte ends that begins no identifier.
func endOfOther(src []byte, at int) int {
	switch begins[src[at]] {
	case beginsNumber:
		return endOfNumber(src, at)
	case beginsString:
		return endOfString(src, at)
	case beginsRaw:
		return endAfter(src, at+1, "`")
	case beginsRune:
		return endOfRune(src, at)
	case beginsComment:
		return endOfComment(src, at)
	case beginsFraction:
		if bytes.HasPrefix(src[at:], []byte("...")) {
			return at + 3
		}
		if at+1 < len(src) && isDigit(src[at+1]) {
			return unknown
		}
		return at + 1
	}
	return unknown
}

// endAfter returns the end of the next mark.
func endAfter(src []byte, at int, mark string) int {
	i := bytes.Index(src[at:], []byte(mark))
	if i < 0 {
		return unknown
	}
	return at + i + len(mark)
}

func endOfName(src []byte, at int) int {
	for at < len(src) {
		switch c := src[at]; {
		case isNameByte(c):
			at++
		case c < utf8.RuneSelf:
			return at
		default:
			r, size := utf8.DecodeRune(src[at:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return at
			}
			at += size
		}
	}
	return at
}

// endOfNumber knows integers of all bases without _, and decimal fractions with an exponent or without.
func endOfNumber(src []byte, at int) int {
	next := byte(0)
	if at+1 < len(src) {
		next = src[at+1]
	}
	if src[at] != '0' || !isNameByte(next) {
		return endOfFraction(src, at+1)
	}
	end, first := 0, at+2
	switch next | 0x20 {
	case 'x':
		end = endWhile(src, first, isHex)
	case 'b':
		end = endWhile(src, first, func(c byte) bool { return c == '0' || c == '1' })
	case 'o':
		end = endWhile(src, first, isOctal)
	default:
		first = at + 1
		end = endWhile(src, first, isOctal)
	}
	if end == first || end < len(src) && (src[end] == '.' || isNameByte(src[end])) {
		return unknown
	}
	return end
}

// endOfFraction returns the end of a decimal number after its first digit.
func endOfFraction(src []byte, at int) int {
	at = endWhile(src, at, isDigit)
	if at < len(src) && src[at] == '.' {
		at = endWhile(src, at+1, isDigit)
	}
	if at < len(src) && src[at]|0x20 == 'e' {
		if at++; at < len(src) && (src[at] == '+' || src[at] == '-') {
			at++
		}
		first := at
		if at = endWhile(src, at, isDigit); at == first {
			return unknown
		}
	}
	if at < len(src) && src[at] == 'i' {
		at++
	}
	if at < len(src) && isNameByte(src[at]) {
		return unknown
	}
	return at
}

func endWhile(src []byte, at int, is func(byte) bool) int {
	for at < len(src) && is(src[at]) {
		at++
	}
	return at
}

func endOfString(src []byte, at int) int {
	for at++; at < len(src); {
		switch src[at] {
		case '"':
			return at + 1
		case '\n':
			return unknown
		case '\\':
			if at = endOfEscape(src, at, '"'); at == unknown {
				return unknown
			}
		default:
			at++
		}
	}
	return unknown
}

func endOfRune(src []byte, at int) int {
	at++
	switch {
	case at == len(src) || src[at] == '\'' || src[at] == '\n':
		return unknown
	case src[at] == '\\':
		at = endOfEscape(src, at, '\'')
	default:
		_, size := utf8.DecodeRune(src[at:])
		at += size
	}
	if at == unknown || at >= len(src) || src[at] != '\'' {
		return unknown
	}
	return at + 1
}

// endOfEscape knows what stands for one byte, \u but for what begins with d, of which some is no character, and \U0001.
func endOfEscape(src []byte, at int, quote byte) int {
	if at++; at == len(src) {
		return unknown
	}
	switch c := src[at]; {
	case c == quote || bytes.IndexByte([]byte(`abfnrtv\`), c) >= 0:
		return at + 1
	case c == 'x':
		return endOfDigits(src, at+1, 2, isHex)
	case '0' <= c && c <= '3':
		return endOfDigits(src, at, 3, isOctal)
	case c == 'u' && at+1 < len(src) && src[at+1]|0x20 != 'd':
		return endOfDigits(src, at+1, 4, isHex)
	case bytes.HasPrefix(src[at:], []byte("U0001")):
		return endOfDigits(src, at+1, 8, isHex)
	}
	return unknown
}

// endOfDigits returns the end of n digits.
func endOfDigits(src []byte, at, n int, is func(byte) bool) int {
	if at+n > len(src) || endWhile(src[:at+n], at, is) < at+n {
		return unknown
	}
	return at + n
}

// endOfComment leaves comments that number lines to go/scanner, which knows whether they are right.
func endOfComment(src []byte, at int) int {
	rest := src[at+1:]
	switch {
	case len(rest) == 0 || rest[0] != '/' && rest[0] != '*':
		return at + 1
	case bytes.HasPrefix(rest[1:], []byte("line ")) && (rest[0] == '*' || at == 0 || src[at-1] == '\n'):
		return unknown
	case rest[0] == '*':
		return endAfter(src, at+2, "*/")
	}
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		return at + 1 + end
	}
	return len(src)
}

func isKeyword(name []byte) bool {
	switch string(name) {
	case "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto",
		"if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var":
		return true
	}
	return false
}
