package hostname

import "strings"

// Token reports whether s is a token (RFC 9110 §5.6.2), such as the name of a header field.
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

// Token68 reports whether s is a token68 (RFC 9110 §11.2), as the tokens of the Bearer scheme are (RFC 6750 §2.1).
func Token68(s string) bool {
	body := strings.TrimRight(s, "=")
	return body != "" && !strings.ContainsFunc(body, func(r rune) bool {
		return !alphanumeric(r) && !strings.ContainsRune("-._~+/", r)
	})
}
