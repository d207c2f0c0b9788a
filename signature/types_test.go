package signature_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Types whose encoding depends on the finer rules of encoding/json.

type (
	Str    string
	Int    int
	Bytes  []byte
	Letter byte
	Flag   bool
	IntPtr *int
	Num    json.Number // a string: the rule is for json.Number itself
	Self   *Self
	Tree   []Tree
	Graph  map[string]Graph
)

// ValueJSON and its like encode themselves, by value or by pointer.
type ValueJSON struct{ N int }

func (v ValueJSON) MarshalJSON() ([]byte, error) {
	return []byte(`{"z":` + strconv.Itoa(v.N) + `, "a":"<\u00e9>" }`), nil
}

type PointerJSON struct{ N int }

func (p *PointerJSON) MarshalJSON() ([]byte, error) {
	if p == nil {
		return []byte(`"nil"`), nil
	}
	return []byte(`[ ` + strconv.Itoa(p.N) + ` ]`), nil
}

type ValueText struct{ S string }

func (v ValueText) MarshalText() ([]byte, error) { return []byte("<" + v.S + ">"), nil }

type PointerText int

func (p *PointerText) MarshalText() ([]byte, error) { return []byte("p" + strconv.Itoa(int(*p))), nil }

// BothWays has MarshalJSON on the pointer and MarshalText on the value.
type BothWays struct{ S string }

func (b *BothWays) MarshalJSON() ([]byte, error) { return []byte(strconv.Itoa(len(b.S))), nil }
func (b BothWays) MarshalText() ([]byte, error)  { return []byte("text " + b.S), nil }

// KeyText is an integer kind that has text, UpperKey a string kind whose text
// encoding/json does not ask for.
type KeyText int

func (k KeyText) MarshalText() ([]byte, error) { return []byte(strings.Repeat("k", int(k))), nil }

type UpperKey string

func (k UpperKey) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(k))), nil }

type PointKey struct{ X, Y int }

func (k PointKey) MarshalText() ([]byte, error) {
	return []byte(strconv.Itoa(k.X) + "," + strconv.Itoa(k.Y)), nil
}

type PointerKey struct{ S string }

func (k *PointerKey) MarshalText() ([]byte, error) { return []byte(k.S), nil }

// TextByte is a byte with a method: a slice of it is an array.
type TextByte byte

func (b TextByte) MarshalText() ([]byte, error) { return []byte{'b', '0' + byte(b)}, nil }

// Even and Odd say themselves what is zero.
type Even int

func (e Even) IsZero() bool { return e%2 == 0 }

type Odd struct{ N int }

func (o *Odd) IsZero() bool { return o.N%2 == 1 }

type zeroer interface{ IsZero() bool }

var errRefused = errors.New("refused by the value")

type Failing struct{}

func (Failing) MarshalJSON() ([]byte, error) { return nil, errRefused }

type FailingText struct{}

func (FailingText) MarshalText() ([]byte, error) { return nil, errRefused }

type Panicking struct{ With any }

func (p Panicking) MarshalJSON() ([]byte, error) { panic(p.With) }

type PanickingZero struct{}

func (PanickingZero) IsZero() bool { panic(errRefused) }

// Raw gives its text as its JSON.
type Raw string

func (r Raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// Promotion: conflicts, depths, tags, repeated and recursive embedding.

type (
	Inner1 struct {
		A, B int
		C    int
	}
	Inner2 struct {
		A int
		B int `json:"B"`
		D int `json:"C"`
	}
	Inner3 struct{ A, Deep int }

	hidden struct {
		Shown  int
		secret int
	}
	HiddenPtr struct{ ViaPtr int }

	Conflict struct {
		Inner1
		Inner2
	}
	Shadow struct {
		Inner1
		*Inner2
		A string
	}
	DeepHidden struct { // A conflicts at depth 1 and so hides A at depth 2
		Conflict3
		Inner1
		Inner2
	}
	Conflict3 struct{ Inner3 }

	Unexported struct {
		hidden
		*HiddenPtr
		Int
		Str `json:"str"`
	}
	TaggedEmbed struct {
		Inner1 `json:"inner"`
		*Inner2
	}
	Loop struct {
		*Loop
		Name string
		Next *Loop `json:",omitempty"`
	}
	Twice struct { // Inner1 at one depth by two ways: its fields cancel
		Left
		Right
		Own int
	}
	Left  struct{ Inner1 }
	Right struct{ Inner1 }
	// Thrice reaches Deepest by a struct that occurs twice at its own depth:
	// scanned once, it does not conflict with itself.
	Thrice struct {
		L1
		R1
	}
	L1      struct{ Mid }
	R1      struct{ Mid }
	Mid     struct{ Deepest }
	Deepest struct{ Bottom int }

	EmbedTime struct {
		time.Time
		Other int
	}
	EmbedMarshaler struct {
		*PointerJSON
		X int
	}
	EmbedInterface struct {
		zeroer
		X int
	}
	hiddenValue      struct{ ValueJSON }
	hiddenOther      struct{ ValueJSON }
	EmbedHiddenValue struct { // two MarshalJSON, so none of its own
		hiddenValue `json:"h"`
		hiddenOther `json:"o"`
	}
	hiddenTime  = time.Time
	hiddenZero  struct{ Even }
	hiddenZero2 struct{ Even }
	hiddenText  struct{ ValueText }
	hiddenText2 struct{ ValueText }
)

// Tags of every sort.
type Tags struct {
	Dash      int `json:"-"`
	DashName  int `json:"-,"`
	Comma     int `json:",omitempty"`
	BadName   int `json:"a\"b"`
	Backslash int `json:"a\\b"`
	Punct     int `json:"!#$%&()*+-./:;<=>?@[]^_{|}~ "`
	HTML      int `json:"<&>"`
	Unicode   int `json:"größe"`
	Emoji     int `json:"😀"`
	Digit     int `json:"1"`
	Plane     int `json:"𐐷"`
	Private   int `json:"豈"`
	NoJSON    int `yaml:"x"`
	Unknown   int `json:"u,nonsense"`
	Élan      int
}

type Omit struct {
	B    bool           `json:",omitempty"`
	I    int            `json:",omitempty"`
	U    uintptr        `json:",omitempty"`
	F    float32        `json:",omitempty"`
	S    string         `json:",omitempty"`
	P    *int           `json:",omitempty"`
	A    any            `json:",omitempty"`
	L    []int          `json:",omitempty"`
	R    [0]int         `json:",omitempty"`
	R2   [2]int         `json:",omitempty"`
	M    map[string]int `json:",omitempty"`
	T    struct{}       `json:",omitempty"`
	Time time.Time      `json:",omitempty"`

	ZI   int           `json:",omitzero"`
	ZL   []int         `json:",omitzero"`
	ZR   [2]int        `json:",omitzero"`
	ZT   time.Time     `json:",omitzero"`
	ZD   time.Duration `json:",omitzero"`
	ZE   Even          `json:",omitzero"`
	ZO   Odd           `json:",omitzero"`
	ZPO  *Odd          `json:",omitzero"`
	ZPE  *Even         `json:",omitzero"`
	ZI2  zeroer        `json:",omitzero"`
	ZC   chan int      `json:",omitzero"`
	Both []int         `json:",omitzero,omitempty"`
	BE   Even          `json:",omitempty,omitzero"`
}

type Quoted struct {
	B    bool        `json:",string"`
	I    int64       `json:",string"`
	U    uint64      `json:",string"`
	F32  float32     `json:",string"`
	F64  float64     `json:",string"`
	S    string      `json:",string"`
	N    json.Number `json:",string"`
	Str  Str         `json:",string"`
	P    *uint64     `json:",string"`
	PS   *string     `json:",string"`
	Nil  *int        `json:",string"`
	PP   **int       `json:",string"`
	Def  IntPtr      `json:",string"`
	L    []int       `json:",string"`
	A    any         `json:",string"`
	Text PointerText `json:",string"`
	Key  KeyText     `json:",string"`
	Num  Num         `json:",string"`
}
