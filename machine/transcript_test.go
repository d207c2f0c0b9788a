package machine_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/token"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// A transcript file has the sections "-- loop --", "-- trigger --",
// "-- results --" and "-- commands --", and before them its title and the ids of
// the requirements that it shows. A line of results is for the first command
// that it names, "<op> [<phase>]:", and every further one for the next such
// command; a command without a line works.
type transcript struct {
	head, loop, trigger, results, commands string
}

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			tr := parse(t, string(text))
			if ids := covered(tr.head); len(ids) > 0 {
				spec.Covers(t, ids...)
			}
			got := play(t, tr)
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(tr.format(got)), 0o644))
				return
			}
			require.Equal(t, tr.commands, got)
		})
	}
}

func parse(t *testing.T, text string) transcript {
	var tr transcript
	section := &tr.head
	names := map[string]*string{"loop": &tr.loop, "trigger": &tr.trigger, "results": &tr.results, "commands": &tr.commands}
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			section = names[strings.TrimSuffix(name, " --\n")]
			require.NotNil(t, section, line)
			continue
		}
		*section += line
	}
	return tr
}

func (tr transcript) format(commands string) string {
	return fmt.Sprintf("%s-- loop --\n%s-- trigger --\n%s-- results --\n%s-- commands --\n%s",
		tr.head, tr.loop, tr.trigger, tr.results, commands)
}

func covered(head string) []string {
	for line := range strings.Lines(head) {
		if ids, ok := strings.CutPrefix(line, "covers "); ok {
			return strings.Fields(ids)
		}
	}
	return nil
}

// play runs the loop of a transcript and writes down what happens.
func play(t *testing.T, tr transcript) string {
	plan := compile(t, tr.loop, machine.Settings{MaxRuns: 3})
	trig, err := trigger(tr.trigger)
	require.NoError(t, err)
	m, err := machine.New(plan, "iteration-1", trig)
	require.NoError(t, err)
	results := strings.Split(strings.TrimSpace(tr.results), "\n")
	at := start
	var log strings.Builder
	for len(m.Next()) > 0 {
		require.Len(t, m.Next(), 1)
		c := m.Next()[0]
		fmt.Fprintf(&log, "%s\n", show(c))
		if m.Status() != machine.Running {
			fmt.Fprintf(&log, "   %s\n", m.Status())
		}
		at = at.Add(time.Second)
		line := pick(&results, c)
		switch reason, cancel := strings.CutPrefix(line, "cancel "); {
		case line == "stop":
			return log.String()
		case cancel:
			require.NoError(t, m.Cancel(reason, at))
		default:
			require.NoError(t, m.Done(c.ID, result(t, worked(plan, c, at), line)))
		}
		if line != "" {
			fmt.Fprintf(&log, "   < %s\n", line)
		}
	}
	require.Empty(t, strings.Join(results, "\n"), "unused results")
	fmt.Fprintf(&log, "%s\n", m.Status())
	return log.String()
}

// pick takes the first line for a command off the list.
func pick(lines *[]string, c machine.Command) string {
	for i, line := range *lines {
		who, what, _ := strings.Cut(line, ": ")
		if who == string(c.Op) || who == string(c.Op)+" "+c.Phase {
			*lines = append((*lines)[:i:i], (*lines)[i+1:]...)
			return what
		}
	}
	return ""
}

// result changes what a working command reports as a line says.
func result(t *testing.T, r machine.Result, line string) machine.Result {
	for _, w := range strings.Fields(line) {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "ok":
		case "fail", "permanent":
			r = machine.Result{Time: r.Time, Failure: &machine.Failure{
				Code: machine.FailureCode(value), Text: value + " happened", Permanent: key == "permanent"}}
		case "to":
			r.Decision = &machine.Decision{To: value}
		case "deliberate":
			r.Decision = &machine.Decision{To: value, Deliberate: true}
		case "value":
			r.Decision.Value = machine.Of(value)
		case "undecided":
			r.Decision = nil
		case "pending":
			within, err := time.ParseDuration(value)
			require.NoError(t, err)
			r.Act.Pending, r.Act.Within = true, within
		case "status":
			r.Act.Status = token.Status(value)
		case "triggered":
			r.Triggers = []bool{true}
		case "resume":
			r.Resume = true
		case "expired":
			r = machine.Result{Time: r.Time, Expired: true}
		default:
			require.Fail(t, "unknown word", w)
		}
	}
	return r
}

// show writes a command as one line.
func show(c machine.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", c.ID, c.Op)
	word := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	if c.Phase != "" {
		word("%s run=%d", c.Phase, c.Run)
	}
	if c.Attempt > 0 {
		word("attempt=%d", c.Attempt)
	}
	if c.Input.Source != "" {
		word("input=%s", c.Input.Source)
		if c.Input.Phase != "" {
			word("of %s", c.Input.Phase)
		}
		if !c.Input.Payload.IsZero() {
			word("%s", asJSON(c.Input.Payload))
		}
		if o := c.Input.Outcome; o != nil {
			word("outcome=%s %s at %s", o.ActionID, o.Status, o.Timestamp.Format(time.TimeOnly))
		}
	}
	if c.Delay > 0 {
		word("%s", c.Delay)
	}
	if c.Await.Token != "" {
		word("token=%s action=%q until=%s", c.Await.Token, c.Await.ActionID, c.Await.Deadline.Format(time.DateTime))
	}
	if c.Failure != nil {
		word("cause=%s %q", c.Failure.Code, c.Failure.Text)
	}
	if c.Record != nil {
		word("%s", asJSON(c.Record))
	}
	if c.Status != "" {
		word("status=%s", c.Status)
	}
	return b.String()
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
