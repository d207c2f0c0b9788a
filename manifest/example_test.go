package manifest_test

import (
	"errors"
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
)

// A manifest that has faults gives all of them, each with its place and its cure.
func Example() {
	_, err := manifest.Parse([]byte(`{
  "pulse_protocol_version": "0.1",
  "loop_id": "acme.triage",
  "version": "1.0.0",
  "phases": [
    { "id": "read", "kind": "retrieve", "idempotent": true, "outputs": { "to": "phase:repyl" } },
    { "id": "reply", "kind": "act", "timout_ms": 500 },
    { "id": "score", "kind": "learn" }
  ],
  "closure": { "from_phase": "score", "to_phase": "read" },
  "cadence": { "type": "periodic", "params": { "interval": "fortnightly" } },
  "substrates": { "memory": "m", "policy": "p", "audit": "a" },
  "invariants": {}
}`))
	var issues manifest.Issues
	if errors.As(err, &issues) {
		for _, i := range issues.Errors() {
			fmt.Printf("line %d: %s\n  %s\n", i.Line, i.Pointer, i.Message)
		}
	}
	// Output:
	// line 6: /phases/0/outputs/to
	//   there is no phase "repyl"; did you mean "reply"?
	// line 7: /phases/1/timout_ms
	//   there is no member "timout_ms" here; remove it; did you mean "timeout_ms"?
	// line 11: /cadence/params/interval
	//   interval "fortnightly": write a positive duration such as 90s or 1h30m, or hourly, daily, weekly or monthly
	// line 12: /substrates/auth
	//   the required substrate auth is missing; write a reference that the host resolves
}

// A manifest in code is the same struct as one from a file.
func Example_code() {
	m := &manifest.Manifest{
		ProtocolVersion: "0.1", LoopID: "acme.triage", Version: "1.0.0",
		Phases: []manifest.Phase{
			{ID: "read", Kind: manifest.KindRetrieve, Idempotent: true},
			{ID: "reply", Kind: manifest.KindAct, OnFailure: manifest.FailRetry, MaxRetries: new(5)},
			{ID: "score", Kind: manifest.KindLearn},
		},
		Closure:    manifest.Closure{FromPhase: "score", ToPhase: "read"},
		Cadence:    manifest.Cadence{Type: manifest.CadenceEvent, Params: map[string]any{"trigger": "ticket"}},
		Substrates: manifest.Substrates{Memory: "graph://{ws_id}", Policy: "rules", Audit: "log", Auth: "iam"},
		Invariants: manifest.AllInvariants(),
	}
	if err := manifest.Validate(m, manifest.Options{}).Err(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(m.Successors("read"), m.Phase("reply").Retries(), m.Substrates.Expand("acme").Memory)
	// Output: [reply] 5 graph://acme
}

// A custom kind plays the role that an alias gives it.
func ExampleAliases() {
	m, err := manifest.Reference("prism")
	if err != nil {
		fmt.Println(err)
		return
	}
	aliases := manifest.ReferenceAliases(m.LoopID)
	fmt.Println(len(manifest.Validate(m, manifest.Options{})), "issues without aliases")
	fmt.Println(len(manifest.Validate(m, manifest.Options{Aliases: aliases})), "issues with them")
	fmt.Println(m.Role("compose", aliases))
	// Output:
	// 4 issues without aliases
	// 0 issues with them
	// retrieve
}

func ExampleParseEndpoints() {
	endpoints, err := manifest.ParseEndpoints("external | signal:OutcomeSignal")
	fmt.Println(endpoints, err)
	_, err = manifest.ParseEndpoints("phases:read")
	fmt.Println(err)
	// Output:
	// [external signal:OutcomeSignal] <nil>
	// endpoint "phases:read": write external, phase:<id>, substrate:<slot> or signal:<Token>
}

func ExampleParseTrigger() {
	t, err := manifest.ParseTrigger("phase:route_topology when max_kappa > 0")
	fmt.Printf("%s, %s, %v\n", t.Phase, t.When, err)
	// Output: route_topology, max_kappa > 0, <nil>
}
