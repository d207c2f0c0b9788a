package manifest

import (
	"embed"
	"fmt"
	"slices"
)

//go:embed reference/*.json
var referenceFiles embed.FS

// References gives the names of the reference manifests: the three of OS-010 §15
// as printed, without the comments that JSON does not have (graphonomous, prism,
// agentromatic), and that of OS-011 §12 corrected to the shape of OS-010
// (embodiment; C-010, C-017).
func References() []string {
	return []string{"graphonomous", "prism", "agentromatic", "embodiment"}
}

// ReferenceText gives the JSON of a reference manifest.
func ReferenceText(name string) ([]byte, error) {
	if !slices.Contains(References(), name) {
		return nil, fmt.Errorf("manifest: there is no reference manifest %s; the names are those of References", shorten(name))
	}
	return referenceFiles.ReadFile("reference/" + name + ".json")
}

// Reference parses a reference manifest. Each call gives one of its own.
func Reference(name string) (*Manifest, error) {
	text, err := ReferenceText(name)
	if err != nil {
		return nil, err
	}
	return Parse(text)
}
