package mcp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormsKeepTheOrderOfTheirFields(t *testing.T) {
	const text = `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean"},"m":{"type":"number"}},` +
		`"required":["z"]}`
	var form FormSchema
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		t.Fatal(err)
	}
	want := FormSchema{
		Properties: []FormField{{Name: "z", Type: FormString}, {Name: "a", Type: FormBoolean}, {Name: "m", Type: FormNumber}},
		Required:   []string{"z"},
	}
	if diff := cmp.Diff(want, form); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if f := form.Field("a"); f != &form.Properties[1] || form.Field("b") != nil {
		t.Errorf("the field a is %+v and b %+v, want the form's field and nil", f, form.Field("b"))
	}
	if got, err := json.Marshal(form); err != nil || string(got) != text {
		t.Errorf("encoded: %s, %v, want %s", got, err, text)
	}
	if got, err := json.Marshal(FormSchema{}); err != nil || string(got) != `{"type":"object","properties":{}}` {
		t.Errorf("an empty form is %s, %v", got, err)
	}
}
