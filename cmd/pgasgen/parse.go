package main

// From comments to marked types: pgasgen generates for a struct type when the line //pgas:symmetric,
// //pgas:symmetric views or //pgas:coherent is part of the comment directly above it. A directive that reaches no
// struct would be ignored in silence, so each one must reach one, and what only looks like a directive is an error too.

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

const directive = "//pgas:symmetric"

// viewsDirective is the directive with its only option.
const viewsDirective = directive + " views"

// coherentDirective marks a struct for the arrays of package dsm.
const coherentDirective = "//pgas:coherent"

// A mark is one type declaration under the directive.
type mark struct {
	spec  *ast.TypeSpec
	file  string // its source file
	views bool   // the directive says views

	coherent bool // the directive is coherentDirective
}

// almost matches comments that may have been meant as the directive.
var almost = regexp.MustCompile(`(?i)^//\s*pgas\s*:\s*\w+(\s+views)?\s*$`)

// marksOf finds the marked types of a file, in the order of the source.
func marksOf(fset *token.FileSet, file *ast.File) (marks []mark, ps problems) {
	at := placesOf(file)
	seen := map[*ast.TypeSpec]bool{} // with a directive, right or wrong
	first := map[*ast.TypeSpec]string{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			pos, p := fset.Position(c.Pos()), at[c]
			switch {
			case c.Text == directive, c.Text == viewsDirective, c.Text == coherentDirective:
			case strings.HasPrefix(c.Text, coherentDirective+" "):
				ps.add(pos, "directive %s has no options; remove %q", coherentDirective, strings.TrimPrefix(c.Text, coherentDirective+" "))
				seen[p.spec] = true
				continue
			case strings.HasPrefix(c.Text, directive+" "):
				ps.add(pos, "directive %s has the unknown option %q; the only one is views, after one space", directive, strings.TrimPrefix(c.Text, directive+" "))
				seen[p.spec] = true
				continue
			case strings.HasPrefix(c.Text, "//pgas:"), almost.MatchString(c.Text):
				ps.add(pos, "unknown directive %s; the directives are %s and %s, without spaces", c.Text, directive, coherentDirective)
				seen[p.spec] = true
				continue
			default:
				continue
			}
			if m, ok := p.mark(&ps, pos, c.Text, first[p.spec], seen[p.spec]); ok {
				m.file = fileOf(fset, file)
				marks = append(marks, m)
			}
			first[p.spec] = c.Text
			seen[p.spec] = true
		}
	}
	ps = append(ps, strayTags(fset, file, seen)...)
	return marks, ps
}

// A place is what a comment is the documentation of.
type place struct {
	spec  *ast.TypeSpec
	local bool // it is declared inside a function
	group bool // a parenthesised group of types
}

// mark returns the type declaration that a directive of that text marks, or adds why it marks none. first is the
// directive above the same declaration before, and seen says that there was one, right or wrong.
func (p place) mark(ps *problems, pos token.Position, text, first string, seen bool) (mark, bool) {
	word, _, _ := strings.Cut(text, " ")
	switch {
	case p.spec == nil && p.group:
		ps.add(pos, "directive %s is above a group of types; put it above the struct it is for", word)
	case p.spec == nil:
		ps.add(pos, "directive %s is not above a struct type; put it directly above one, with no empty line between", word)
	case p.local:
		ps.add(pos, "type %s is declared inside a function, where it cannot have methods; declare it at package level", p.spec.Name.Name)
	case seen && first != "" && (first == coherentDirective) != (text == coherentDirective):
		ps.add(pos, "type %s is marked for symmetric and for coherent memory; keep one of the two directives, or declare two types", p.spec.Name.Name)
	case seen:
		ps.add(pos, "type %s has the directive %s twice; write it once", p.spec.Name.Name, word)
	case p.spec.Name.Name == "_":
		ps.add(pos, "directive %s is above a type without a name; name it", word)
	case p.spec.Assign.IsValid():
		ps.add(pos, "type %s is an alias; put %s above the struct that it stands for", p.spec.Name.Name, word)
	case p.spec.TypeParams != nil:
		ps.add(pos, "generic type %s has no layout of its own; declare a concrete one, such as: type %sInt64 %s[int64]", p.spec.Name.Name, p.spec.Name.Name, p.spec.Name.Name)
	default:
		return mark{spec: p.spec, views: text == viewsDirective, coherent: text == coherentDirective}, true
	}
	return mark{}, false
}

// placesOf maps every comment above a type declaration to it.
func placesOf(file *ast.File) map[*ast.Comment]place {
	at := map[*ast.Comment]place{}
	note := func(doc *ast.CommentGroup, p place) {
		if doc != nil {
			for _, c := range doc.List {
				at[c] = p
			}
		}
	}
	ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			return true
		}
		local := len(stack) > 1 // around a declaration at package level is only the file
		if decl.Lparen.IsValid() {
			note(decl.Doc, place{group: true})
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.TypeSpec)
			if !decl.Lparen.IsValid() {
				note(decl.Doc, place{spec: spec, local: local})
			}
			note(spec.Doc, place{spec: spec, local: local})
		}
		return true
	})
	return at
}

// strayTags reports pgas tags on fields of types that are not marked: they would do nothing.
func strayTags(fset *token.FileSet, file *ast.File, marked map[*ast.TypeSpec]bool) (ps problems) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || marked[spec] {
			return true
		}
		ast.Inspect(spec.Type, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			tag, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				return true
			}
			if _, found, err := lookup(tag); found || err != nil {
				ps.add(fset.Position(field.Tag.Pos()), "tag %s does nothing here: %s is not marked; put %s above it, or remove the tag", field.Tag.Value, spec.Name.Name, directive)
			}
			return true
		})
		return false
	})
	return ps
}
