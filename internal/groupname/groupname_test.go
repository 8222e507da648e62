package groupname

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestToolNamesAreJoinedWithTheirMember(t *testing.T) {
	long := strings.Repeat("x", 130)
	for _, test := range []struct{ separator, member, tool, want string }{
		{"_", "github", "search", "github_search"},
		{"_", "github_enterprise", "search", "github-enterprise_search"},
		{"_", "my server", "a.b-c_d", "my-server_a.b-c_d"},
		{"__", "my_server_", "_x", "my_server-___x"},
		{"-", "a-b", "c", "a_b-c"},
		{"_-", "a_-b_", "c", "a.-b__-c"},
		{".", "日本", "go", "--.go"},
		{"_", "s", "größe", "s_gr--e-"},
		{"_", "s", "", "s_-e3b0c44298"},
		{"_", "s", long, "s_" + long[:115] + "-"},
		{"_", "s", "deploy-0123456789", "s_deploy-0123456789-"},
	} {
		n, err := New(test.separator, 128)
		if err != nil {
			t.Fatal(err)
		}
		prefix, err := n.Prefix(test.member)
		if err != nil {
			t.Fatal(err)
		}
		got := n.Name(prefix, test.tool) // ends with a hash if want ends with a dash
		if got != test.want &&
			!(strings.HasSuffix(test.want, "-") && strings.HasPrefix(got, test.want) && LooksLikeAlias(got)) {
			t.Errorf("%q of %q with %q: got %s, want %s", test.tool, test.member, test.separator, got, test.want)
		}
	}
}

func TestInvalidNamingOptionsAreRefused(t *testing.T) {
	for _, separator := range []string{"", "/", "a", "_-.", " "} {
		if _, err := New(separator, 128); err == nil {
			t.Errorf("separator %q: got no error", separator)
		}
	}
	for _, limit := range []int{-1, 129} {
		if _, err := New("_", limit); err == nil {
			t.Errorf("limit %d: got no error", limit)
		}
	}
	n, _ := New("_", 64)
	for _, member := range []string{"", strings.Repeat("m", 52)} {
		if p, err := n.Prefix(member); err == nil {
			t.Errorf("member %q: got the prefix %s and no error", member, p)
		}
	}
}

// No two tools get the same name, and each name identifies its member.
func TestToolNamesAreValidAndIdentifyTheirMember(t *testing.T) {
	letters := []rune("ab_-.é 0")
	rapid.Check(t, func(t *rapid.T) {
		n, err := New(rapid.StringOfN(rapid.SampledFrom([]rune("_-")), 1, 3, -1).Draw(t, "separator"),
			rapid.IntRange(40, 128).Draw(t, "limit"))
		if err != nil {
			t.Fatal(err)
		}
		prefixes := map[string]bool{}
		names, last := map[string]string{}, ""
		for range rapid.IntRange(1, 4).Draw(t, "members") {
			prefix, err := n.Prefix(rapid.StringOfN(rapid.SampledFrom(letters), 1, 8, -1).Draw(t, "member"))
			if err != nil {
				t.Fatal(err)
			}
			if prefixes[prefix] {
				continue // Add refuses a second member with the same prefix
			}
			prefixes[prefix] = true
			for range rapid.IntRange(1, 4).Draw(t, "tools") {
				tool := rapid.StringOfN(rapid.SampledFrom(letters), 0, 140, -1).Draw(t, "tool")
				if rapid.Bool().Draw(t, "take another's name") && last != "" {
					_, tool, _ = n.Split(last)
				}
				name := n.Name(prefix, tool)
				if len(name) > n.limit || strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f || !nameByte(byte(r)) }) {
					t.Fatalf("%q is called %s, which is no valid name", tool, name)
				}
				if got, rest, ok := n.Split(name); !ok || got != prefix || !LooksLikeAlias(rest) && rest != tool {
					t.Fatalf("%s of %q is taken for %q of %s", name, tool, rest, got)
				}
				if other, taken := names[name]; taken && other != prefix+" "+tool {
					t.Fatalf("%s are both %q and %q", name, other, prefix+" "+tool)
				}
				names[name], last = prefix+" "+tool, name
			}
		}
	})
}
