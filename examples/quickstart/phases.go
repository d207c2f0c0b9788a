package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/opensentience/pulse-go"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// What a forecast may rely on.
const (
	bySimilarDays = "similar days"
	byRule        = "rule"
)

const (
	similarDays = 25 // how many days at most speak in a forecast
	enoughDays  = 5  // with fewer, the rule of thumb speaks instead
)

// Found is what memory holds about a day like today.
type Found struct {
	Today   Day         `json:"today"`
	Similar []Precedent `json:"similar"` // days that were like today, the most alike first
	Rule    Precedent   `json:"rule"`    // tomorrow will be as today
}

// Plan is what a forecast is to rely on.
type Plan struct {
	Today      Day         `json:"today"`
	By         string      `json:"by"` // bySimilarDays or byRule
	Precedents []Precedent `json:"precedents"`
}

// Forecast says whether the day after Today will be wet.
type Forecast struct {
	ActionID string   `json:"action_id"`
	Today    Day      `json:"today"`
	Wet      bool     `json:"wet"`
	By       string   `json:"by"`
	Because  []string `json:"because"` // the precedents that spoke for it
}

// Forecaster has the phase functions. Its memory resolves from the context of
// each call; a unit test gives it a memory of its own.
type Forecaster struct{ memory substrate.Memory }

// recall asks memory for days like today. It can only read.
func (f Forecaster) recall(ctx context.Context, today Day) (Found, error) {
	query, err := json.Marshal(today)
	if err != nil {
		return Found{}, err
	}
	resp, err := f.memory.RetrieveContext(ctx, substrate.RetrieveContextRequest{Query: string(query), K: similarDays + 1})
	if err != nil {
		return Found{}, err
	}
	found := Found{Today: today}
	for _, node := range resp.Nodes {
		p := Precedent{ID: node.ID, Confidence: node.Confidence}
		if err := json.Unmarshal(node.Content, &p); err != nil {
			return Found{}, fmt.Errorf("node %s: %w", node.ID, err)
		}
		if node.Type == ruleType {
			found.Rule = p
		} else {
			found.Similar = append(found.Similar, p)
		}
	}
	return found, nil
}

// choose decides what the forecast relies on. The compiler holds the plan
// against the input of Predict.
func (Forecaster) choose(_ context.Context, found Found) (pulse.Decision, error) {
	if len(found.Similar) < enoughDays {
		return Predict.Goto(Plan{Today: found.Today, By: byRule, Precedents: []Precedent{found.Rule}}), nil
	}
	return Predict.Goto(Plan{Today: found.Today, By: bySimilarDays, Precedents: found.Similar}), nil
}

// predict lets the precedents vote and commits to the forecast. Whether it is
// right is not known yet, so the outcome is pending; the precedents that spoke
// for the forecast are its causal parents.
func (Forecaster) predict(ctx context.Context, plan Plan) (pulse.Outcome[Forecast], error) {
	call, err := pulse.CallFrom(ctx)
	if err != nil {
		return pulse.Outcome[Forecast]{}, err
	}
	var wet, dry float64
	for _, p := range plan.Precedents {
		if p.Wet {
			wet += p.Weight()
		} else {
			dry += p.Weight()
		}
	}
	forecast := Forecast{ActionID: call.ActionID(), Today: plan.Today, Wet: wet > dry, By: plan.By}
	for _, p := range plan.Precedents {
		if p.Wet == forecast.Wet {
			forecast.Because = append(forecast.Because, p.ID)
		}
	}
	return pulse.Outcome[Forecast]{Value: forecast, Pending: true, CausalParentIDs: forecast.Because}, nil
}

// Outcome is how the forecast turned out, with the observation as evidence.
func (f Forecast) Outcome(came Day) token.OutcomeSignal {
	status := token.StatusFailure
	if f.Wet == came.Wet() {
		status = token.StatusSuccess
	}
	return token.OutcomeSignal{
		ActionID: f.ActionID, Status: status, CausalParentIDs: f.Because,
		Evidence: fmt.Appendf(nil, `{"wet":%t}`, came.Wet()), Timestamp: came.Date,
	}
}

// learn moves the confidence of the causal parents and remembers the day with
// what followed it. It can append and adjust, never rewrite.
func (f Forecaster) learn(ctx context.Context, fb pulse.Feedback[Forecast]) ([]substrate.ConfidenceUpdate, error) {
	learned, err := f.memory.LearnFromOutcome(ctx, substrate.LearnFromOutcomeRequest{Signal: fb.Signal})
	if err != nil {
		return nil, err
	}
	lived := Lived{Day: fb.Value.Today}
	if err := json.Unmarshal(fb.Signal.Evidence, &lived.Followed); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	content, err := json.Marshal(lived)
	if err != nil {
		return nil, err
	}
	node := substrate.Node{ID: lived.Day.ID(), Type: dayType, Content: content, Confidence: newConfidence}
	_, err = f.memory.StoreNode(ctx, substrate.StoreNodeRequest{Node: node})
	return learned.Updates, err
}

// tidy merges days of the month into older ones that say the same.
func (f Forecaster) tidy(ctx context.Context, month Month) (token.ConsolidationEvent, error) {
	resp, err := f.memory.Consolidate(ctx, substrate.ConsolidateRequest{Scope: string(month)})
	return resp.Event, err
}
