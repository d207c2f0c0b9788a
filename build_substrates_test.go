package pulse_test

import (
	"context"
	"testing"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/internal/spec"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/pulsetest"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/stretchr/testify/require"
)

// resolver gives every workspace the same set, like a host with a database for
// each.
type resolver struct{ set substrate.Set }

func (r *resolver) Resolve(context.Context, string, manifest.Substrates) (substrate.Set, error) {
	return r.set, nil
}

// slot changes the substrates.
func slot(edit func(*substrate.Set)) func(*pulse.Config) {
	return func(c *pulse.Config) {
		set := pulsetest.NewSubstrates().Set()
		edit(&set)
		c.Substrates = set
	}
}

var missing = []refusal{
	{
		name: "memory", config: slot(func(s *substrate.Set) { s.Memory = nil }),
		code: "substrates.missing", pointer: "/substrates/memory", text: "set substrate.Set.Memory",
	},
	{
		name: "policy", config: slot(func(s *substrate.Set) { s.Policy = nil }),
		code: "substrates.missing", pointer: "/substrates/policy", text: "set substrate.Set.Policy",
	},
	{
		name: "audit", config: slot(func(s *substrate.Set) { s.Audit = nil }),
		code: "substrates.missing", pointer: "/substrates/audit", text: "set substrate.Set.Audit",
	},
	{
		name: "auth", config: slot(func(s *substrate.Set) { s.Auth = nil }),
		code: "substrates.missing", pointer: "/substrates/auth", text: "set substrate.Set.Auth",
	},
	{
		name: "typed nil memory", config: slot(func(s *substrate.Set) { s.Memory = (*pulsetest.Memory)(nil) }),
		code: "substrates.missing", pointer: "/substrates/memory", text: "set substrate.Set.Memory",
	},
	{
		name: "typed nil policy", config: slot(func(s *substrate.Set) { s.Policy = (*pulsetest.Policy)(nil) }),
		code: "substrates.missing", pointer: "/substrates/policy", text: "set substrate.Set.Policy",
	},
	{
		name: "typed nil audit", config: slot(func(s *substrate.Set) { s.Audit = (*pulsetest.Audit)(nil) }),
		code: "substrates.missing", pointer: "/substrates/audit", text: "set substrate.Set.Audit",
	},
	{
		name: "typed nil auth", config: slot(func(s *substrate.Set) { s.Auth = substrate.AuthFunc(nil) }),
		code: "substrates.missing", pointer: "/substrates/auth", text: "set substrate.Set.Auth",
	},
	{
		name: "a policy that does not check", config: slot(func(s *substrate.Set) { s.Policy = substrate.PolicyFuncs{} }),
		code: "substrates.missing", pointer: "/substrates/policy", text: "policy.check_policy",
	},
}

func TestFourSubstratesAreRequired(t *testing.T) {
	spec.Covers(t, "P-3.4-8", "P-4-25", "C-012")
	for _, r := range missing {
		r.run(t)
	}
	for _, r := range []refusal{
		{
			name: "no resolver", config: func(c *pulse.Config) { c.Substrates = nil },
			code: "substrates.nil", pointer: "/substrates", text: "give a substrate.Set or a Resolver",
		},
		{
			name: "typed nil resolver", config: func(c *pulse.Config) { c.Substrates = (*resolver)(nil) },
			code: "substrates.nil", pointer: "/substrates", text: "give a substrate.Set or a Resolver",
		},
	} {
		r.run(t)
	}
}

// A reference that is null in the manifest is no substrate either.
func TestReferencesOfTheFourAreRequired(t *testing.T) {
	spec.Covers(t, "P-4-25", "P-3.4-8")
	for name, ref := range map[string]func(*manifest.Substrates) *string{
		"memory": func(s *manifest.Substrates) *string { return &s.Memory },
		"policy": func(s *manifest.Substrates) *string { return &s.Policy },
		"audit":  func(s *manifest.Substrates) *string { return &s.Audit },
		"auth":   func(s *manifest.Substrates) *string { return &s.Auth },
	} {
		be := faults(t, small(func(m *manifest.Manifest) { *ref(&m.Substrates) = "" }))
		require.Len(t, be.Faults, 1)
		require.Equal(t, "manifest.missing-member", be.Faults[0].Code)
		require.Equal(t, "/substrates/"+name, be.Faults[0].Pointer)
	}
}

// A resolver's substrates are known when a workspace asks for them: the same
// faults come then, before anything runs.
func TestResolvedSubstratesAreCheckedTheSame(t *testing.T) {
	spec.Covers(t, "P-3.4-8", "C-012")
	for _, r := range missing {
		t.Run(r.name, func(t *testing.T) {
			var cfg pulse.Config
			r.config(&cfg)
			set := cfg.Substrates.(substrate.Set)
			l, err := build(small(), func(c *pulse.Config) { c.Substrates = &resolver{set} })
			require.NoError(t, err)
			it, err := read.Enter(t.Context(), l, acme, Ask{"x"})
			require.Nil(t, it)
			var be *pulse.BuildError
			require.ErrorAs(t, err, &be)
			require.Len(t, be.Faults, 1)
			require.Equal(t, r.code, be.Faults[0].Code)
			require.Equal(t, r.pointer, be.Faults[0].Pointer)
		})
	}
}

func TestResolverSeesTheExpandedReferences(t *testing.T) {
	spec.Covers(t, "P-4-25")
	asked := map[string]manifest.Substrates{}
	set := pulsetest.NewSubstrates().Set()
	l, err := build(small(), func(c *pulse.Config) {
		c.Substrates = resolve(func(workspace string, refs manifest.Substrates) (substrate.Set, error) {
			if _, again := asked[workspace]; again {
				t.Errorf("workspace %s was resolved twice", workspace)
			}
			asked[workspace] = refs
			if workspace == "nowhere" {
				return substrate.Set{}, errNowhere
			}
			return set, nil
		})
	})
	require.NoError(t, err)
	for _, ws := range []string{"acme", "umbrella", "acme"} {
		_, err := read.Enter(t.Context(), l, pulse.Trigger{Workspace: ws}, Ask{"x"})
		require.NoError(t, err)
	}
	require.Equal(t, "mem://acme", asked["acme"].Memory)
	require.Equal(t, "auth://umbrella", asked["umbrella"].Auth)
	it, err := read.Enter(t.Context(), l, pulse.Trigger{Workspace: "nowhere"}, Ask{"x"})
	require.Nil(t, it)
	require.ErrorIs(t, err, errNowhere)
	require.EqualError(t, err, `pulse: loop test.small: workspace "nowhere": substrates: no database there`)
}

type resolve func(string, manifest.Substrates) (substrate.Set, error)

func (r resolve) Resolve(_ context.Context, workspace string, refs manifest.Substrates) (substrate.Set, error) {
	return r(workspace, refs)
}

func TestResolverThatPanicsIsAnError(t *testing.T) {
	l, err := build(small(), func(c *pulse.Config) {
		c.Substrates = resolve(func(string, manifest.Substrates) (substrate.Set, error) { panic(errNowhere) })
	})
	require.NoError(t, err)
	it, err := read.Enter(t.Context(), l, acme, Ask{"x"})
	require.Nil(t, it)
	var pe *pulse.PanicError
	require.ErrorAs(t, err, &pe)
	require.ErrorIs(t, err, errNowhere)
}

func TestTransportAndTimeMayBeLeftOut(t *testing.T) {
	spec.Covers(t, "P-3.4-9")
	m := small(func(m *manifest.Manifest) { m.Substrates.Transport, m.Substrates.Time = "", "" })
	l, err := build(m, slot(func(s *substrate.Set) { s.Time = nil }))
	require.NoError(t, err)
	it, err := read.Enter(t.Context(), l, acme, Ask{"x"})
	require.NoError(t, err)
	require.Equal(t, pulse.Completed, it.Status)
}

// effects makes a manifest of protocol 0.2 whose phase has the effect row.
func effects(id string, e manifest.Effects) func(*manifest.Manifest) {
	return func(m *manifest.Manifest) {
		m.ProtocolVersion = "0.2"
		m.Phase(id).Effects = &e
	}
}

// storeOnly is a memory that can do nothing but store nodes.
var storeOnly = substrate.MemoryFuncs{StoreNodeFunc: func(context.Context, substrate.StoreNodeRequest) (substrate.Receipt, error) {
	return substrate.Receipt{}, nil
}}

func TestMemoryMustOfferWhatIsDeclared(t *testing.T) {
	spec.Covers(t, "P-3.4-8", "C-012")
	readOnly := substrate.MemoryFuncs{RetrieveContextFunc: func(context.Context, substrate.RetrieveContextRequest) (substrate.RetrieveContextResponse, error) {
		return substrate.RetrieveContextResponse{}, nil
	}}
	for _, r := range []refusal{
		{
			name: "a retrieve phase and a memory that retrieves nothing", config: slot(func(s *substrate.Set) { s.Memory = storeOnly }),
			code: "substrates.operation", phase: "read", pointer: "/phases/0", text: "a retrieve phase needs memory.retrieve_context",
		},
		{
			name: "a mutation", manifest: one(effects("do", manifest.Effects{Mutates: []string{"memory.store_node"}})),
			config: slot(func(s *substrate.Set) { s.Memory = readOnly }),
			code:   "substrates.operation", phase: "do", pointer: "/phases/1/effects", text: "its effects declare memory.store_node",
		},
		{
			name: "a call", manifest: one(effects("do", manifest.Effects{Calls: []string{"time.forecast"}})),
			config: slot(func(s *substrate.Set) { s.Time = nil }),
			code:   "substrates.operation", phase: "do", pointer: "/phases/1/effects", text: "its effects declare time.forecast",
		},
	} {
		r.run(t)
	}
}

func TestEffectsOfABodyNeedNoSlot(t *testing.T) {
	spec.Covers(t, "C-099")
	_, err := build(small(effects("do", manifest.Effects{Calls: []string{"body.perceive"}, Mutates: []string{"body.act"}})))
	require.NoError(t, err)
}

// noTx hides the transactions of the memory.
func noTx(s *substrate.Set) { s.Memory = struct{ substrate.Memory }{s.Memory} }

func rollsBack(p *manifest.Phase) { p.OnFailure = manifest.FailRollback }

func TestRollbackNeedsAWayBack(t *testing.T) {
	spec.Covers(t, "C-041")
	undone := func(context.Context, string, Fact) error { return nil }
	rollback := one(phase("do", rollsBack))
	for _, r := range []refusal{
		{
			name: "neither", manifest: rollback, config: slot(noTx),
			code: "rollback.undo", phase: "do", pointer: "/phases/1/on_failure", text: "an Undo of its binding, or a substrate with transactions",
		},
		{
			name: "a nil Undo is none", manifest: rollback,
			config: func(c *pulse.Config) { slot(noTx)(c); bind(stub[Fact, Deed]("do").Undo(nil), "do")(c) },
			code:   "rollback.undo", phase: "do", pointer: "/phases/1/on_failure", text: "an Undo of its binding",
		},
		{
			name: "a resolver that promises none", manifest: rollback,
			config: func(c *pulse.Config) { c.Substrates = &resolver{pulsetest.NewSubstrates().Set()} },
			code:   "rollback.undo", phase: "do", pointer: "/phases/1/on_failure", text: "an Undo of its binding",
		},
		{
			name: "a promise that the substrate does not keep", manifest: rollback,
			config: func(c *pulse.Config) {
				slot(noTx)(c)
				c.Settings.Transactional = []substrate.Slot{substrate.SlotMemory}
			},
			code: "substrates.transaction", pointer: "/substrates/memory", text: "Settings.Transactional names memory",
		},
	} {
		r.run(t)
	}
	for name, edit := range map[string]func(*pulse.Config){
		"Undo":        func(c *pulse.Config) { slot(noTx)(c); bind(stub[Fact, Deed]("do").Undo(undone), "do")(c) },
		"transaction": nil,
		"a promise": func(c *pulse.Config) {
			c.Substrates = &resolver{pulsetest.NewSubstrates().Set()}
			c.Settings.Transactional = []substrate.Slot{substrate.SlotMemory}
		},
	} {
		_, err := build(small(rollback...), edit)
		require.NoError(t, err, name)
	}
}

func TestResolverIsHeldToItsPromise(t *testing.T) {
	set := pulsetest.NewSubstrates().Set()
	noTx(&set)
	l, err := build(small(phase("do", rollsBack)), func(c *pulse.Config) {
		c.Substrates = &resolver{set}
		c.Settings.Transactional = []substrate.Slot{substrate.SlotMemory}
	})
	require.NoError(t, err)
	_, err = read.Enter(t.Context(), l, acme, Ask{"x"})
	var be *pulse.BuildError
	require.ErrorAs(t, err, &be)
	require.Equal(t, "substrates.transaction", be.Faults[0].Code)
}

func TestHostOperationsAreChecked(t *testing.T) {
	r := refusal{
		name: "an operation without a name", config: slot(func(s *substrate.Set) { s.Host = []substrate.HostOperation{{}} }),
		code: "substrates.host", text: "host operation",
	}
	r.run(t)
}
