package waterfall

import "strings"

// UTF8 reports whether the locale in the environment uses UTF-8 (see locale(7); programs pass [os.Getenv]). If not, set
// [Options.ASCII].
func UTF8(getenv func(string) string) bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(key); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
