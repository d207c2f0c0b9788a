package bench

import "testing"

// BenchmarkHandoff is what it costs to have a function run on another goroutine
// and to wait for it: every iteration pays it once, so that a function that hangs
// or leaves its goroutine can be survived. Much of it is the waking of an idle
// thread, which depends on the machine; with -cpu 1 there is none.
func BenchmarkHandoff(b *testing.B) {
	f := floor(b)
	n := 0
	for b.Loop() {
		done := make(chan struct{})
		go func() {
			n++
			close(done)
		}()
		<-done
	}
	ratio(b, f)
}
