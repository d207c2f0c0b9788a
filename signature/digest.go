package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"lukechampine.com/blake3"
)

// Digest is a hash with the name of its algorithm, "blake3:" or "sha256:"
// followed by 64 lower-case hexadecimal digits. The prefix is part of the
// value (C-028). The zero value is no digest.
type Digest string

// Signature is the digest of a phase's inputs and workspace (OS-010 §5.6).
type Signature = Digest

// ErrDigest is what [ParseDigest] refuses a text with.
var ErrDigest = errors.New(`not a digest: want "blake3:" or "sha256:" and 64 lower-case hexadecimal digits`)

const (
	blake3Prefix = "blake3:"
	sha256Prefix = "sha256:"
	sumSize      = 32
	digestSize   = len(blake3Prefix) + 2*sumSize
)

// ParseDigest takes a text for a digest, exactly as it was written.
func ParseDigest(s string) (Digest, error) {
	if d := Digest(s); d.Valid() {
		return d, nil
	}
	const shown = 2 * digestSize
	if len(s) > shown {
		return "", fmt.Errorf("signature: %q and %d bytes more: %w", s[:shown], len(s)-shown, ErrDigest)
	}
	return "", fmt.Errorf("signature: %q: %w", s, ErrDigest)
}

// Algorithm gives "blake3" or "sha256", and "" for what is not a digest.
func (d Digest) Algorithm() string {
	if !d.Valid() {
		return ""
	}
	name, _, _ := strings.Cut(string(d), ":")
	return name
}

// Valid reports whether d is a digest.
func (d Digest) Valid() bool {
	s := string(d)
	if len(s) != digestSize || s[:len(blake3Prefix)] != blake3Prefix && s[:len(sha256Prefix)] != sha256Prefix {
		return false
	}
	for _, c := range []byte(s[len(blake3Prefix):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// BLAKE3 gives the BLAKE3-256 digest of b, the algorithm of signatures.
func BLAKE3(b []byte) Digest {
	const (
		chunk = 1024 // hashed without a hasher
		few   = 16 * chunk
	)
	if len(b) <= chunk || len(b) > few {
		return digest(blake3Prefix, blake3.Sum256(b))
	}
	// From the second chunk on the library starts goroutines and allocates,
	// which for a few chunks costs several times their hashing. Given one
	// chunk at a time it does neither.
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	h.Reset()
	for len(b) > chunk {
		_, _ = h.Write(b[:chunk]) // never fails
		b = b[chunk:]
	}
	_, _ = h.Write(b)
	h.Sum(h.sum[:0])
	return digest(blake3Prefix, h.sum)
}

// A hasher is a reusable BLAKE3 hasher with room for its result.
type hasher struct {
	*blake3.Hasher
	sum [sumSize]byte
}

var hashers = sync.Pool{New: func() any { return &hasher{Hasher: blake3.New(sumSize, nil)} }}

// SHA256 gives the SHA-256 digest of b, the algorithm of state hashes (C-028).
func SHA256(b []byte) Digest { return digest(sha256Prefix, sha256.Sum256(b)) }

func digest(prefix string, sum [sumSize]byte) Digest {
	var text [digestSize]byte
	n := copy(text[:], prefix)
	hex.Encode(text[n:], sum[:])
	return Digest(text[:])
}
