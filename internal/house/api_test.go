package house

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden lists of the exported API")

const apiDir = "testdata/api"

// maxRootNames is the budget of the root package beside sentinels and status
// constants. A user has to hold the whole of it in mind.
const maxRootNames = 50

// api lists what a package exports, one declaration a line, sorted.
func api(s source) []string {
	var out []string
	for _, f := range s.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if exportedFunc(d) {
					out = append(out, s.print(&ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type}))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					out = append(out, s.declared(d.Tok, spec)...)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func (s source) declared(tok token.Token, spec ast.Spec) []string {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			return s.typeLines(spec)
		}
	case *ast.ValueSpec:
		var out []string
		for _, n := range spec.Names {
			if n.IsExported() {
				line := tok.String() + " " + n.Name
				if spec.Type != nil {
					line += " " + s.print(spec.Type)
				}
				out = append(out, line)
			}
		}
		return out
	}
	return nil
}

// typeLines is a type and, one line each, the fields and methods that users can
// name.
func (s source) typeLines(spec *ast.TypeSpec) []string {
	head := "type " + spec.Name.Name
	if spec.TypeParams != nil {
		var params []string
		for _, f := range spec.TypeParams.List {
			params = append(params, names(f)+" "+s.print(f.Type))
		}
		head += "[" + strings.Join(params, ", ") + "]"
	}
	name := spec.Name.Name
	switch t := spec.Type.(type) {
	case *ast.StructType:
		out := []string{head + " struct"}
		for _, f := range t.Fields.List {
			for _, n := range f.Names {
				if n.IsExported() {
					out = append(out, "field "+name+"."+n.Name+" "+s.print(f.Type))
				}
			}
			if len(f.Names) == 0 {
				out = append(out, "embed "+name+" "+s.print(f.Type))
			}
		}
		return out
	case *ast.InterfaceType:
		out := []string{head + " interface"}
		for _, f := range t.Methods.List {
			if len(f.Names) == 0 {
				out = append(out, "embed "+name+" "+s.print(f.Type))
			}
			for _, n := range f.Names {
				out = append(out, "method "+name+"."+n.Name+strings.TrimPrefix(s.print(f.Type), "func"))
			}
		}
		return out
	}
	if spec.Assign.IsValid() {
		head += " ="
	}
	return []string{head + " " + s.print(spec.Type)}
}

func names(f *ast.Field) string {
	var out []string
	for _, n := range f.Names {
		out = append(out, n.Name)
	}
	return strings.Join(out, ", ")
}

// print writes a node on one line, however its author wrapped it.
func (s source) print(n ast.Node) string {
	var b strings.Builder
	if err := printer.Fprint(&b, s.fset, n); err != nil {
		return err.Error()
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	return strings.NewReplacer("( ", "(", ", )", ")", " )", ")").Replace(text)
}

// rootNames lists what counts against the budget of the root package: not
// methods and fields, which are found through their type, and not sentinels and
// status constants, which are found through the list in the documentation.
func rootNames(s source) []string {
	var out []string
	for _, line := range api(s) {
		f := strings.Fields(line)
		sentinel := f[0] == "var" && strings.HasPrefix(f[1], "Err")
		status := f[0] == "const" && len(f) > 2 && f[2] == "Status"
		method := strings.HasPrefix(line, "func (")
		if sentinel || status || method || !slices.Contains([]string{"func", "type", "const", "var"}, f[0]) {
			continue
		}
		out = append(out, f[1][:strings.IndexAny(f[1]+"(", "([")])
	}
	return out
}

func TestRootPackageStaysSmall(t *testing.T) {
	for _, p := range packages(t) {
		if p.rel() == "pulse" {
			got := rootNames(parse(t, p.Dir, p.GoFiles))
			require.LessOrEqual(t, len(got), maxRootNames, "exported names of the root package: %v", got)
		}
	}
}

func TestExportedAPI(t *testing.T) {
	golden := map[string]bool{}
	for _, p := range packages(t) {
		if !p.public() {
			continue
		}
		name := filepath.Join(apiDir, strings.ReplaceAll(p.rel(), "/", ".")+".txt")
		golden[name] = true
		got := strings.Join(api(parse(t, p.Dir, p.GoFiles)), "\n") + "\n"
		if *update {
			require.NoError(t, os.MkdirAll(apiDir, 0o755))
			require.NoError(t, os.WriteFile(name, []byte(got), 0o600))
			continue
		}
		want, err := os.ReadFile(name)
		require.NoError(t, err, "the exported API of %s has no golden list; write it with go test ./internal/house -update", p.rel())
		require.Equal(t, string(want), got, "the exported API of %s changed; if that is meant, say so in CHANGELOG.md and run go test ./internal/house -update", p.rel())
	}
	complain(t, orphans(t, golden))
}

// orphans are golden lists of packages that are gone; -update removes them.
func orphans(t *testing.T, golden map[string]bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(apiDir, "*.txt"))
	require.NoError(t, err)
	var out []string
	for _, f := range files {
		switch {
		case golden[f]:
		case *update:
			require.NoError(t, os.Remove(f))
		default:
			out = append(out, fmt.Sprintf("%s is the API of a package that is gone", f))
		}
	}
	return out
}

func TestAPIList(t *testing.T) {
	s := parseText(t, `package x

type A[In, Out any] struct {
	B, c int
	error
}

func (a *A[In, Out]) D(
	x int,
) (err error) { return nil }

type E interface {
	F(int) error
	g()
}

type h struct{}

func (h) I() {}

type J = string

const StatusRunning Status = "running"

var ErrK, l = error(nil), 1

func M[T any](T) {}

type Status string
`)
	require.Equal(t, []string{
		"const StatusRunning Status",
		"embed A error",
		"field A.B int",
		"func (a *A[In, Out]) D(x int) (err error)",
		"func M[T any](T)",
		"method E.F(int) error",
		"method E.g()",
		"type A[In, Out any] struct",
		"type E interface",
		"type J = string",
		"type Status string",
		"var ErrK",
	}, api(s))
	require.Equal(t, []string{"M", "A", "E", "J", "Status"}, rootNames(s))
}

func parseText(t *testing.T, text string) source {
	t.Helper()
	s := source{fset: token.NewFileSet()}
	f, err := parser.ParseFile(s.fset, "x.go", text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	s.files = []*ast.File{f}
	return s
}
