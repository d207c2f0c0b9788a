// Package bench measures what the library costs beside a floor taken in the same
// run, so that a figure means something on any machine. It is a module of its
// own: what it compares with is no dependency of the core.
package bench
