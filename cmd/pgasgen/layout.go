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
	"io"
)

func (a *analysis) hash(s *structure) uint64 {
	h := sha256.New()
	fmt.Fprintf(h, "%s ", s.name)
	a.describe(h, s.typ)
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// describe writes the layout of t, such as "struct 16 {A 0 int64 8 atomic; B 8 float64 8; }".
func (a *analysis) describe(w io.Writer, t types.Type) {
	name := types.TypeString(t, func(p *types.Package) string {
		if p == a.u.types {
			return ""
		}
		return p.Path()
	})
	fmt.Fprintf(w, "%s %d", name, a.l.sizes.Sizeof(t))
	elem, _ := dimensions(t)
	st, ok := elem.Underlying().(*types.Struct)
	if !ok {
		return
	}
	vars := make([]*types.Var, st.NumFields())
	for i := range vars {
		vars[i] = st.Field(i)
	}
	io.WriteString(w, " {")
	for i, off := range a.l.sizes.Offsetsof(vars) {
		opts, _ := parseTag(st.Tag(i)) // bad tags were rejected before
		fmt.Fprintf(w, "%s %d ", vars[i].Name(), off)
		a.describe(w, vars[i].Type())
		fmt.Fprintf(w, " %s; ", opts)
	}
	io.WriteString(w, "}")
}
