package substrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Attribute is a named detail of an audit event.
type Attribute struct{ Name, Value string }

// Attributes are the details of an audit event, in the order given. Their JSON
// form is an object with its members in that order. A slice, and not a map,
// because the engine appends an event or two per phase and most have none.
type Attributes []Attribute

// Lookup returns the value of the named attribute, and whether there is one.
func (a Attributes) Lookup(name string) (string, bool) {
	for _, attr := range a {
		if attr.Name == name {
			return attr.Value, true
		}
	}
	return "", false
}

// MarshalJSON writes the attributes as an object. Two attributes of one name
// are an error: one of the values would be lost.
func (a Attributes) MarshalJSON() ([]byte, error) {
	if a == nil {
		return []byte("null"), nil
	}
	out := []byte{'{'}
	for i, attr := range a {
		if _, twice := a[:i].Lookup(attr.Name); twice {
			return nil, errTwice(attr.Name)
		}
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(attr.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(attr.Value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads an object, or null. A member that is not a string, as
// events of other systems may have, keeps its JSON text as value. A repeated
// name is an error.
func (a *Attributes) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*a = nil
		return nil
	}
	if !utf8.Valid(data) { // a value kept as text would change on its way
		return errors.New("substrate: attributes are not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return fmt.Errorf("substrate: attributes must be a JSON object, not %.20s", data)
	}
	out := Attributes{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return fmt.Errorf("substrate: attributes: %w", err)
		}
		name, ok := tok.(string)
		if !ok {
			return fmt.Errorf("substrate: attributes: member name %v is not a string", tok)
		}
		if _, twice := out.Lookup(name); twice {
			return errTwice(name)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("substrate: attribute %q: %w", name, err)
		}
		value := string(raw)
		if raw[0] == '"' {
			if err := json.Unmarshal(raw, &value); err != nil {
				return fmt.Errorf("substrate: attribute %q: %w", name, err)
			}
		}
		out = append(out, Attribute{Name: name, Value: value})
	}
	*a = out
	return nil
}

func errTwice(name string) error {
	return fmt.Errorf("substrate: attribute %q is given twice: one value would be lost", name)
}
