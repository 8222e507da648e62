package transport

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"testing"
)

// verdict is an error with a method Permanent, which returns the verdict.
type verdict bool

func (v verdict) Error() string   { return fmt.Sprint("verdict ", bool(v)) }
func (v verdict) Permanent() bool { return bool(v) }

func TestPermanentErrorsAreRecognized(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("other"), false},
		{ErrBusy, false},
		{exec.ErrNotFound, true},
		{exec.ErrDot, true},
		{fs.ErrNotExist, true},
		{fs.ErrPermission, true},
		{fmt.Errorf("dial: %w", &fs.PathError{Op: "fork/exec", Path: "x", Err: fs.ErrPermission}), true},
		{fmt.Errorf("dial: %w", verdict(true)), true},
		{fmt.Errorf("dial: %w: %w", verdict(false), fs.ErrNotExist), false},
		{permanentError{errors.New("other")}, true},
	} {
		if got := Permanent(tt.err); got != tt.want {
			t.Errorf("Permanent(%v): want %v, got %v", tt.err, tt.want, got)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	cause := errors.New("cause")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&FrameTooLargeError{Size: 11, Limit: 10},
			"a message of at least 11 bytes is over the limit of 10; raise it with Options.Limits.Frame"},
		{&ExitError{PID: 7, Code: 3}, "process 7 exited with status 3"},
		{&ExitError{PID: 7, Code: -1}, "process 7 ended with unknown status"},
		{&ExitError{PID: 7, Code: -1, Signal: "SIGKILL"}, "process 7 was ended by SIGKILL"},
		{&ExitError{PID: 7, Code: 1, Stderr: []string{"a", "b\x1b"}},
			`process 7 exited with status 1; its last output: "b\x1b"`},
		{&RequestError{Reason: ReasonTooLarge, Size: 11, Limit: 10},
			"the answer has 11 bytes, over the limit of 10; raise it with Options.Limits.Frame"},
		{&RequestError{Reason: 99, Err: cause}, "RequestReason(99): cause"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("want %q, got %q", tt.want, got)
		}
	}
	if err := (&RequestError{Err: cause}); !errors.Is(err, cause) {
		t.Errorf("want a RequestError to wrap its cause, but it does not")
	}
}

func TestMessageKindsHaveNames(t *testing.T) {
	for kind, want := range map[Kind]string{KindRequest: "request", KindNotification: "notification",
		KindResponse: "response",
		0:            "Kind(0)"} {
		if got := kind.String(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
