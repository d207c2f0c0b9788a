package machine_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
)

// A host asks what may happen next, does it, and reports. Here it stops halfway,
// and another one goes on from what was written down.
func Example() {
	plan, err := machine.Compile(&manifest.Manifest{
		LoopID: "acme.triage", Version: "1.0.0",
		Phases: []manifest.Phase{
			{ID: "read", Kind: manifest.KindRetrieve, OnFailure: manifest.FailRetry},
			{ID: "reply", Kind: manifest.KindAct},
		},
		Closure: manifest.Closure{FromPhase: "reply", ToPhase: "read"},
	}, machine.Settings{Backoff: machine.Backoff{NoJitter: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := machine.New(plan, "iteration-1", machine.Trigger{Phase: "read", Payload: machine.Of("ticket 7")})
	if err != nil {
		fmt.Println(err)
		return
	}
	for len(m.Next()) > 0 {
		c := m.Next()[0]
		fmt.Println(c.ID, c.Op, c.Phase, c.Delay)
		if err := m.Done(c.ID, perform(c)); err != nil {
			fmt.Println(err)
			return
		}
		if m, err = moved(plan, m); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(m.Status())
	// Output:
	// 1 begin  0s
	// 2 run_phase read 0s
	// 3 sleep read 100ms
	// 4 run_phase read 0s
	// 5 commit read 0s
	// 6 run_phase reply 0s
	// 7 commit reply 0s
	// 8 end  0s
	// completed
}

// perform stands for the work of a host. The first attempt to read fails.
func perform(c machine.Command) machine.Result {
	r := machine.Result{Time: time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)}
	switch {
	case c.Op != machine.OpRunPhase:
	case c.Phase == "read" && c.Attempt == 1:
		r.Failure = &machine.Failure{Code: machine.CodeError, Text: "the desk is closed"}
	case c.Phase == "read":
		r.Output = machine.Of("reset the password")
	case c.Phase == "reply":
		r.Output, r.Act = machine.Of("sent"), &machine.Act{ActionID: "mail-1", NoParents: true}
	}
	return r
}

// moved continues a machine from its JSON form, as another process would.
func moved(plan *machine.Plan, m *machine.Machine) (*machine.Machine, error) {
	text, err := json.Marshal(m.Snapshot())
	if err != nil {
		return nil, err
	}
	var s machine.Snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return machine.Restore(plan, s)
}
