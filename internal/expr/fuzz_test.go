package expr_test

import "testing"

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, src string) { sound(t, src) })
}
