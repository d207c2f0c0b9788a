package expr

import (
	"fmt"
	"unicode/utf8"
)

// SyntaxError says where a source is not an expression, and how to mend it.
type SyntaxError struct {
	Source  string
	Column  int    // in characters (runes), from 1
	Problem string // what is wrong and the cure
}

// shown is the longest source that a message repeats, in bytes.
const shown = 120

// Error gives the column and the problem, and the source if it is short.
func (e *SyntaxError) Error() string {
	if len(e.Source) > shown {
		return fmt.Sprintf("expression: column %d: %s", e.Column, e.Problem)
	}
	return fmt.Sprintf("expression %q: column %d: %s", e.Source, e.Column, e.Problem)
}

// fault is a SyntaxError at a byte offset.
func fault(src string, at int, format string, args ...any) error {
	return &SyntaxError{
		Source:  src,
		Column:  utf8.RuneCountInString(src[:at]) + 1,
		Problem: fmt.Sprintf(format, args...),
	}
}
