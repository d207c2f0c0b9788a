package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// problems reports declared ids that do not exist and due musts that are
// neither shown nor noted.
func problems(reqs requirements, shown coverage) error {
	var faults []error
	for _, id := range slices.Sorted(maps.Keys(shown)) {
		isRequirement := strings.ContainsAny(id[:1], "PBTW") && id[1] == '-'
		if isRequirement && !reqs.has(id) {
			faults = append(faults, fmt.Errorf("%s declares %s, which requirements.tsv does not list",
				strings.Join(shown[id], ", "), id))
		}
	}
	for _, row := range reqs.Rows {
		due := row.Kind == "must" && slices.Contains(reqs.Due, row.Area)
		if due && len(shown[row.ID]) == 0 && reqs.Later[row.ID] == "" {
			faults = append(faults, fmt.Errorf("%s (%s) is shown by no passing test and not noted: %s",
				row.ID, row.Area, row.Text))
		}
	}
	return errors.Join(faults...)
}

// diff lists the lines that only one of two texts has, in order: "-" for those
// of got, "+" for those of want. It is empty if the texts are equal.
func diff(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintf(&out, "-%s\n", a[i])
			i++
		default:
			fmt.Fprintf(&out, "+%s\n", b[j])
			j++
		}
	}
	return out.String()
}
