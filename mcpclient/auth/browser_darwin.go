package auth

func opener(url string) (string, []string) { return "open", []string{url} }
