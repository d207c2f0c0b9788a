package pulse_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
	"github.com/stretchr/testify/require"
)

// breached requires that an invariant stopped an iteration.
func breached(t *testing.T, name manifest.Invariant, err error) {
	t.Helper()
	var v *invariant.Violation
	require.ErrorAs(t, err, &v)
	require.Equal(t, string(name), v.Invariant)
}

// What came back through handles counts for the invariants after an interruption
// as before it: κ is in no output.
func TestResumedIterationKeepsWhatItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		var j pulsetest.Journal
		w := guarded{flags: flagged(manifest.KappaRouting), bodies: func(b *bodies) {
			b.pick = func(c context.Context, in recalled) (pulse.Decision, error) {
				n++
				if n == 1 {
					cancel()
					<-c.Done()
					return pulse.Decision{}, c.Err()
				}
				return send.Goto(agreed{IDs: in.IDs}), nil
			}
		}, config: func(c *pulse.Config) { c.Journal = &j }}.loop(t)
		it, err := recall.Enter(ctx, w.loop, acme, Ask{"x"})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, pulse.Interrupted, it.Status)
		e, err := j.Load(t.Context(), "acme", it.ID)
		require.NoError(t, err)
		it, err = w.loop.Resume(t.Context(), e)
		breached(t, manifest.KappaRouting, err)
		require.Equal(t, pulse.Aborted, it.Status)
	})
}

// A phase that returns the refusal of its handle broke the invariant; another
// attempt would do the same.
func TestReturnedRefusalIsABreach(t *testing.T) {
	n := 0
	_, it, err := guarded{flags: flagged(manifest.FeedbackImmutability), bodies: func(b *bodies) {
		b.grade = func(ctx context.Context, _ pulse.Feedback[sent]) (Lesson, error) {
			n++
			_, err := pulse.Handles().Memory.Consolidate(ctx, substrate.ConsolidateRequest{})
			return Lesson{}, err
		}
	}}.enter(t)
	breached(t, manifest.FeedbackImmutability, err)
	require.Equal(t, pulse.Aborted, it.Status)
	require.Equal(t, 1, n)
}

// A host operation that changes nothing has no receipt, so it owes no echo.
func TestReadingHostOperationOwesNoEcho(t *testing.T) {
	_, it, err := guarded{flags: flagged(manifest.TraceIDPropagation), config: func(c *pulse.Config) {
		s, ok := c.Substrates.(substrate.Set)
		require.True(t, ok)
		s.Host = []substrate.HostOperation{{Name: "memory.search", Call: func(context.Context, substrate.HostRequest) (substrate.HostResponse, error) {
			return substrate.HostResponse{Output: []byte(`1`)}, nil
		}}}
		c.Substrates = s
	}, bodies: func(b *bodies) {
		b.recall = func(ctx context.Context, _ Ask) (recalled, error) {
			c, err := pulse.CallFrom(ctx)
			if err != nil {
				return recalled{}, err
			}
			_, err = c.Do(ctx, "memory.search", substrate.HostRequest{})
			return recalled{}, err
		}
	}}.enter(t)
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
}

// An audit that does not echo breaks the invariant; it is not asked again.
func TestDeafAuditIsABreach(t *testing.T) {
	n := 0
	_, it, err := guarded{flags: flagged(manifest.TraceIDPropagation), config: func(c *pulse.Config) {
		s, ok := c.Substrates.(substrate.Set)
		require.True(t, ok)
		audit := s.Audit
		s.Audit = substrate.AuditFunc(func(ctx context.Context, r substrate.AppendEventRequest) (substrate.Receipt, error) {
			rc, err := audit.AppendEvent(ctx, r)
			if r.Event.Class == substrate.ClassMutation {
				n++
				rc.TraceID = ""
			}
			return rc, err
		})
		c.Substrates = s
	}}.enter(t)
	breached(t, manifest.TraceIDPropagation, err)
	require.Equal(t, pulse.Aborted, it.Status)
	require.Equal(t, 1, n)
}

// A decision without a target goes to the only one.
func TestEmptyDecisionGoesToTheOnlyTarget(t *testing.T) {
	_, it, err := guarded{flags: flagged(), manifest: func(m *manifest.Manifest) {
		m.Phase("pick").Outputs.To = "phase:debate"
		m.Phase("debate").Inputs.From = "phase:recall"
	}, bodies: func(b *bodies) {
		b.pick = func(context.Context, recalled) (pulse.Decision, error) { return pulse.Decision{}, nil }
	}}.enter(t)
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
}

// The latest verdict decides, also where an act reads the output of an earlier
// phase.
func TestStaleApprovalReleasesNothing(t *testing.T) {
	veto := pulse.PhaseID[agreed, agreed]("veto")
	_, _, err := guarded{flags: flagged(manifest.QuorumBeforeCommit), manifest: func(m *manifest.Manifest) {
		m.Phases = append(m.Phases[:3:3], append([]manifest.Phase{{ID: "veto", Kind: manifest.KindCustom, CustomKind: "debate"}}, m.Phases[3:]...)...)
		m.Phase("send").Inputs.From = "phase:debate"
	}, config: func(c *pulse.Config) {
		c.Phases = append(c.Phases, pulse.BindFunc(veto, func(context.Context, agreed) (agreed, error) {
			return agreed{Result: token.DeliberationResult{Verdict: token.VerdictReject, Confidence: 0.9}}, nil
		}))
	}}.enter(t)
	breached(t, manifest.QuorumBeforeCommit, err)
}
