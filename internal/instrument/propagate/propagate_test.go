package propagate

import "testing"

func TestClipListKeepsWholeMembers(t *testing.T) {
	for _, tt := range []struct {
		list  string
		limit int
		want  string
	}{
		{"a=1,b=2", 7, "a=1,b=2"}, {"a=1,b=2", 6, "a=1"}, {"a=1,b=2", 3, "a=1"}, {"a=1,b=2", 2, ""}, {"", 0, ""},
	} {
		if got := clipList(tt.list, tt.limit); got != tt.want {
			t.Errorf("clipList(%q, %d): got %q, want %q", tt.list, tt.limit, got, tt.want)
		}
	}
}
