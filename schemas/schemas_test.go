package schemas_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/schemas"
)

func Example() {
	text, err := schemas.Read(schemas.LoopManifest)
	if err != nil {
		fmt.Println(err)
		return
	}
	var head struct {
		ID    string `json:"$id"`
		Title string
	}
	if err := json.Unmarshal(text, &head); err != nil {
		fmt.Println(err)
	}
	fmt.Println(head.ID)
	fmt.Println(head.Title)
	// Output:
	// https://opensentience.org/schemas/pulse-loop-manifest.v0.1.json
	// PULSE loop manifest, protocol 0.1
}

func read(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var v map[string]any
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

// TestSchemaOnlyGrows compares the schema with the copy of it that was published.
// A schema that only grew is republished by copying it over the golden one.
func TestSchemaOnlyGrows(t *testing.T) {
	spec.Covers(t, "P-4-2", "P-16-1", "P-16-2", "P-16-3", "P-16.1-1", "P-16.1-3", "C-003", "C-009")
	golden := read(t, "testdata/pulse-loop-manifest.v0.1.golden.json")
	require.Empty(t, narrowings("", golden, read(t, schemas.LoopManifest)),
		"the schema refuses what it accepted before (OS-010 §16.1)")
}

// TestNarrowingIsFound mutates the schema and demands that the comparison sees it.
func TestNarrowingIsFound(t *testing.T) {
	spec.Covers(t, "P-16-1")
	for _, c := range []struct {
		name   string
		mutate func(def func(string) map[string]any)
		grows  bool
	}{
		{"unchanged", func(func(string) map[string]any) {}, true},
		{"optional property added", func(def func(string) map[string]any) {
			def("phase")["properties"].(map[string]any)["cost"] = map[string]any{"type": "number"}
		}, true},
		{"enum value added", func(def func(string) map[string]any) {
			slot := def("slot")
			slot["enum"] = append(slot["enum"].([]any), "clock")
		}, true},
		{"bound relaxed", func(def func(string) map[string]any) {
			property(def("phase"), "timeout_ms")["minimum"] = 0.0
		}, true},
		{"pattern removed", func(def func(string) map[string]any) { delete(def("loop_id"), "pattern") }, true},
		{"requirement removed", func(def func(string) map[string]any) { delete(def("closure"), "required") }, true},

		{"property removed", func(def func(string) map[string]any) {
			delete(def("phase")["properties"].(map[string]any), "parallel")
		}, false},
		{"enum value removed", func(def func(string) map[string]any) {
			slot := def("slot")
			slot["enum"] = slot["enum"].([]any)[1:]
		}, false},
		{"enum added", func(def func(string) map[string]any) {
			property(def("telemetry"), "namespace")["enum"] = []any{"a"}
		}, false},
		{"property required", func(def func(string) map[string]any) {
			def("closure")["required"] = []any{"from_phase", "to_phase", "via"}
		}, false},
		{"first requirement", func(def func(string) map[string]any) {
			def("telemetry")["required"] = []any{"namespace"}
		}, false},
		{"type narrowed", func(def func(string) map[string]any) {
			def("optional_reference")["type"] = "string"
		}, false},
		{"type added", func(def func(string) map[string]any) { def("slot")["type"] = "number" }, false},
		{"pattern added", func(def func(string) map[string]any) {
			property(def("telemetry"), "namespace")["pattern"] = "^a"
		}, false},
		{"pattern changed", func(def func(string) map[string]any) { def("loop_id")["pattern"] = "^a" }, false},
		{"bound tightened", func(def func(string) map[string]any) {
			property(def("phase"), "timeout_ms")["maximum"] = 10.0
		}, false},
		{"length bounded", func(def func(string) map[string]any) {
			property(def("phase"), "description")["maxLength"] = 10.0
		}, false},
		{"definition removed", func(def func(string) map[string]any) { clear(def("telemetry")["properties"].(map[string]any)) }, false},
		{"clause added", func(def func(string) map[string]any) {
			def("telemetry")["allOf"] = []any{map[string]any{"maxProperties": 1.0}}
		}, false},
		{"free-form closed", func(def func(string) map[string]any) {
			property(def("cadence"), "params")["additionalProperties"] = false
		}, false},
		{"property of a free-form object", func(def func(string) map[string]any) {
			property(def("cadence"), "params")["properties"] = map[string]any{"x": map[string]any{"type": "string"}}
		}, false},
		{"referred elsewhere", func(def func(string) map[string]any) {
			property(def("connection"), "to_loop")["$ref"] = "#/$defs/slot"
		}, false},
	} {
		before, after := read(t, schemas.LoopManifest), read(t, schemas.LoopManifest)
		c.mutate(func(name string) map[string]any {
			return after["$defs"].(map[string]any)[name].(map[string]any)
		})
		found := narrowings("", before, after)
		if c.grows {
			require.Empty(t, found, c.name)
		} else {
			require.NotEmpty(t, found, c.name)
		}
	}
}

func property(schema map[string]any, name string) map[string]any {
	return schema["properties"].(map[string]any)[name].(map[string]any)
}

// TestPublishedFixturesValidate holds that manifests which were valid when the
// schema was published stay valid.
func TestPublishedFixturesValidate(t *testing.T) {
	spec.Covers(t, "P-16-2", "P-4-2")
	schema := compile(t, schemas.LoopManifest)
	files, err := filepath.Glob("testdata/valid/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 5)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(doc), file)
	}
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := schemas.Read(name)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(name, doc))
	schema, err := c.Compile(name)
	require.NoError(t, err)
	return schema
}

// TestSchemasCompile holds for every schema that its $id is its published place.
func TestSchemasCompile(t *testing.T) {
	names, err := fs.Glob(schemas.FS(), "*.json")
	require.NoError(t, err)
	require.Contains(t, names, schemas.LoopManifest)
	for _, name := range names {
		compile(t, name)
		require.Equal(t, "https://opensentience.org/schemas/"+name, read(t, name)["$id"])
	}
}
