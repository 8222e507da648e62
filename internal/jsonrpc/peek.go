package jsonrpc

// TooLarge returns the violation for a frame above the size limit. head is the beginning of the frame; tail is its end,
// if the reader skipped that far. TooLarge reads the id and the method from these pieces as far as possible, so that
// the call that waits for the frame can fail. Peers write the id before or behind the result; if neither piece has it,
// ID is zero.
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
