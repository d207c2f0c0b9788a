package manifest

import (
	"strconv"

	"github.com/opensentience/pulse-go/internal/jsonpos"
)

// trail is the way down to a member: names and indices. It becomes a JSON pointer
// only for an issue, since most members have none.
type trail []step

type step struct {
	name  string
	index int
	named bool // it is a name, not an index
}

func (t *trail) name(name string) { *t = append(*t, step{name: name, named: true}) }
func (t *trail) element(i int)    { *t = append(*t, step{index: i}) }
func (t *trail) up()              { *t = (*t)[:len(*t)-1] }

// last gives the innermost name, empty for an element.
func (t trail) last() string {
	if len(t) == 0 {
		return ""
	}
	return t[len(t)-1].name
}

func (t trail) pointer() string {
	pointer := ""
	for _, s := range t {
		if s.named {
			pointer = jsonpos.AppendPointer(pointer, s.name)
		} else {
			pointer += "/" + strconv.Itoa(s.index)
		}
	}
	return pointer
}
