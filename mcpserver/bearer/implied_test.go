package bearer_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

// hierarchy contains a cycle, as after a configuration mistake, and an implication in two steps.
var hierarchy = map[string][]string{
	"read": {"list", "files:read"}, "list": {"count"}, "count": {"read"}, "admin": {"read", "write"},
}

func TestABroaderScopeImpliesNarrowerOnes(t *testing.T) {
	for _, tt := range []struct {
		needed  []string
		implies map[string][]string
		status  int
	}{
		{[]string{"read"}, hierarchy, 200},
		{[]string{"list", "files:read"}, hierarchy, 200},
		{[]string{"count"}, hierarchy, 200},
		{[]string{"admin"}, hierarchy, 403}, // admin implies these scopes; they do not imply admin
		{[]string{"read", "delete"}, hierarchy, 403},
		{[]string{"list"}, nil, 403},
	} {
		o := bearer.Options{Resource: resource, Scopes: tt.needed, Implies: tt.implies}
		var has bool
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, _ := bearer.PrincipalFrom(r.Context())
			has = p.HasScopes(tt.needed...) && slices.Equal(p.Scopes, []string{"read", "write"})
		})
		w := ask(bearer.Require(tokens(), &o)(handler), "Bearer good")
		if w.Code != tt.status {
			t.Errorf("a token with read and write is answered %d where %q are needed, want %d", w.Code, tt.needed, tt.status)
		}
		if tt.status == 200 && !has {
			t.Errorf("the handler sees no principal with %q that was granted read and write, and nothing else", tt.needed)
		}
	}
}
