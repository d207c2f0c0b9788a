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
	// One chunk is hashed without a hasher. For more, the one-shot function
	// would allocate a hasher of 16 KB each time.
	const chunk = 1024
	if len(b) <= chunk {
		return digest(blake3Prefix, blake3.Sum256(b))
	}
	h := hashers.Get().(*blake3.Hasher)
	defer hashers.Put(h)
	h.Reset()
	_, _ = h.Write(b) // never fails
	var sum [sumSize]byte
	h.Sum(sum[:0])
	return digest(blake3Prefix, sum)
}

var hashers = sync.Pool{New: func() any { return blake3.New(sumSize, nil) }}

// SHA256 gives the SHA-256 digest of b, the algorithm of state hashes (C-028).
func SHA256(b []byte) Digest { return digest(sha256Prefix, sha256.Sum256(b)) }

func digest(prefix string, sum [sumSize]byte) Digest {
	var text [digestSize]byte
	n := copy(text[:], prefix)
	hex.Encode(text[n:], sum[:])
	return Digest(text[:])
}
