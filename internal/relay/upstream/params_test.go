package upstream

import (
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
)

func TestParamsChangeOnlyInTraceContext(t *testing.T) {
	traced := instrument.TraceContext{Traceparent: "T", Baggage: "b=1", Others: map[string]string{"b3": "0"}}
	const own = `"traceparent":"T","baggage":"b=1","b3":"0"`
	for _, c := range []struct{ params, want string }{
		{``, `,"params":{"_meta":{` + own + `}}}`},
		{`{}`, `,"params":{"_meta":{` + own + `}}}`},
		{` { } `, `,"params":{"_meta":{` + own + `}}}`},
		{`{"a":1e400, "a":{ }}`, `,"params":{"_meta":{` + own + `},"a":1e400, "a":{ }}}`},
		{`{"x":1 , "_meta" : {} , "y":2}`, `,"params":{"x":1 , "_meta" : {` + own + `} , "y":2}}`},
		{
			`{"_meta":{"tracestate":"s","traceparent":"S", "Odd Name!": [ 1 ],"progressToken":12345678901234567890,"b3":1,` +
				`"baggage":"x","":null}}`,
			`,"params":{"_meta":{` + own + `,"Odd Name!": [ 1 ],"progressToken":12345678901234567890,"":null}}}`,
		},
		{`{"_meta":{"trac\u0065parent":"S","\u0061":1}}`, `,"params":{"_meta":{` + own + `,"\u0061":1}}}`},
		{`{"_meta":null}`, `,"params":{"_meta":null}}`},
		{`{"_meta":[{}]}`, `,"params":{"_meta":[{}]}}`},
		{`{"_meta":{"a":1},"_meta":{}}`, `,"params":{"_meta":{"a":1},"_meta":{}}}`},
	} {
		p := readParams([]byte(c.params))
		if got := string(p.append(nil, &traced)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.params, got, c.want)
		}
	}
	for _, trace := range []instrument.TraceContext{{}, {Tracestate: "s", Baggage: "b=1"}} {
		for _, params := range []string{`{}`, `{"_meta":{"traceparent":"S","tracestate":"s"},"a":1}`, `{"_meta": null}`} {
			p := readParams([]byte(params))
			if got, want := string(p.append(nil, &trace)), `,"params":`+params+`}`; got != want {
				t.Errorf("without a span: got %s, want %s", got, want)
			}
		}
		p := readParams(nil)
		if got := string(p.append(nil, &trace)); got != "}" {
			t.Errorf("without a span and params: got %s", got)
		}
	}
}

func TestReadParams(t *testing.T) {
	p := readParams([]byte(`{"uri":"file:///\u0061","taskId":"t","arguments":{"a":1},"name":"echo",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}`))
	for target, want := range map[mcp.Target]string{
		mcp.TargetNone: "", mcp.TargetTool: "echo", mcp.TargetPrompt: "echo",
		mcp.TargetResource: "file:///a", mcp.TargetTask: "t",
	} {
		if got := p.Target(target); got != want {
			t.Errorf("target %d: got %q, want %q", target, got, want)
		}
	}
	if p.Version() != "2027-01-01" || string(p.Arguments) != `{"a":1}` {
		t.Errorf("got revision %q and arguments %s", p.Version(), p.Arguments)
	}
	for _, params := range []string{
		``, `{"name":1}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}`, `{"_meta":"x"}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"a\r\nb"}}`,
	} {
		p := readParams([]byte(params))
		if p.Version() != "" || p.Target(mcp.TargetTool) != "" {
			t.Errorf("%s: got revision %q and target %q", params, p.Version(), p.Target(mcp.TargetTool))
		}
	}
}
