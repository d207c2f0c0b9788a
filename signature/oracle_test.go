package signature_test

import (
	"encoding/json"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/signature"
)

// reference is what the package must give byte for byte.
func reference(v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(plain)
}

// requireReference asserts that v is accepted and encoded as the reference
// encodes it.
func requireReference(t require.TestingT, v any) {
	if h, ok := t.(testing.TB); ok {
		h.Helper()
	}
	want, err := reference(v)
	require.NoError(t, err, "reference on %T", v)
	got, err := signature.Canonical(v)
	require.NoError(t, err, "%T", v)
	require.Equal(t, string(want), string(got), "%T", v)
}

// requireRefused asserts that err is an Error with the reason and the path.
func requireRefused(t require.TestingT, err, reason error, path string) {
	if h, ok := t.(testing.TB); ok {
		h.Helper()
	}
	require.ErrorIs(t, err, reason)
	var refused *signature.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, path, refused.Path, err.Error())
}
