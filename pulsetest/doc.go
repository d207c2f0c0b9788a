// Package pulsetest holds what a test of a loop needs: substrates that work and
// record, in memory, with faults on demand. They are made for tests, examples
// and benchmarks, and are no product: nothing is stored (OS-010 §1.1, C-012).
//
// [NewSubstrates] gives one of each. Each is also useful by itself; the zero
// values are ready, and all are safe for concurrent use. Calls are recorded
// ([CallLog]) and can be made to fail ([CallLog.Fail]).
//
// [RunAlone] runs one phase function as the engine would, without the rest of its
// loop. [Recorder] shows which phases ran and what was measured; [Journal] keeps
// iterations as a real journal would.
package pulsetest
