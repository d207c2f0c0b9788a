package signature

import (
	"unicode/utf8"
)

// text encodes a string.
func (s *state) text(v string) *fault {
	var ok bool
	if s.buf, ok = appendString(s.buf, v); !ok {
		return refuse(ErrInvalidUTF8)
	}
	return nil
}

// appendString writes a string with the escapes of RFC 8785 §3.2.2.2, and
// reports whether it is valid UTF-8. Bytes that are not are copied.
func appendString(dst []byte, v string) ([]byte, bool) {
	dst = append(dst, '"')
	valid := true
	start, i := 0, 0
	for {
		i += plainLen(v[i:])
		if i == len(v) {
			break
		}
		c := v[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(v[i:])
			if r == utf8.RuneError && size == 1 {
				valid = false
			}
			i += size
			continue
		}
		dst = append(dst, v[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, v[start:]...)
	return append(dst, '"'), valid
}

// plainLen gives the number of bytes at the start of v that stand for
// themselves: ASCII but controls, quote and backslash.
func plainLen(v string) int {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	i := 0
	// Eight bytes at a time. A byte that is not plain sets its top bit in one
	// of the terms; while none has been set, no subtraction borrows.
	for ; i+8 <= len(v); i += 8 {
		w := v[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		control := x - ones*0x20
		quote := (x ^ ones*'"') - ones
		backslash := (x ^ ones*'\\') - ones
		if (x|control|quote|backslash)&tops != 0 {
			break
		}
	}
	for ; i < len(v); i++ {
		if c := v[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

const hexDigits = "0123456789abcdef"

// appendEscape writes the escape of an ASCII character that needs one.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}

// compareUTF16 orders names by their UTF-16 code units (RFC 8785 §3.2.3).
//
// UTF-8 orders by code point, which is the same except that UTF-16 puts the
// characters beyond U+FFFF, with their surrogates, before U+E000 to U+FFFF: the
// lead bytes F0 and above before EE and EF.
func compareUTF16(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			x, y = y, x
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}
