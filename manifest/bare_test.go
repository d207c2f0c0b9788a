package manifest_test

import (
	"reflect"
)

// bare gives a copy of a value whose unexported fields, at any depth, are zero: what
// a manifest says, without where and how it was written.
func bare(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(bare(v.Field(i)))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(bare(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(bare(v.Index(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

func exportedValue[T any](v T) T { return bare(reflect.ValueOf(v)).Interface().(T) }

func exported[T any](v []T) []T { return exportedValue(v) }
