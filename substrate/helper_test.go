package substrate_test

import "reflect"

// methods lists the names of an interface's methods.
func methods[I any]() []string {
	t := reflect.TypeFor[I]()
	names := make([]string, t.NumMethod())
	for i := range names {
		names[i] = t.Method(i).Name
	}
	return names
}
