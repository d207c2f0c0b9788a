package manifest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/schemas"
)

func loopSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := schemas.Read(schemas.LoopManifest)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(schemas.LoopManifest, doc))
	schema, err := c.Compile(schemas.LoopManifest)
	require.NoError(t, err)
	return schema
}

func schemaAccepts(t require.TestingT, schema *jsonschema.Schema, text []byte) bool {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return schema.Validate(doc) == nil
}

// beyondSchema are the codes of faults that relate members to each other, so that a
// schema cannot see them.
var beyondSchema = []manifest.Code{
	manifest.CodeDuplicateID, manifest.CodeUnknownPhase, manifest.CodeUnknownSuccessor, manifest.CodeInvariantOff,
	manifest.CodeExpression, manifest.CodeSelfNesting, manifest.CodeDelivery,
	manifest.CodeMissingRole, manifest.CodeClosureRole, manifest.CodeLearnOrder,
}

// TestSchemaAgrees: on every fixture of protocol 0.1 that is JSON, the published
// schema and the rules in Go say the same. A fault that a schema cannot see leaves
// the document to the schema's liking.
func TestSchemaAgrees(t *testing.T) {
	spec.Covers(t, "P-4-2", "P-4-33", "P-16-2", "C-023", "C-024")
	schema := loopSchema(t)
	compared := 0
	for _, f := range slices.Concat(fixtures(t, "invalid"), fixtures(t, "findings")) {
		text := []byte(f.document)
		var head struct {
			Version any `json:"pulse_protocol_version"`
		}
		if strings.HasSuffix(f.file, ".yaml.txt") || !json.Valid(text) {
			continue
		}
		_, err := f.parse()
		_ = json.Unmarshal(text, &head)                       // an array is no manifest to either
		if head.Version == "0.2" || head.Version == "0.1.9" { // other schemas' business
			continue
		}
		var issues manifest.Issues
		errors.As(err, &issues)
		visible := slices.ContainsFunc(issues.Errors(), func(i manifest.Issue) bool {
			trigger := i.Code == manifest.CodeTrigger && strings.Contains(i.Message, "expression")
			onlyText := i.Code == manifest.CodeDuplicateMember || i.Code == manifest.CodeEncoding || i.Code == manifest.CodeTooDeep
			return !slices.Contains(beyondSchema, i.Code) && !trigger && !onlyText
		})
		require.Equal(t, !visible, schemaAccepts(t, schema, text), "schema accepts %s, where the rules say: %v", f.file, err)
		compared++
	}
	require.Greater(t, compared, 70)
}

// TestSchemaAcceptsReferences: and so do the rules.
func TestSchemaAcceptsReferences(t *testing.T) {
	spec.Covers(t, "P-4-2", "P-15-1", "C-010")
	schema := loopSchema(t)
	for _, name := range manifest.References() {
		text, err := manifest.ReferenceText(name)
		require.NoError(t, err)
		require.True(t, schemaAccepts(t, schema, text), name)
	}
}
