package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/mcp"
)

// mirrors reports whether tool arguments must be repeated in HTTP headers. Only modern versions over HTTP require this.
// (specification 2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters")
func (m *knownTools) mirrors() bool {
	return m.c.core.Present().OwnStreams
}

// check reports the tools that could not be decoded. Over HTTP, it also removes tools whose schemas violate the rules
// for mirrored parameters. The specification requires that, so that one invalid tool does not affect the others.
func (m *knownTools) check(r *mcp.ListToolsResult) {
	for _, t := range r.Unreadable {
		m.c.core.Telemetry.ToolRejected(t.Name, t.Err)
	}
	if !m.mirrors() {
		return
	}
	r.Tools = slices.DeleteFunc(r.Tools, func(t *mcp.Tool) bool {
		_, err := mirror.Params(t.InputSchema)
		if err != nil {
			m.c.core.Telemetry.ToolRejected(t.Name, err)
		}
		return err != nil
	})
}

// call calls a tool with arguments that may have to be repeated in headers. The tool may have changed if the server
// reports a header mismatch, or if the arguments do not fit the known schema. In both cases the tool has not run: call
// lists the tools again and repeats the call once. Both attempts share the timeout of one call.
func (m *knownTools) call(ctx context.Context, p *mcp.CallToolParams, r any, options []CallOption) error {
	m.c.operations.enter()
	defer m.c.operations.leave()
	return m.c.operate(ctx, mcp.MethodCallTool, p, options, func(ctx context.Context, options []CallOption) error {
		return m.callWithHeaders(ctx, p, r, options)
	})
}

func (m *knownTools) callWithHeaders(ctx context.Context, p *mcp.CallToolParams, r any, options []CallOption) error {
	begun := time.Now()
	version := m.version()
	header, err := headerOf(p, m.mirrored(p.Name))
	mismatch := false
	if err == nil {
		err = m.c.Call(ctx, mcp.MethodCallTool, p, r, withHeader(options, header)...)
		if refused, ok := errors.AsType[*mcp.Error](err); !ok || refused.Code != mcp.CodeHeaderMismatch {
			return err
		}
		mismatch = true
	}
	options = m.c.cfg.timed(options, begun)
	options = append(options[:len(options):len(options)], goesOn)
	m.outdated(version)
	t, listed := m.list(ctx, p.Name, options)
	if listed != nil {
		return err
	}
	anew, unusable := headerOf(p, t.params())
	switch {
	case unusable != nil:
		return unusable
	case mismatch && maps.Equal(header, anew):
		return err
	}
	return m.c.Call(ctx, mcp.MethodCallTool, p, r,
		append(withHeader(options, anew), func(a *asked) { a.mismatch = mismatch })...)
}

// withHeader adds the headers of a call to its options.
func withHeader(options []CallOption, header map[string]string) []CallOption {
	if header == nil {
		return options
	}
	return append(options[:len(options):len(options)], func(a *asked) { a.Header = header })
}

// lead is the telemetry context of a request that later requests continue.
type lead struct {
	corr instrument.Corr
	ref  instrument.Ref
	id   int64 // ID of the request
}

// headerOf returns the headers that repeat the parameters params of a call, or nil for none.
func headerOf(p *mcp.CallToolParams, params []mirror.Param) (map[string]string, error) {
	if len(params) == 0 || p.Arguments == nil {
		return nil, nil
	}
	raw, err := mcp.AppendParams(nil, p.Arguments)
	if err != nil {
		return nil, &Error{Kind: KindInvalid, Op: mcp.MethodCallTool, Unsent: true, cause: err}
	}
	p.Arguments = json.RawMessage(raw)
	header, err := mirror.Headers(params, raw)
	if err != nil {
		return nil, &Error{Kind: KindInvalid, Op: mcp.MethodCallTool, Unsent: true, cause: err}
	}
	return header, nil
}
