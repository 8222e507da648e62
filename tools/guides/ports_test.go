//go:build unix

package main

import "testing"

func TestPagesRunOnFreePorts(t *testing.T) {
	blocks := []block{
		{code: "serve 127.0.0.1:8080 localhost:4317", prints: "at 127.0.0.1:8080"},
		{code: "ask 127.0.0.1:8081 127.0.0.1:8080"},
	}
	got, err := withFreePorts(blocks)
	if err != nil {
		t.Fatal(err)
	}
	first, second := address.FindAllString(got[0].code, -1), address.FindAllString(got[1].code, -1)
	if len(first) != 1 || len(second) != 2 || first[0] != second[1] || second[0] == second[1] {
		t.Fatalf("want two ports, the first of them in both blocks, got %q and %q", got[0].code, got[1].code)
	}
	if first[0] == "127.0.0.1:8080" || blocks[0].code != "serve 127.0.0.1:8080 localhost:4317" {
		t.Errorf("want a free port, and the page as it was, got %q and %q", got[0].code, blocks[0].code)
	}
	if got[0].code != "serve "+first[0]+" localhost:4317" || got[0].prints != "at "+first[0] {
		t.Errorf("want nothing else changed, got %q, which prints %q", got[0].code, got[0].prints)
	}
}
