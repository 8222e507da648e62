package hostname

// Token reports whether s is a token (RFC 9110 §5.6.2), as the names of header fields are.
func Token[T string | []byte](s T) bool {
	for i := range len(s) {
		if !TokenByte(s[i]) {
			return false
		}
	}
	return len(s) > 0
}

// TokenByte reports whether a token may contain c.
func TokenByte(c byte) bool {
	switch c {
	case '!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~':
		return true
	}
	return alphanumeric(rune(c))
}
