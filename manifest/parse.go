package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// Parse reads a manifest from JSON and checks it. If there are errors it returns
// no manifest, and all issues found as [Issues]. Without errors, warnings and notes
// are had from [Validate].
//
// Reading takes time linear in the length of the text, which may be hostile.
func Parse(data []byte) (*Manifest, error) { return parse(readJSON, data, "") }

// ParseYAML reads a manifest from YAML, as [Parse] does from JSON (C-025). It
// reads the YAML that JSON can express: no anchors, aliases, merge keys or tags,
// and one document.
func ParseYAML(data []byte) (*Manifest, error) { return parse(readYAML, data, "") }

// ParseFile reads a manifest from a file: YAML if its name ends in .yaml or .yml,
// else JSON. Issues name the file. An error in reading the file is that of
// [os.ReadFile].
func ParseFile(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	read := readJSON
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".yaml" || ext == ".yml" {
		read = readYAML
	}
	return parse(read, data, path)
}

// reader makes a document of a text. The document is nil if the text could not be
// read to its end; the issues are placed.
type reader func(data []byte, file string) (*document, Issues)

func parse(read reader, data []byte, file string) (*Manifest, error) {
	doc, issues := read(data, file)
	if doc == nil {
		return nil, issues
	}
	m, shape := decode(doc)
	unread := make(map[string]bool, len(shape))
	for _, i := range shape {
		unread[i.Pointer] = true
	}
	issues = append(issues, doc.place(shape)...)
	for _, i := range Validate(m, Options{}) {
		if !follows(i, unread) {
			issues = append(issues, i)
		}
	}
	if err := issues.sorted().Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// follows tells whether an issue only follows from another: its member, or one
// around it, could not be read.
func follows(i Issue, unread map[string]bool) bool {
	for pointer := i.Pointer; ; {
		if unread[pointer] {
			return true
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return false
		}
		pointer = pointer[:cut]
	}
}

func readJSON(data []byte, file string) (*document, Issues) {
	tree, faults := jsonpos.Parse(data)
	return readTree(tree, faults, data, file)
}

// readTree makes a document and issues of what was read.
func readTree(tree *jsonpos.Tree, faults []jsonpos.Fault, data []byte, file string) (*document, Issues) {
	var issues Issues
	if len(faults) > 0 {
		lines := jsonpos.NewLines(string(data))
		for _, f := range faults {
			line, column := lines.Position(f.Pos)
			issues = append(issues, Issue{
				Code: Code(f.Code), Severity: SeverityError,
				File: file, Line: line, Column: column, Message: f.Problem,
			})
		}
	}
	if tree == nil {
		return nil, issues
	}
	return &document{file: file, tree: tree}, issues
}
