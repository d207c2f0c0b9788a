package signature_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/signature"
)

// reasons are all that an input of a fuzz target can be refused for.
var reasons = []error{
	signature.ErrIntegerRange, signature.ErrNotFinite, signature.ErrInvalidUTF8, signature.ErrDuplicateKey,
	signature.ErrDepth, signature.ErrSize, signature.ErrSyntax,
}

func requireReason(t *testing.T, err error) {
	t.Helper()
	var refused *signature.Error
	require.ErrorAs(t, err, &refused)
	for _, reason := range reasons {
		if errors.Is(err, reason) {
			return
		}
	}
	require.NoError(t, err, "refused for no reason that is documented")
}

// Raw JSON is never accepted unless it is valid; what is accepted is as the
// reference has it, and is its own canonical form.
func FuzzCanonicalJSON(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := signature.CanonicalJSON(raw)
		if err != nil {
			requireReason(t, err)
			if errors.Is(err, signature.ErrSyntax) {
				require.False(t, json.Valid(raw), "%v", err)
			}
			return
		}
		require.True(t, json.Valid(raw))
		want, err := jcs.Transform(raw)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		again, err := signature.CanonicalJSON(got)
		require.NoError(t, err, "the canonical form is refused")
		require.Equal(t, string(got), string(again))

		// The direct encoder agrees on what the text means.
		var decoded any
		require.NoError(t, json.Unmarshal(raw, &decoded))
		direct, err := signature.Canonical(decoded)
		require.NoError(t, err)
		require.Equal(t, string(got), string(direct))
	})
}

// rich has a member of every sort.
type rich struct {
	Tags
	Omit   *Omit  `json:"omit"`
	Quoted Quoted `json:"quoted"`
	Shadow
	Any    any                        `json:"any"`
	List   []any                      `json:"list"`
	Map    map[string]any             `json:"map"`
	Named  map[Str]*rich              `json:"named"`
	Points map[int]float64            `json:"points"`
	Raw    json.RawMessage            `json:"raw"`
	Raws   map[string]json.RawMessage `json:"raws"`
	Number json.Number                `json:"number"`
	Small  float32                    `json:"small"`
	Bytes  []byte                     `json:"bytes"`
	Time   time.Time                  `json:"time"`
	Text   string                     `json:"text"`
	Ints   []int64                    `json:"ints"`
	Uint   uint64                     `json:"uint,omitempty"`
	Value  ValueJSON                  `json:"value"`
	Loop   Loop                       `json:"loop"`
	Tree   Tree                       `json:"tree"`
}

// Values made of arbitrary bytes, in three ways, are as the reference has them
// or are refused for a reason that their bytes show.
func FuzzValue(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		var r rich
		if json.Unmarshal(data, &r) == nil {
			requireSound(t, r)
			requireSound(t, &r)
		}
		var decoded any
		if json.Unmarshal(data, &decoded) == nil {
			requireSound(t, decoded)
		}
		var word [8]byte
		copy(word[:], data)
		bits := binary.LittleEndian.Uint64(word[:])
		text := string(data)
		for _, v := range []any{
			text, Str(text), data, Raw(text), json.Number(text), ValueText{text}, []any{text, map[string]any{text: text}},
			map[Str]int{Str(text): 1}, math.Float64frombits(bits), math.Float32frombits(uint32(bits)), int64(bits), bits, time.Duration(bits),
			Quoted{I: int64(bits), U: bits, S: text, Str: Str(text)},
		} {
			requireSound(t, v)
		}
	})
}

// requireSound asserts that v is refused for a documented reason, or encoded
// as the reference encodes it.
func requireSound(t *testing.T, v any) {
	t.Helper()
	got, err := signature.Canonical(v)
	if err != nil {
		requireReason(t, err)
		if plain, err := json.Marshal(v); err == nil {
			require.True(t, showsReason(plain), "%T: refused, but %s shows no reason", v, plain)
		}
		return
	}
	want, err := reference(v)
	require.NoError(t, err, "%T", v)
	require.Equal(t, string(want), string(got), "%T", v)
}

// showsReason reports whether the output of encoding/json has a large integer
// or replaced or broken text, or cannot be read again.
func showsReason(plain []byte) bool {
	if reasonIn(plain) != nil {
		return true
	}
	_, err := signature.CanonicalJSON(plain)
	return err != nil
}
