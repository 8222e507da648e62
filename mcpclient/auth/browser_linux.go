package auth

func opener(url string) (string, []string) { return "xdg-open", []string{url} }
