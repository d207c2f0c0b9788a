package pulse_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// breach is a way to break one invariant in a loop that is otherwise sound.
type breach struct {
	invariant manifest.Invariant
	covers    []string
	phase     string // that breaks it
	says      string // part of the violation
	bodies    func(*bodies)
	memory    func(substrate.Memory) substrate.Memory
}

func breaches() []breach {
	memory := pulse.Handles().Memory
	slowly := func(m substrate.Memory) substrate.Memory { return slowMemory{Memory: m} }
	return []breach{
		{
			invariant: manifest.PhaseAtomicity, covers: []string{"P-7.1-1", "C-048"},
			phase: "recall", says: "memory.retrieve_context has not returned although the phase has", memory: slowly,
			bodies: func(b *bodies) {
				b.recall = func(ctx context.Context, _ Ask) (recalled, error) {
					go memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{Query: slow}) //nolint:errcheck // left behind on purpose
					synctest.Wait()
					return recalled{}, nil
				}
			},
		},
		{
			invariant: manifest.FeedbackImmutability, covers: []string{"P-7.2-1", "P-7.2-2", "C-091"},
			phase: "grade", says: "memory.consolidate was attempted, which rewrites history",
			bodies: func(b *bodies) {
				b.grade = func(ctx context.Context, _ pulse.Feedback[sent]) (Lesson, error) {
					if _, err := memory.Consolidate(ctx, substrate.ConsolidateRequest{}); err == nil {
						return Lesson{}, errors.New("it was not refused")
					}
					return Lesson{}, nil
				}
			},
		},
		{
			invariant: manifest.AppendOnlyAudit, covers: []string{"P-7.3-2", "C-090"},
			phase: "debate", says: "memory.store_node has not returned, so no event records it", memory: slowly,
			bodies: func(b *bodies) {
				b.debate = func(ctx context.Context, in recalled) (agreed, error) {
					go memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: slow}}) //nolint:errcheck // left behind on purpose
					synctest.Wait()
					return agreed{in.IDs, approved}, nil
				}
			},
		},
		{
			invariant: manifest.KappaRouting, covers: []string{"P-7.4-1", "C-083"},
			phase: "pick", says: "max_kappa is 1 and the decision is not to deliberate",
			bodies: func(b *bodies) {
				b.pick = func(_ context.Context, in recalled) (pulse.Decision, error) {
					return send.Goto(agreed{IDs: in.IDs}), nil
				}
			},
		},
		{
			invariant: manifest.QuorumBeforeCommit, covers: []string{"P-7.5-1", "C-077", "C-084"},
			phase: "send", says: `the latest deliberation gives "approve" with confidence 0.65, the quorum is 0.66`,
			bodies: func(b *bodies) { b.debate = concluding(token.VerdictApprove, 0.65) },
		},
		{
			invariant: manifest.OutcomeGrounding, covers: []string{"P-7.6-1", "C-092"},
			phase: "send", says: "the act names no causal parents",
			bodies: func(b *bodies) {
				b.send = func(context.Context, agreed) (pulse.Outcome[sent], error) {
					return pulse.Outcome[sent]{Value: sent{"bob"}}, nil
				}
			},
		},
		{
			invariant: manifest.TraceIDPropagation, covers: []string{"P-7.7-1", "C-089"},
			phase: "debate", says: `memory.store_node answered with trace id ""`,
			memory: func(m substrate.Memory) substrate.Memory { return deafMemory{m} },
		},
	}
}

// concluding gives a debate with a result.
func concluding(v token.Verdict, confidence float64) func(context.Context, recalled) (agreed, error) {
	return func(_ context.Context, in recalled) (agreed, error) {
		return agreed{in.IDs, token.DeliberationResult{Verdict: v, Confidence: confidence}}, nil
	}
}

// Each invariant is broken in a loop that sets its flag, in the same loop with
// the flag off, and in the same loop on an engine without the rule. The last two
// let it pass, so the rule, and nothing else, is what holds the invariant.
func TestInvariants(t *testing.T) {
	for _, b := range breaches() {
		broken := guarded{flags: flagged(b.invariant), bodies: b.bodies, memory: b.memory}
		t.Run(string(b.invariant), func(t *testing.T) {
			spec.Covers(t, "P-7-1", "C-011")
			spec.Covers(t, b.covers...)
			t.Run("healthy", func(t *testing.T) { passes(t, guarded{flags: manifest.AllInvariants()}) })
			t.Run("broken", func(t *testing.T) { b.fails(t, broken) })
			t.Run("flag off", func(t *testing.T) {
				broken.flags = flagged()
				passes(t, broken)
			})
			t.Run("twin", func(t *testing.T) {
				broken.without = string(b.invariant)
				broken.flags = flagged(b.invariant)
				passes(t, broken)
				passes(t, guarded{flags: manifest.AllInvariants(), without: broken.without})
			})
		})
	}
}

// passes runs a loop to its end, with an audit that is whole.
func passes(t *testing.T, g guarded) {
	t.Helper()
	w, it, err := g.enter(t)
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
	w.auditEQ(t)
	require.Zero(t, w.Memory.Count(substrate.OpConsolidate), "OS-010 §5 holds without a flag: what is refused does not happen")
	require.Equal(t, len(w.Memory.Nodes("acme"))-3, w.count("debate", "memory.store_node"), "an event for each node stored")
}

// fails runs a loop that must break the invariant, once.
func (b breach) fails(t *testing.T, g guarded) {
	t.Helper()
	w, it, err := g.enter(t)
	violated(t, w, it, err, string(b.invariant), b.phase)
	require.ErrorContains(t, err, b.says)
}

// violated holds an iteration that a breach must have ended: the error names the
// invariant and the phase, nothing was tried again, and nothing came after.
func violated(t *testing.T, w *world, it *pulse.Iteration, err error, rule, phase string) {
	t.Helper()
	var v *invariant.Violation
	require.ErrorAs(t, err, &v)
	require.Equal(t, rule, v.Invariant)
	var pe *pulse.PhaseError
	require.ErrorAs(t, err, &pe)
	require.Equal(t, phase, pe.Phase)
	require.Equal(t, 1, pe.Attempt, "a breach is not retried")
	require.ErrorIs(t, err, pulse.ErrAborted)
	require.Equal(t, pulse.Aborted, it.Status)
	require.Equal(t, 1, w.count(phase, "phase.attempt_failed"))
	require.Zero(t, w.count(phase, "phase.retry"))
	require.Equal(t, 1, w.count(phase, "phase.failed"), "one transition says so")
	ids := []string{"recall", "pick", "debate", "send", "grade"}
	for len(ids) > 0 && ids[0] != phase {
		ids = ids[1:]
	}
	require.NotContains(t, w.unended(), phase)
	require.Subset(t, w.unended(), ids[1:], "no phase came after")
	w.auditEQ(t)
}

// An attempt that begins while a call of the one before it is under way is a
// breach; without the flag it waits for its turn.
func TestPhaseAtomicityBetweenAttempts(t *testing.T) {
	spec.Covers(t, "P-7.1-1", "P-7.1-4", "C-048")
	memory := pulse.Handles().Memory
	for _, on := range []bool{true, false} {
		var inside crowd
		g := guarded{
			memory:   func(m substrate.Memory) substrate.Memory { return slowMemory{m, &inside} },
			manifest: func(m *manifest.Manifest) { m.Phase("debate").TimeoutMS = 900 },
			config: func(c *pulse.Config) {
				c.Settings.Backoff = machine.Backoff{Base: 10 * time.Millisecond, Factor: 1, NoJitter: true}
			},
			bodies: func(b *bodies) {
				b.debate = func(ctx context.Context, in recalled) (agreed, error) {
					c, err := pulse.CallFrom(ctx)
					if err != nil {
						return agreed{}, err
					}
					if c.Attempt() == 1 {
						go memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: substrate.Node{Type: slow}}) //nolint:errcheck // left behind on purpose
						<-ctx.Done()
						return agreed{}, ctx.Err()
					}
					_, err = memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{K: 1})
					return agreed{in.IDs, approved}, err
				}
			},
		}
		if g.flags = flagged(); on {
			g.flags = flagged(manifest.PhaseAtomicity)
		}
		w, it, err := g.enter(t)
		require.EqualValues(t, 1, inside.most.Load(), "never two calls at once")
		if !on {
			require.NoError(t, err)
			require.Equal(t, pulse.Completed, it.Status)
			continue
		}
		var v *invariant.Violation
		require.ErrorAs(t, err, &v)
		require.Equal(t, string(manifest.PhaseAtomicity), v.Invariant)
		require.ErrorContains(t, err, "a call that an earlier attempt or phase made on memory has not returned")
		require.Equal(t, 2, w.count("debate", "phase.attempt_failed"), "the timeout, then the breach")
		require.Equal(t, 1, w.count("debate", "phase.retry"))
	}
}

// An outcome is learned under the parents that it came with.
func TestAttributionIsAppendOnly(t *testing.T) {
	spec.Covers(t, "P-7.2-3")
	memory := pulse.Handles().Memory
	other := func(b *bodies) {
		b.grade = func(ctx context.Context, in pulse.Feedback[sent]) (Lesson, error) {
			in.Signal.CausalParentIDs = []string{"n1"}
			_, err := memory.LearnFromOutcome(ctx, substrate.LearnFromOutcomeRequest{Signal: in.Signal})
			return Lesson{}, err
		}
	}
	w, it, err := guarded{flags: flagged(manifest.FeedbackImmutability), bodies: other}.enter(t)
	violated(t, w, it, err, string(manifest.FeedbackImmutability), "grade")
	require.Empty(t, w.Memory.Attributions("acme"), "what was learned is rolled back")

	w, _, err = guarded{flags: flagged(manifest.FeedbackImmutability)}.enter(t)
	require.NoError(t, err)
	first := w.Memory.Attributions("acme")
	require.Len(t, first, 1)
	require.ElementsMatch(t, []string{"n1", "n2", "n3"}, first[0].CausalParentIDs)
}

// κ counts as received however it came.
func TestKappaReachesTheRule(t *testing.T) {
	spec.Covers(t, "P-7.4-1", "C-083")
	memory := pulse.Handles().Memory
	fast := func(_ context.Context, in recalled) (pulse.Decision, error) {
		return send.Goto(agreed{IDs: in.IDs}), nil
	}
	blind := func(context.Context, Ask) (recalled, error) { return recalled{}, nil }
	for name, edit := range map[string]func(*bodies){
		"retrieve_context": func(b *bodies) { b.pick = fast },
		"topology_analyze of the route itself": func(b *bodies) {
			b.recall = blind
			b.pick = func(ctx context.Context, in recalled) (pulse.Decision, error) {
				if _, err := memory.TopologyAnalyze(ctx, substrate.TopologyAnalyzeRequest{}); err != nil {
					return pulse.Decision{}, err
				}
				return fast(ctx, in)
			}
		},
		"a value in an output": func(b *bodies) {
			b.recall = func(context.Context, Ask) (recalled, error) {
				return recalled{Seen: map[string][]token.TopologyContext{"all": {{MaxKappa: 1, Routing: token.RoutingDeliberate}}}}, nil
			}
			b.pick = fast
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, it, err := guarded{flags: flagged(manifest.KappaRouting), bodies: edit}.enter(t)
			violated(t, w, it, err, string(manifest.KappaRouting), "pick")
		})
	}
	t.Run("κ 0 is free", func(t *testing.T) {
		passes(t, guarded{flags: flagged(manifest.KappaRouting), bodies: func(b *bodies) { b.recall, b.pick = blind, fast }})
	})
	t.Run("the phase deliberates", func(t *testing.T) {
		passes(t, guarded{flags: flagged(manifest.KappaRouting), bodies: func(b *bodies) {
			b.pick = func(_ context.Context, in recalled) (pulse.Decision, error) { return debate.Goto(in), nil }
		}})
	})
	t.Run("a topology that contradicts itself", func(t *testing.T) {
		w, it, err := guarded{flags: flagged(manifest.KappaRouting), bodies: func(b *bodies) {
			b.recall = func(context.Context, Ask) (recalled, error) {
				return recalled{Seen: map[string][]token.TopologyContext{"all": {{MaxKappa: 1, Routing: token.RoutingFast}}}}, nil
			}
		}}.enter(t)
		violated(t, w, it, err, string(manifest.KappaRouting), "pick")
		require.ErrorContains(t, err, `max_kappa 1 and routing "fast"`)
	})
}

func TestQuorum(t *testing.T) {
	spec.Covers(t, "P-7.5-1", "P-7.5-2", "P-7.5-3", "C-077", "C-084")
	for _, c := range []struct {
		name       string
		verdict    token.Verdict
		confidence float64
		quorum     float64 // 0: the default
		releases   bool
	}{
		{"0.65 blocks", token.VerdictApprove, 0.65, 0, false},
		{"0.66 releases", token.VerdictApprove, 0.66, 0, true},
		{"reject at 0.99 blocks", token.VerdictReject, 0.99, 0, false},
		{"0.8 blocks 0.7", token.VerdictApprove, 0.7, 0.8, false},
		{"0.8 releases 0.8", token.VerdictApprove, 0.8, 0.8, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			acted := false
			g := guarded{
				flags:  flagged(manifest.QuorumBeforeCommit),
				config: func(cfg *pulse.Config) { cfg.Settings.Quorum = c.quorum },
				bodies: func(b *bodies) {
					b.debate = concluding(c.verdict, c.confidence)
					act := b.send
					b.send = func(ctx context.Context, in agreed) (pulse.Outcome[sent], error) {
						acted = true
						return act(ctx, in)
					}
				},
			}
			w, it, err := g.enter(t)
			require.Equal(t, c.releases, acted, "whether the act ran")
			if !c.releases {
				violated(t, w, it, err, string(manifest.QuorumBeforeCommit), "send")
				require.Zero(t, w.count("send", "phase.intent"), "it was not even meant")
				return
			}
			require.NoError(t, err)
		})
	}
	t.Run("no deliberation", func(t *testing.T) {
		w, it, err := guarded{flags: flagged(manifest.QuorumBeforeCommit), bodies: func(b *bodies) {
			b.pick = func(_ context.Context, in recalled) (pulse.Decision, error) {
				return send.Goto(agreed{IDs: in.IDs}), nil
			}
		}}.enter(t)
		violated(t, w, it, err, string(manifest.QuorumBeforeCommit), "send")
		require.ErrorContains(t, err, "no DeliberationResult has reached the iteration")
	})
}

// The outcome of a pending act comes back with the parents of the act.
func TestOutcomeOfAnotherGround(t *testing.T) {
	spec.Covers(t, "P-7.6-1", "C-092", "C-046")
	for name, c := range map[string]struct {
		parents []string
		breaks  bool
	}{
		"the act's":  {[]string{"n3", "n2", "n1"}, false},
		"others":     {[]string{"n7"}, true},
		"left out":   {nil, false},
		"none of it": {[]string{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var action string
				w := guarded{flags: flagged(manifest.OutcomeGrounding), bodies: func(b *bodies) {
					b.send = func(ctx context.Context, in agreed) (pulse.Outcome[sent], error) {
						c, err := pulse.CallFrom(ctx)
						if err != nil {
							return pulse.Outcome[sent]{}, err
						}
						action = c.ActionID()
						return pulse.Outcome[sent]{Pending: true, CausalParentIDs: in.IDs}, nil
					}
				}}.loop(t)
				it, err := recall.Enter(t.Context(), w.loop, acme, Ask{"who?"})
				require.NoError(t, err)
				require.Equal(t, pulse.Suspended, it.Status)
				time.Sleep(time.Minute)
				it, err = w.loop.Deliver(t.Context(), acme, token.OutcomeSignal{
					ActionID: action, Status: token.StatusSuccess, CausalParentIDs: c.parents, Timestamp: time.Now().UTC(),
				})
				if !c.breaks {
					require.NoError(t, err)
					require.Equal(t, pulse.Completed, it.Status)
					return
				}
				violated(t, w, it, err, string(manifest.OutcomeGrounding), "grade")
				require.Empty(t, w.Memory.Attributions("acme"), "nothing was learned")
			})
		})
	}
}
