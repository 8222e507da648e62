package waterfall

import "strings"

// UTF8 reports whether the locale that the variables describe (see locale(7); getenv is [os.Getenv] in a program) has
// UTF-8 for its character set. If not, set [Options.ASCII].
func UTF8(getenv func(string) string) bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(key); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
