package token

import "encoding/json"

// fill completes a header; a trace id that is there stays.
func (h Header) fill(n Name, trace string) Header {
	h.Token, h.Version = n, Version
	if h.TraceID == "" {
		h.TraceID = trace
	}
	return h
}

// list gives an empty list for a nil one, which JSON would write as null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// object gives an empty JSON object for none.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func (t TopologyContext) filled(trace string) TopologyContext {
	t.Header = t.fill(TopologyContextName, trace)
	t.Nodes, t.Edges = list(t.Nodes), list(t.Edges)
	sccs := make([]SCC, len(t.SCCs))
	for i, s := range t.SCCs {
		s.Members = list(s.Members)
		sccs[i] = s
	}
	t.SCCs = sccs
	return t
}

func (t TopologyContext) complete(trace string) (any, Header) {
	t = t.filled(trace)
	return t, t.Header
}

func (t DeliberationResult) complete(trace string) (any, Header) {
	t.Header = t.fill(DeliberationResultName, trace)
	t.ReasoningPath, t.Dissents = list(t.ReasoningPath), list(t.Dissents)
	return t, t.Header
}

func (t OutcomeSignal) complete(trace string) (any, Header) {
	t.Header = t.fill(OutcomeSignalName, trace)
	t.CausalParentIDs, t.Evidence = list(t.CausalParentIDs), object(t.Evidence)
	return t, t.Header
}

func (t ReputationUpdate) complete(trace string) (any, Header) {
	t.Header = t.fill(ReputationUpdateName, trace)
	return t, t.Header
}

func (t ConsolidationEvent) complete(trace string) (any, Header) {
	t.Header = t.fill(ConsolidationEventName, trace)
	t.AffectedNodeIDs, t.MergedIntoIDs = list(t.AffectedNodeIDs), list(t.MergedIntoIDs)
	if t.MetricDeltas == nil {
		t.MetricDeltas = map[string]float64{}
	}
	return t, t.Header
}

func (t SurpriseSignal) complete(trace string) (any, Header) {
	t.Header = t.fill(SurpriseSignalName, trace)
	t.Evidence = object(t.Evidence)
	return t, t.Header
}

func (t DeliberationRequest) complete(trace string) (any, Header) {
	t.Header = t.fill(DeliberationRequestName, trace)
	t.Topology = t.Topology.filled(trace)
	return t, t.Header
}

func (t SessionFidelityViolation) complete(trace string) (any, Header) {
	t.Header = t.fill(SessionFidelityViolationName, trace)
	return t, t.Header
}
