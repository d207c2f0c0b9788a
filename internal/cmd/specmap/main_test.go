package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs writes a small set of inputs: one due area with a must that a test has to
// show, one with a note, one may; and a later area.
func docs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "requirements.tsv", "# comment\n"+
		"Phases\tP-1-1\tmust\t\tOS-010 §1\tOne | two.\n"+
		"Phases\tP-1-2\tmust\texternal\tOS-010 §1\tNoted.\n"+
		"Phases\tP-1-3\tmay\t\tOS-010 §1\tOptional.\n"+
		"Replay\tB-1-1\tmust\t\tOS-011 §1\tNot yet.\n")
	write(t, dir, "spec-map.due", "Phases\n")
	write(t, dir, "spec-map.later.tsv", "P-1-2\tlater: area Replay\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// stream writes test2json records; each line is "action test [id]".
func stream(lines ...string) *bytes.Buffer {
	var b bytes.Buffer
	for _, line := range lines {
		f := append(strings.Fields(line), "", "")
		fmt.Fprintf(&b, "{\"Action\":%q,\"Package\":%q,\"Test\":%q,\"Key\":\"spec\",\"Value\":%q}\n",
			f[0], modulePath+"/machine", f[1], f[2])
	}
	return &b
}

func TestRunWritesThenChecks(t *testing.T) {
	dir := docs(t)
	run1 := []string{"attr TestA P-1-1", "attr TestA C-028", "attr TestA R01", "pass TestA"}
	var log bytes.Buffer

	require.Zero(t, run([]string{"-docs", dir}, stream(run1...), &log), log.String())
	text, err := os.ReadFile(filepath.Join(dir, mapName))
	require.NoError(t, err)
	for _, row := range []string{
		"| Phases | yes | 1 of 2 | 0 of 1 | 1 |",
		"| Replay | later | 0 of 1 | 0 of 0 | 0 |",
		"| P-1-1 | must | One \\| two. | OS-010 §1 | `machine.TestA` |",
		"| P-1-2 | must, external | Noted. | OS-010 §1 | later: area Replay |",
		"| P-1-3 | may | Optional. | OS-010 §1 | unmapped |",
		"## Rulings\n\n| ID | Shown by |\n|---|---|\n| C-028 | `machine.TestA` |",
		"## Engine cases\n\n| ID | Shown by |\n|---|---|\n| R01 | `machine.TestA` |",
	} {
		require.Contains(t, string(text), row)
	}

	require.Zero(t, run([]string{"-docs", dir, "-check"}, stream(run1...), &log), log.String())

	log.Reset()
	more := append([]string{"attr TestB P-1-1", "pass TestB"}, run1...)
	require.Equal(t, 1, run([]string{"-docs", dir, "-check"}, stream(more...), &log))
	require.Contains(t, log.String(), "is stale; regenerate it")
	require.Contains(t, log.String(), "-| P-1-1 | must | One \\| two. | OS-010 §1 | `machine.TestA` |\n"+
		"+| P-1-1 | must | One \\| two. | OS-010 §1 | `machine.TestA`, `machine.TestB` |")
}

func TestRunRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		lines []string
		files map[string]string
		code  int
		want  string
	}{
		"a due must that nothing shows": {
			lines: []string{"pass TestA"}, code: 1, want: "P-1-1 (Phases) is shown by no passing test and not noted: One | two."},
		"an id that does not exist": {
			lines: []string{"attr TestA P-1-1", "attr TestA P-9-9", "pass TestA"}, code: 1,
			want: "machine.TestA declares P-9-9, which requirements.tsv does not list"},
		"a failed test": {
			lines: []string{"attr TestA P-1-1", "pass TestA", "fail TestB"}, code: 1, want: "failed: machine.TestB"},
		"an empty stream":  {code: 1, want: "no test passed on standard input"},
		"an argument":      {args: []string{"x"}, code: 2, want: `unexpected argument "x"`},
		"an unknown flag":  {args: []string{"-x"}, code: 2, want: "flag provided but not defined"},
		"an unknown area":  {files: map[string]string{"spec-map.due": "Phase\n"}, lines: []string{"pass TestA"}, code: 1, want: `spec-map.due:1: area "Phase" has no requirement`},
		"an unknown note":  {files: map[string]string{"spec-map.later.tsv": "P-7-7\tlater\n"}, lines: []string{"pass TestA"}, code: 1, want: "spec-map.later.tsv:1: id P-7-7 is no requirement"},
		"a short row":      {files: map[string]string{"spec-map.later.tsv": "P-1-1\n"}, lines: []string{"pass TestA"}, code: 1, want: "spec-map.later.tsv:1: 1 fields, want 2"},
		"two equal ids":    {files: map[string]string{"requirements.tsv": "A\tP-1-1\tmay\t\ts\tx\nA\tP-1-1\tmay\t\ts\tx\n"}, lines: []string{"pass TestA"}, code: 1, want: "requirements.tsv:2: id P-1-1 stands twice"},
		"an unknown kind":  {files: map[string]string{"requirements.tsv": "A\tP-1-1\tcan\t\ts\tx\n"}, lines: []string{"pass TestA"}, code: 1, want: `kind "can" of P-1-1`},
		"an unknown party": {files: map[string]string{"requirements.tsv": "A\tP-1-1\tmay\tme\ts\tx\n"}, lines: []string{"pass TestA"}, code: 1, want: `party "me" of P-1-1`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := docs(t)
			for file, text := range c.files {
				write(t, dir, file, text)
			}
			var log bytes.Buffer
			require.Equal(t, c.code, run(append([]string{"-docs", dir}, c.args...), stream(c.lines...), &log))
			require.Contains(t, log.String(), c.want)
		})
	}
}

func TestRunReportsMissingMap(t *testing.T) {
	var log bytes.Buffer
	require.Equal(t, 1, run([]string{"-docs", docs(t), "-check"}, stream("attr TestA P-1-1", "pass TestA"), &log))
	require.Contains(t, log.String(), "read the committed map")
}
