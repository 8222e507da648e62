package jsonrpc

// names is a set of member names. A few names cost no allocation; many take linear time.
type names struct {
	few  [8][]byte
	n    int
	more map[string]struct{} // used once few is full
}

// again adds name and reports whether the set had it already. The caller must not change name afterwards.
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
