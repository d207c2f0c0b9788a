package manifest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/token"
)

// Options says what [Validate] may assume. The zero value assumes nothing.
type Options struct {
	Aliases Aliases         // roles of custom kinds (C-016)
	Tokens  *token.Registry // linearity of vendor tokens; nil: canonical tokens only
}

// Validate checks one manifest alone and returns every fault and finding. The
// manifest may be used if there are no errors among them. Targets in other loops
// are checked for their form only (C-034).
//
// For a manifest that was read from a document the issues say where in it they
// are, and come in that order; a part added since is placed at what is around it.
func Validate(m *Manifest, opts Options) Issues {
	if m == nil {
		m = &Manifest{} // of which everything is missing
	}
	c := newChecker(m, opts)
	c.header()
	c.shape(reflect.ValueOf(m).Elem())
	c.phases()
	c.closure()
	c.roles()
	c.cadences()
	c.nesting()
	c.substrates()
	c.invariantNames()
	c.connections()
	c.lint()
	return m.doc.place(c.issues)
}

// checker collects the issues of one manifest.
type checker struct {
	m         *Manifest
	aliases   Aliases
	linearity func(token.Name) token.Linearity
	version   Protocol
	index     map[string]int // of phases by id
	ids       []string       // of phases
	inner     []string       // ids of inner loops, sorted
	plans     map[reflect.Type]*plan
	absent    map[string]bool // required members of the manifest that are missing
	path      trail
	issues    Issues
	suggester
}

func newChecker(m *Manifest, opts Options) *checker {
	c := &checker{
		m: m, aliases: opts.Aliases,
		index: make(map[string]int, len(m.Phases)), ids: make([]string, len(m.Phases)),
		plans:     plans(),
		absent:    make(map[string]bool),
		suggester: suggester{suggestBudget},
	}
	registry := opts.Tokens
	c.linearity = func(n token.Name) token.Linearity {
		e, _ := registry.Lookup(n)
		return e.Linearity
	}
	c.version, _ = ParseProtocol(m.ProtocolVersion) // reported by header; 0.0.0 is the strictest
	for i := range m.Phases {
		c.ids[i] = m.Phases[i].ID
		if _, taken := c.index[c.ids[i]]; !taken {
			c.index[c.ids[i]] = i
		}
	}
	for _, inner := range m.Nesting.InnerLoops {
		c.inner = append(c.inner, inner.LoopID)
	}
	slices.Sort(c.inner)
	return c
}

func (c *checker) add(i Issue) { c.issues = append(c.issues, i) }

func (c *checker) fail(code Code, pointer, format string, args ...any) {
	c.add(Issue{Code: code, Severity: SeverityError, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) failHere(code Code, format string, args ...any) {
	c.fail(code, c.path.pointer(), format, args...)
}

func (c *checker) warn(code Code, pointer, format string, args ...any) {
	c.add(Issue{Code: code, Severity: SeverityWarning, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) note(code Code, pointer, format string, args ...any) {
	c.add(Issue{Code: code, Severity: SeverityNote, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// header checks versions and the loop's id.
func (c *checker) header() {
	m := c.m
	if m.ProtocolVersion != "" {
		switch v, err := ParseProtocol(m.ProtocolVersion); {
		case err != nil:
			c.fail(CodeProtocolVersion, at("pulse_protocol_version"), "%v", err)
		case !v.Supported():
			c.fail(CodeUnsupportedProtocol, at("pulse_protocol_version"), "protocol %v is not supported; this package follows %s and %s, and reads every lower minor version and any patch", v, TextLevel, TypesLevel)
		}
	}
	if m.Schema != "" && !knownSchema(m.Schema) {
		c.fail(CodeSchemaURI, at("$schema"), "%s names no known manifest schema; write %s, or leave it out", shorten(m.Schema), schemaURI)
	}
	if m.LoopID != "" && !isLoopID(m.LoopID) {
		c.fail(CodeLoopID, at("loop_id"), "%s", loopIDForm(m.LoopID))
	}
	if m.Version != "" && !isVersion(m.Version) {
		c.fail(CodeLoopVersion, at("version"), "%s is no semantic version; write MAJOR.MINOR.PATCH, such as 0.1.0", shorten(m.Version))
	}
}

func loopIDForm(id string) string {
	return shorten(id) + " is no loop id; write two or more labels of a–z, 0–9, _ and - joined by dots, beginning with a letter"
}

// substrates checks the references (C-030).
func (c *checker) substrates() {
	if c.absent["substrates"] {
		return
	}
	for i, slot := range Slots() {
		ref := c.m.Substrates.Ref(slot)
		pointer := at("substrates", string(slot))
		switch {
		case ref != "":
			c.template(pointer, ref)
		case i < requiredSlots:
			c.fail(CodeMissingMember, pointer, "the required substrate %s is missing; write a reference that the host resolves", slot)
		}
	}
}

func (c *checker) template(pointer, ref string) {
	rest := strings.ReplaceAll(ref, workspaceVariable, "")
	if strings.ContainsAny(rest, "{}") {
		c.fail(CodeTemplate, pointer, "%s has a variable other than %s, which is the only one; write the rest out", shorten(ref), workspaceVariable)
	}
}
