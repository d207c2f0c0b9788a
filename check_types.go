package pulse

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/signature"
	"github.com/opensentience/pulse-go/token"
)

var (
	decisionType    = reflect.TypeFor[Decision]()
	outcomeType     = reflect.TypeFor[token.OutcomeSignal]()
	marshalerType   = reflect.TypeFor[json.Marshaler]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// checkTypes holds the Go types of the bound functions against the manifest.
func (b *builder) checkTypes(l *Loop) {
	for i := range l.phases {
		p := &l.phases[i]
		if p.binding == nil {
			continue
		}
		b.checkForm(p, i)
		b.checkJSON(p, i)
		b.checkRecipe(p, i)
		b.checkInput(l, p, i)
	}
	b.checkSchemas(l)
}

// checkForm: a route phase decides, and nobody else; only acts say outcomes.
func (b *builder) checkForm(p *phase, i int) {
	decides := p.binding.out == decisionType
	switch {
	case p.routes && !decides:
		b.addf("route.decision", p.id, pointer(i), "a route phase returns pulse.Decision, its function returns %v", p.binding.out)
	case !p.routes && decides:
		b.addf("decision.kind", p.id, pointer(i)+"/kind", "only a route phase may return pulse.Decision, this one is of kind %s", p.decl.Kind)
	}
	if p.form == formAct && p.decl.Kind != manifest.KindAct && p.role != manifest.RoleAct {
		b.addf("act.kind", p.id, pointer(i)+"/kind", "pulse.BindAct is for act phases, this one is of kind %s: use BindFunc, or alias its custom kind to act", p.decl.Kind)
	}
	if isOutcome(p.binding.out) {
		b.addf("act.outcome", p.id, "", "its function returns a pulse.Outcome: bind it with pulse.BindAct")
	}
}

func isOutcome(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == decisionType.PkgPath() && strings.HasPrefix(t.Name(), "Outcome[")
}

// checkJSON: inputs and outputs cross to journals and other hosts as JSON.
func (b *builder) checkJSON(p *phase, i int) {
	for _, c := range [...]struct {
		what string
		t    reflect.Type
	}{{"input", p.in}, {"output", p.binding.out}} {
		if c.t == decisionType {
			continue
		}
		if err := signature.CheckType(c.t); err != nil {
			b.add(Fault{Code: "type.json", Phase: p.id, Pointer: pointer(i), Message: fmt.Sprintf("its %s type %v has no JSON form: %v", c.what, c.t, err), Err: err})
			continue
		}
		if problem := loses(c.t, map[reflect.Type]bool{}); problem != "" {
			b.addf("type.json", p.id, pointer(i), "its %s type %v does not survive JSON: %s", c.what, c.t, problem)
		}
	}
}

// loses finds what a value of a type would lose on its way through JSON.
func loses(t reflect.Type, seen map[reflect.Type]bool) string {
	ptr := reflect.PointerTo(t)
	switch {
	case seen[t], ptr.Implements(unmarshalerType):
		return ""
	case ptr.Implements(marshalerType):
		return fmt.Sprintf("%v has MarshalJSON but no UnmarshalJSON", t)
	case ptr.Implements(textMarshalerType):
		return losesText(t)
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Sprintf("the interface %v cannot be decoded", t)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return loses(t.Elem(), seen)
	case reflect.Map:
		if key := t.Key(); key.Kind() != reflect.String && key.Implements(textMarshalerType) {
			if problem := losesText(key); problem != "" {
				return problem
			}
		}
		return loses(t.Elem(), seen)
	case reflect.Struct:
		return losesField(t, seen)
	}
	return ""
}

func losesText(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(textUnmarshalerType) {
		return ""
	}
	return fmt.Sprintf("%v has MarshalText but no UnmarshalText", t)
}

func losesField(t reflect.Type, seen map[reflect.Type]bool) string {
	hidden, shown := "", 0
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Tag.Get("json") == "-":
		case f.IsExported(), f.Anonymous && f.Type.Kind() == reflect.Struct:
			shown++
			if problem := loses(f.Type, seen); problem != "" {
				return problem
			}
		case f.Anonymous && isStruct(f.Type):
			return fmt.Sprintf("the embedded pointer to %v cannot be decoded", f.Type.Elem())
		default:
			hidden = f.Name
		}
	}
	if hidden != "" && shown == 0 {
		return fmt.Sprintf("%v has only unexported fields (%s)", t, hidden)
	}
	return ""
}

// checkRecipe: the recipe of a signature names members of the input (C-027). Its
// form was validated with the manifest.
func (b *builder) checkRecipe(p *phase, i int) {
	_, fields, _ := strings.Cut(strings.TrimSuffix(p.decl.Signature, ")"), "(")
	for f := range strings.SplitSeq(fields, ",") {
		f = strings.TrimSpace(f)
		if f == "" || f == "workspace_id" || jsonHas(p.in, strings.Split(f, ".")) {
			continue
		}
		b.addf("signature.field", p.id, pointer(i)+"/signature", "the recipe names %s, and %s is not a member of %v", f, f, p.in)
	}
}

// checkInput: what feeds the phase must be of its input type.
func (b *builder) checkInput(l *Loop, p *phase, i int) {
	if p.learns {
		b.checkLearn(l, p, i)
		return
	}
	from := p.decl.Inputs.From
	if from == "" {
		for j := range l.phases {
			q := &l.phases[j]
			if q.binding != nil && slices.Contains(b.m.Successors(q.id), p.id) {
				b.checkEdge(q, p, pointer(i))
			}
		}
		return
	}
	ends, err := manifest.ParseEndpoints(from)
	if err != nil {
		return // reported with the manifest
	}
	for _, e := range ends {
		switch e.Kind {
		case manifest.EndpointPhase:
			if j, ok := l.index[e.Name]; ok && l.phases[j].binding != nil {
				b.checkEdge(&l.phases[j], p, pointer(i)+"/inputs/from")
			}
		case manifest.EndpointSignal:
			if t, ok := canonicalTypes[token.Name(e.Name)]; ok && t != p.in {
				b.addf("type.signal", p.id, pointer(i)+"/inputs/from", "it takes signal:%s, but its function takes %v", e.Name, p.in)
			}
		}
	}
}

// checkEdge: the output of q goes into p. A route phase counts as producing its
// target's input.
func (b *builder) checkEdge(q, p *phase, at string) {
	if q.routes || q.binding.out.AssignableTo(p.in) {
		return
	}
	b.addf("type.edge", p.id, at, "its function takes %v, but phase %s returns %v", p.in, q.id, q.binding.out)
}

// checkLearn: a learn phase takes the outcome, the outcome with the act's value,
// or the output of the phase that it reads from.
func (b *builder) checkLearn(l *Loop, p *phase, i int) {
	switch {
	case p.in == outcomeType:
	case p.feedback != nil:
		for j := range l.phases {
			q := &l.phases[j]
			if q.binding != nil && q.acts && b.precedes(q.id, p.id) && !q.binding.out.AssignableTo(p.binding.value) {
				b.addf("type.feedback", p.id, pointer(i), "it takes pulse.Feedback[%v], but the act %s before it returns %v; where several acts lead here, take token.OutcomeSignal and read the act's value with its PhaseID.Output of Call.Iteration", p.binding.value, q.id, q.binding.out)
			}
		}
	default:
		if b.readsFrom(l, p) {
			return
		}
		b.addf("type.learn", p.id, pointer(i), "a learn phase takes token.OutcomeSignal, pulse.Feedback[T] with T the output of the act, or the output of the phase in inputs.from; its function takes %v", p.in)
	}
}

func (b *builder) readsFrom(l *Loop, p *phase) bool {
	ends, err := manifest.ParseEndpoints(p.decl.Inputs.From)
	if err != nil {
		return false
	}
	for _, e := range ends {
		j, ok := l.index[e.Name]
		if !ok || e.Kind != manifest.EndpointPhase || l.phases[j].binding == nil {
			continue
		}
		if q := &l.phases[j]; q.routes || q.binding.out.AssignableTo(p.in) {
			return true
		}
	}
	return false
}

// precedes reports whether a way leads from one phase to another.
func (b *builder) precedes(from, to string) bool { return b.reaches([]string{from}, to) }

func (b *builder) reaches(from []string, to string) bool {
	seen := map[string]bool{}
	from = slices.Clone(from)
	for len(from) > 0 {
		id := from[len(from)-1]
		from = from[:len(from)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		for _, s := range b.m.Successors(id) {
			if s == to {
				return true
			}
			from = append(from, s)
		}
	}
	return false
}

// checkSchemas: a schema name stands for one Go type in the whole loop; Name[]
// for a slice of Name's type.
func (b *builder) checkSchemas(l *Loop) {
	names := map[string]schemaUse{}
	for i := range l.phases {
		p := &l.phases[i]
		if p.binding == nil {
			continue
		}
		if p.feedback == nil {
			b.schema(names, p.decl.Inputs.Schema, p.in, p.id, pointer(i)+"/inputs/schema")
		}
		if !p.routes {
			b.schema(names, p.decl.Outputs.Schema, p.binding.out, p.id, pointer(i)+"/outputs/schema")
		}
	}
}

type schemaUse struct {
	t     reflect.Type
	phase string
}

func (b *builder) schema(names map[string]schemaUse, name string, t reflect.Type, phase, at string) {
	if name == "" {
		return
	}
	if elem, list := strings.CutSuffix(name, "[]"); list {
		if t.Kind() != reflect.Slice {
			b.addf("schema.list", phase, at, "the schema %s is a list, but the Go type is %v", name, t)
			return
		}
		name, t = elem, t.Elem()
	}
	switch was, ok := names[name]; {
	case !ok:
		names[name] = schemaUse{t, phase}
	case was.t != t:
		b.addf("schema.type", phase, at, "the schema %s is %v here and %v in phase %s: one name, one type", name, t, was.t, was.phase)
	}
}

// canonicalTypes are the Go types of the canonical tokens.
var canonicalTypes = map[token.Name]reflect.Type{
	token.TopologyContextName:          topologyType,
	token.DeliberationResultName:       deliberationType,
	token.OutcomeSignalName:            outcomeType,
	token.ReputationUpdateName:         reflect.TypeFor[token.ReputationUpdate](),
	token.ConsolidationEventName:       reflect.TypeFor[token.ConsolidationEvent](),
	token.SurpriseSignalName:           reflect.TypeFor[token.SurpriseSignal](),
	token.DeliberationRequestName:      reflect.TypeFor[token.DeliberationRequest](),
	token.SessionFidelityViolationName: reflect.TypeFor[token.SessionFidelityViolation](),
}
