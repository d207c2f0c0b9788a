package signature_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/signature"
)

// The samples of RFC 8785 and of its published test data.
func TestRFC8785Documents(t *testing.T) {
	spec.Covers(t, "B-4.5-1", "P-5.6-2", "C-028")
	for _, c := range []struct{ name, text, want string }{
		{
			"§3.2.2 values",
			`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		{
			"§3.2.3 sorting",
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
			  "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\"," +
				"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		},
		{"arrays", `[ 56, { "d": true, "10": null, "1": [ ] } ]`, `[56,{"1":[],"10":null,"d":true}]`},
		{
			"french",
			`{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}`,
			`{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}`,
		},
		{
			"structures",
			`{"1":{"f":{"f":"hi","F":5},"\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}`,
			`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
		},
		{"unicode", `{"Unnormalized Unicode":"A\u030a"}`, "{\"Unnormalized Unicode\":\"A\u030a\"}"},
		{
			"weird",
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\u000a":"Newline","1":"One","\u0080":"Control\u007f","\ud83d\ude02":"Smiley",
			  "\u00f6":"Latin Small Letter O With Diaeresis","\ufb33":"Hebrew Letter Dalet With Dagesh","</script>":"Browser Challenge"}`,
			"{\"\\n\":\"Newline\",\"\\r\":\"Carriage Return\",\"1\":\"One\",\"</script>\":\"Browser Challenge\",\"\u0080\":\"Control\u007f\"," +
				"\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😂\":\"Smiley\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := signature.CanonicalJSON([]byte(c.text))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))

			var decoded any
			require.NoError(t, json.Unmarshal([]byte(c.text), &decoded))
			got, err = signature.Canonical(decoded)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got), "decoded, then encoded directly")
		})
	}
}

// RFC 8785, appendix B.
func TestRFC8785Numbers(t *testing.T) {
	spec.Covers(t, "B-4.5-1", "C-028")
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		got, err := signature.Canonical(math.Float64frombits(bits))
		require.NoError(t, err, "%016x", bits)
		require.Equal(t, want, string(got), "%016x", bits)
	}
	for _, bits := range []uint64{0x7fffffffffffffff, 0x7ff0000000000000, 0xfff0000000000000} {
		_, err := signature.Canonical(math.Float64frombits(bits))
		requireRefused(t, err, signature.ErrNotFinite, "")
	}
}

func TestRawJSONAccepted(t *testing.T) {
	for text, want := range map[string]string{
		" \t\r\n1 \n":                   "1",
		`"\ud83d\uDE00\/\b"`:            `"😀/\b"`,
		`9007199254740991`:              "9007199254740991",
		`-9007199254740991`:             "-9007199254740991",
		`-0.0`:                          "0",
		`1e21`:                          "1e+21",
		`123456789012345678901234E0`:    "1.2345678901234569e+23",
		`1e-400`:                        "0",
		`0.1000000000000000055`:         "0.1",
		`{"a":{"a":1},"A":[{"a":2}]}`:   `{"A":[{"a":2}],"a":{"a":1}}`,
		`{"\ue000":1,"\ud800\udc00":2}`: "{\"\U00010000\":2,\"\ue000\":1}",
		deepJSON(signature.MaxDepth):    deepJSON(signature.MaxDepth),
	} {
		got, err := signature.CanonicalJSON([]byte(text))
		require.NoError(t, err, "%.60s", text)
		require.Equal(t, want, string(got), "%.60s", text)
	}
}

func deepJSON(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func TestRawJSONRefused(t *testing.T) {
	spec.Covers(t, "C-028")
	many := `{"k0":0`
	for i := range 40 {
		many += `,"m` + strconv.Itoa(i) + `":1`
	}
	for _, c := range []struct {
		text   string
		reason error
		path   string
	}{
		{"", signature.ErrSyntax, ""},
		{" ", signature.ErrSyntax, ""},
		{"{} x", signature.ErrSyntax, ""},
		{"\ufeff1", signature.ErrSyntax, ""},
		{"1 /* one */", signature.ErrSyntax, ""},
		{"[1,]", signature.ErrSyntax, "/1"},
		{"[1 2]", signature.ErrSyntax, "/0"},
		{`{"a":1,}`, signature.ErrSyntax, ""},
		{`{"a" 1}`, signature.ErrSyntax, "/a"},
		{`{a:1}`, signature.ErrSyntax, ""},
		{`{"delta":+0.04}`, signature.ErrSyntax, "/delta"},
		{"01", signature.ErrSyntax, ""},
		{"1.", signature.ErrSyntax, ""},
		{".5", signature.ErrSyntax, ""},
		{"1e", signature.ErrSyntax, ""},
		{"-", signature.ErrSyntax, ""},
		{"0x10", signature.ErrSyntax, ""},
		{"1_0", signature.ErrSyntax, ""},
		{"NaN", signature.ErrSyntax, ""},
		{"tru", signature.ErrSyntax, ""},
		{"True", signature.ErrSyntax, ""},
		{"[nul]", signature.ErrSyntax, "/0"},
		{`"a`, signature.ErrSyntax, ""},
		{"\"a\nb\"", signature.ErrSyntax, ""},
		{`"\x41"`, signature.ErrSyntax, ""},
		{`"\u12g4"`, signature.ErrSyntax, ""},
		{`"\u12`, signature.ErrSyntax, ""},
		{`["a`, signature.ErrSyntax, "/0"},
		{`[`, signature.ErrSyntax, "/0"},
		{`{"a":[{"b":tru}]}`, signature.ErrSyntax, "/a/0/b"},
		{`{"a":1,"b":{"c":2,"c":3}}`, signature.ErrDuplicateKey, "/b/c"},
		{`{"a":1,"\u0061":2}`, signature.ErrDuplicateKey, "/a"},
		{many + `,"k0":1}`, signature.ErrDuplicateKey, "/k0"},
		{many + `,"m39":1}`, signature.ErrDuplicateKey, "/m39"},
		{`["\ud800"]`, signature.ErrInvalidUTF8, "/0"},
		{`"\udc00"`, signature.ErrInvalidUTF8, ""},
		{`"\ud800\ud800"`, signature.ErrInvalidUTF8, ""},
		{`"\ud800\n"`, signature.ErrInvalidUTF8, ""},
		{`{"\ud800":1}`, signature.ErrInvalidUTF8, ""},
		{"\"\xff\"", signature.ErrInvalidUTF8, ""},
		{"\"\xed\xa0\x80\"", signature.ErrInvalidUTF8, ""},
		{"\"\xc0\x80\"", signature.ErrInvalidUTF8, ""},
		{`{"id":9007199254740992}`, signature.ErrIntegerRange, "/id"},
		{`[-9007199254740992]`, signature.ErrIntegerRange, "/0"},
		{`9007199254740993.0`, signature.ErrIntegerRange, ""},
		{`1e17`, signature.ErrIntegerRange, ""},
		{`9007199254740991.5`, signature.ErrIntegerRange, ""},
		{`123456789012345678901234`, signature.ErrIntegerRange, ""},
		{`123456789012345678901234.5`, signature.ErrIntegerRange, ""},
		{`{"x":[0,1e400]}`, signature.ErrNotFinite, "/x/1"},
		{`-1e309`, signature.ErrNotFinite, ""},
		{"1" + strings.Repeat("0", 400), signature.ErrNotFinite, ""},
	} {
		_, err := signature.CanonicalJSON([]byte(c.text))
		require.Error(t, err, "%.60q", c.text)
		requireRefused(t, err, c.reason, c.path)

		_, err = signature.Canonical(map[string]json.RawMessage{"raw": json.RawMessage(c.text)})
		requireRefused(t, err, c.reason, "/raw"+c.path)
	}
}
