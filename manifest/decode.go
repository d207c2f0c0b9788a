package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// decoder fills structs from a tree. It goes on after a fault, and leaves the
// member at fault at its zero value.
type decoder struct {
	plans  map[reflect.Type]*plan
	path   trail
	issues Issues
}

// decode makes a manifest of a document. The issues are not placed yet.
func decode(doc *document) (*Manifest, Issues) {
	d := &decoder{plans: plans()}
	m := &Manifest{doc: doc}
	if root := doc.tree.Root(); root.Kind() == jsonpos.Object {
		d.object(root, reflect.ValueOf(m).Elem())
	} else {
		d.fail(CodeNotOneLoop, "a manifest is one object that describes one loop, got %v; put each loop into a file of its own", root.Kind())
	}
	return m, d.issues
}

func (d *decoder) fail(code Code, format string, args ...any) {
	d.issues = append(d.issues, Issue{
		Code: code, Severity: SeverityError, Pointer: d.path.pointer(), Message: fmt.Sprintf(format, args...),
	})
}

func (d *decoder) object(v jsonpos.Value, dst reflect.Value) {
	p, written := d.plans[dst.Type()], presenceOf(dst)
	for name, value := range v.Members() {
		i, known := p.byName[name.Text()]
		if !known {
			keep(dst.Field(p.extra), name.Text(), value)
			continue
		}
		m := &p.members[i]
		if written.has(m.field) {
			continue // a second value, which is reported as such
		}
		written.mark(m.field)
		d.path.name(m.name)
		d.member(m, value, dst.Field(m.field))
		d.path.up()
	}
}

func keep(extra reflect.Value, name string, value jsonpos.Value) {
	if extra.IsNil() {
		extra.Set(reflect.ValueOf(make(map[string]json.RawMessage)))
	}
	extra.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(json.RawMessage(value.AppendJSON(nil))))
}

func (d *decoder) member(m *member, v jsonpos.Value, dst reflect.Value) {
	if v.Kind() == jsonpos.Null {
		if !m.nullable {
			d.fail(CodeWrongType, "%s may not be null; leave it out or give it a value", m.name)
		}
		return
	}
	if m.nonempty && v.Kind() == jsonpos.String && v.Text() == "" {
		d.fail(CodeEmptyMember, "%s is empty; leave it out or give it a value", m.name)
		return
	}
	faults := len(d.issues)
	d.value(v, dst)
	if m.minimum > 0 && dst.IsZero() && len(d.issues) == faults { // a 0 that is written is not absent
		d.fail(CodeBadNumber, "%s", outOfRange(m, 0))
	}
}

func (d *decoder) value(v jsonpos.Value, dst reflect.Value) {
	switch dst.Kind() {
	case reflect.String:
		if d.want(v, jsonpos.String) {
			dst.SetString(v.Text())
		}
	case reflect.Bool:
		if d.want(v, jsonpos.Bool) {
			dst.SetBool(v.Text() == "true")
		}
	case reflect.Int:
		if d.want(v, jsonpos.Number) {
			d.integer(v, dst)
		}
	case reflect.Pointer:
		target := reflect.New(dst.Type().Elem())
		d.value(v, target.Elem())
		dst.Set(target)
	case reflect.Slice:
		if d.want(v, jsonpos.Array) {
			d.list(v, dst)
		}
	case reflect.Map:
		if d.want(v, jsonpos.Object) {
			d.mapping(v, dst)
		}
	case reflect.Struct:
		if d.want(v, jsonpos.Object) {
			d.object(v, dst)
		}
	}
}

func (d *decoder) want(v jsonpos.Value, kind jsonpos.Kind) bool {
	if v.Kind() == kind {
		return true
	}
	d.fail(CodeWrongType, "this must be %v, got %v%s", kind, v.Kind(), d.cure(v, kind))
	return false
}

// maxInt is the largest integer a manifest holds: the milliseconds of the longest
// time.Duration.
const maxInt = math.MaxInt64 / 1_000_000

func (d *decoder) integer(v jsonpos.Value, dst reflect.Value) {
	n, err := strconv.ParseInt(v.Text(), 10, 64)
	if err != nil { // 5.0 and 1e3 are integers too
		f, err := strconv.ParseFloat(v.Text(), 64)
		if err != nil || f != math.Trunc(f) {
			d.fail(CodeBadNumber, "this must be an integer, got %s", clip(v.Text()))
			return
		}
		n = math.MaxInt64
		if math.Abs(f) <= maxInt {
			n = int64(f)
		}
	}
	if n > maxInt || n < -maxInt || dst.OverflowInt(n) {
		d.fail(CodeBadNumber, "%s is out of range; the largest integer of a manifest is %d", clip(v.Text()), int64(maxInt))
		return
	}
	dst.SetInt(n)
}

func (d *decoder) list(v jsonpos.Value, dst reflect.Value) {
	n := 0
	for range v.Elements() {
		n++
	}
	dst.Set(reflect.MakeSlice(dst.Type(), n, n))
	i := 0
	for e := range v.Elements() {
		d.path.element(i)
		d.value(e, dst.Index(i))
		d.path.up()
		i++
	}
}

// mapping reads the two kinds of maps: the invariants, and free-form members.
func (d *decoder) mapping(v jsonpos.Value, dst reflect.Value) {
	if dst.Type().Elem().Kind() != reflect.Bool {
		dst.Set(reflect.ValueOf(v.Any()))
		return
	}
	dst.Set(reflect.MakeMapWithSize(dst.Type(), v.Len()/2))
	for name, e := range v.Members() {
		d.path.name(name.Text())
		on := reflect.New(dst.Type().Elem()).Elem()
		d.value(e, on)
		dst.SetMapIndex(reflect.ValueOf(name.Text()).Convert(dst.Type().Key()), on)
		d.path.up()
	}
}
