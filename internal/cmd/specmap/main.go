// Command specmap writes docs/spec-map.md: which test shows which requirement.
//
// It reads the output of go test -json on standard input and keeps what passing
// tests declared with spec.Covers:
//
//	go test -json ./... | go run ./internal/cmd/specmap
//	go test -json ./... | go run ./internal/cmd/specmap -check
//
// With -check nothing is written. The command then fails, with the reasons on
// standard error, if a test failed, if the committed map differs from the one
// generated, or if a must of a due area is neither shown by a test nor noted.
//
// Its inputs besides the test output are hand-kept files in the same directory:
// requirements.tsv (every requirement), spec-map.due (the areas that must be
// complete), spec-map.later.tsv (id, and what completes it).
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const mapName = "spec-map.md"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stderr))
}

// run is main without the process: it returns the exit code, 0 for success, 1
// for a map that does not hold and 2 for wrong usage.
func run(args []string, stdin io.Reader, stderr io.Writer) int {
	flags := flag.NewFlagSet("specmap", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "compare with the committed map instead of writing it")
	docs := flags.String("docs", "docs", "directory of the map and of its inputs")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "specmap: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if err := generate(*docs, *check, stdin, stderr); err != nil {
		_, _ = fmt.Fprintf(stderr, "specmap: %v\n", err)
		return 1
	}
	return 0
}

func generate(docs string, check bool, stdin io.Reader, stderr io.Writer) error {
	declared, err := readTests(stdin, stderr)
	if err != nil {
		return err
	}
	reqs, err := loadRequirements(docs)
	if err != nil {
		return err
	}
	want := render(reqs, declared)
	path := filepath.Join(docs, mapName)
	if !check {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			return fmt.Errorf("write the map: %w", err)
		}
		return problems(reqs, declared)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the committed map: %w", err)
	}
	var stale error
	if d := diff(string(got), want); d != "" {
		stale = fmt.Errorf("%s is stale; regenerate it with: go test -json ./... | go run ./internal/cmd/specmap\n%s",
			path, strings.TrimSuffix(d, "\n"))
	}
	return errors.Join(stale, problems(reqs, declared))
}
