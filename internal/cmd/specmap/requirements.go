package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// requirement is one row of requirements.tsv.
type requirement struct {
	Area, ID string
	Kind     string // must, should or may
	External bool   // an obligation of a party outside the library, which only has to make it possible
	Source   string
	Text     string
}

// requirements is what the map is drawn over.
type requirements struct {
	Rows  []requirement     // in the order of the file, one area after the other
	Due   []string          // areas whose every must is shown or noted
	Later map[string]string // id to what completes it
}

func (r requirements) areas() []string {
	var areas []string
	for _, row := range r.Rows {
		if !slices.Contains(areas, row.Area) {
			areas = append(areas, row.Area)
		}
	}
	return areas
}

func (r requirements) has(id string) bool {
	return slices.ContainsFunc(r.Rows, func(row requirement) bool { return row.ID == id })
}

func loadRequirements(dir string) (requirements, error) {
	var r requirements
	err := readTable(filepath.Join(dir, "requirements.tsv"), 6, func(f []string) error {
		if r.has(f[1]) {
			return fmt.Errorf("id %s stands twice", f[1])
		}
		if !slices.Contains([]string{"must", "should", "may"}, f[2]) {
			return fmt.Errorf("kind %q of %s is not must, should or may", f[2], f[1])
		}
		if f[3] != "" && f[3] != "external" {
			return fmt.Errorf("party %q of %s is neither empty nor external", f[3], f[1])
		}
		r.Rows = append(r.Rows, requirement{f[0], f[1], f[2], f[3] == "external", f[4], f[5]})
		return nil
	})
	if err != nil {
		return r, err
	}
	err = readTable(filepath.Join(dir, "spec-map.due"), 1, func(f []string) error {
		if !slices.Contains(r.areas(), f[0]) {
			return fmt.Errorf("area %q has no requirement", f[0])
		}
		r.Due = append(r.Due, f[0])
		return nil
	})
	if err != nil {
		return r, err
	}
	r.Later = map[string]string{}
	return r, readTable(filepath.Join(dir, "spec-map.later.tsv"), 2, func(f []string) error {
		if !r.has(f[0]) {
			return fmt.Errorf("id %s is no requirement", f[0])
		}
		if r.Later[f[0]] != "" || f[1] == "" {
			return fmt.Errorf("id %s needs exactly one note", f[0])
		}
		r.Later[f[0]] = f[1]
		return nil
	})
}

// readTable calls row for each line of a file of tab-separated fields, leaving
// out blank lines and lines that start with #.
func readTable(path string, fields int, row func([]string) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var faults []error
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != fields {
			faults = append(faults, fmt.Errorf("%s:%d: %d fields, want %d", path, n, len(f), fields))
			continue
		}
		if err := row(f); err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", path, n, err))
		}
	}
	return errors.Join(faults...)
}
