package pulse

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/opensentience/pulse-go/journal"
	"github.com/opensentience/pulse-go/machine"
	"github.com/opensentience/pulse-go/substrate"
	"github.com/opensentience/pulse-go/token"
)

// performCommit ends a phase: its record is journaled, its transactions are
// committed, its transition is audited. Only then are its outputs visible
// (OS-010 §5.1, §7.3). Each step is tried again without running the phase again.
func (r *run) performCommit(cmd *machine.Command) (machine.Result, verdict, error) {
	rec := cmd.Record
	p := &r.loop.phases[r.loop.index[rec.Phase]]
	c := r.last
	if c != nil && (c.phase != p || c.cmd.Run != rec.Run) {
		c = nil // the phase ended without an attempt
	}
	if c != nil && rec.Ended == machine.EndedCompleted {
		if err := r.emitOwn(c, rec); err != nil {
			return machine.Result{}, proceed, err
		}
	}
	if r.loop.durable && rec.Seq != r.recorded {
		if err := r.save(machine.Running, rec); err != nil {
			return machine.Result{}, proceed, err
		}
		r.recorded = rec.Seq
	}
	if err := r.commitEffects(c, rec); err != nil {
		return machine.Result{}, proceed, err
	}
	ev := r.transition(p, c, rec)
	if err := r.append(&ev, c); err != nil {
		return machine.Result{}, proceed, err
	}
	if rec.Ended == machine.EndedCompleted {
		if err := r.emit(p, c, rec); err != nil {
			return machine.Result{}, proceed, err
		}
	}
	r.owed = journal.Notes{}
	return machine.Result{Time: ev.Timestamp}, proceed, nil
}

// commitEffects makes visible what a completed phase did through transactions,
// in this process or in the one before the iteration was resumed.
func (r *run) commitEffects(c *Call, rec *machine.Record) error {
	switch {
	case rec.Ended != machine.EndedCompleted || rec.Remembered:
		return nil
	case c == nil:
		return r.persist(func(ctx context.Context) error { return r.finishTransactions(ctx, rec) })
	case len(c.txs) > 0:
		return r.persist(c.commit)
	default:
		return nil
	}
}

// transition is the one transition event of a phase that ended (C-087).
func (r *run) transition(p *phase, c *Call, rec *machine.Record) substrate.AuditEvent {
	ev := r.event(substrate.ClassTransition, "phase."+string(rec.Ended), p, rec.Attempts, rec.Signature)
	ev.EventID = r.eventID("transition", p.id, rec.Run, 0, 0)
	ev.Outcome = string(rec.Ended)
	if c != nil {
		ev.SpanID = c.spanID
	}
	if p.routes && rec.Ended == machine.EndedCompleted {
		ev.EventType = "phase.routed"
		ev.Attributes = append(ev.Attributes, substrate.Attribute{Name: "to", Value: rec.Decision.To})
		if rec.Decision.Deliberate {
			ev.Attributes = append(ev.Attributes, substrate.Attribute{Name: "decision", Value: "deliberate"})
		}
	}
	if act := rec.Act; act != nil {
		ev.CausalParentIDs = act.CausalParentIDs
		ev.Outcome = string(act.Status)
		if act.Pending {
			ev.Outcome = "pending"
		}
		ev.Attributes = append(ev.Attributes, substrate.Attribute{Name: "action_id", Value: act.ActionID})
	}
	if rec.Failure != nil {
		ev.Attributes = append(ev.Attributes, substrate.Attribute{Name: "failure", Value: string(rec.Failure.Code)})
	}
	if rec.Remembered {
		ev.Attributes = append(ev.Attributes, substrate.Attribute{Name: "remembered", Value: "true"})
	}
	return ev
}

// release makes what a phase learned available to the phases after it.
func (r *run) release(rec *machine.Record) {
	c := r.last
	if rec.Ended == machine.EndedFailed {
		r.failed = rec
	}
	r.observe(Event{Kind: EventRecord, Phase: rec.Phase, Attempt: rec.Attempts, Record: rec})
	r.loop.metrics.phase(r, c, rec)
	if c == nil || c.phase.id != rec.Phase || rec.Ended != machine.EndedCompleted {
		return
	}
	r.retrieved = append(r.retrieved, c.nodes...)
	r.topos, r.delibs = c.topos, c.delibs
}

// emit audits what the phase emitted: what stands in the attempt, or what the
// process that committed the record left in the journal.
func (r *run) emit(p *phase, c *Call, rec *machine.Record) error {
	es := r.owed.Emissions
	if c != nil {
		es = c.owes()
	}
	for i := range es {
		if err := r.unrouted(p, c, rec, &es[i]); err != nil {
			return err
		}
	}
	return nil
}

// owes lists the attempt's emissions as the journal keeps them.
func (c *Call) owes() []journal.Emission {
	if len(c.emissions) == 0 {
		return nil
	}
	es := make([]journal.Emission, len(c.emissions))
	for i, e := range c.emissions {
		es[i] = journal.Emission{Token: e.name, Connections: e.connections, Ordinal: e.ordinal}
	}
	return es
}

// emitOwn adds what the engine itself emits for a phase: the outcome of an act
// when its learn phase is complete (OS-010 §6.3), and under 0.2 the request of a
// decision to deliberate.
func (r *run) emitOwn(c *Call, rec *machine.Record) error {
	var own []token.Token
	if o := c.cmd.Input.Outcome; o != nil && c.phase.learns {
		s := *o
		s.TraceID = r.trigger.TraceID
		own = append(own, s)
	}
	if d := rec.Decision; d != nil && d.Deliberate && r.loop.minor >= 2 {
		own = append(own, r.deliberationRequest(c, rec))
	}
	for _, t := range own {
		e, err := r.loop.emission(c.phase, t)
		if err != nil {
			return err
		}
		c.emitted++
		e.ordinal = c.emitted
		c.emissions = append(c.emissions, e)
	}
	return nil
}

// unrouted audits an emission of a loop that belongs to no group: one event for
// each connection that carries it, or one that says that none does (C-073).
func (r *run) unrouted(p *phase, c *Call, rec *machine.Record, e *journal.Emission) error {
	ev := r.event(substrate.ClassSignal, "signal.unrouted", p, rec.Attempts, rec.Signature)
	if c != nil {
		ev.SpanID = c.spanID
	}
	for i := 0; i == 0 || i < len(e.Connections); i++ {
		ev.EventID = r.eventID(ev.EventType, p.id, rec.Run, e.Ordinal, i)
		ev.Attributes = substrate.Attributes{{Name: "token", Value: string(e.Token)}}
		if i < len(e.Connections) {
			ev.Attributes = append(ev.Attributes, substrate.Attribute{Name: "connection", Value: e.Connections[i]})
		}
		if err := r.append(&ev, c); err != nil {
			return err
		}
	}
	return nil
}

// journaled reports whether the journal knows the attempt's intent.
func (c *Call) journaled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.intended
}

// save writes the iteration's state to the journal.
func (r *run) save(s machine.Status, rec *machine.Record) error {
	e := r.entry(r.seq+1, s, rec, nil)
	e.Notes = r.notes(rec)
	return r.put(e)
}

// saveInterrupted writes down an iteration that stops in the middle, with the act
// that may or may not have happened, or the record that is not finished.
func (r *run) saveInterrupted() error {
	r.mu.Lock()
	var rec *machine.Record
	if cmds := r.m.Next(); len(cmds) > 0 && cmds[0].Op == machine.OpCommit {
		rec = cmds[0].Record
	}
	r.mu.Unlock()
	e := r.entry(r.seq+1, machine.Interrupted, nil, r.doubtful)
	e.Notes = r.notes(rec)
	if rec != nil && rec.Seq == r.recorded {
		e.Record = rec
	}
	return r.put(e)
}

// put commits an entry.
func (r *run) put(e journal.Entry) error {
	if err := r.persist(func(ctx context.Context) error { return r.loop.journal.Commit(ctx, e) }); err != nil {
		return err
	}
	r.seq = e.Sequence
	r.snapped = true
	return nil
}

// notes is what the journal keeps besides the snapshot; with the record of a phase
// that completes, also what that phase adds.
func (r *run) notes(rec *machine.Record) journal.Notes {
	n := journal.Notes{Retrieved: r.retrieved, Topologies: r.topos, Deliberations: r.delibs}
	if rec == nil || rec.Ended != machine.EndedCompleted {
		return n
	}
	c := r.last
	if c == nil || c.phase.id != rec.Phase || c.cmd.Run != rec.Run {
		n.Emissions, n.Transactions = r.owed.Emissions, r.owed.Transactions
		return n
	}
	n.Retrieved = slices.Concat(r.retrieved, c.nodes)
	n.Topologies, n.Deliberations, n.Emissions = c.topos, c.delibs, c.owes()
	for _, tx := range c.transactions() {
		n.Transactions = append(n.Transactions, journal.Transaction{Slot: string(slotNames[tx.slot]), ID: tx.req.ID})
	}
	return n
}

func (r *run) entry(seq uint64, s machine.Status, rec *machine.Record, in *journal.Intent) journal.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return journal.Entry{
		Workspace: r.trigger.Workspace, Loop: r.base.Loop, Version: r.base.LoopVersion, Iteration: r.id,
		Sequence: seq, Status: s, Intent: in, Record: rec, Snapshot: r.m.Snapshot(),
	}
}

// journalIntent journals that an act is about to happen; it is tried once, inside
// the attempt.
func (c *Call) journalIntent(in *journal.Intent) error {
	e := c.run.entry(c.seq+1, machine.Running, nil, in)
	e.Notes = journal.Notes{Retrieved: c.retrieved, Topologies: c.topos, Deliberations: c.delibs}
	if err := guard(func() error { return c.run.loop.journal.Commit(&c.ctx, e) }); err != nil {
		return fmt.Errorf("journal the intent: %w", err)
	}
	c.mu.Lock()
	c.intended = true
	c.mu.Unlock()
	return nil
}

// intent is that of an act whose function was called, nil for any other attempt.
func (c *Call) intent() *journal.Intent {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.acting {
		return nil
	}
	return &journal.Intent{Phase: c.phase.id, Run: c.cmd.Run, Attempt: c.cmd.Attempt, ActionID: c.ActionID()}
}

// await looks for a signal that came early; without one the iteration suspends:
// its state goes to the journal and nothing waits (C-046).
func (r *run) await(cmd *machine.Command) (machine.Result, verdict, error) {
	if err := r.save(machine.Suspended, nil); err != nil {
		return machine.Result{}, proceed, err
	}
	key := waitKey{workspace: r.trigger.Workspace, token: cmd.Await.Token, action: cmd.Await.ActionID}
	s, early := r.loop.waits.await(key, r.id, cmd.Await.Deadline)
	if !early {
		return machine.Result{}, r.finish(machine.Suspended, nil), nil
	}
	if err := r.consumed(cmd, s); err != nil {
		r.loop.waits.reopen(key, wait{state: waitEarly, signal: s})
		return machine.Result{}, proceed, err
	}
	return machine.Result{Time: time.Now(), Outcome: r.attributed(s)}, proceed, nil
}

// consumed audits that a signal was taken.
func (r *run) consumed(cmd *machine.Command, s *token.OutcomeSignal) error {
	p := &r.loop.phases[r.loop.index[cmd.Await.Phase]]
	ev := r.event(substrate.ClassSignal, "signal.consumed", p, 0, r.lastSig)
	ev.EventID = r.eventID(ev.EventType, p.id, cmd.Run, 0, 0)
	ev.Outcome = string(s.Status)
	ev.Attributes = substrate.Attributes{{Name: "token", Value: string(cmd.Await.Token)}, {Name: "action_id", Value: s.ActionID}}
	return r.append(&ev, nil)
}

// deliberationRequest asks for the deliberation that a route phase decided for
// (v0.2 token canon).
func (r *run) deliberationRequest(c *Call, rec *machine.Record) token.DeliberationRequest {
	req := token.DeliberationRequest{
		Header:    token.Header{TraceID: r.trigger.TraceID},
		RequestID: "dlb:" + r.id + ":" + rec.Phase + ":" + strconv.Itoa(rec.Run),
		Topology:  token.TopologyContext{Routing: token.RoutingFast},
		Question:  c.phase.decl.Description,
	}
	if n := len(r.topos); n > 0 {
		req.Topology = *r.topos[n-1]
	}
	quorum := r.loop.plan.Settings().Quorum
	req.QuorumThreshold = &quorum
	return req
}
