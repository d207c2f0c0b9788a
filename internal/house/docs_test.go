package house

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packageDoc complains about a package without a comment in the form godoc
// reads, or with several of them.
func packageDoc(s source, name, rel string) []string {
	want := "Package " + name + " "
	if name == "main" {
		want = "" // a command begins with its name, an example with what it shows
	}
	n := 0
	for _, f := range s.files {
		if f.Doc != nil && strings.HasPrefix(f.Doc.Text(), want) {
			n++
		}
	}
	switch {
	case n == 0:
		return []string{fmt.Sprintf("%s has no comment that begins with %q", rel, want)}
	case n > 1 && name != "main":
		return []string{fmt.Sprintf("%s has %d package comments; keep the one in doc.go", rel, n)}
	}
	return nil
}

// hasExample says that a test file holds a whole-package example that runs:
// godoc shows it first, and only an Output comment makes it a test.
func hasExample(s source) bool {
	for _, f := range s.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Name.Name != "Example" && !strings.HasPrefix(fn.Name.Name, "Example_") {
				continue
			}
			if slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
				text := strings.ToLower(c.Text())
				inside := c.Pos() > fn.Body.Pos() && c.End() < fn.Body.End()
				return inside && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
			}) {
				return true
			}
		}
	}
	return false
}

// undocumented lists the exported identifiers without a comment.
func undocumented(s source) []string {
	var out []string
	miss := func(n ast.Node, name string) {
		out = append(out, fmt.Sprintf("%s: %s is exported and has no comment", s.place(n), name))
	}
	for _, f := range s.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Doc == nil && exportedFunc(d) {
					miss(d, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if name := exportedSpec(spec); name != "" && d.Doc == nil && !specDoc(spec) {
						miss(spec, name)
					}
				}
			}
		}
	}
	return out
}

// exportedFunc says that users can see a function: a method counts if its
// receiver is exported too.
func exportedFunc(d *ast.FuncDecl) bool {
	return d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d)))
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// exportedSpec is the first exported name that a declaration declares.
func exportedSpec(spec ast.Spec) string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				return n.Name
			}
		}
	}
	return ""
}

func specDoc(spec ast.Spec) bool {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Doc != nil || s.Comment != nil
	case *ast.ValueSpec:
		return s.Doc != nil || s.Comment != nil
	}
	return false
}

func TestPackagesAreDocumented(t *testing.T) {
	var out []string
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		s := parse(t, p.Dir, p.GoFiles)
		out = append(out, packageDoc(s, p.Name, p.rel())...)
		if p.public() {
			out = append(out, undocumented(s)...)
			if !hasExample(parse(t, p.Dir, p.TestGoFiles, p.XTestGoFiles)) {
				out = append(out, p.rel()+" has no Example with an Output comment")
			}
		}
	}
	complain(t, out)
}

func TestDocumentationRules(t *testing.T) {
	good := parseText(t, "// Package x is good.\npackage x\n\n// A is one.\nfunc A() {}\n\n// The rest.\nconst (\n\tB = 1\n\tc = 2\n)\n\ntype d struct{}\n\nfunc (d) E() {}\n")
	require.Empty(t, packageDoc(good, "x", "x"))
	require.Empty(t, undocumented(good))

	bad := parseText(t, "package x\n\nfunc A() {}\n\ntype B struct{}\n\nfunc (*B) C() {}\n\nvar D = 1\n")
	require.Equal(t, []string{`x has no comment that begins with "Package x "`}, packageDoc(bad, "x", "x"))
	require.Len(t, undocumented(bad), 4)

	require.True(t, hasExample(parseText(t, "package x\n\nfunc Example() {\n\t// Output: a\n}\n")))
	require.False(t, hasExample(parseText(t, "package x\n\nfunc Example() {\n}\n")), "an example without output does not run")
	require.False(t, hasExample(parseText(t, "package x\n\nfunc ExampleA() {\n\t// Output: a\n}\n")), "an example of one name is not one of the package")
}
