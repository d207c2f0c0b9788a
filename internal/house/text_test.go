package house

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file of more lines holds more than one idea.
const maxLines = 600

func length(files []file) []string {
	var out []string
	for _, f := range files {
		if n := strings.Count(f.text, "\n"); path.Ext(f.path) == ".go" && n >= maxLines {
			out = append(out, fmt.Sprintf("%s has %d lines; split it by idea", f.path, n))
		}
	}
	return out
}

// banned are words that have no place in a repository: unfinished work, the
// machine it was written on, and how the writing was organised. The words are
// put together from pieces so that this file does not hold them.
var banned = regexp.MustCompile(strings.Join([]string{
	`\b(` + "TO" + "DO|FIX" + "ME|X" + `XX)\b`,
	`(^|[^\w.])/` + `(work|home|Users)/\w`,
	`\.\./` + "shared" + `/`,
	`\b(this|previous|earlier|last|next|another) ` + "sess" + `ion\b`,
	`(?i)\b(` + "help" + "er agent|sub" + "agent|co-author" + "ed-by|generated" + ` (by|with) (an )?(ai|llm)\b)`,
	`\b(proxy|sum)\.` + `golang\.org\b|\b` + "go" + `proxy\.\w`,
}, "|"))

func words(files []file) []string {
	var out []string
	for _, f := range files {
		n := 0
		for line := range strings.Lines(f.text) {
			n++
			if hit := banned.FindString(line); hit != "" {
				out = append(out, fmt.Sprintf("%s:%d: %q has no place here", f.path, n, strings.TrimSpace(hit)))
			}
		}
	}
	return out
}

func TestFilesAreShort(t *testing.T) { complain(t, length(texts(t))) }

func TestTextsAreClean(t *testing.T) { complain(t, words(texts(t))) }

func TestTextRules(t *testing.T) {
	require.Empty(t, words([]file{{"a.md", "the session type of a loop, in context.\nsee ../shared.go, a/work/b\n"}}))
	for _, bad := range []string{
		"// TO" + "DO: later", "a /wo" + "rk/main path", "as the previous sess" + "ion did", "Co-Author" + "ed-By: x", "https://proxy." + "golang.org",
	} {
		require.Len(t, words([]file{{"a.go", "fine\n" + bad + "\n"}}), 1, bad)
	}
	require.Empty(t, length([]file{{"a.go", strings.Repeat("\n", maxLines-1)}, {"a.md", strings.Repeat("\n", 2*maxLines)}}))
	require.Equal(t, []string{"a.go has 600 lines; split it by idea"}, length([]file{{"a.go", strings.Repeat("\n", maxLines)}}))
}
