package auth

// opener does not use the shell's command start, because the shell would parse the URL, in which & is a separator.
func opener(url string) (string, []string) {
	return "rundll32", []string{"url.dll,FileProtocolHandler", url}
}
