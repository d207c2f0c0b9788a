package signature

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A field is a member of a struct's object.
type field struct {
	name      string
	typ       reflect.Type
	index     []int // from struct to embedded struct to field
	omitEmpty bool
	omitZero  bool
	quoted    bool // the option "string", where it applies
}

// fieldsOf gives the members of a struct type by the rules of encoding/json:
// Go's rules for promoted fields, except that of fields at one depth a tagged
// one goes before those without a tag. They come in canonical order.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	taken := map[string]bool{}         // names decided at a lesser depth, even by conflict
	visited := map[reflect.Type]bool{} // structs scanned
	for level := []embedded{{typ: t, times: 1}}; len(level) > 0; {
		found := map[string]*rivals{}
		level = scan(level, visited, found)
		for name, r := range found {
			if taken[name] {
				continue
			}
			taken[name] = true
			if f, ok := r.winner(); ok {
				fields = append(fields, f)
			}
		}
	}
	slices.SortFunc(fields, func(a, b field) int { return compareUTF16(a.name, b.name) })
	return fields
}

// embedded is a struct whose fields are promoted. A type that occurs more than
// once at a depth is scanned once, by its first path; its fields conflict with
// themselves.
type embedded struct {
	typ   reflect.Type
	index []int
	times int
}

// rivals are the fields of one name at one depth.
type rivals struct {
	tagged, untagged   field // the latest of each
	nTagged, nUntagged int
}

func (r *rivals) add(f field, tagged bool, times int) {
	if tagged {
		r.tagged = f
		r.nTagged += times
	} else {
		r.untagged = f
		r.nUntagged += times
	}
}

// winner gives the field that has the name to itself, if there is one.
func (r *rivals) winner() (field, bool) {
	if r.nTagged > 0 {
		return r.tagged, r.nTagged == 1
	}
	return r.untagged, r.nUntagged == 1
}

// scan adds the fields of all structs at one depth to found, and gives those
// embedded in them, the next depth.
func scan(level []embedded, visited map[reflect.Type]bool, found map[string]*rivals) []embedded {
	var next []embedded
	place := map[reflect.Type]int{} // of a type in next
	for _, e := range level {
		if visited[e.typ] {
			continue
		}
		visited[e.typ] = true
		for i := range e.typ.NumField() {
			sf := e.typ.Field(i)
			tag, isMember := memberTag(sf)
			if !isMember {
				continue
			}
			index := append(slices.Clone(e.index), i)
			typ := pointee(sf.Type)
			if tag.name == "" && sf.Anonymous && typ.Kind() == reflect.Struct {
				if at, ok := place[typ]; ok {
					next[at].times++
				} else {
					place[typ] = len(next)
					next = append(next, embedded{typ: typ, index: index, times: 1})
				}
				continue
			}
			f := tag.field(sf, index)
			if found[f.name] == nil {
				found[f.name] = new(rivals)
			}
			found[f.name].add(f, tag.name != "", e.times)
		}
	}
	return next
}

// pointee gives the type that an unnamed pointer type points to, and other
// types as they are.
func pointee(t reflect.Type) reflect.Type {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// fieldTag is a parsed json tag.
type fieldTag struct {
	name    string // "" if there is none that encoding/json accepts
	options []string
}

// memberTag gives the tag of a field, and false for a field that encoding/json
// does not look at.
func memberTag(sf reflect.StructField) (fieldTag, bool) {
	if sf.Anonymous {
		t := sf.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		// An unexported embedded struct can have exported fields.
		if !sf.IsExported() && t.Kind() != reflect.Struct {
			return fieldTag{}, false
		}
	} else if !sf.IsExported() {
		return fieldTag{}, false
	}
	text := sf.Tag.Get("json")
	if text == "-" {
		return fieldTag{}, false
	}
	parts := strings.Split(text, ",")
	tag := fieldTag{options: parts[1:]}
	if isName(parts[0]) {
		tag.name = parts[0]
	}
	return tag, true
}

// isName reports whether encoding/json takes a name in a tag: letters, digits
// and ASCII punctuation other than quotes, backslash and comma.
func isName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}

// field makes the member that a struct field is.
func (tag fieldTag) field(sf reflect.StructField, index []int) field {
	name := tag.name
	if name == "" {
		name = sf.Name
	}
	return field{
		name:      name,
		typ:       sf.Type,
		index:     index,
		omitEmpty: slices.Contains(tag.options, "omitempty"),
		omitZero:  slices.Contains(tag.options, "omitzero"),
		quoted:    slices.Contains(tag.options, "string") && canQuote(pointee(sf.Type)),
	}
}

// canQuote reports whether the option "string" applies to a type.
func canQuote(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return false
}
