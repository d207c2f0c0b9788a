package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const header = `# Spec map

Which test shows which requirement. Generated from the tests by
` + "`internal/cmd/specmap`" + `; do not edit. An id counts as shown only by a test that
declares it with ` + "`spec.Covers`" + ` and passes. A note says what completes an id that
is not, or not wholly, shown yet.

`

// render draws the map. Its bytes depend on its arguments only.
func render(reqs requirements, shown coverage) string {
	var b strings.Builder
	b.WriteString(header)
	summary(&b, reqs, shown)
	for _, area := range reqs.areas() {
		fmt.Fprintf(&b, "\n## %s\n\n| ID | Kind | Requirement | Source | Shown by |\n|---|---|---|---|---|\n", area)
		for _, row := range reqs.Rows {
			if row.Area == area {
				kind := row.Kind
				if row.External {
					kind += ", external"
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
					row.ID, kind, cell(row.Text), cell(row.Source), showing(shown[row.ID], reqs.Later[row.ID]))
			}
		}
	}
	declarations(&b, "Rulings", shown, func(id string) bool { return strings.HasPrefix(id, "C-") })
	declarations(&b, "Engine cases", shown, func(id string) bool { return !strings.Contains(id, "-") })
	return b.String()
}

func summary(b *strings.Builder, reqs requirements, shown coverage) {
	b.WriteString("| Area | Complete now | must shown | should, may shown | noted |\n|---|---|---:|---:|---:|\n")
	for _, area := range reqs.areas() {
		var must, mustShown, rest, restShown, noted int
		for _, row := range reqs.Rows {
			if row.Area != area {
				continue
			}
			has := 0
			if len(shown[row.ID]) > 0 {
				has = 1
			} else if reqs.Later[row.ID] != "" {
				noted++
			}
			if row.Kind == "must" {
				must++
				mustShown += has
			} else {
				rest++
				restShown += has
			}
		}
		due := "later"
		if slices.Contains(reqs.Due, area) {
			due = "yes"
		}
		fmt.Fprintf(b, "| %s | %s | %d of %d | %d of %d | %d |\n", area, due, mustShown, must, restShown, rest, noted)
	}
}

// declarations lists the ids that are no requirement: only those that a test
// declares, since a ruling or a case may be shown by the requirement it serves.
func declarations(b *strings.Builder, title string, shown coverage, match func(string) bool) {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(shown)) {
		if match(id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| ID | Shown by |\n|---|---|\n", title)
	for _, id := range ids {
		fmt.Fprintf(b, "| %s | %s |\n", id, showing(shown[id], ""))
	}
}

func showing(tests []string, note string) string {
	var parts []string
	for _, t := range tests {
		parts = append(parts, "`"+t+"`")
	}
	text := strings.Join(parts, ", ")
	switch {
	case text == "" && note == "":
		return "unmapped"
	case text == "":
		return cell(note)
	case note == "":
		return text
	}
	return text + "; " + cell(note)
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
