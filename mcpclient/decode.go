package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Receive decodes a result.
func (cl *call) Receive(s *conn.Session, m *jsonrpc.Message) error {
	if cl.asked.received != nil {
		cl.asked.received.Add(int64(m.Size()))
	}
	cl.keeping.frame = cap(m.Frame)
	var begun time.Time
	if cl.Op.Timed() {
		begun = time.Now()
	}
	var err error
	if !cl.tasks.asked || !readLegacyTask(cl, m) {
		err = cl.decodeByType(s, m)
	}
	if cl.Op.Timed() {
		cl.Op.Decoded(time.Since(begun), err)
	}
	return err
}

// ReceiveError decodes an error answer of the server.
func (cl *call) ReceiveError(_ *conn.Session, m *jsonrpc.Message) (*mcp.Error, error) {
	return conn.DecodeError(m)
}

// decodeByType decodes the result of m by its result type: into the caller's result, or into the part of cl for that
// type. It refuses types that were not negotiated, and a request for input in the answer to a method for which the
// server must not request input. (specification 2026-07-28, basic, "ResultType"; basic/patterns/mrtr, "Supported
// Requests") An answer to tasks/get may have the result type task, as in examples of the extension's specification; a
// task requests input through its state instead.
func (cl *call) decodeByType(s *conn.Session, m *jsonrpc.Message) error {
	text := m.Middle()
	kind, err := s.Era.ResultType(text)
	switch {
	case err != nil:
		return err
	case kind == mcp.ResultComplete, kind == "", kind == mcp.ResultTask && cl.Method == mcp.MethodGetTask:
		if cl.loop.watched {
			cl.loop.heard(text)
		}
		if err = conn.DecodeResult(m, cl.result); err == nil {
			cl.c.core.DropIcons(cl.Method, cl.result)
			if cl.Method == mcp.MethodCallTool {
				cl.Op.Result(len(text))
			}
		}
		return err
	case kind == mcp.ResultInputRequired && mayRequireInput(cl.Method):
		input := new(mcp.InputRequiredResult)
		if err = conn.DecodeResult(m, input); err == nil {
			cl.input.required = input
		}
		return err
	case kind == mcp.ResultTask && cl.mayBecomeTask():
		task := new(mcp.CreateTaskResult)
		if err = conn.DecodeResult(m, task); err == nil {
			cl.tasks.made = task
		}
		return err
	}
	return &conn.ResultTypeError{Kind: kind}
}
