// Package substratetest checks that a substrate keeps its contract (OS-010 §9).
//
// An implementation calls the suite of its slot from a test:
//
//	func TestMemory(t *testing.T) {
//		substratetest.Memory(t, func(t *testing.T) substrate.Memory { return open(t) })
//	}
//
// Each rule is a subtest of its own, on a substrate of its own, and a failure
// names the requirement and the section that were broken. What an
// implementation does not offer, such as transactions, is skipped with a reason.
//
// Run the suites with the race detector: some rules call from several goroutines.
package substratetest
