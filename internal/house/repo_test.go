package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	modulePath = "github.com/opensentience/pulse-go"
	root       = "../.."
)

// listed is what go list says about a package of the core module.
type listed struct {
	ImportPath, Dir, Name    string
	GoFiles                  []string
	TestGoFiles              []string
	XTestGoFiles             []string
	Imports, Deps            []string
	TestImports              []string
	XTestImports             []string
	CgoFiles, IgnoredGoFiles []string
}

// rel is the path within the module; "pulse" is the root package.
func (p listed) rel() string { return relative(p.ImportPath) }

func (p listed) internal() bool {
	return strings.HasPrefix(p.rel(), "internal/") || strings.Contains(p.rel(), "/internal/")
}

// public tells a package that users import from a command, an example or an
// internal one.
func (p listed) public() bool { return p.Name != "main" && !p.internal() && len(p.GoFiles) > 0 }

func relative(path string) string {
	if path == modulePath {
		return "pulse"
	}
	return strings.TrimPrefix(path, modulePath+"/")
}

func ours(path string) bool { return path == modulePath || strings.HasPrefix(path, modulePath+"/") }

// goList asks once. A package that does not build is listed all the same, with
// what it imports: whether it builds is for other tests.
var goList = sync.OnceValues(func() ([]listed, error) {
	cmd := exec.Command("go", "list", "-e", "-mod=readonly", "-json", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var all []listed
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
})

func packages(t *testing.T) []listed {
	t.Helper()
	all, err := goList()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// source is a parsed package: its non-test files, or its test files.
type source struct {
	fset  *token.FileSet
	files []*ast.File
}

func parse(t *testing.T, dir string, names ...[]string) source {
	t.Helper()
	s := source{fset: token.NewFileSet()}
	for _, list := range names {
		for _, name := range list {
			f, err := parser.ParseFile(s.fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			require.NoError(t, err)
			s.files = append(s.files, f)
		}
	}
	return s
}

// place is a position relative to the repository.
func (s source) place(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	if top, err := filepath.Abs(root); err == nil {
		if rel, err := filepath.Rel(top, p.Filename); err == nil {
			p.Filename = filepath.ToSlash(rel)
		}
	}
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// file is a text file of the repository.
type file struct{ path, text string }

// texts reads every file of the repository that somebody writes by hand, all
// modules included. Test data is left out: it may hold anything on purpose.
func texts(t *testing.T) []file {
	t.Helper()
	var all []file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "testdata" || name == "bin" {
				return fs.SkipDir
			}
			return nil
		}
		if !written(path) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all = append(all, file{filepath.ToSlash(rel), string(data)})
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

func written(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".md", ".mod", ".tsv", ".txt", ".yml", ".yaml", ".work", ".sh":
		return true
	}
	return filepath.Base(filepath.Dir(path)) == ".ci"
}

// complain fails the test with every complaint at once.
func complain(t *testing.T, complaints []string) {
	t.Helper()
	if len(complaints) > 0 {
		t.Errorf("%d complaints:\n%s", len(complaints), strings.Join(complaints, "\n"))
	}
}
