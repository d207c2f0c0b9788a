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

// Error gives the beginning of the source, the column and the problem.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("expression %.80q: column %d: %s", e.Source, e.Column, e.Problem)
}

// fault is a SyntaxError at a byte offset.
func fault(src string, at int, format string, args ...any) error {
	return &SyntaxError{
		Source:  src,
		Column:  utf8.RuneCountInString(src[:at]) + 1,
		Problem: fmt.Sprintf(format, args...),
	}
}
