package app_test

import (
	"reflect"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/app"
)

func TestToolMetaOfReadsMetadata(t *testing.T) {
	both := []app.Caller{app.Model, app.App}
	for _, test := range []struct {
		meta    string
		want    app.ToolMeta
		visible []app.Caller
		fails   bool
	}{
		{meta: `{}`, visible: both},
		{meta: `{"ui":null}`, visible: both},
		{meta: `{"ui":{"resourceUri":"ui://a/b"}}`, want: app.ToolMeta{ResourceURI: "ui://a/b"}, visible: both},
		{meta: `{"ui/resourceUri":"ui://old"}`, want: app.ToolMeta{ResourceURI: "ui://old"}, visible: both},
		{meta: `{"ui/resourceUri":"ui://old","ui":{"resourceUri":"ui://new"}}`, want: app.ToolMeta{ResourceURI: "ui://new"},
			visible: both},
		{meta: `{"ui":{"visibility":["app"]}}`, want: app.ToolMeta{Visibility: both[1:]}, visible: both[1:]},
		{meta: `{"ui":{"visibility":["model","else"]}}`,
			want: app.ToolMeta{Visibility: []app.Caller{app.Model, "else"}}, visible: both[:1]},
		{meta: `{"ui":{"visibility":[]}}`, want: app.ToolMeta{Visibility: []app.Caller{}}},
		{meta: `{"ui":{"visibility":"app"}}`, fails: true},
		{meta: `{"ui":[]}`, fails: true},
		{meta: `{"ui":{"resourceUri":"https://a"}}`, visible: both, fails: true},
		{meta: `{"ui":{"resourceUri":1}}`, visible: both, fails: true},
	} {
		tool := &mcp.Tool{Name: "t", Meta: mcp.Meta(test.meta)}
		got, err := app.ToolMetaOf(tool)
		if (err != nil) != test.fails || !test.fails && !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, %v, want %+v, an error: %t", test.meta, got, err, test.want, test.fails)
		}
		var visible []app.Caller
		for _, who := range both {
			if app.VisibleTo(tool, who) {
				visible = append(visible, who)
			}
		}
		if !reflect.DeepEqual(visible, test.visible) {
			t.Errorf("%s: visible to %v, want %v", test.meta, visible, test.visible)
		}
	}
}

func TestWriteKeepsOtherMembers(t *testing.T) {
	tool := app.ToolMeta{ResourceURI: "ui://a", Visibility: []app.Caller{app.App}}
	meta, err := tool.Write(mcp.Meta(`{"x":1,"ui":{"later":true}}`))
	if want := `{"x":1,"ui":{"later":true,"resourceUri":"ui://a","visibility":["app"]}}`; err != nil ||
		string(meta) != want {
		t.Errorf("got %s, %v, want %s", meta, err, want)
	}
	view := app.ResourceMeta{
		CSP:         &app.CSP{ConnectDomains: []string{"wss://a.example"}, BaseURIDomains: []string{"https://*.a.example"}},
		Permissions: &app.Permissions{Camera: mcp.Object("{}")}, Domain: "d.example", PrefersBorder: new(false),
	}
	meta, err = view.Write(nil)
	want := `{"ui":{"csp":{"connectDomains":["wss://a.example"],"baseUriDomains":["https://*.a.example"]},` +
		`"permissions":{"camera":{}},"domain":"d.example","prefersBorder":false}}`
	if err != nil || string(meta) != want {
		t.Errorf("got %s, %v, want %s", meta, err, want)
	}
	if got, err := app.ResourceMetaOf(meta); err != nil || !reflect.DeepEqual(got, view) {
		t.Errorf("got %+v, %v, want %+v", got, err, view)
	}
	if meta, err := (app.ResourceMeta{}).Write(nil); meta != nil || err != nil {
		t.Errorf("got %s, %v, want nothing", meta, err)
	}
	if _, err := (app.ToolMeta{ResourceURI: "https://a"}).Write(nil); err == nil {
		t.Error("Write accepts a URI that is not a view's")
	}
}

func TestOriginsThatAlterContentSecurityPolicyAreRejected(t *testing.T) {
	for _, origin := range []string{
		"", "https://a; script-src *", "https://a,b", "'unsafe-eval'", "https://a b", "https://ä", "a\n", `"`,
	} {
		for name, csp := range map[string]app.CSP{
			"connect": {ConnectDomains: []string{"https://ok", origin}}, "resource": {ResourceDomains: []string{origin}},
			"frame": {FrameDomains: []string{origin}}, "base": {BaseURIDomains: []string{origin}},
		} {
			if _, err := (app.ResourceMeta{CSP: &csp}).Write(nil); err == nil {
				t.Errorf("%s: %q is written", name, origin)
			}
			meta, err := mcp.Meta(nil).With("ui", map[string]any{"csp": csp})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := app.ResourceMetaOf(meta); err == nil {
				t.Errorf("%s: %q is read as %+v", name, origin, got)
			}
		}
	}
	for _, meta := range []string{
		`{"ui":1}`, `{"ui":{"csp":[]}}`, `{"ui":{"permissions":true}}`, `{"ui":{"domain":1}}`,
		`{"ui":{"prefersBorder":"no"}}`,
	} {
		if got, err := app.ResourceMetaOf(mcp.Meta(meta)); err == nil {
			t.Errorf("%s: got %+v", meta, got)
		}
	}
}

func TestViewMIMETypesAndURIsAreChecked(t *testing.T) {
	for text, good := range map[string]bool{
		app.MIMEType: true, `Text/HTML; Profile="mcp-app"`: true, app.MIMEType + ";charset=UTF-8": true,
		app.MIMEType + ";charset=utf-16": false, "text/html": false, "text/html;profile=other": false,
		"": false, "text/html;profile": false,
	} {
		if err := app.CheckMIMEType(text); (err == nil) != good {
			t.Errorf("%q: got %v", text, err)
		}
	}
	for uri, good := range map[string]bool{
		"ui://a": true, "ui://a/b?c": true, "ui://": false, "UI://a": false, "ui:a": false,
		"https://a": false, "ui://a\n": false, "": false,
	} {
		if err := app.CheckURI(uri); (err == nil) != good {
			t.Errorf("%q: got %v", uri, err)
		}
	}
}
