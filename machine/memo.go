package machine

import "github.com/opensentience/pulse-go/signature"

type memoKey struct {
	phase int
	sig   signature.Digest
}

// remember keeps what an idempotent phase gave, if the phase may be asked again.
func (m *Machine) remember(i int, rec *Record) {
	p := &m.plan.phases[i]
	if !p.idempotent || !p.repeats || rec.Remembered || rec.Signature == "" {
		return
	}
	m.state.Memo = append(m.state.Memo, Remembered{
		Phase: i, Signature: rec.Signature, Output: rec.Output, Decision: rec.Decision, Act: rec.Act,
	})
	m.note(len(m.state.Memo) - 1)
}

// note makes a memo findable. Of several for one signature the latest counts.
func (m *Machine) note(n int) {
	if m.memo == nil {
		m.memo = make(map[memoKey]int)
	}
	known := &m.state.Memo[n]
	m.memo[memoKey{known.Phase, known.Signature}] = n
}

func (m *Machine) remembered(i int, sig signature.Digest) (*Remembered, bool) {
	n, ok := m.memo[memoKey{i, sig}]
	if !ok {
		return nil, false
	}
	return &m.state.Memo[n], true
}

// recall completes a remembered result: decision and act are those of the run
// that is remembered, and so is the output if the host gives none.
func (m *Machine) recall(i int, r *Result) {
	known, ok := m.remembered(i, r.Signature)
	if !ok {
		return
	}
	r.Decision, r.Act = known.Decision, known.Act
	if r.Output.IsZero() {
		r.Output = known.Output
	}
}
