// Package report is how every rule reports, and how a program answers: a comment
//
//	//pgasvet:ok why this line is right
//
// at the end of a line, or alone on the line before, silences the findings of that line. It must give a reason.
package report

import (
	"go/ast"
	"go/token"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Marker begins the comment.
const Marker = "//pgasvet:ok"

// Page describes the rules: one heading each.
const Page = "https://github.com/gopgas/gopgas/blob/main/docs/use/pgasvet.md"

// Used is the result of a rule: where the comments stand that have silenced a finding of it.
type Used map[token.Pos]bool

// ResultType is the type of Used, for analysis.Analyzer.
var ResultType = reflect.TypeFor[Used]()

// line is a line of a file.
type line struct {
	file string
	n    int
}

// A Reporter reports the findings of one rule in one package.
type Reporter struct {
	pass   *analysis.Pass
	silent map[line]*ast.Comment
	said   map[string]bool // findings, by place and text
	used   Used
}

// New returns the reporter of a pass.
func New(pass *analysis.Pass) *Reporter {
	r := &Reporter{pass: pass, silent: map[line]*ast.Comment{}, said: map[string]bool{}, used: Used{}}
	for _, c := range Comments(pass.Files) {
		if Reason(c) != "" {
			at := pass.Fset.Position(c.Pos())
			r.silent[line{at.Filename, at.Line}] = c
			if at.Column <= indent(pass, c) {
				r.silent[line{at.Filename, at.Line + 1}] = c
			}
		}
	}
	return r
}

// indent returns the first column of c's line that has text, if that is c, and 0 otherwise.
func indent(pass *analysis.Pass, c *ast.Comment) int {
	at := pass.Fset.Position(c.Pos())
	content, err := pass.ReadFile(at.Filename)
	if err != nil || at.Offset > len(content) || at.Column-1 > at.Offset {
		return 0
	}
	if strings.TrimSpace(string(content[at.Offset-at.Column+1:at.Offset])) != "" {
		return 0
	}
	return at.Column
}

// Report reports d once, unless a comment silences its line.
func (r *Reporter) Report(d analysis.Diagnostic) {
	at := r.pass.Fset.Position(d.Pos)
	if c := r.silent[line{at.Filename, at.Line}]; c != nil {
		r.used[c.Pos()] = true
		return
	}
	if said := at.String() + d.Message; !r.said[said] {
		r.said[said] = true
		r.pass.Report(d)
	}
}

// Used returns the comments that have silenced a finding.
func (r *Reporter) Used() Used { return r.used }

// Comments returns the comments of files that begin with Marker.
func Comments(files []*ast.File) (list []*ast.Comment) {
	for _, f := range files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if rest, ok := strings.CutPrefix(c.Text, Marker); ok && (rest == "" || strings.TrimSpace(rest[:1]) == "") {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// Reason returns the reason that a comment gives, or "".
func Reason(c *ast.Comment) string { return strings.TrimSpace(strings.TrimPrefix(c.Text, Marker)) }
