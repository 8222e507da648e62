package jsonrpc

// ParseWhole is Parse without the two-end scan.
func ParseWhole(frame []byte) (Message, error) { return scan(frame, -1, 0) }

// ParseEnds is the two-end scan alone.
func ParseEnds(frame []byte) (Message, bool) { return parseEnds(frame) }
