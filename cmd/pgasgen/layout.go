package main

// The layout hash: two PEs whose hashes of a record differ run different programs, and Alloc says so.
// It covers what decides where each byte of a record is and what it means: names, types, offsets,
// sizes and tags, at every depth. It does not cover the package's own path, which is in the name that
// goes with it, so a copied package keeps its hashes.

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"go/types"
	"strings"
)

func (a *analysis) hash(s *structure) uint64 {
	sum := sha256.Sum256([]byte(s.name + " " + a.describe(s.typ)))
	return binary.BigEndian.Uint64(sum[:])
}

// describe returns the layout of t, such as "struct 16 {A 0 int64 8 atomic; B 8 float64 8; }".
func (a *analysis) describe(t types.Type) string {
	return recall(a.memo.texts, t, &a.memo.looks, func() string { return a.text(t) })
}

// longText is the length from which on a digest replaces a field's layout: a record that holds a type twice,
// which holds another twice and so on, has a layout of exponential length.
const longText = 4096

func (a *analysis) text(t types.Type) string {
	name := types.TypeString(t, func(p *types.Package) string {
		if p == a.u.types {
			return ""
		}
		return p.Path()
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d", name, a.l.kept.Sizeof(t))
	elem, _ := dimensions(t)
	st, ok := elem.Underlying().(*types.Struct)
	if !ok {
		return b.String()
	}
	vars := make([]*types.Var, st.NumFields())
	for i := range vars {
		vars[i] = st.Field(i)
	}
	b.WriteString(" {")
	for i, off := range a.l.kept.Offsetsof(vars) {
		opts, _ := parseTag(st.Tag(i)) // bad tags were rejected before
		opts.view = false              // which accessors there are is no part of the layout
		below := a.describe(vars[i].Type())
		if len(below) > longText {
			below = fmt.Sprintf("%x", sha256.Sum256([]byte(below)))
		}
		fmt.Fprintf(&b, "%s %d %s %s; ", vars[i].Name(), off, below, opts)
	}
	b.WriteString("}")
	return b.String()
}
