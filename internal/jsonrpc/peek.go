package jsonrpc

// TooLarge returns the violation for a frame above the size limit. head is the beginning of the frame; tail is its end,
// if the reader skipped that far. TooLarge reads the id and the method from these pieces as far as it can, so that the
// call that waits for the frame fails. Peers write the id before the result or behind it; if neither piece has it, the
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
