package pulse

import (
	"encoding/json"
	"fmt"

	"github.com/opensentience/pulse-go/internal/expr"
	"github.com/opensentience/pulse-go/invariant"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/token"
)

// connection is a declared connection as the phase that emits over it sees it.
type connection struct {
	id        string
	token     token.Name
	condition *expr.Expr // nil: always
}

// trigger is the condition under which an inner loop runs at a phase (C-053).
type trigger struct {
	inner     int // index in nesting.inner_loops
	condition *expr.Expr
}

// connections gives each phase its connections. Their form was validated with
// the manifest.
func (b *builder) connections(l *Loop) {
	for i := range b.m.Connections {
		cn := &b.m.Connections[i]
		j, ok := l.index[cn.EmitPhase]
		if !ok {
			continue
		}
		c := connection{id: cn.ID, token: token.Name(cn.Token)}
		if cn.EmitCondition != "" {
			e, err := expr.Parse(cn.EmitCondition)
			if err != nil {
				b.add(Fault{Code: "connection.condition", Phase: cn.EmitPhase, Pointer: fmt.Sprintf("/connections/%d/emit_condition", i), Message: err.Error(), Err: err})
				continue
			}
			c.condition = e
		}
		l.phases[j].connections = append(l.phases[j].connections, c)
	}
}

// triggers gives each phase the triggers of its inner loops.
func (b *builder) triggers(l *Loop) {
	for i := range b.m.Nesting.InnerLoops {
		at := fmt.Sprintf("/nesting/inner_loops/%d/trigger", i)
		t, err := manifest.ParseTrigger(b.m.Nesting.InnerLoops[i].Trigger)
		if err != nil {
			b.add(Fault{Code: "inner.trigger", Pointer: at, Message: err.Error(), Err: err})
			continue
		}
		j, ok := l.index[t.Phase]
		if !ok {
			continue
		}
		tr := trigger{inner: i}
		if t.When != "" {
			if tr.condition, err = expr.Parse(t.When); err != nil {
				b.add(Fault{Code: "inner.trigger", Phase: t.Phase, Pointer: at, Message: err.Error(), Err: err})
				continue
			}
		}
		l.phases[j].triggers = append(l.phases[j].triggers, tr)
	}
}

// holds evaluates the emit_condition over the token's payload (C-058, C-059).
func (c *connection) holds(l *Loop, t token.Token) (bool, error) {
	if c.condition == nil {
		return true, nil
	}
	fields, err := object(t)
	if err != nil {
		return false, err
	}
	return c.condition.Eval(l.environment(fields, t.TokenName(), nil)), nil
}

// evaluate gives the truth of the phase's triggers over its output and the
// newest topology that reached the iteration.
func (p *phase) evaluate(l *Loop, v *invariant.Phase) ([]bool, error) {
	fields, err := object(v.Output)
	if err != nil {
		return nil, err
	}
	var topology map[string]any
	if n := len(v.Topologies); n > 0 {
		if topology, err = object(v.Topologies[n-1]); err != nil {
			return nil, err
		}
	}
	env := l.environment(fields, "", topology)
	held := make([]bool, len(p.triggers))
	for i, t := range p.triggers {
		held[i] = t.condition == nil || t.condition.Eval(env)
	}
	return held, nil
}

// object gives the members of a value's JSON object; none for another value.
func object(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if len(raw) > 0 && raw[0] == '{' {
		err = json.Unmarshal(raw, &m)
	}
	return m, err
}

// environment is what a predicate is evaluated over: the payload's members, the
// same under the token's alias, the newest topology, and the host's variables
// (C-059).
func (l *Loop) environment(fields map[string]any, name token.Name, topology map[string]any) expr.Env {
	s := expr.Scope{Payload: fields, Topology: topology, Vars: l.cfg.Settings.Vars}
	if name == token.TopologyContextName {
		s.Alias = "topology"
	}
	return s
}
