package manifest

// Code says what kind of fault or finding an [Issue] is. Codes are stable.
type Code string

// Faults of the text.
const (
	CodeSyntax          Code = "syntax"           // not JSON, or not YAML
	CodeComment         Code = "comment"          // JSON has no comments (C-026)
	CodePlusSign        Code = "plus-sign"        // +0.04 is no JSON number (C-026)
	CodeTrailingComma   Code = "trailing-comma"   // a comma before a closing bracket
	CodeTrailingData    Code = "trailing-data"    // text after the document, or a second document
	CodeDuplicateMember Code = "duplicate-member" // one name twice in an object
	CodeTooDeep         Code = "too-deep"         // nested too deep
	CodeTooLarge        Code = "too-large"        // the document is too large
	CodeEncoding        Code = "encoding"         // not UTF-8, or half a surrogate pair
	CodeYAML            Code = "yaml"             // YAML that JSON cannot express
	CodeNotOneLoop      Code = "not-one-loop"     // a manifest describes exactly one loop (OS-010 §3.1)
)

// Faults of the shape.
const (
	CodeMissingMember Code = "missing-member" // a required member is absent (C-024)
	CodeUnknownMember Code = "unknown-member" // no such member (C-023)
	CodeNewerMember   Code = "newer-member"   // the member belongs to a newer minor version than the one declared
	CodeWrongType     Code = "wrong-type"     // a value of another JSON type than the member's
	CodeEmptyMember   Code = "empty-member"   // an empty string where a name is meant
	CodeBadNumber     Code = "bad-number"     // out of range, or not an integer
	CodeBadValue      Code = "bad-value"      // not one of an enumeration
)

// Faults of the content.
const (
	CodeSchemaURI           Code = "schema-uri"           // $schema names no known manifest schema (C-009)
	CodeProtocolVersion     Code = "protocol-version"     // not MAJOR.MINOR[.PATCH] (C-001)
	CodeUnsupportedProtocol Code = "unsupported-protocol" // another major or a higher minor version (OS-010 §16)
	CodeLoopVersion         Code = "loop-version"         // the loop's version is no semantic version
	CodeLoopID              Code = "loop-id"              // malformed loop id (C-032)
	CodePhaseID             Code = "phase-id"             // malformed phase id (C-032)
	CodeDuplicateID         Code = "duplicate-id"         // an id used twice
	CodeCustomKind          Code = "custom-kind"          // custom without custom_kind, or the reverse (OS-010 §3.2)
	CodeEndpoint            Code = "endpoint"             // malformed endpoint (C-021)
	CodeUnknownPhase        Code = "unknown-phase"        // no phase with this id
	CodeUnknownSlot         Code = "unknown-slot"         // no such substrate slot (OS-010 §3.4)
	CodeUnknownToken        Code = "unknown-token"        // neither canonical in this version nor a vendor token (C-002)
	CodeUnknownSuccessor    Code = "unknown-successor"    // neither a phase nor an inner loop (C-036)
	CodeUnknownInvariant    Code = "unknown-invariant"    // not one of the seven (C-018)
	CodeInvariantOff        Code = "invariant-off"        // a phase names an invariant that is not on (C-019)
	CodeSchemaName          Code = "schema-name"          // malformed type name (C-021)
	CodeSignature           Code = "signature"            // malformed recipe (C-027)
	CodeExpression          Code = "expression"           // malformed predicate (C-058)
	CodeTrigger             Code = "trigger"              // malformed trigger (C-058)
	CodeInterval            Code = "interval"             // malformed interval (C-055)
	CodeRate                Code = "rate"                 // malformed rate (C-055)
	CodeWaitTimeout         Code = "wait-timeout"         // bounded without timeout_ms (C-050)
	CodeSelfNesting         Code = "self-nesting"         // a loop is its own inner loop (C-094)
	CodeTemplate            Code = "template"             // a template variable other than {ws_id} (C-030)
	CodeOverflow            Code = "overflow"             // overflow_policy without max_inflight (C-081)
	CodeDelivery            Code = "delivery"             // a mode or policy that may lose what must not be lost (C-066)
	CodeMissingRole         Code = "missing-role"         // no retrieve, or no act (OS-010 §3.2, C-016)
	CodeClosureRole         Code = "closure-role"         // the closure does not lead from learn or consolidate to retrieve (C-016)
	CodeLearnOrder          Code = "learn-order"          // learn without an act before it (C-093)
)

// Findings that are never errors.
const (
	CodeNewerFeature      Code = "newer-feature"      // newer than the declared patch (C-001)
	CodeUndelivered       Code = "undelivered"        // signal: in outputs.to without a connection (C-022)
	CodeConditionalLinear Code = "conditional-linear" // every connection of a linear token has a condition (C-073)
	CodeEmitRole          Code = "emit-role"          // a token from an unusual kind of phase (C-078)
	CodeIdempotentUnsaid  Code = "idempotent-unsaid"  // retrieve or route that does not say (C-038)
	CodeUnstableRead      Code = "unstable-read"      // memory is read while an inner loop may still write (C-085)
	CodeUnusedMember      Code = "unused-member"      // a member without effect beside the others
	CodeCadenceParam      Code = "cadence-param"      // a parameter is missing or unknown (OS-010 §8)
	CodeAbsentInvariant   Code = "absent-invariant"   // an absent invariant is off (C-005)
	CodePathAlias         Code = "path-alias"         // kappa or outcome in a predicate (C-059)
)
