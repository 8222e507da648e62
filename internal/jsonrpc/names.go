package jsonrpc

// names is a set of member names. Few of them cost no allocation, many no more than linear time.
type names struct {
	few  [8][]byte
	n    int
	more map[string]struct{} // in use once few is full
}

// again adds name, which must not change any more, and reports whether it was in the set before.
func (s *names) again(name []byte) bool {
	for _, known := range s.few[:s.n] {
		if string(known) == string(name) {
			return true
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return false
	}
	if s.more == nil {
		s.more = make(map[string]struct{})
	}
	before := len(s.more)
	s.more[string(name)] = struct{}{}
	return len(s.more) == before
}
