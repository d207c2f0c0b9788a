package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// Severity says how much an issue matters.
type Severity string

// The severities. Only an error keeps a manifest from being used.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning" // likely not what was meant
	SeverityNote    Severity = "note"    // worth knowing
)

// Issue is one fault or finding in a manifest.
type Issue struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Pointer  string   `json:"pointer"`          // JSON pointer (RFC 6901); empty for the whole document
	File     string   `json:"file,omitempty"`   // as given to ParseFile
	Line     int      `json:"line,omitempty"`   // from 1; 0 for a manifest made in code
	Column   int      `json:"column,omitempty"` // from 1, in bytes
	Message  string   `json:"message"`          // what is wrong, and the cure

	name bool // the place is that of the member's name
}

// String gives the place, the message, and the code; warnings and notes say that
// they are.
func (i Issue) String() string {
	var b strings.Builder
	if i.File != "" {
		b.WriteString(i.File + ":")
	}
	if i.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", i.Line, i.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if i.Severity != SeverityError {
		b.WriteString(string(i.Severity) + ": ")
	}
	if i.Pointer != "" {
		b.WriteString(clip(i.Pointer) + ": ")
	}
	b.WriteString(i.Message + " [" + string(i.Code) + "]")
	return b.String()
}

// Issues is everything found in a manifest, in order of place. As an error it
// holds at least one issue that is an error.
type Issues []Issue

// maxListed is how many issues the text of an error lists.
const maxListed = 20

// Error lists the first errors, a line each.
func (is Issues) Error() string {
	errs := is.Errors()
	listed := errs[:min(len(errs), maxListed)]
	lines := make([]string, 0, len(listed)+1)
	for _, i := range listed {
		lines = append(lines, i.String())
	}
	if more := len(errs) - len(listed); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	if len(lines) == 1 {
		return "manifest: " + lines[0]
	}
	return fmt.Sprintf("manifest: %d errors\n\t%s", len(errs), strings.Join(lines, "\n\t"))
}

// Errors gives the issues that keep the manifest from being used.
func (is Issues) Errors() Issues { return is.only(SeverityError) }

// Warnings gives the issues that are warnings.
func (is Issues) Warnings() Issues { return is.only(SeverityWarning) }

// Notes gives the issues that are notes.
func (is Issues) Notes() Issues { return is.only(SeverityNote) }

func (is Issues) only(s Severity) Issues {
	var out Issues
	for _, i := range is {
		if i.Severity == s {
			out = append(out, i)
		}
	}
	return out
}

// Err gives the issues as an error, nil if none of them is one.
func (is Issues) Err() error {
	for _, i := range is {
		if i.Severity == SeverityError {
			return is
		}
	}
	return nil
}

// at makes a JSON pointer of names and indices.
func at(tokens ...any) string {
	pointer := ""
	for _, t := range tokens {
		switch t := t.(type) {
		case int:
			pointer += "/" + strconv.Itoa(t)
		case string:
			pointer = jsonpos.AppendPointer(pointer, t)
		}
	}
	return pointer
}

// document is the text that a manifest was read from.
type document struct {
	file string
	tree *jsonpos.Tree
}

// place fills in where the issues are, and sorts them.
func (d *document) place(is Issues) Issues {
	if d == nil || len(is) == 0 {
		return is
	}
	lines, locator := jsonpos.NewLines(d.tree.Source()), d.tree.Locator()
	for i := range is {
		is[i].File = d.file
		is[i].Line, is[i].Column = lines.Position(locator.Find(is[i].Pointer, is[i].name))
	}
	return is.sorted()
}

func (is Issues) sorted() Issues {
	slices.SortStableFunc(is, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return is
}
