package manifest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
)

// TestSchemaAgreesOnMutants damages documents at random and demands that the schema
// accepts what the rules accept, and refuses what they refuse for its shape.
func TestSchemaAgreesOnMutants(t *testing.T) {
	spec.Covers(t, "P-4-2", "P-4-33", "C-023")
	schema := loopSchema(t)
	values := []any{
		nil, true, "", "x", "acme.other", "phase:retrieve_ctx", "substrate:memory", "signal:OutcomeSignal|external", "retry", "custom",
		"weekly", "10/min", "0.1.2", json.Number("0"), json.Number("-3"), json.Number("1.5"), json.Number("5.0"), json.Number("1e3"),
		[]any{}, []any{"x"}, map[string]any{}, map[string]any{"x": "y"},
	}
	rapid.Check(t, func(t *rapid.T) {
		text, err := manifest.ReferenceText(rapid.SampledFrom(manifest.References()).Draw(t, "reference"))
		require.NoError(t, err)
		doc, err := unmarshal(text)
		require.NoError(t, err)
		for range rapid.IntRange(1, 3).Draw(t, "mutations") {
			mutate(t, doc, values)
		}
		mutant, err := json.Marshal(doc)
		require.NoError(t, err)
		_, err = manifest.Parse(mutant)
		accepts := schemaAccepts(t, schema, mutant)
		if err == nil {
			require.True(t, accepts, "the rules accept what the schema refuses: %s", mutant)
			return
		}
		var issues manifest.Issues
		require.True(t, errors.As(err, &issues))
		if slices.ContainsFunc(issues.Errors(), shapeFault) {
			require.False(t, accepts, "the schema accepts %s\n%v", mutant, err)
		}
	})
}

func shapeFault(i manifest.Issue) bool {
	return !slices.Contains(beyondSchema, i.Code) && !strings.Contains(i.Message, "expression") &&
		i.Code != manifest.CodeTrigger
}

// mutate replaces, removes or adds one value somewhere in the document.
func mutate(t *rapid.T, doc any, values []any) {
	for {
		var next []any
		switch v := doc.(type) {
		case map[string]any:
			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}
			sort.Strings(names)
			if len(names) == 0 {
				return
			}
			name := rapid.SampledFrom(names).Draw(t, "member")
			switch rapid.IntRange(0, 4).Draw(t, "how") {
			case 0:
				v[name] = rapid.SampledFrom(values).Draw(t, "value")
				return
			case 1:
				delete(v, name)
				return
			case 2:
				v[fmt.Sprintf("%s_%d", name, len(v))] = v[name]
				return
			}
			next = []any{v[name]}
		case []any:
			if len(v) == 0 {
				return
			}
			i := rapid.IntRange(0, len(v)-1).Draw(t, "element")
			if rapid.IntRange(0, 3).Draw(t, "how") == 0 {
				v[i] = rapid.SampledFrom(values).Draw(t, "value")
				return
			}
			next = []any{v[i]}
		default:
			return
		}
		doc = next[0]
	}
}
