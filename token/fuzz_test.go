package token_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/token"
)

// FuzzName holds ParseName against the expression that OS-010 §6.7 prints.
func FuzzName(f *testing.F) {
	spec.Covers(f, "P-6.7-2")
	printed := regexp.MustCompile(`^[a-z][a-z0-9_]*\.v[0-9]+\.[A-Z][A-Za-z0-9]*$`)
	f.Add("scope.v1.SpatialClaim")
	f.Fuzz(func(t *testing.T, s string) {
		n, err := token.ParseName(s)
		if err != nil {
			var fault *token.NameError
			require.ErrorAs(t, err, &fault)
			require.Empty(t, n)
		}
		require.Equal(t, wanted(printed, s), err == nil)
		if err != nil || n.Canonical() {
			return
		}
		vendor, version, tok, ok := n.Vendor()
		require.True(t, ok)
		parts := strings.Split(s, ".")
		require.Equal(t, []string{vendor, tok}, []string{parts[0], parts[2]})
		require.Equal(t, strings.TrimLeft(parts[1][1:], "0"), strings.TrimLeft(strconv.Itoa(version), "0"))
		require.Regexp(t, `^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*\.v[0-9]+$`, n.EventType())
		require.Equal(t, strings.ToLower(tok), strings.ReplaceAll(strings.Split(n.EventType(), ".")[1], "_", ""))
	})
}

// wanted says by other means than the package's whether a name is one.
func wanted(printed *regexp.Regexp, s string) bool {
	if slices.Contains(token.Canonical(2), token.Name(s)) {
		return true
	}
	if !printed.MatchString(s) {
		return false
	}
	parts := strings.Split(s, ".")
	version, err := strconv.ParseUint(parts[1][1:], 10, 64)
	return err == nil && version <= math.MaxInt && !slices.Contains([]string{"pulse", "opensentience", "os"}, parts[0])
}
