package pulse_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opensentience/pulse-go"
	"github.com/stretchr/testify/require"
)

func TestSameIDIsTheSameIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		w := newWorld(t, small(), func(c *pulse.Config) { c.Limits.PerWorkspace = 8 },
			bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) {
				runs++
				time.Sleep(time.Second)
				return Fact{N: runs}, nil
			}), "read"))
		same := pulse.Trigger{Workspace: "acme", ID: "order-17"}
		its := make(chan *pulse.Iteration, 8)
		for range cap(its) {
			go func() {
				it, err := read.Enter(t.Context(), w.loop, same, Ask{"x"})
				if err != nil {
					t.Error(err)
				}
				its <- it
			}()
		}
		first := <-its
		require.Equal(t, "order-17", first.ID)
		for range cap(its) - 1 {
			require.Equal(t, first, <-its, "all have the same iteration")
		}
		require.Equal(t, 1, runs, "the functions ran once")

		later, err := read.Enter(t.Context(), w.loop, same, Ask{"another input"})
		require.NoError(t, err)
		require.Equal(t, first, later, "remembered")
		fact, err := read.Output(later)
		require.NoError(t, err)
		require.Equal(t, 1, fact.N)

		_, err = read.Enter(t.Context(), w.loop, pulse.Trigger{Workspace: "umbrella", ID: "order-17"}, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, 2, runs, "an id is one of its workspace")

		time.Sleep(25 * time.Hour)
		_, err = read.Enter(t.Context(), w.loop, same, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, 3, runs, "after a day it is forgotten")
		w.auditEQ(t)
	})
}

func TestWhoJoinsAnIterationMayLeaveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, small(), bind(pulse.BindFunc(read, func(context.Context, Ask) (Fact, error) {
			time.Sleep(time.Hour)
			return Fact{}, nil
		}), "read"))
		same := pulse.Trigger{Workspace: "acme", ID: "order-17"}
		done := make(chan error, 1)
		go func() {
			_, err := read.Enter(t.Context(), w.loop, same, Ask{"x"})
			done <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		it, err := read.Enter(ctx, w.loop, same, Ask{"x"})
		require.Nil(t, it)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, <-done, "the iteration goes on")
	})
}

// An iteration that failed is remembered with its error; one that did not start,
// or was interrupted, may be tried again under its id.
func TestWhatAnIDRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		w := newWorld(t, small(), bind(pulse.BindFunc(read, func(ctx context.Context, in Ask) (Fact, error) {
			runs++
			if in.Text == "fail" {
				return Fact{}, errNowhere
			}
			select {
			case <-ctx.Done():
				return Fact{}, ctx.Err()
			case <-time.After(time.Second):
				return Fact{}, nil
			}
		}), "read"))
		failed := pulse.Trigger{Workspace: "acme", ID: "failed"}
		it, err := read.Enter(t.Context(), w.loop, failed, Ask{"fail"})
		require.ErrorIs(t, err, errNowhere)
		again, err := read.Enter(t.Context(), w.loop, failed, Ask{"fail"})
		require.ErrorIs(t, err, errNowhere)
		require.Equal(t, it, again)
		require.Equal(t, 1, runs)

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		broken := pulse.Trigger{Workspace: "acme", ID: "interrupted"}
		it, err = read.Enter(ctx, w.loop, broken, Ask{"x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, pulse.Interrupted, it.Status)
		it, err = read.Enter(t.Context(), w.loop, broken, Ask{"x"})
		require.NoError(t, err)
		require.Equal(t, pulse.Completed, it.Status)
		require.Equal(t, 3, runs)
	})
}

func TestIDsAreNew(t *testing.T) {
	w := newWorld(t, small())
	seen := map[string]bool{}
	for range 32 {
		it, err := read.Enter(t.Context(), w.loop, acme, Ask{"x"})
		require.NoError(t, err)
		require.Len(t, it.ID, 32)
		require.False(t, seen[it.ID] || seen[it.TraceID])
		seen[it.ID], seen[it.TraceID] = true, true
	}
}
