package token

import "time"

// Version is the schema version that canonical tokens carry on the wire (C-063,
// C-155).
const Version = "0.1"

// Token is what travels between loops: one of the eight canonical structs, or a
// vendor's own type. Validate gives every fault at once.
type Token interface {
	TokenName() Name
	Validate() error
}

// Header is what every canonical token carries (OS-010 §6). [Encode] fills what
// is empty.
type Header struct {
	Token   Name   `json:"token"`
	Version string `json:"version"`
	TraceID string `json:"trace_id"`
}

// Provenance says who perceived or did something (OS-011 §5.5, C-111).
type Provenance struct {
	Provider   string    `json:"provider"`
	Capability string    `json:"capability"`
	Operation  string    `json:"operation"`
	Timestamp  time.Time `json:"timestamp"`
	AgentID    string    `json:"agent_id"`
}
