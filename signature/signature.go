package signature

// Of gives the signature of a phase's input in a workspace (OS-010 §5.6): the
// BLAKE3-256 digest of the canonical form of
//
//	{"inputs": input, "workspace_id": workspace}
//
// The empty workspace stands for "no workspace" (C-031). An input without an
// unambiguous canonical form is refused with an [*Error].
func Of(workspace string, input any) (Digest, error) {
	s := newState()
	defer s.free()
	s.begin(append(s.buf, inputsHead...))
	return s.sign(workspace, s.any(input))
}

// OfJSON gives what [Of] gives, for an input whose canonical form is at hand:
// it must come from [Canonical] or [CanonicalJSON] and is not checked again.
//
// A workspace that is not valid UTF-8, which [Of] refuses, is hashed as the
// bytes it has; such a signature is equal to no other workspace's.
func OfJSON(workspace string, canonical []byte) Digest {
	s := newState()
	defer s.free()
	s.buf = append(s.buf, inputsHead...)
	s.buf = append(s.buf, canonical...)
	s.buf = append(s.buf, workspaceHead...)
	s.buf, _ = appendString(s.buf, workspace)
	s.buf = append(s.buf, '}')
	return BLAKE3(s.buf)
}

// The hashed object (C-028); its members are in canonical order.
const (
	inputsHead    = `{"inputs":`
	workspaceHead = `,"workspace_id":`
)

// sign ends the hashed object, whose input is encoded or has a fault, and
// hashes it.
func (s *state) sign(workspace string, input *fault) (Digest, error) {
	if err := s.finish(input); err != nil {
		return "", err
	}
	s.buf = append(s.buf, workspaceHead...)
	var ok bool
	if s.buf, ok = appendString(s.buf, workspace); !ok {
		return "", &Error{Path: "workspace_id", Err: ErrInvalidUTF8}
	}
	s.buf = append(s.buf, '}')
	return BLAKE3(s.buf), nil
}
