// Command hello is the program of the README.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
)

const (
	Read  pulse.PhaseID[string, int]                  = "read"
	Reply pulse.PhaseID[int, string]                  = "reply"
	Score pulse.PhaseID[pulse.Feedback[string], bool] = "score"
)

const declared = `{"pulse_protocol_version": "0.1", "loop_id": "hello.loop", "version": "1.0.0",
 "phases": [{"id": "read", "kind": "retrieve"}, {"id": "reply", "kind": "act", "on_failure": "retry"}, {"id": "score", "kind": "learn"}],
 "closure": {"from_phase": "score", "to_phase": "read"}, "cadence": {"type": "manual"}, "substrates": {"memory": "m", "policy": "p", "audit": "a", "auth": "i"}, "invariants": {"append_only_audit": true}}`

func main() {
	m, err := manifest.Parse([]byte(declared)) // every fault at once, with line and column
	if err != nil {
		log.Fatal(err)
	}
	loop := pulse.Must(pulse.New(m, pulse.Config{Actor: "agent-7", Substrates: pulsetest.NewSubstrates().Set(), Phases: []pulse.Binding{
		pulse.BindFunc(Read, func(_ context.Context, question string) (int, error) { return len(question), nil }),
		pulse.BindFunc(Reply, func(_ context.Context, n int) (string, error) { return fmt.Sprintf("%d letters", n), nil }),
		pulse.BindFunc(Score, func(_ context.Context, f pulse.Feedback[string]) (bool, error) {
			return f.Signal.Status == "success", nil
		}),
	}}))
	it, err := Read.Enter(context.Background(), loop, pulse.Trigger{Workspace: "acme"}, "how long?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(Reply.Output(it))
}
