package pulse

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/token"
)

// Phase is one step of a loop as its author writes it (OS-010 §3.2). A plain
// function will do as well ([BindFunc]).
//
// Run gets the phase's input and returns its output, or an error that the
// phase's on_failure directive then answers. It may be called again for the
// same input after a failure, and need not be deterministic. The context ends
// when the attempt does; whatever Run started must have ended by then. [CallFrom]
// tells more about the call.
type Phase[In, Out any] interface {
	Run(ctx context.Context, in In) (Out, error)
}

// PhaseID is the id of a phase in the manifest together with the Go types of
// its input and output. Declare the phases of a loop once, as constants.
type PhaseID[In, Out any] string

// Decision is what a route phase returns: where the iteration goes on (OS-010
// §5.3, C-044). Make one with [PhaseID.Goto] or [PhaseID.Deliberate]; a Decision
// with neither To nor Deliberate goes to the phase's only target.
type Decision struct {
	To         string `json:"to,omitempty"`         // id of the next phase
	Deliberate bool   `json:"deliberate,omitempty"` // the decision counts as deliberation (OS-010 §7.4)
	Value      any    `json:"value,omitempty"`      // input of the target; nil leaves it to the target's inputs.from
}

// Goto decides for the phase, with in as its input.
func (p PhaseID[In, Out]) Goto(in In) Decision { return Decision{To: string(p), Value: in} }

// Deliberate decides for deliberation, and for the phase after it, with in as
// its input.
func (p PhaseID[In, Out]) Deliberate(in In) Decision {
	return Decision{To: string(p), Deliberate: true, Value: in}
}

// Outcome is what an act phase returns that says more than "it worked"
// (OS-010 §7.6; C-046, C-092). Its zero value, with Value set, is a success. Where
// the manifest turns outcome_grounding on, CausalParentIDs or NoParents must be
// set; an act bound with [BindFunc] has every node that the iteration retrieved as
// its parents.
type Outcome[T any] struct {
	Value   T             // the output of the phase
	Status  token.Status  // zero: success
	Pending bool          // the result of the action comes later, by [Loop.Deliver]
	Within  time.Duration // how long a pending result may take; zero: Settings.AwaitMax. See [Loop.Deliver]

	CausalParentIDs []string // nodes of memory that justified the action
	NoParents       bool     // there are none
	Evidence        json.RawMessage
}

// Feedback is an input that a learn phase may take: the outcome of the act and
// the act's value. Value is zero for an outcome whose act did not run here. Where
// acts of different types lead to one learn phase, take token.OutcomeSignal and
// read the act's value with [PhaseID.Output] of [Call.Iteration].
type Feedback[T any] struct {
	Signal token.OutcomeSignal `json:"signal"`
	Value  T                   `json:"value"`
}

// Binding is a phase function bound to a phase of a manifest. Make one with
// [Bind], [BindFunc] or [BindAct].
type Binding interface {
	binding() *binding
}

// Bound is a [Binding] that still knows its types.
type Bound[In, Out any] struct{ b binding }

func (b *Bound[In, Out]) binding() *binding {
	if b == nil {
		return nil
	}
	return &b.b
}

// Undo gives the phase a compensation: under on_failure rollback it is called with
// the action id and the input of the phase that failed (OS-010 §5.4, C-041), and
// for that phase alone: what earlier phases did stays. It may be called more than
// once for one action and must then do nothing more.
func (b *Bound[In, Out]) Undo(undo func(ctx context.Context, actionID string, in In) error) *Bound[In, Out] {
	if undo == nil {
		return b
	}
	b.b.undo = func(ctx context.Context, actionID string, in any) error {
		v, err := as[In](in)
		if err != nil {
			return err
		}
		return undo(ctx, actionID, v)
	}
	return b
}

// Bind binds a phase to its id.
func Bind[In, Out any](id PhaseID[In, Out], phase Phase[In, Out]) *Bound[In, Out] {
	if isNil(phase) {
		return newBound[In, Out](id, formPlain, reflect.TypeFor[Out](), nil)
	}
	return BindFunc(id, phase.Run)
}

// BindFunc binds a plain function to a phase. A function bound to an act phase
// reports success by returning without an error; [BindAct] lets it say more.
func BindFunc[In, Out any](id PhaseID[In, Out], f func(context.Context, In) (Out, error)) *Bound[In, Out] {
	var call erased
	if f != nil {
		call = func(ctx context.Context, in any) (any, *machine.Act, error) {
			v, err := as[In](in)
			if err != nil {
				return nil, nil, err
			}
			out, err := f(ctx, v)
			if err != nil {
				return nil, nil, err
			}
			return out, nil, nil
		}
	}
	return newBound[In, Out](id, formPlain, reflect.TypeFor[Out](), call)
}

// BindAct binds a function that acts and returns an [Outcome] to a phase of kind
// act, or to a custom phase with the role of one.
func BindAct[In, Out any](id PhaseID[In, Out], f func(context.Context, In) (Outcome[Out], error)) *Bound[In, Out] {
	var call erased
	if f != nil {
		call = func(ctx context.Context, in any) (any, *machine.Act, error) {
			v, err := as[In](in)
			if err != nil {
				return nil, nil, err
			}
			o, err := f(ctx, v)
			if err != nil {
				return nil, nil, err
			}
			return o.Value, &machine.Act{
				Status: o.Status, Pending: o.Pending, Within: o.Within,
				CausalParentIDs: o.CausalParentIDs, NoParents: o.NoParents, Evidence: o.Evidence,
			}, nil
		}
	}
	return newBound[In, Out](id, formAct, reflect.TypeFor[Out](), call)
}

type form uint8

const (
	formPlain form = iota // BindFunc, Bind
	formAct               // BindAct
)

// erased is a phase function without its types. The act is nil for a function
// that said nothing of its action.
type erased func(ctx context.Context, in any) (any, *machine.Act, error)

// binding is what New and the host know of a bound function.
type binding struct {
	id      string
	form    form
	in, out reflect.Type
	call    erased // nil: a nil function was bound
	undo    func(ctx context.Context, actionID string, in any) error

	zeroIn    func() any
	decodeIn  func([]byte) (any, error)
	decodeOut func([]byte) (any, error)
	feedback  func(token.OutcomeSignal, any) any // set if In is a Feedback
	value     reflect.Type                       // T of Feedback[T]

	decodeValue func([]byte) (any, error) // of T
}

func newBound[In, Out any](id PhaseID[In, Out], f form, out reflect.Type, call erased) *Bound[In, Out] {
	b := binding{
		id: string(id), form: f, in: reflect.TypeFor[In](), out: out, call: call,
		zeroIn:    func() any { var v In; return v },
		decodeIn:  decode[In],
		decodeOut: decode[Out],
	}
	var zero In
	if fb, ok := any(zero).(feedback); ok {
		b.feedback, b.value, b.decodeValue = fb.with, fb.valueType(), fb.decodeValue
	}
	return &Bound[In, Out]{b: b}
}

// feedback is implemented by every Feedback[T].
type feedback interface {
	with(token.OutcomeSignal, any) any
	valueType() reflect.Type
	decodeValue([]byte) (any, error)
	signal() token.OutcomeSignal
}

func (Feedback[T]) with(s token.OutcomeSignal, value any) any {
	v, _ := value.(T) // no act here: the zero value, as documented
	return Feedback[T]{Signal: s, Value: v}
}

func (Feedback[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

func (Feedback[T]) decodeValue(raw []byte) (any, error) { return decode[T](raw) }

func (f Feedback[T]) signal() token.OutcomeSignal { return f.Signal }

// as gives an erased value its type back. A nil interface value becomes the zero
// value of an interface type.
func as[T any](v any) (T, error) {
	t, ok := v.(T)
	if !ok && v != nil {
		return t, &TypeError{Want: reflect.TypeFor[T](), Got: reflect.TypeOf(v)}
	}
	return t, nil
}

func decode[T any](raw []byte) (any, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("decode %s: %w", reflect.TypeFor[T](), err)
	}
	return v, nil
}

func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Interface, reflect.Slice, reflect.Chan:
		return r.IsNil()
	default:
		return false
	}
}
