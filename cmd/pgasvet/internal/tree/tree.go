// Package tree finds the syntax of an instruction, for suggested fixes.
package tree

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
)

// Path returns the nodes that enclose pos, the innermost first.
func Path(pass *analysis.Pass, pos token.Pos) []ast.Node {
	for _, f := range pass.Files {
		if f.FileStart <= pos && pos < f.FileEnd {
			path, _ := astutil.PathEnclosingInterval(f, pos, pos)
			return path
		}
	}
	return nil
}

// Statement returns the statement that pos is in, or nil.
func Statement(pass *analysis.Pass, pos token.Pos) ast.Stmt {
	for _, n := range Path(pass, pos) {
		if s, ok := n.(ast.Stmt); ok {
			return s
		}
	}
	return nil
}

// Call returns the call whose opening parenthesis is at pos, or nil.
func Call(pass *analysis.Pass, pos token.Pos) *ast.CallExpr {
	for _, n := range Path(pass, pos) {
		if c, ok := n.(*ast.CallExpr); ok && c.Lparen == pos {
			return c
		}
	}
	return nil
}

// Text returns an expression as gofmt prints it.
func Text(pass *analysis.Pass, n ast.Node) string {
	var b bytes.Buffer
	if err := format.Node(&b, pass.Fset, n); err != nil {
		return ""
	}
	return b.String()
}

// Indent returns the tabs that a statement begins after.
func Indent(pass *analysis.Pass, pos token.Pos) string {
	return strings.Repeat("\t", max(pass.Fset.Position(pos).Column-1, 0))
}

// Enclosing returns the type of the innermost function around pos, or nil.
func Enclosing(pass *analysis.Pass, pos token.Pos) *ast.FuncType {
	for _, n := range Path(pass, pos) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Type
		case *ast.FuncLit:
			return n.Type
		}
	}
	return nil
}

// ExpectsPanic reports whether pos is in a function literal of a test that returns nothing and consists of one
// statement. Tests hand such literals to what recovers the panic that they expect.
func ExpectsPanic(pass *analysis.Pass, pos token.Pos) bool {
	if !strings.HasSuffix(pass.Fset.Position(pos).Filename, "_test.go") {
		return false
	}
	for _, n := range Path(pass, pos) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return len(n.Body.List) == 1 && n.Type.Results.NumFields() == 0
		case *ast.FuncDecl:
			return false
		}
	}
	return false
}
