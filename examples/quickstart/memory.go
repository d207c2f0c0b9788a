package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// The two types of node, and the only rule.
const (
	dayType  = "day"
	ruleType = "rule"
	ruleID   = "as-today"
)

const (
	newConfidence = 0.5  // of a belief that was never tried
	learningRate  = 0.2  // how far one outcome moves a confidence
	alike         = 0.15 // likeness from which a day is a precedent
	sameAs        = 0.75 // likeness from which two days say the same
)

// Lived is the content of a stored day.
type Lived struct {
	Day      Day      `json:"day"`
	Followed Followed `json:"followed"`
}

// Followed is what is kept of the day after.
type Followed struct {
	Wet bool `json:"wet"`
}

// Precedent is the content of a retrieved node: days of the past that were
// followed by the same.
type Precedent struct {
	ID         string  `json:"id,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Days       int     `json:"days"`     // merged into one
	Wet        bool    `json:"wet"`      // what followed
	Likeness   float64 `json:"likeness"` // to the day asked about, in (0, 1]
}

// Weight is how much the precedent has to say.
func (p Precedent) Weight() float64 { return p.Confidence * p.Likeness * float64(p.Days) }

// Store is the example's own memory of one workspace: days, what followed each,
// and how far each has earned trust. It starts with one belief, the rule that
// tomorrow will be as today, and gets days through StoreNode alone.
type Store struct {
	workspace string

	mu      sync.Mutex
	rule    belief
	days    []*belief         // oldest first
	kept    map[string]string // id of every day ever kept: key of the call that kept it
	learned map[lesson]bool
	latest  Day     // the day kept last
	spell   float64 // how wet it has been up to then
}

// belief is what one or several merged days say.
type belief struct {
	id         string
	sight      sight
	days       int
	wet        bool // what followed
	confidence float64
}

// lesson is an outcome that was learned from.
type lesson struct {
	action string
	status token.Status
}

// NewStore gives a memory without any day.
func NewStore(workspace string) *Store {
	return &Store{
		workspace: workspace, rule: belief{id: ruleID, confidence: newConfidence},
		kept: map[string]string{}, learned: map[lesson]bool{},
	}
}

// Memory wraps the store for a loop: what it has is offered, the rest of the
// protocol's operations answer that they are not.
func (s *Store) Memory() substrate.MemoryFuncs {
	return substrate.MemoryFuncs{
		RetrieveContextFunc: s.retrieve, StoreNodeFunc: s.keep, LearnFromOutcomeFunc: s.learn, ConsolidateFunc: s.merge,
	}
}

// Len gives the number of nodes that hold days.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.days)
}

// retrieve finds the days most like the one asked about, and the rule, which is
// always last.
func (s *Store) retrieve(_ context.Context, r substrate.RetrieveContextRequest) (resp substrate.RetrieveContextResponse, err error) {
	var today Day
	if err := json.Unmarshal([]byte(r.Query), &today); err != nil {
		return resp, fmt.Errorf("query: %w", err)
	}
	if err := s.lock(r.Origination); err != nil {
		return resp, err
	}
	defer s.mu.Unlock()
	if r.K < 1 {
		return resp, nil
	}
	for _, p := range s.precedents(s.see(today), r.K-1) {
		resp.Nodes = append(resp.Nodes, p.node(dayType))
	}
	rule := Precedent{ID: ruleID, Confidence: s.rule.confidence, Days: 1, Wet: today.Wet(), Likeness: 1}
	resp.Nodes = append(resp.Nodes, rule.node(ruleType))
	resp.Topology.Routing = token.RoutingFast // no edges between days, so κ is 0
	return resp, nil
}

func (s *Store) precedents(today sight, k int) []Precedent {
	var found []Precedent
	for _, b := range s.days {
		if l := today.likeness(&b.sight); l >= alike {
			found = append(found, Precedent{ID: b.id, Confidence: b.confidence, Days: b.days, Wet: b.wet, Likeness: l})
		}
	}
	slices.SortStableFunc(found, func(a, b Precedent) int { return cmp.Compare(b.Likeness, a.Likeness) })
	return found[:min(k, len(found))]
}

func (p Precedent) node(typ string) substrate.Node {
	content := fmt.Appendf(nil, `{"days":%d,"wet":%t,"likeness":%g}`, p.Days, p.Wet, p.Likeness)
	return substrate.Node{ID: p.ID, Type: typ, Content: content, Confidence: p.Confidence}
}

// keep appends a day. A repeated call keeps it once; another call with the same
// day is refused.
func (s *Store) keep(_ context.Context, r substrate.StoreNodeRequest) (rc substrate.Receipt, err error) {
	var lived Lived
	if err := json.Unmarshal(r.Node.Content, &lived); err != nil {
		return rc, fmt.Errorf("node %s: %w", r.Node.ID, err)
	}
	if err := s.lock(r.Origination); err != nil {
		return rc, err
	}
	defer s.mu.Unlock()
	rc = substrate.Receipt{ID: r.Node.ID, TraceID: r.TraceID}
	if key, ok := s.kept[r.Node.ID]; ok {
		if key != r.DedupeKey() {
			return substrate.Receipt{}, fmt.Errorf("day %s: %w", r.Node.ID, substrate.ErrNodeExists)
		}
		return rc, nil
	}
	b := &belief{id: r.Node.ID, sight: s.see(lived.Day), days: 1, wet: lived.Followed.Wet, confidence: r.Node.Confidence}
	s.days, s.kept[b.id] = append(s.days, b), r.DedupeKey()
	s.latest, s.spell = lived.Day, s.spellOn(lived.Day)
	return rc, nil
}

// learn moves the confidence of the causal parents towards 1 after a success and
// towards 0 after a failure. An outcome moves it once, however often it comes.
func (s *Store) learn(_ context.Context, r substrate.LearnFromOutcomeRequest) (resp substrate.LearnFromOutcomeResponse, err error) {
	if err := s.lock(r.Origination); err != nil {
		return resp, err
	}
	defer s.mu.Unlock()
	l := lesson{action: r.Signal.ActionID, status: r.Signal.Status}
	resp.Receipt = substrate.Receipt{ID: l.action + "/" + string(l.status), TraceID: r.TraceID}
	if s.learned[l] {
		return resp, nil
	}
	s.learned[l] = true
	earned := 0.0
	if l.status == token.StatusSuccess {
		earned = 1
	}
	for _, b := range s.named(r.Signal.CausalParentIDs) {
		u := substrate.ConfidenceUpdate{NodeID: b.id, Before: b.confidence}
		b.confidence += learningRate * (earned - b.confidence)
		u.After = b.confidence
		resp.Updates = append(resp.Updates, u)
	}
	return resp, nil
}

// named gives the beliefs of those ids that there are.
func (s *Store) named(ids []string) []*belief {
	var found []*belief
	if slices.Contains(ids, ruleID) {
		found = append(found, &s.rule)
	}
	for _, b := range s.days {
		if slices.Contains(ids, b.id) {
			found = append(found, b)
		}
	}
	return found
}

// merge folds each day in the scope into the first older one that was like it
// and was followed by the same. A scope is the beginning of ids, such as a month.
func (s *Store) merge(_ context.Context, r substrate.ConsolidateRequest) (resp substrate.ConsolidateResponse, err error) {
	if err := s.lock(r.Origination); err != nil {
		return resp, err
	}
	defer s.mu.Unlock()
	resp.Receipt = substrate.Receipt{ID: "merge/" + r.Scope, TraceID: r.TraceID}
	resp.Event = token.ConsolidationEvent{Timescale: token.TimescaleMedium, ConvergenceStatus: token.ConvergenceStable}
	var left []*belief
	for _, b := range s.days {
		if strings.HasPrefix(b.id, r.Scope) {
			if i := slices.IndexFunc(left, b.saysSame); i >= 0 {
				left[i].absorb(b)
				resp.Event.AffectedNodeIDs = append(resp.Event.AffectedNodeIDs, b.id)
				resp.Event.MergedIntoIDs = append(resp.Event.MergedIntoIDs, left[i].id)
				resp.Event.ConvergenceStatus = token.ConvergenceUnstable // what was absorbed may attract more
				continue
			}
		}
		left = append(left, b)
	}
	s.days = left
	return resp, nil
}

func (b *belief) saysSame(older *belief) bool {
	return older.wet == b.wet && older.sight.likeness(&b.sight) >= sameAs
}

// absorb makes b the mean of itself and the other.
func (b *belief) absorb(other *belief) {
	share := float64(other.days) / float64(b.days+other.days)
	for i := range b.sight {
		b.sight[i] += share * (other.sight[i] - b.sight[i])
	}
	b.confidence += share * (other.confidence - b.confidence)
	b.days += other.days
}

// lock locks the store for a call of its own workspace.
func (s *Store) lock(o substrate.Origination) error {
	if o.Workspace != s.workspace {
		return fmt.Errorf("days of %s, asked for by %q: %w", s.workspace, o.Workspace, substrate.ErrCrossWorkspace)
	}
	s.mu.Lock()
	return nil
}
