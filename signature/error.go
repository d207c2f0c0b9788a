package signature

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Reasons for refusing a value. Each is reached with [errors.Is] through the
// [*Error] that names the place.
var (
	ErrIntegerRange    = errors.New("integer is outside ±(2^53-1): encode it as a string")
	ErrNotFinite       = errors.New("number is not finite as a double: encode it as a string or leave it out")
	ErrInvalidUTF8     = errors.New("text is not valid UTF-8: encode it as []byte")
	ErrDuplicateKey    = errors.New("two members of one object have the same name")
	ErrDepth           = errors.New("nested too deep, as a cyclic value is: flatten it to stay within the limit")
	ErrSize            = errors.New("too long: pass a reference to the data to stay within the limit")
	ErrUnsupportedType = errors.New(`type has no JSON form: leave it out with json:"-" or give it a MarshalJSON method`)
	ErrSyntax          = errors.New("not valid JSON")
)

// Error is a value that has no canonical form, or whose canonical form would
// be that of another value too (C-028).
type Error struct {
	// Path is the JSON pointer (RFC 6901) of the refused part within the
	// value, such as "/items/3/id"; empty for the value itself. It names
	// members, not Go fields. A long path is shortened in its middle, a long
	// member name at its end. "workspace_id", without a slash, is the
	// workspace given to [Of].
	Path string
	// Err wraps one of the sentinels of this package, or what a method of the
	// value returned.
	Err error
}

// Error gives the place and the reason.
func (e *Error) Error() string {
	if e.Path == "" {
		return "signature: " + e.Err.Error()
	}
	return "signature: " + e.Path + ": " + e.Err.Error()
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// A fault is an [Error] on its way out of the nested value: each level adds
// its own name, so that a value without faults pays nothing for paths.
type fault struct {
	err  error
	path []string // innermost first
}

// refuse starts a fault at the current place.
func refuse(err error) *fault { return &fault{err: err} }

// under adds the name of the member that holds the fault.
func (f *fault) under(name string) *fault {
	f.path = append(f.path, name)
	return f
}

// error turns the fault into what callers see.
func (f *fault) error() error {
	return &Error{Path: f.pointer(), Err: f.err}
}

// An error text goes to logs: what a hostile input can put there is bounded.
const (
	maxPathEnds = 16 // members shown at either end of a path
	maxPathName = 64 // bytes shown of one member name
)

// pointer writes the path as a JSON pointer.
func (f *fault) pointer() string {
	var b strings.Builder
	for i := len(f.path) - 1; i >= 0; i-- {
		if depth := len(f.path) - 1 - i; depth == maxPathEnds && i >= maxPathEnds {
			b.WriteString("/…")
			i = maxPathEnds
			continue
		}
		b.WriteByte('/')
		b.WriteString(pointerToken(f.path[i]))
	}
	return b.String()
}

// pointerToken escapes and shortens one member name.
func pointerToken(name string) string {
	if len(name) > maxPathName {
		cut := maxPathName
		for cut > maxPathName-utf8.UTFMax && !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + "…"
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
