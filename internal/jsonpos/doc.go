// Package jsonpos reads JSON strictly and keeps the place of every value.
//
// [Parse] makes a [Tree], one flat slice of nodes in document order, in time
// linear in the length of the text and without recursion. It refuses what RFC
// 8259 refuses, and also duplicate member names, invalid UTF-8, lone surrogates
// and values nested deeper than [MaxDepth]. Where the intent of a fault is plain
// (a comment, a comma too many, a plus sign, a duplicate name) reading goes on,
// so that one pass reports them all.
//
// A [Builder] makes the same tree from another notation.
package jsonpos
