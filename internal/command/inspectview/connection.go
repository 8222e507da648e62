package inspectview

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

var errUnsupported = mcpclient.ErrUnsupported

// state is the state of the connection.
type state struct {
	Name    string
	State   string
	Ready   bool
	Since   time.Time
	Reason  string
	Attempt int
	Err     string
}

func (s *Session) state() state {
	st := s.Client().Status()
	v := state{Name: cut(maxName, s.options.Member.Name), State: st.State.String(), Ready: st.State == connstate.Ready,
		Since: st.Since, Reason: st.Reason.String(), Attempt: st.Attempt}
	if st.Err != nil {
		v.Err = cut(maxText, st.Err.Error())
	}
	return v
}

// connectionPage is the page about the connection.
type connectionPage struct {
	Boxes        []box
	Info         mcp.Implementation
	Version      mcp.Version
	Instructions string
	PID          int
	Transitions  []transition
	Stderr       []line
	Levels       []mcp.LoggingLevel // empty if the server has no log messages
	Level        mcp.LoggingLevel   // the last level that was set; empty for none
	Cost         *cost
}

// A box is a state in the drawing of the state machine.
type box struct {
	Name string
	X, Y int
	Here bool
}

// transition is one move of the connection.
type transition struct {
	At               time.Time
	From, To, Reason string
	Took             time.Duration
}

// line is a line of the server's standard error.
type line struct {
	At   time.Time
	Text string
}

// cost is the size of the list of tools in a model's context.
type cost struct {
	Tools, Tokens int
	Bytes         int64
}

const (
	maxTransitions = 20
	maxLines       = 200
)

func (s *Session) connectionPage(w http.ResponseWriter, r *http.Request) error {
	c := s.Client()
	i := c.Inspect()
	p := connectionPage{Info: c.ServerInfo(), Version: c.ProtocolVersion(), PID: i.PID,
		Instructions: cut(10*maxText, c.Instructions()), Stderr: s.stderr()}
	p.Info.Name, p.Info.Version = cut(maxName, p.Info.Name), cut(maxName, p.Info.Version)
	for n, name := range []string{"starting", "initializing", "ready", "backoff", "closing"} {
		b := box{Name: name, X: 10 + 170*n, Y: 12, Here: i.State.String() == name}
		if n > 2 {
			b.X, b.Y = 10+170*(n-3)+170*(n-3), 84
		}
		p.Boxes = append(p.Boxes, b)
	}
	for _, e := range slices.Backward(i.Recent) {
		if e.Kind == "transition" && len(p.Transitions) < maxTransitions {
			p.Transitions = append(p.Transitions, transition{e.Time, e.From, e.To, e.Reason, e.Elapsed})
		}
	}
	if t := i.Tools; t != nil {
		p.Cost = &cost{t.Tools, t.EstimatedTokens, int64(t.Bytes)}
	}
	if c.ServerCapabilities().Logging != nil {
		p.Levels = levels
	}
	s.mu.Lock()
	p.Level = s.level
	s.mu.Unlock()
	return s.show(w, r, http.StatusOK, "connection", s.state().Name, p, refresh)
}

// stderr returns the newest lines of the server's standard error, the oldest first.
func (s *Session) stderr() (all []line) {
	for _, record := range slices.Backward(s.options.Snapshot().Records) {
		if record.EventName != names.EventMCPClientProcessStderr || len(all) == maxLines {
			continue
		}
		text, _ := record.Attributes[names.KeyMCPClientProcessStderrLine].(string)
		all = append(all, line{record.At(), cut(maxText, text)})
	}
	slices.Reverse(all)
	return all
}

func (s *Session) reconnect(w http.ResponseWriter, r *http.Request) error {
	if err := s.Connect(); err != nil {
		return err
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

func (s *Session) setLevel(w http.ResponseWriter, r *http.Request) error {
	level := mcp.LoggingLevel(r.PostFormValue("level"))
	if level != "" && !slices.Contains(levels, level) {
		return &httpError{http.StatusBadRequest, "There is no such level."}
	}
	_, err := within(r, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.Client().SetLogLevel(ctx, level)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.level = level
	s.mu.Unlock()
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
