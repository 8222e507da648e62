package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

func TestTheDemoServerShowsWhatItDoes(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	if code, _, stderr := runs(t, "call", "--url", url, "divide", `{"a":6,"b":0}`); code != exitTool {
		t.Fatalf("a call of divide by zero: got exit code %d, want %d: %s", code, exitTool, stderr)
	}
	resp, err := http.Get(strings.TrimSuffix(url, servedPath) + debugPath + "?format=json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct{ Servers []inspect.Server }
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	divides := func(s inspect.Server) bool {
		return slices.ContainsFunc(s.Networks, func(n inspect.Network) bool {
			return slices.ContainsFunc(n.Operations, func(o telemetry.Operation) bool {
				return o.Target == "divide" && o.Count == 1 && o.Errors[names.ErrorToolError] == 1
			})
		})
	}
	if !slices.ContainsFunc(page.Servers, divides) {
		t.Errorf("servers on the page: got %+v, want one whose divide has failed once", page.Servers)
	}
}
