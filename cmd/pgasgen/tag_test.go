package main

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestParseTag(t *testing.T) {
	for tag, want := range map[string]string{
		``:                                  ``,
		`json:"x"`:                          ``,
		`pgas:"atomic"`:                     `pgas:"atomic"`,
		`json:"x" pgas:"atomic" xml:"y"`:    `pgas:"atomic"`,
		`json:"pgas:\"atomic\""`:            ``,
		`  pgas:"atomic"  `:                 `pgas:"atomic"`,
		`pgas:"\u0061tomic"`:                `pgas:"atomic"`,
		`pgasx:"atomic"`:                    ``,
		`json:"x" xml:broken`:               ``,
		`pgas:"view"`:                       `pgas:"view"`,
		`pgas:"atomic,view"`:                `pgas:"atomic,view"`,
		`pgas:"view,atomic"`:                `pgas:"atomic,view"`,
		`pgas:"view,view"`:                  `says view twice`,
		`pgas:"views"`:                      `unknown option "views"`,
		`pgas:""`:                           `says nothing`,
		`pgas:"atomic,atomic"`:              `twice`,
		`pgas:"atomic" pgas:"atomic"`:       `twice`,
		`pgas:" atomic"`:                    `unknown option " atomic"`,
		`pgas:"Atomic"`:                     `unknown option "Atomic"`,
		`pgas:"atomic,"`:                    `unknown option ""`,
		`pgas:atomic`:                       `malformed`,
		`pgas: "atomic"`:                    `malformed`,
		`pgas:"atomic`:                      `malformed`,
		`json:"x",pgas:"atomic"`:            `malformed`,
		"pgas:\t\"atomic\"":                 `malformed`,
		`Pgas:"atomic"`:                     `lower case`,
		`json:"x" PGAS:"atomic" pgas:"hmm"`: `lower case`,
	} {
		o, err := parseTag(tag)
		switch {
		case err != nil && (want == "" || strings.HasPrefix(want, "pgas:") || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", tag, err, want)
		case err == nil && o.String() != want:
			t.Errorf("%s: %q, want %q", tag, o, want)
		}
	}
}

// FuzzTag holds the parser to package reflect: a tag that it accepts means what reflect says, and one
// in which reflect finds our key is not passed over. What it returns says itself again.
func FuzzTag(f *testing.F) {
	for _, tag := range []string{
		`pgas:"atomic"`, `pgas:"atomic,view"`, `pgas:"view,view"`, `json:"x" pgas:"atomic"`, `pgas:"atomic" pgas:"x"`, `a:"b"c:"d"`, `pgas:"\x00"`,
		`pgas: "atomic"`, `PGAS:"atomic"`, "a:\"b\"\tpgas:\"atomic\"", `pgas:"a` + "\n" + `"`, `:"x" pgas:"atomic"`,
	} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		value, found, err := lookup(tag)
		oracle, there := reflect.StructTag(tag).Lookup(tagKey)
		if err == nil && (value != oracle || found != there) {
			t.Errorf("lookup(%q) = %q, %v; reflect says %q, %v", tag, value, found, oracle, there)
		}
		o, perr := parseTag(tag)
		switch {
		case err != nil && perr == nil:
			t.Errorf("parseTag(%q) accepts a tag that cannot be read: %v", tag, err)
		case perr != nil && o != options{}:
			t.Errorf("parseTag(%q) = %+v with error %v", tag, o, perr)
		case perr == nil && o != reference(oracle):
			t.Errorf("parseTag(%q) = %+v, want %+v", tag, o, reference(oracle))
		}
		if perr != nil && strings.Contains(perr.Error(), "\n") {
			t.Errorf("parseTag(%q): the error is no single line: %v", tag, perr)
		}
		if again, err := parseTag(o.String()); err != nil || again != o {
			t.Errorf("%+v does not survive its own tag: %+v, %v", o, again, err)
		}
		// Beside another key, and quoted in its value, our tag reads the same.
		beside := `x:` + strconv.Quote(tag) + ` ` + options{atomic: true}.String()
		if o, err := parseTag(beside); err != nil || o != (options{atomic: true}) {
			t.Errorf("parseTag(%q) = %+v, %v", beside, o, err)
		}
	})
}

// reference reads a value that is known to be right.
func reference(value string) options {
	said := strings.Split(value, ",")
	return options{atomic: slices.Contains(said, "atomic"), view: slices.Contains(said, "view")}
}
