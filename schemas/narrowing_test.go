package schemas_test

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
)

// narrowings lists where a document that the old schema accepts may be refused by
// the new one. It knows the keywords that say how they narrow, and takes any
// other difference for a narrowing.
func narrowings(at string, before, after any) []string {
	if after == true {
		return nil
	}
	o, isObject := before.(map[string]any)
	n, stillObject := after.(map[string]any)
	if !isObject || !stillObject {
		if reflect.DeepEqual(before, after) {
			return nil
		}
		return []string{fmt.Sprintf("%s: %v became %v", at, before, after)}
	}
	var found []string
	for _, keyword := range keywords(o, n) {
		found = append(found, narrowed(at+"/"+keyword, keyword, o, n)...)
	}
	return found
}

func keywords(maps ...map[string]any) []string {
	var all []string
	for _, m := range maps {
		for k := range m {
			if !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	sort.Strings(all)
	return all
}

func narrowed(at, keyword string, o, n map[string]any) []string {
	before, was := o[keyword]
	after, is := n[keyword]
	switch keyword {
	case "title", "description", "default", "$comment":
		return nil
	case "properties", "$defs":
		return members(at, before, after, keyword == "properties" && o["additionalProperties"] != false)
	case "required":
		return surplus(at, list(after), list(before), "is newly required")
	case "enum", "type":
		if was && is {
			return surplus(at, list(before), list(after), "is gone")
		}
	case "items", "then", "else":
		if was && is {
			return narrowings(at, before, after)
		}
	case "minimum", "minLength", "minItems":
		if !is || was && number(after) <= number(before) {
			return nil
		}
	case "maximum", "maxLength", "maxItems":
		if !is || was && number(after) >= number(before) {
			return nil
		}
	}
	if !is && keyword != "$ref" && keyword != "$id" && keyword != "$schema" || reflect.DeepEqual(before, after) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v became %v", at, before, after)}
}

// members compares named schemas. A new property narrows if the object was open.
func members(at string, before, after any, open bool) []string {
	o, _ := before.(map[string]any)
	n, _ := after.(map[string]any)
	var found []string
	for _, name := range keywords(o, n) {
		switch {
		case n[name] == nil:
			found = append(found, at+"/"+name+" is gone")
		case o[name] != nil:
			found = append(found, narrowings(at+"/"+name, o[name], n[name])...)
		case open:
			found = append(found, at+"/"+name+" is new in an open object")
		}
	}
	return found
}

func surplus(at string, of, over []any, what string) []string {
	var found []string
	for _, v := range of {
		if !slices.Contains(over, v) {
			found = append(found, fmt.Sprintf("%s: %v %s", at, v, what))
		}
	}
	return found
}

func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}
