package jsonrpc

// ParseWhole is Parse without the two-end scan.
func ParseWhole(frame []byte) (Message, error) { return scan(frame, -1, 0) }
