package signature

import (
	"fmt"
	"reflect"
	"sync"
)

// state is one encoding in progress.
type state struct {
	buf   []byte
	limit int // greatest length of buf
	depth int // arrays and objects entered and not left
	hops  int // pointers and interfaces followed and not left

	keys []string // member names of the maps entered and not left
}

const (
	maxHops = 4 * MaxDepth
	// The largest buffers kept for reuse: one large value must not hold its
	// memory for good.
	maxKept     = 64 << 10
	maxKeptKeys = 1 << 10
)

var states = sync.Pool{New: func() any { return new(state) }}

func newState() *state { return states.Get().(*state) }

// free gives the state back.
func (s *state) free() {
	if cap(s.buf) > maxKept {
		s.buf = nil
	}
	if cap(s.keys) > maxKeptKeys {
		s.keys = nil
	}
	clear(s.keys) // a fault leaves some
	*s = state{buf: s.buf[:0], keys: s.keys[:0]}
	states.Put(s)
}

// begin starts an encoding behind head.
func (s *state) begin(head []byte) {
	s.buf = head
	s.limit = len(head) + MaxSize
}

// finish ends an encoding whose value is encoded or has a fault.
func (s *state) finish(f *fault) error {
	if f == nil {
		f = s.checkSize()
	}
	if f != nil {
		return f.error()
	}
	return nil
}

// lend makes the encoding append to dst instead of the state's own buffer,
// until takeBack.
func (s *state) lend(dst []byte) (own []byte) {
	own = s.buf
	s.begin(dst)
	return own
}

func (s *state) takeBack(own, dst []byte, err error) ([]byte, error) {
	out := s.buf
	s.buf = own
	if err != nil {
		return dst, err
	}
	return out, nil
}

func (s *state) checkSize() *fault {
	if len(s.buf) > s.limit {
		return refuse(fmt.Errorf("%w of %d bytes", ErrSize, MaxSize))
	}
	return nil
}

// enter opens an array or object; leave closes it.
func (s *state) enter() *fault {
	s.depth++
	if s.depth > MaxDepth {
		return tooDeep()
	}
	return s.checkSize()
}

func (s *state) leave() { s.depth-- }

// follow goes through a pointer or interface; arrive comes back.
func (s *state) follow() *fault {
	s.hops++
	if s.hops > maxHops {
		return tooDeep()
	}
	return nil
}

func (s *state) arrive() { s.hops-- }

func tooDeep() *fault { return refuse(fmt.Errorf("%w of %d levels", ErrDepth, MaxDepth)) }

func (s *state) null() *fault {
	s.buf = append(s.buf, "null"...)
	return nil
}

// any encodes the value of an interface. The types that decoded JSON consists
// of need no reflection.
func (s *state) any(v any) *fault {
	switch v := v.(type) {
	case nil:
		return s.null()
	case string:
		return s.text(v)
	case bool:
		return s.bool(v)
	case float64:
		return s.float(v, 64)
	case int:
		return s.int(int64(v))
	case int64:
		return s.int(v)
	case map[string]any:
		return encodeStringMap(s, v, (*state).any)
	case []any:
		return s.anys(v)
	}
	rv := reflect.ValueOf(v)
	return planOf(rv.Type()).encode(s, rv)
}

// anys encodes the array of decoded JSON.
func (s *state) anys(v []any) *fault {
	if v == nil {
		return s.null()
	}
	if f := s.enter(); f != nil {
		return f
	}
	s.buf = append(s.buf, '[')
	for i, elem := range v {
		if f := s.element(i); f != nil {
			return f
		}
		if f := s.any(elem); f != nil {
			return f.under(itoa(i))
		}
	}
	s.buf = append(s.buf, ']')
	s.leave()
	return nil
}

// element starts element i of an array. The length is checked here because an
// array can be longer than anything in memory: its elements may have no size.
func (s *state) element(i int) *fault {
	if i == 0 {
		return nil
	}
	s.buf = append(s.buf, ',')
	return s.checkSize()
}
