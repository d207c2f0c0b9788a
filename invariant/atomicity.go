package invariant

import (
	"fmt"

	"github.com/opensentience/pulse-go/manifest"
)

// phaseAtomicity is OS-010 §7.1 (C-048): no two phases of an iteration are at
// work on one substrate. The engine runs phases one after the other, so what can
// break it is a call that outlives its phase function: it is a breach when that
// phase ends, and when another attempt or phase begins beside it. A loop without
// the flag waits for such calls instead.
func phaseAtomicity() *rule {
	return &rule{manifest.PhaseAtomicity, nothingElsewhere, nothingUnderWay}
}

func nothingElsewhere(p *Phase) string {
	if len(p.Elsewhere) == 0 {
		return ""
	}
	return fmt.Sprintf("a call that an earlier attempt or phase made on %s has not returned: "+
		"wait for every goroutine that calls a substrate, and let substrates return when their context ends", p.Elsewhere[0])
}

func nothingUnderWay(p *Phase) string {
	for i := range p.Calls {
		if c := &p.Calls[i]; c.UnderWay {
			return fmt.Sprintf("%s has not returned although the phase has: wait for every goroutine that calls a substrate before returning", c.Operation)
		}
	}
	return ""
}
