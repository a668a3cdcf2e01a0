package main

// The struct tag of a field: `pgas:"option,option"`. Package reflect ignores a tag that it cannot read;
// pgasgen would silently turn an atomic word into a plain one that way, so everything unreadable is an error.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const tagKey = "pgas"

// options is what a field's tag says.
type options struct {
	atomic bool // the field is only ever accessed by atomic operations
	view   bool // only views of the field are generated
}

// String returns the tag that says o.
func (o options) String() string {
	var list []string
	if o.atomic {
		list = append(list, "atomic")
	}
	if o.view {
		list = append(list, "view")
	}
	if list == nil {
		return ""
	}
	return tagKey + `:"` + strings.Join(list, ",") + `"`
}

// parseTag reads the options of a field from its whole struct tag. A tag without our key has none.
func parseTag(tag string) (options, error) {
	value, found, err := lookup(tag)
	if err != nil || !found {
		return options{}, err
	}
	if value == "" {
		return options{}, errors.New(`tag pgas:"" says nothing; remove it, or write pgas:"atomic"`)
	}
	var o options
	for option := range strings.SplitSeq(value, ",") {
		var says *bool
		switch option {
		case "atomic":
			says = &o.atomic
		case "view":
			says = &o.view
		default:
			return options{}, fmt.Errorf(`tag pgas:%q has the unknown option %q; the options are atomic and view`, value, option)
		}
		if *says {
			return options{}, fmt.Errorf(`tag pgas:%q says %s twice; say it once`, value, option)
		}
		*says = true
	}
	return o, nil
}

// lookup finds our key in a struct tag: key:"value" pairs separated by spaces, as package reflect
// describes them. It differs from reflect in that a tag that has to do with us and is not of that form
// is an error, and so is our key twice or in other letter case.
func lookup(tag string) (value string, found bool, err error) {
	rest := tag
	for {
		rest = strings.TrimLeft(rest, " ")
		if rest == "" {
			return value, found, nil
		}
		key, quoted, after, ok := pair(rest)
		if !ok {
			if strings.Contains(strings.ToLower(rest), tagKey) {
				return "", false, fmt.Errorf("struct tag %s is malformed; write `pgas:\"atomic\"`, without other spaces", shown(tag))
			}
			return value, found, nil
		}
		rest = after
		switch {
		case key == tagKey && found:
			return "", false, fmt.Errorf("struct tag %s has the key pgas twice; write it once", shown(tag))
		case key == tagKey:
			value, found = quoted, true
		case strings.Trim(key, ",;") == tagKey:
			return "", false, fmt.Errorf("struct tag %s is malformed; separate its keys by spaces", shown(tag))
		case strings.EqualFold(key, tagKey):
			return "", false, fmt.Errorf("struct tag %s has the key %s; write pgas in lower case", shown(tag), key)
		}
	}
}

// pair splits the first key:"value" off a tag.
func pair(tag string) (key, value, rest string, ok bool) {
	colon := strings.IndexFunc(tag, func(r rune) bool { return r <= ' ' || r == ':' || r == '"' || r == 0x7f })
	if colon <= 0 || !strings.HasPrefix(tag[colon:], `:"`) {
		return "", "", "", false
	}
	quoted, err := strconv.QuotedPrefix(tag[colon+1:])
	if err != nil {
		return "", "", "", false
	}
	value, err = strconv.Unquote(quoted)
	if err != nil {
		return "", "", "", false
	}
	return tag[:colon], value, tag[colon+1+len(quoted):], true
}

// shown returns a tag as source code, on one line.
func shown(tag string) string {
	if strconv.CanBackquote(tag) {
		return "`" + tag + "`"
	}
	return strconv.Quote(tag)
}
