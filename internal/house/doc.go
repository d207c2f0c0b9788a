// Package house holds tests over the repository itself: which package may import
// which, what the core depends on, that files stay short and texts clean, that
// everything exported is documented, and what the exported API is.
//
// The rules are functions from facts to complaints, so that each is also tested
// on facts that break it.
package house
