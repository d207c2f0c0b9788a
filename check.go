package pulse

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/internal/expr"
	"github.com/opensentience/pulse-go/internal/near"
	"github.com/opensentience/pulse-go/manifest"
	"github.com/opensentience/pulse-go/substrate"
)

// checkManifest validates the manifest itself; nothing else makes sense if it
// fails.
func (b *builder) checkManifest() bool {
	errs := manifest.Validate(b.m, manifest.Options{Aliases: b.cfg.Settings.Aliases, Tokens: b.cfg.Tokens}).Errors()
	for _, is := range errs {
		b.add(Fault{Code: "manifest." + string(is.Code), Pointer: is.Pointer, Message: is.Message, Err: manifest.Issues{is}})
	}
	return len(errs) == 0
}

// checkSubstrates: the four required slots, and whatever the phases need of them
// (OS-010 §3.4, C-012).
func (b *builder) checkSubstrates(l *Loop) {
	if isNil(b.cfg.Substrates) {
		b.addf("substrates.nil", "", "/substrates", "Config.Substrates is nil: give a substrate.Set or a Resolver")
		return
	}
	set, fixed := b.resolved()
	if fixed {
		for _, f := range l.checkSet(set) {
			b.add(f)
		}
		l.set = &set
	}
	for i := range l.phases {
		p := &l.phases[i]
		if p.binding != nil && p.undo != nil && p.decl.OnFailure != manifest.FailRollback {
			b.addf("undo.unused", p.id, pointer(i)+"/on_failure", "its binding has an Undo, which only on_failure rollback calls, not %q", string(p.decl.OnFailure.OrDefault()))
		}
		if p.decl.OnFailure != manifest.FailRollback || p.binding == nil || p.undo != nil || b.transactional(p, set) {
			continue
		}
		b.addf("rollback.undo", p.id, pointer(i)+"/on_failure", "rollback needs an Undo of its binding, or a substrate with transactions (C-041)")
	}
}

// transactional reports whether every slot that a phase may change undoes what a
// failed attempt did: memory, and whatever else its effects name. A Resolver's
// slots are taken at the word of Settings.Transactional until they are resolved.
func (b *builder) transactional(p *phase, set substrate.Set) bool {
	changed := []substrate.Slot{substrate.SlotMemory}
	if p.decl.Effects != nil {
		for _, op := range p.decl.Effects.Mutates {
			changed = append(changed, substrate.Operation(op).Slot())
		}
	}
	for _, slot := range changed {
		_, ok := set.Member(slot).(substrate.Transactor)
		if !ok && slot != substrate.SlotAudit && !slices.Contains(b.cfg.Settings.Transactional, slot) {
			return false
		}
	}
	return true
}

// checkSet holds a set against what the manifest needs. A substrate that panics
// when it is asked what it supports is a fault, too.
func (l *Loop) checkSet(set substrate.Set) (faults []Fault) {
	err := guard(func() error { faults = l.faultsOf(set); return nil })
	if err != nil {
		faults = append(faults, Fault{Code: "substrates.panic", Pointer: "/substrates", Message: err.Error(), Err: err})
	}
	return faults
}

func (l *Loop) faultsOf(set substrate.Set) []Fault {
	var faults []Fault
	add := func(code, phase, at, format string, args ...any) {
		faults = append(faults, Fault{Code: code, Phase: phase, Pointer: at, Message: fmt.Sprintf(format, args...)})
	}
	if err := set.Validate(); err != nil {
		faults = append(faults, Fault{Code: "substrates.host", Message: err.Error(), Err: err})
	}
	for _, op := range []substrate.Operation{substrate.OpCheckPolicy, substrate.OpAppendEvent, substrate.OpPermissionCheck} {
		if !offers(&set, op) {
			add("substrates.missing", "", "/substrates/"+string(op.Slot()), "the engine itself calls %s, which the substrates do not offer: set substrate.Set.%s", op, member(op.Slot()))
		}
	}
	if isNil(set.Memory) {
		add("substrates.missing", "", "/substrates/memory", "no memory is given: set substrate.Set.Memory")
	}
	for i := range l.phases {
		d := l.phases[i].decl
		if d.Kind == manifest.KindRetrieve && !isNil(set.Memory) && !offers(&set, substrate.OpRetrieveContext) {
			add("substrates.operation", d.ID, pointer(i), "a retrieve phase needs %s, which the memory does not offer", substrate.OpRetrieveContext)
		}
		if d.Effects == nil {
			continue
		}
		for _, op := range slices.Concat(d.Effects.Calls, d.Effects.Mutates) {
			if strings.HasPrefix(op, "body.") {
				continue // a body is bound to phases, not to a slot (C-099)
			}
			if !offers(&set, substrate.Operation(op)) {
				add("substrates.operation", d.ID, pointer(i)+"/effects", "its effects declare %s, which the substrates do not offer", op)
			}
		}
	}
	for _, slot := range l.cfg.Settings.Transactional {
		if _, ok := set.Member(slot).(substrate.Transactor); !ok {
			add("substrates.transaction", "", "/substrates/"+string(slot), "Settings.Transactional names %s, whose substrate has no transactions", slot)
		}
	}
	return faults
}

// offers reports whether the set can answer an operation; a nil pointer in a slot
// cannot, and is not asked.
func offers(set *substrate.Set, op substrate.Operation) bool {
	return (!op.Known() || !isNil(set.Member(op.Slot()))) && set.Supports(op)
}

func member(s substrate.Slot) string { return strings.ToUpper(string(s[:1])) + string(s[1:]) }

// checkGraph: an iteration can reach the closure (OS-010 §1.1).
func (b *builder) checkGraph(l *Loop) {
	var entries []string
	for _, p := range b.m.Entries(l.cfg.Settings.Aliases) {
		entries = append(entries, p.ID)
	}
	from := b.m.Closure.FromPhase
	if !slices.Contains(entries, from) && !b.reaches(entries, from) {
		b.addf("closure.unreachable", from, "/closure/from_phase", "no way leads from the entry %s to it, so the loop never closes", strings.Join(entries, ", "))
	}
	b.checkPredicates(l)
}

// checkPredicates: the paths of emit conditions and triggers exist in the JSON
// of the Go types that they are evaluated over (C-059).
func (b *builder) checkPredicates(l *Loop) {
	for i := range b.m.Connections {
		cn := &b.m.Connections[i]
		j, ok := l.index[cn.EmitPhase]
		if !ok || cn.EmitCondition == "" {
			continue
		}
		for _, c := range l.phases[j].connections {
			if t, known := canonicalTypes[c.token]; known && c.id == cn.ID && c.condition != nil {
				b.checkPaths(l, c.condition, cn.EmitPhase, fmt.Sprintf("/connections/%d/emit_condition", i), t)
			}
		}
	}
	for i := range l.phases {
		p := &l.phases[i]
		if p.binding == nil {
			continue
		}
		for _, t := range p.triggers {
			if t.condition != nil {
				b.checkPaths(l, t.condition, p.id, fmt.Sprintf("/nesting/inner_loops/%d/trigger", t.inner), p.binding.out, topologyType)
			}
		}
	}
}

func (b *builder) checkPaths(l *Loop, e *expr.Expr, phase, at string, types ...reflect.Type) {
	for _, path := range e.Paths() {
		if _, host := l.cfg.Settings.Vars[path[0]]; host || b.has(path, types) {
			continue
		}
		b.addf("predicate.path", phase, at, "the predicate reads %s, which neither %v nor Settings.Vars has", strings.Join(path, "."), types)
	}
}

// has reports whether a path can lead to something: as it is written, or under
// the aliases of C-059.
func (b *builder) has(path []string, types []reflect.Type) bool {
	for _, t := range types {
		if jsonHas(t, path) {
			return true
		}
	}
	switch rest := path[1:]; {
	case path[0] == "kappa":
		return b.has(append([]string{"max_kappa"}, rest...), types)
	case path[0] == "outcome":
		return b.has(append([]string{"status"}, rest...), types)
	case path[0] == "topology" && len(rest) > 0 && slices.Contains(types, topologyType):
		return b.has(rest, []reflect.Type{topologyType})
	}
	return false
}

// jsonHas reports whether the JSON of a type can have a path. Maps, interfaces
// and types that marshal themselves may have any.
func jsonHas(t reflect.Type, path []string) bool {
	return memberAt(t, path, map[reflect.Type]bool{})
}

// memberAt follows a path; embedding are the types whose embedded fields are
// looked at, so that one that embeds itself ends.
func memberAt(t reflect.Type, path []string, embedding map[reflect.Type]bool) bool {
	for i := 0; t.Kind() == reflect.Pointer && i < maxWalk; i++ {
		t = t.Elem()
	}
	switch {
	case len(path) == 0, t == decisionType, t.Kind() == reflect.Interface, t.Kind() == reflect.Map:
		return true
	case reflect.PointerTo(t).Implements(marshalerType):
		return true
	case reflect.PointerTo(t).Implements(textMarshalerType): // a text has no members
		return false
	case t.Kind() != reflect.Struct, embedding[t]:
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
		case f.Anonymous && name == "" && isStruct(f.Type):
			embedding[t] = true
			if memberAt(f.Type, path, embedding) {
				return true
			}
		case f.IsExported() && orName(name, f.Name) == path[0]:
			return jsonHas(f.Type, path[1:])
		}
	}
	return false
}

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

func orName(tagged, name string) string {
	if tagged != "" {
		return tagged
	}
	return name
}

// nearest suggests the id that is a letter or two away.
func nearest(id string, ids []string) string {
	meant := near.Name(id, ids, min(2, len(id)/2))
	if meant == "" {
		return ": it has " + strings.Join(ids, ", ")
	}
	return "; did you mean " + meant + "?"
}
