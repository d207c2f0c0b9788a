package signature_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"lukechampine.com/blake3"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/signature"
)

type query struct {
	Text string            `json:"query"`
	K    int               `json:"k"`
	Bias float32           `json:"bias,omitempty"`
	Meta map[string]string `json:"meta,omitempty"`
}

// Signatures are written down, sent and compared by other processes and other
// versions of this package: these must never change.
func TestGoldenSignatures(t *testing.T) {
	spec.Covers(t, "P-5.6-1", "P-5.6-2", "C-027", "C-028")
	for _, c := range []struct {
		workspace string
		input     any
		hashed    string
		want      signature.Digest
	}{
		{"", nil, `{"inputs":null,"workspace_id":""}`, "blake3:bd8a9d215308f8d2ee0fed6acde2be9c3cb87d79058f9b2fb941c19580c1f3f3"},
		{"ws-1", struct{}{}, `{"inputs":{},"workspace_id":"ws-1"}`, "blake3:e6ed8b2dd00de5527433efddb7481974696d753852b82e18c7a2aa8333fd99f4"},
		{
			"ws-1", query{Text: "What's <new>?", K: 5, Bias: 0.1, Meta: map[string]string{"😀": "b", "\ufb33": "a", "lang": "de"}},
			"{\"inputs\":{\"bias\":0.1,\"k\":5,\"meta\":{\"lang\":\"de\",\"😀\":\"b\",\"\ufb33\":\"a\"},\"query\":\"What's <new>?\"},\"workspace_id\":\"ws-1\"}", "blake3:c35ca186ab5ce9d754decffff5c11a564f25f2743c644e2f3c6f2c2faf49bed8",
		},
		{
			"ws \"2\"", []any{1.5, true, json.RawMessage(`{"b":1e2,"a":"\u20ac"}`), []byte("bytes")},
			`{"inputs":[1.5,true,{"a":"€","b":100},"Ynl0ZXM="],"workspace_id":"ws \"2\""}`, "blake3:da7a2b362a79eb2d1c9c9da122ad8bb18bcb888f1bdf2c5b88f491b0e61543d7",
		},
		{"ws-1", strings.Repeat("long ", 1000), `{"inputs":"` + strings.Repeat("long ", 1000) + `","workspace_id":"ws-1"}`, "blake3:36a31e7e07a737c23611667feb00255940551f73b93f9ad419d734b9a71fae43"},
	} {
		got, err := signature.Of(c.workspace, c.input)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%.60s", c.hashed)
		require.Equal(t, signature.BLAKE3([]byte(c.hashed)), got, "%.60s", c.hashed)
		require.Equal(t, "blake3", got.Algorithm())
	}
}

func TestSignatureDependsOnInputAndWorkspaceOnly(t *testing.T) {
	spec.Covers(t, "P-5.6-1", "C-027")
	of := func(workspace string, input any) signature.Digest {
		t.Helper()
		d, err := signature.Of(workspace, input)
		require.NoError(t, err)
		return d
	}
	q := query{Text: "x", K: 1, Meta: map[string]string{}}
	first := of("ws", q)
	require.Equal(t, first, of("ws", q))
	require.Equal(t, first, of("ws", &q), "by pointer")
	require.Equal(t, first, of("ws", map[string]any{"query": "x", "k": 1.0}), "decoded")
	require.Equal(t, first, of("ws", json.RawMessage(` {"query":"\u0078","k":1.0} `)), "raw")
	require.NotEqual(t, first, of("ws2", q))
	require.NotEqual(t, first, of("", q))
	require.NotEqual(t, first, of("ws", query{Text: "x", K: 2}))
	require.NotEqual(t, of(`a","x":"`, 1), of("a", 1), "the workspace is data, not JSON")
}

// J02: two large integers that are one double must not get one signature.
func TestLargeIntegersDoNotCollide(t *testing.T) {
	spec.Covers(t, "J02", "C-028")
	const a, b = uint64(616581622363398142), uint64(616581622363398143)
	plainA, err := reference(struct{ ID uint64 }{a})
	require.NoError(t, err)
	plainB, err := reference(struct{ ID uint64 }{b})
	require.NoError(t, err)
	require.Equal(t, plainA, plainB, "the reference merges them: that is the case")

	for _, v := range []uint64{a, b} {
		for _, input := range []any{
			struct{ ID uint64 }{v},
			&struct{ ID int64 }{int64(v)},
			map[string]uint64{"ID": v},
			struct{ ID any }{json.Number(fmt.Sprint(v))},
			struct{ ID json.RawMessage }{json.RawMessage(fmt.Sprint(v))},
			struct{ ID json.RawMessage }{json.RawMessage(fmt.Sprint(v) + ".0")},
		} {
			_, err := signature.Of("ws", input)
			requireRefused(t, err, signature.ErrIntegerRange, "/ID")
		}
	}
	type quoted struct {
		ID uint64 `json:",string"`
	}
	sigA, err := signature.Of("ws", quoted{a})
	require.NoError(t, err)
	sigB, err := signature.Of("ws", quoted{b})
	require.NoError(t, err)
	require.NotEqual(t, sigA, sigB, "the cure that the error names")
}

func TestOfJSON(t *testing.T) {
	spec.Covers(t, "P-5.6-1", "P-5.6-2")
	for _, input := range []any{nil, oneTicket(1), fullQueue(), strings.Repeat("x", 100_000)} {
		canonical, err := signature.Canonical(input)
		require.NoError(t, err)
		for _, workspace := range []string{"", "ws", "größe \"<😀>\"\n"} {
			want, err := signature.Of(workspace, input)
			require.NoError(t, err)
			require.Equal(t, want, signature.OfJSON(workspace, canonical))
		}
	}
	bad := []string{"a\xff", "a\xfe", "a\ufffd", "a"}
	seen := map[signature.Digest]string{}
	for _, workspace := range bad {
		d := signature.OfJSON(workspace, []byte("1"))
		require.NotContains(t, seen, d, "%q", workspace)
		seen[d] = workspace
	}
	_, err := signature.Of(bad[0], 1)
	requireRefused(t, err, signature.ErrInvalidUTF8, "workspace_id")
}

func TestEncoder(t *testing.T) {
	for _, v := range []any{oneTicket(1), ptr(oneTicket(2)), fullQueue(), 7, "x", map[string]any{"a": 1}, PointerJSON{1}, &PointerJSON{1}} {
		e, err := signature.EncoderFor(reflect.TypeOf(v))
		require.NoError(t, err)
		for _, v := range []any{v, "of another type", nil} {
			want, err := signature.Append([]byte("x"), v)
			require.NoError(t, err)
			got, err := e.Append([]byte("x"), v)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
			sig, err := e.Of("ws", v)
			require.NoError(t, err)
			require.Equal(t, signature.OfJSON("ws", want[1:]), sig)
		}
	}
	e, err := signature.EncoderFor(reflect.TypeFor[any]())
	require.NoError(t, err)
	_, err = e.Append(nil, uint64(1<<60))
	requireRefused(t, err, signature.ErrIntegerRange, "")
	_, err = e.Of("ws", []any{1 << 60})
	requireRefused(t, err, signature.ErrIntegerRange, "/0")
}

// The published vectors: bytes 0 to 250, repeated.
func TestBLAKE3Vectors(t *testing.T) {
	spec.Covers(t, "P-5.6-2", "C-028")
	input := make([]byte, 40_000)
	for i := range input {
		input[i] = byte(i % 251)
	}
	for n, want := range map[int]string{
		0:     "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
		1:     "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
		1024:  "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
		1025:  "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
		2048:  "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a",
		2049:  "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030",
		3072:  "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2",
		4096:  "015094013f57a5277b59d8475c0501042c0b642e531b0a1c8f58d2163229e969",
		31744: "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47",
	} {
		require.Equal(t, "blake3:"+want, string(signature.BLAKE3(input[:n])), "%d bytes", n)
	}
	for n := 0; n < 20_000; n += 61 {
		require.Equal(t, fmt.Sprintf("blake3:%x", blake3.Sum256(input[:n])), string(signature.BLAKE3(input[:n])), "%d bytes", n)
	}
}

func TestSHA256Vectors(t *testing.T) {
	spec.Covers(t, "C-028")
	require.Equal(t, signature.Digest("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), signature.SHA256([]byte("abc")))
	require.Equal(t, signature.Digest("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), signature.SHA256(nil))
}

func TestParseDigest(t *testing.T) {
	spec.Covers(t, "C-028")
	for _, d := range []signature.Digest{signature.BLAKE3(nil), signature.SHA256(nil)} {
		got, err := signature.ParseDigest(string(d))
		require.NoError(t, err)
		require.Equal(t, d, got)
		name, _, _ := strings.Cut(string(d), ":")
		require.Equal(t, name, d.Algorithm())
	}
	hex64 := strings.Repeat("0a", 32)
	for _, s := range []string{"", "blake3:", hex64, "md5:" + hex64, "blake3:" + hex64 + "0", "blake3:" + hex64[1:], "BLAKE3:" + hex64,
		"blake3:" + strings.ToUpper(hex64), "blake3:" + hex64[:63] + "g", " blake3:" + hex64[1:], "sha256-" + hex64, strings.Repeat("x", 1<<20)} {
		_, err := signature.ParseDigest(s)
		require.ErrorIs(t, err, signature.ErrDigest, "%.80q", s)
		require.Less(t, len(err.Error()), 400)
		require.False(t, signature.Digest(s).Valid())
		require.Empty(t, signature.Digest(s).Algorithm())
	}
}

func TestConcurrentUse(t *testing.T) {
	// Types local to the test, so that their plans are made in the race.
	type leaf struct{ A, B int }
	type tree struct {
		Leaf  leaf
		Below []*tree `json:"below,omitempty"`
		Any   map[string]any
	}
	value := &tree{Below: []*tree{{}, {Any: map[string]any{"leaf": leaf{1, 2}, "q": fullQueue()}}}}
	want, err := reference(value)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				got, err := signature.Canonical(value)
				if err != nil || string(got) != string(want) {
					t.Errorf("got %s, %v", got, err)
					return
				}
				if _, err := signature.Of("ws", map[string]any{"deep": []any{map[string]any{"bad": uint64(1 << 60)}}}); err == nil {
					t.Error("want a refusal")
					return
				}
				if d, _ := signature.Of("ws", value); d != signature.OfJSON("ws", want) {
					t.Errorf("got %s", d)
					return
				}
			}
		})
	}
	wg.Wait()
}
