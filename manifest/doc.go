// Package manifest holds the loop manifest of PULSE (OS-010 §4) as plain
// structs, reads and writes it, and checks it.
//
// [Parse], [ParseYAML] and [ParseFile] read a document strictly: they report
// every fault at once as [Issues], each with a stable code, a JSON pointer, a
// line, a column and the cure. A [Manifest] written as a Go literal is the same
// struct; [Validate] checks either, and also tells what is not wrong but worth a
// second look.
//
// A parsed manifest remembers where its members stood, so that later findings
// can point there, and which members were written out although they equal their
// default, so that a document survives reading and writing. Nothing in this
// package keeps a reference to the bytes it was given, does I/O (but ParseFile),
// or holds state: all functions may be called concurrently, as may the methods
// of a manifest that nobody changes.
package manifest
