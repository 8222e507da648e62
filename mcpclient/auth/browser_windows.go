package auth

// The command start would have the shell read the URL, in which & is a separator.
func opener(url string) (string, []string) {
	return "rundll32", []string{"url.dll,FileProtocolHandler", url}
}
