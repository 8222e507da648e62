package jsonrpc

// TooLarge returns the violation for a frame above the limit of which only the beginning and, if it has been skipped to
// its end, the end are left. The id and the method are read from these as far as they go, so that the call that waits
// for the frame can be told. Peers write the id in front of the result or behind it; if it is in neither piece, it is
// zero.
func TooLarge(head, tail []byte) *Violation {
	v := &Violation{Reason: FrameTooLarge}
	var front, back envelope
	front.front(head)
	front.address(v)
	if v.ID.IsZero() || v.Method == "" && !v.Response {
		back.back(tail, 0)
		if v.ID.IsZero() {
			v.ID = back.id
		}
		if v.Method == "" {
			v.Method = back.method
		}
	}
	return v
}
