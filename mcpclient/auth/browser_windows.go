package auth

// The command start would let the shell parse the URL, in which & is a separator.
func opener(url string) (string, []string) {
	return "rundll32", []string{"url.dll,FileProtocolHandler", url}
}
