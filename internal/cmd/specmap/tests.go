package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/opensentience/pulse-go/internal/spec"
)

const modulePath = "github.com/opensentience/pulse-go"

// event is the part of a test2json record that the map needs.
type event struct {
	Action, Package, Test, Key, Value, Output string
}

// testName identifies one test or subtest; an empty Test is the package itself.
type testName struct{ Package, Test string }

// String is the name as the map shows it: the package relative to the module
// and the top-level test. A subtest is shown by its parent, because the names of
// subtests follow the data and would make the map change with every table row.
func (n testName) String() string {
	pkg := strings.TrimPrefix(strings.TrimPrefix(n.Package, modulePath), "/")
	if pkg == "" {
		pkg = "pulse"
	}
	top, _, _ := strings.Cut(n.Test, "/")
	return pkg + "." + top
}

// coverage maps an id to the tests that show it, sorted and without repeats.
type coverage map[string][]string

// readTests collects what passing tests declared. The output of failing tests
// and broken builds goes to log, and they make the result an error: a map drawn
// from a partial run would lie.
func readTests(r io.Reader, log io.Writer) (coverage, error) {
	c := collector{
		log:      log,
		declared: map[testName][]string{},
		output:   map[testName]*bytes.Buffer{},
		shown:    map[string]map[string]bool{},
	}
	dec := json.NewDecoder(bufio.NewReader(r))
	for {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return c.result()
		} else if err != nil {
			return nil, fmt.Errorf("standard input is not the output of go test -json: %w", err)
		}
		c.add(e)
	}
}

// collector gathers one run. Output is kept until its test ends, because only
// then is it known whether anybody wants to read it.
type collector struct {
	log      io.Writer
	declared map[testName][]string
	output   map[testName]*bytes.Buffer
	shown    map[string]map[string]bool
	failed   []string
	passed   int
}

func (c *collector) add(e event) {
	name := testName{e.Package, e.Test}
	switch e.Action {
	case "attr":
		if e.Key == spec.Key {
			c.declared[name] = append(c.declared[name], e.Value)
		}
	case "output":
		if c.output[name] == nil {
			c.output[name] = new(bytes.Buffer)
		}
		c.output[name].WriteString(e.Output)
	case "build-output":
		_, _ = io.WriteString(c.log, e.Output)
	case "pass":
		c.pass(name)
		delete(c.output, name)
	case "skip":
		delete(c.output, name)
	case "fail":
		if b := c.output[name]; b != nil {
			_, _ = b.WriteTo(c.log)
		}
		delete(c.output, name)
		c.failed = append(c.failed, strings.TrimSuffix(name.String(), "."))
	}
}

func (c *collector) pass(name testName) {
	if name.Test != "" {
		c.passed++
	}
	for _, id := range c.declared[name] {
		if c.shown[id] == nil {
			c.shown[id] = map[string]bool{}
		}
		c.shown[id][name.String()] = true
	}
}

func (c *collector) result() (coverage, error) {
	if len(c.failed) > 0 {
		slices.Sort(c.failed)
		return nil, fmt.Errorf("the map needs a passing run; failed: %s", strings.Join(slices.Compact(c.failed), ", "))
	}
	if c.passed == 0 {
		return nil, errors.New("no test passed on standard input; pipe go test -json ./... into this command")
	}
	cov := make(coverage, len(c.shown))
	for id, names := range c.shown {
		cov[id] = slices.Sorted(maps.Keys(names))
	}
	return cov, nil
}
