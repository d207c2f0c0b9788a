// Package schemas holds the published JSON Schemas (draft 2020-12), embedded.
//
// They are for others: editors, and programs in other languages. This library
// decides by its own rules, and a test holds that the two agree. Within a minor
// version a schema only grows: nothing that it accepts is refused later, and no
// property or value goes away before 1.0 (OS-010 §16.1, C-003).
package schemas

import (
	"embed"
	"io/fs"
)

//go:embed *.json
var files embed.FS

// LoopManifest is the file name of the schema of loop manifests of protocol 0.1
// (OS-010 §4, C-009).
const LoopManifest = "pulse-loop-manifest.v0.1.json"

// FS gives the schemas by file name, which is also the last part of their $id.
func FS() fs.FS { return files }

// Read gives the text of a schema. The error is that of [fs.ReadFile].
func Read(name string) ([]byte, error) { return files.ReadFile(name) }
