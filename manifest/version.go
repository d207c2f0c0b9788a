package manifest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Versions of the protocol that this package follows (C-001).
const (
	TextLevel  = "0.1.2" // of OS-010
	TypesLevel = "0.2.0" // of the behavioural types
)

// Protocol is a version of the PULSE protocol.
type Protocol struct{ Major, Minor, Patch int }

// ParseProtocol reads MAJOR.MINOR[.PATCH], a missing patch being 0 (C-001).
func ParseProtocol(s string) (Protocol, error) {
	parts := strings.Split(s, ".")
	if len(parts) != 2 && len(parts) != 3 {
		return Protocol{}, fmt.Errorf("protocol version %s: write MAJOR.MINOR or MAJOR.MINOR.PATCH, such as 0.1", shorten(s))
	}
	var n [3]int
	for i, part := range parts {
		v, ok := parseDecimal(part)
		if !ok {
			return Protocol{}, fmt.Errorf("protocol version %s: write numbers without leading zeros, such as 0.1", shorten(s))
		}
		n[i] = v
	}
	return Protocol{n[0], n[1], n[2]}, nil
}

// String writes MAJOR.MINOR.PATCH.
func (p Protocol) String() string {
	return fmt.Sprintf("%d.%d.%d", p.Major, p.Minor, p.Patch)
}

// Compare orders versions.
func (p Protocol) Compare(q Protocol) int {
	return cmp.Or(cmp.Compare(p.Major, q.Major), cmp.Compare(p.Minor, q.Minor), cmp.Compare(p.Patch, q.Patch))
}

// Supported tells whether a manifest of this version is accepted: the same major
// and no higher minor version, any patch (OS-010 §16, C-001).
func (p Protocol) Supported() bool { return p.Major == 0 && p.Minor <= 2 }

// newer tells whether the patch is newer than the text that this package follows.
func (p Protocol) newer() bool {
	return p.Major == 0 && (p.Minor == 1 && p.Patch > 2 || p.Minor == 2 && p.Patch > 0)
}

func (m *Manifest) newerPatch() bool {
	p, err := ParseProtocol(m.ProtocolVersion)
	return err == nil && p.newer()
}

// parseDecimal reads a number without sign and leading zeros.
func parseDecimal(s string) (int, bool) {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// schemaURI is where the manifest schemas are published; it is never fetched (C-009).
const schemaURI = "https://opensentience.org/schemas/pulse-loop-manifest.v0.1.json"

// knownSchema tells whether a $schema names a version that is not above the
// supported ones.
func knownSchema(uri string) bool {
	version, ok := strings.CutPrefix(uri, "https://opensentience.org/schemas/pulse-loop-manifest.v")
	version, suffix := strings.CutSuffix(version, ".json")
	p, err := ParseProtocol(version)
	return ok && suffix && err == nil && p.Supported() && p.Patch == 0 && strings.Count(version, ".") == 1
}
