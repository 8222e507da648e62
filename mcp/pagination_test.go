package mcp

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// An empty cursor differs from a missing cursor, in encoding and decoding, for every type with a cursor.
// (specification 2026-07-28, server/utilities/pagination)
func TestEmptyCursorDiffersFromMissingCursor(t *testing.T) {
	for _, test := range []struct {
		v     any
		field string
		rest  string // the other members
	}{
		{new(PageParams), "Cursor", ``},
		{new(ListToolsResult), "NextCursor", `"tools":[]`},
		{new(ListPromptsResult), "NextCursor", `"prompts":[]`},
		{new(ListResourcesResult), "NextCursor", `"resources":[]`},
		{new(ListResourceTemplatesResult), "NextCursor", `"resourceTemplates":[]`},
		{new(LegacyListTasksResult), "NextCursor", `"tasks":[]`},
	} {
		name := strings.ToLower(test.field[:1]) + test.field[1:]
		for text, want := range map[string]*string{`""`: new(""), `"a\u0062"`: new("ab"), `null`: nil, ``: nil} {
			members := []string{}
			if text != "" {
				members = append(members, fmt.Sprintf("%q:%s", name, text))
			}
			if test.rest != "" {
				members = append(members, test.rest)
			}
			v := reflect.New(reflect.TypeOf(test.v).Elem())
			if _, err := Decode([]byte("{"+strings.Join(members, ",")+"}"), v.Interface()); err != nil {
				t.Fatalf("%T: %v", test.v, err)
			}
			got := v.Elem().FieldByName(test.field).Interface().(*string)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%T with %v: got the cursor %v, want %v", test.v, members, shown(got), shown(want))
			}
			encode := AppendResult
			if test.field == "Cursor" {
				encode = AppendParams
			}
			again, err := encode(nil, v.Interface())
			if has := strings.Contains(string(again), name); err != nil || has != (want != nil) {
				t.Errorf("%T with %v: encoded as %s, %v", test.v, members, again, err)
			}
		}
	}
}

func shown(s *string) string {
	if s == nil {
		return "none"
	}
	return fmt.Sprintf("%q", *s)
}
