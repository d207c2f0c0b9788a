package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadTestsCountsOwnResultOnly(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  coverage
	}{
		"a passing test": {
			[]string{"attr TestA P-1-1", "pass TestA"}, coverage{"P-1-1": {"machine.TestA"}}},
		"a skipped test": {
			[]string{"attr TestA P-1-1", "skip TestA", "pass TestB"}, coverage{}},
		"a skipped subtest of a passing test": {
			[]string{"attr TestA/s P-1-1", "skip TestA/s", "pass TestA"}, coverage{}},
		"a passing subtest, shown by its parent": {
			[]string{"attr TestA/s P-1-1", "attr TestA/u P-1-1", "pass TestA/s", "pass TestA/u", "pass TestA"},
			coverage{"P-1-1": {"machine.TestA"}}},
		"several tests, sorted": {
			[]string{"attr TestB P-1-1", "attr TestA P-1-1", "pass TestB", "pass TestA"},
			coverage{"P-1-1": {"machine.TestA", "machine.TestB"}}},
		"a test that never ends": {
			[]string{"attr TestA P-1-1", "pass TestB"}, coverage{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readTests(stream(c.lines...), new(bytes.Buffer))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestReadTestsShowsOutputOfFailuresOnly(t *testing.T) {
	in := strings.NewReader(`{"Action":"build-output","Output":"x.go:1: broken\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"fail","Package":"p"}
`)
	var log bytes.Buffer
	_, err := readTests(in, &log)
	require.EqualError(t, err, "the map needs a passing run; failed: p, p.TestBad")
	require.Equal(t, "x.go:1: broken\ngot 1, want 2\n", log.String())
}

func TestReadTestsRefusesOtherText(t *testing.T) {
	_, err := readTests(strings.NewReader("ok  \tp\t0.1s\n"), new(bytes.Buffer))
	require.ErrorContains(t, err, "not the output of go test -json")
}

func TestReadTestsIgnoresOtherAttributes(t *testing.T) {
	in := strings.NewReader(`{"Action":"attr","Package":"p","Test":"TestA","Key":"owner","Value":"P-1-1"}
{"Action":"pass","Package":"p","Test":"TestA"}
`)
	got, err := readTests(in, new(bytes.Buffer))
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestNameOfRootPackage(t *testing.T) {
	require.Equal(t, "pulse.TestA", testName{modulePath, "TestA/x"}.String())
}
