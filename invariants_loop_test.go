package pulse_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// The loop on which the invariants are tested: it recalls from a memory with a
// cycle in it, routes by κ, debates, sends, and grades what came of it. Its
// types do not show the topology: κ arrives through the memory handle alone.
type (
	recalled struct {
		IDs  []string
		Seen map[string][]token.TopologyContext // what a test hides in the output
	}
	agreed struct {
		IDs    []string
		Result token.DeliberationResult
	}
	sent struct{ To string }
)

const (
	recall pulse.PhaseID[Ask, recalled]                = "recall"
	pick   pulse.PhaseID[recalled, pulse.Decision]     = "pick"
	debate pulse.PhaseID[recalled, agreed]             = "debate"
	send   pulse.PhaseID[agreed, sent]                 = "send"
	grade  pulse.PhaseID[pulse.Feedback[sent], Lesson] = "grade"
	slow                                               = "slow" // what slowMemory takes its time for
)

// guardedManifest declares the loop. Every phase retries, so that a breach that
// is retried shows.
func guardedManifest(flags map[manifest.Invariant]bool) *manifest.Manifest {
	m := small(func(m *manifest.Manifest) {
		m.LoopID = "test.guarded"
		m.Phases = []manifest.Phase{
			{ID: "recall", Kind: manifest.KindRetrieve},
			{ID: "pick", Kind: manifest.KindRoute, Outputs: manifest.Outputs{To: "phase:debate|phase:send"}},
			{ID: "debate", Kind: manifest.KindCustom, CustomKind: "debate"},
			{ID: "send", Kind: manifest.KindAct},
			{ID: "grade", Kind: manifest.KindLearn},
		}
		m.Closure = manifest.Closure{FromPhase: "grade", ToPhase: "recall"}
		m.Invariants = flags
	})
	for i := range m.Phases {
		m.Phases[i].OnFailure = manifest.FailRetry
	}
	return m
}

// bodies are the functions of the loop's phases.
type bodies struct {
	recall func(context.Context, Ask) (recalled, error)
	pick   func(context.Context, recalled) (pulse.Decision, error)
	debate func(context.Context, recalled) (agreed, error)
	send   func(context.Context, agreed) (pulse.Outcome[sent], error)
	grade  func(context.Context, pulse.Feedback[sent]) (Lesson, error)
}

var approved = token.DeliberationResult{Verdict: token.VerdictApprove, Confidence: 0.66}

// healthyBodies break nothing.
func healthyBodies() bodies {
	memory := pulse.Handles().Memory
	return bodies{
		recall: func(ctx context.Context, _ Ask) (recalled, error) {
			r, err := memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{K: 10})
			var out recalled
			for _, n := range r.Nodes {
				out.IDs = append(out.IDs, n.ID)
			}
			return out, err
		},
		pick: func(_ context.Context, in recalled) (pulse.Decision, error) { return debate.Deliberate(in), nil },
		debate: func(ctx context.Context, in recalled) (agreed, error) {
			_, err := memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: "minutes"}})
			return agreed{in.IDs, approved}, err
		},
		send: func(_ context.Context, in agreed) (pulse.Outcome[sent], error) {
			return pulse.Outcome[sent]{Value: sent{"bob"}, CausalParentIDs: in.IDs}, nil
		},
		grade: func(ctx context.Context, in pulse.Feedback[sent]) (Lesson, error) {
			_, err := memory.LearnFromOutcome(ctx, substrate.LearnFromOutcomeRequest{Signal: in.Signal})
			return Lesson{string(in.Signal.Status)}, err
		},
	}
}

// guarded is a way to run the loop.
type guarded struct {
	flags    map[manifest.Invariant]bool
	bodies   func(*bodies)                           // nil: healthy
	memory   func(substrate.Memory) substrate.Memory // nil: as it is
	manifest func(*manifest.Manifest)
	config   func(*pulse.Config)
	without  string // rule taken out of the engine
}

// flagged gives the flags with only the named ones on.
func flagged(on ...manifest.Invariant) map[manifest.Invariant]bool {
	m := map[manifest.Invariant]bool{}
	for _, i := range on {
		m[i] = true
	}
	return m
}

func (g guarded) loop(t *testing.T) *world {
	t.Helper()
	b := healthyBodies()
	if g.bodies != nil {
		g.bodies(&b)
	}
	m := guardedManifest(g.flags)
	if g.manifest != nil {
		g.manifest(m)
	}
	s := pulsetest.NewSubstrates()
	set := s.Set()
	if g.memory != nil {
		set.Memory = g.memory(set.Memory)
	}
	cfg := pulse.Config{
		Phases: []pulse.Binding{
			pulse.BindFunc(recall, b.recall), pulse.BindFunc(pick, b.pick), pulse.BindFunc(debate, b.debate),
			pulse.BindAct(send, b.send), pulse.BindFunc(grade, b.grade),
		},
		Substrates: set, Actor: "agent-7",
		Settings: machine.Settings{Aliases: manifest.Aliases{"debate": manifest.RoleDeliberate}},
	}
	if g.config != nil {
		g.config(&cfg)
	}
	l, err := pulse.New(m, cfg)
	require.NoError(t, err)
	if g.without != "" {
		pulse.Without(l, g.without)
	}
	w := &world{Substrates: s, loop: l}
	w.seed(t)
	return w
}

// seed stores three beliefs that justify each other in a circle: κ is 1.
func (w *world) seed(t *testing.T) {
	t.Helper()
	o := substrate.Origination{Workspace: "acme"}
	ids := []string{"n1", "n2", "n3"}
	for _, id := range ids {
		_, err := w.Memory.StoreNode(t.Context(), substrate.StoreNodeRequest{Origination: o, Node: substrate.Node{ID: id, Confidence: 0.5}})
		require.NoError(t, err)
	}
	for i, id := range ids {
		_, err := w.Memory.StoreEdge(t.Context(), substrate.StoreEdgeRequest{Origination: o, Src: id, Dst: ids[(i+1)%3], Type: "supports"})
		require.NoError(t, err)
	}
}

// enter runs one iteration, in a bubble of its own.
func (g guarded) enter(t *testing.T) (w *world, it *pulse.Iteration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w = g.loop(t)
		it, err = recall.Enter(t.Context(), w.loop, acme, Ask{"who?"})
		time.Sleep(2 * time.Second) // what a phase left behind lands
	})
	return w, it, err
}

// slowMemory takes a second for what is called slow, whatever its context says,
// and has no transactions. It counts the calls that are in it at once.
type slowMemory struct {
	substrate.Memory
	crowd *crowd // nil: not counted
}

// crowd counts who is somewhere at once.
type crowd struct{ now, most atomic.Int32 }

// enter gives the way out.
func (c *crowd) enter() (leave func()) {
	if c == nil {
		return func() {}
	}
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return func() { c.now.Add(-1) }
}

func (m slowMemory) RetrieveContext(ctx context.Context, r substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
	defer m.crowd.enter()()
	if r.Query == slow {
		time.Sleep(time.Second)
	}
	return m.Memory.RetrieveContext(context.WithoutCancel(ctx), r)
}

func (m slowMemory) StoreNode(ctx context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
	defer m.crowd.enter()()
	if r.Node.Type == slow {
		time.Sleep(time.Second)
	}
	return m.Memory.StoreNode(context.WithoutCancel(ctx), r)
}

// deafMemory forgets the trace id on the receipts of stored nodes.
type deafMemory struct{ substrate.Memory }

func (m deafMemory) StoreNode(ctx context.Context, r substrate.StoreNodeRequest) (substrate.Receipt, error) {
	rc, err := m.Memory.StoreNode(ctx, r)
	rc.TraceID = ""
	return rc, err
}

// unended gives the phases without a transition event.
func (w *world) unended() []string {
	ids := []string{"recall", "pick", "debate", "send", "grade"}
	for _, e := range w.Audit.Events() {
		if e.Class == substrate.ClassTransition {
			ids = slices.DeleteFunc(ids, func(id string) bool { return id == e.PhaseID })
		}
	}
	return ids
}
