package jsonrpc_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func parse(t *testing.T, frame string) jsonrpc.Message {
	t.Helper()
	m, err := jsonrpc.Parse([]byte(frame))
	if err != nil {
		t.Fatalf("Parse(%q): %v", frame, err)
	}
	return m
}

func TestMiddleIsTheParamsResultOrError(t *testing.T) {
	for _, tt := range []struct {
		frame, middle string
		kind          jsonrpc.Kind
		checked       bool
	}{
		{`{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}`, `{"a":[1]}`, jsonrpc.Result, false},
		{`{"result": {"a":"}"} ,"jsonrpc":"2.0","id":1}`, `{"a":"}"}`, jsonrpc.Result, false},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, `{"code":1}`, jsonrpc.Error, false},
		{`{"jsonrpc":"2.0","error":{"code":1}}`, `{"code":1}`, jsonrpc.Error, true},
		{`{"jsonrpc":"2.0","id":1,"method":"a","params":{}}`, `{}`, jsonrpc.Request, false},
		{`{"jsonrpc":"2.0","method":"a","params":{"b":{}}}`, `{"b":{}}`, jsonrpc.Notification, false},
		{`{"jsonrpc":"2.0","method":"a"}`, ``, jsonrpc.Notification, true},
		{`{"jsonrpc":"2.0","id":1,"method":"a"}`, ``, jsonrpc.Request, true},
	} {
		m := parse(t, tt.frame)
		if string(m.Middle()) != tt.middle || m.Kind != tt.kind || m.Checked() != tt.checked {
			t.Errorf("%s: %s with middle %q, checked %v, want %s, %q, %v", tt.frame, m.Kind, m.Middle(), m.Checked(), tt.kind,
				tt.middle, tt.checked)
		}
		if cap(m.Middle()) != len(m.Middle()) {
			t.Errorf("%s: the middle's capacity is %d, want its length %d", tt.frame, cap(m.Middle()), len(m.Middle()))
		}
		if err := m.Check(); err != nil || !m.Checked() || string(m.Middle()) != tt.middle {
			t.Errorf("%s: Check: %v, checked %v, middle %q", tt.frame, err, m.Checked(), m.Middle())
		}
	}
}

func TestParseDoesNotCheckTheMiddle(t *testing.T) {
	m := parse(t, `{"jsonrpc":"2.0","id":1,"result":{ this is not JSON }}`)
	if err := m.Check(); err == nil {
		t.Error("Check of a middle that is not JSON: no error")
	} else if v, ok := errors.AsType[*jsonrpc.Violation](err); !ok || v.Reason != jsonrpc.InvalidJSON ||
		v.ID != jsonrpc.IntID(1) || !v.Response || v.Offset != 35 {
		t.Errorf("Check: %#v, want invalid_json at offset 35 for the response to 1", err)
	}
}

func TestConsumeSkipsBytesAndChecksTheRest(t *testing.T) {
	const head = `{"jsonrpc":"2.0","id":1,"result":`
	for _, tt := range []struct {
		name, frame string
		n           int
		want        string // the middle, or the violation
	}{
		{"all of the middle", head + `{"a":1}}`, 7, `{"a":1}`},
		{"an extension member follows", head + `{"a":1},"x":{}}`, 7, `{"a":1}`},
		{"several follow, with space", head + `{"a":1} , "x":[{}] , "y":1, "z" : {} }`, 7, `{"a":1}`},
		{"another result follows", head + `{"a":1},"result":{}}`, 7,
			"message breaks the protocol (duplicate_member) at offset 50"},
		{"an error follows", head + `{"a":1},"error":{}}`, 7,
			"message breaks the protocol (mixed_members) at offset 0"},
		{"a method follows", head + `{"a":1},"method":"m","x":{}}`, 7,
			"message breaks the protocol (mixed_members) at offset 0"},
		{"another id follows", head + `{"a":1},"id":2,"x":{}}`, 7,
			"message breaks the protocol (duplicate_member) at offset 46"},
		{"the decoder stopped inside", head + `{"a":1}}`, 5,
			"message is not JSON (invalid_json): invalid character '1' at offset 38"},
		{"the decoder read nothing", head + `{"a":1}}`, 0,
			"message is not JSON (invalid_json): invalid character '{' at offset 33"},
		{"garbage follows", head + `{"a":1}garbage,"x":{}}`, 7,
			"message is not JSON (invalid_json): invalid character 'g' at offset 40"},
		{"an invalid member follows", head + `{"a":1},"x":{01}}`, 7,
			"message is not JSON (invalid_json): invalid character '0' at offset 46"},
		{"it was a request", `{"jsonrpc":"2.0","method":"m","params":{},"id":7,"x":{}}`, 2,
			"message breaks the protocol (invalid_envelope) at offset 41"},
	} {
		m := parse(t, tt.frame)
		got := ""
		err := m.Consume(func(middle []byte) (int, error) {
			if got = string(middle[:tt.n]); m.Middle() != nil || m.Frame != nil {
				t.Errorf("%s: the decoder is not alone with the bytes", tt.name)
			}
			return tt.n, nil
		})
		if v, ok := err.(*jsonrpc.Violation); ok {
			got = err.Error()
			if string(v.Head) != tt.frame[:min(64, len(tt.frame))] {
				t.Errorf("%s: the frame began with %q, want %.64q", tt.name, v.Head, tt.frame)
			}
		} else if !m.Checked() || m.Check() != nil {
			t.Errorf("%s: consumed, but not checked", tt.name)
		}
		if m.Frame != nil || m.Middle() != nil || m.Size() != len(tt.frame) {
			t.Errorf("%s: consumed, and still has %q, %q of %d bytes, want the size only", tt.name, m.Frame, m.Middle(),
				m.Size())
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	m := parse(t, `{"jsonrpc":"2.0","method":"m","params":{},"id":7,"x":{}}`)
	err := m.Consume(func([]byte) (int, error) { return 2, nil })
	if v, ok := errors.AsType[*jsonrpc.Violation](err); !ok || v.ID != jsonrpc.IntID(7) || v.Method != "m" || v.Response {
		t.Errorf("the violation for a request taken for a notification is %#v, want it to name id 7 and method m", v)
	}
}

func TestInvalidDescribesTheDecodingError(t *testing.T) {
	result := parse(t, `{"jsonrpc":"2.0","id":"a","result":{"content":1}}`)
	failure := parse(t, `{"jsonrpc":"2.0","id":"a","error":{"code":"x"}}`)
	request := parse(t, `{"jsonrpc":"2.0","id":"a","method":"m","params":{"name":1}}`)
	for _, tt := range []struct {
		m    jsonrpc.Message
		err  error
		want string
	}{
		{result, &jsonscan.SyntaxError{Offset: 3, Reason: "bad"},
			"invalid_json 38 true: message is not JSON (invalid_json): bad at offset 38"},
		{result, fmt.Errorf("content: %w", &jsonscan.SyntaxError{Offset: 3, Reason: jsonscan.TooDeep}),
			"too_deep 38 true: message breaks the protocol (too_deep): content: " + jsonscan.TooDeep + " at offset 3"},
		{result, &jsonscan.TypeError{Offset: 11, Want: "array"},
			"invalid_result 46 true: message breaks the protocol (invalid_result): no array at offset 46"},
		{failure, errors.New("odd"), "invalid_error 34 true: message breaks the protocol (invalid_error): odd"},
		{request, errors.New("odd"), "invalid_params 48 false: message breaks the protocol (invalid_params): odd"},
		{request, &jsonrpc.Violation{Reason: jsonrpc.DuplicateMember, Offset: 2},
			"duplicate_member 50 false: message breaks the protocol (duplicate_member) at offset 50"},
	} {
		v := tt.m.Invalid(tt.err)
		if got := fmt.Sprintf("%s %d %v: %v", v.Reason, v.Offset, v.Response, v); got != tt.want ||
			v.ID != jsonrpc.StringID("a") || v.Method != tt.m.Method {
			t.Errorf("Invalid(%v) = %s (id %v, method %q)\nwant %s", tt.err, got, v.ID, v.Method, tt.want)
		}
	}
	cause := errors.New("cause")
	if v := result.Invalid(cause); !errors.Is(v, cause) {
		t.Errorf("%v does not unwrap to its cause", v)
	}
}

func TestViolationOfReturnsAWrappedViolation(t *testing.T) {
	_, err := jsonrpc.Parse([]byte(`[{}]`))
	held := fmt.Errorf("frame: %w", err)
	if v := jsonrpc.ViolationOf(nil, held); v.Reason != jsonrpc.BatchFrame || !errors.Is(held, error(v)) {
		t.Errorf("ViolationOf(nil, %v) = %v, want the violation within", held, v)
	}
	m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":7,"method":"x","params":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("no name")
	v := jsonrpc.ViolationOf(&m, cause)
	if v.Reason != jsonrpc.InvalidParams || v.Method != "x" || v.ID != m.ID || v.Cause != cause {
		t.Errorf("ViolationOf(m, %v) = %+v, want invalid params of the message", cause, v)
	}
}

func TestViolationsHaveTheIDAndMethodOfTheCall(t *testing.T) {
	for _, tt := range []struct {
		name, frame, id, method string
		response                bool
	}{
		{"result and error", `{"jsonrpc":"2.0","id":7,"result":{},"error":{}}`, "7", "", true},
		{"null result", `{"jsonrpc":"2.0","id":"a","result":null}`, "a", "", true},
		{"truncated behind the id", `{"jsonrpc":"2.0","id":7,"result":{"a":`, "7", "", false},
		{"wrong version, id last", `{"result":{},"jsonrpc":"1.0","id":7}`, "7", "", true},
		{"array params", `{"jsonrpc":"2.0","id":7,"method":"m","params":[]}`, "7", "m", false},
		{"two ids", `{"jsonrpc":"2.0","id":7,"id":8,"result":{}}`, "", "", true},
		{"invalid id", `{"jsonrpc":"2.0","id":1.5,"result":{}}`, "", "", true},
	} {
		m, err := jsonrpc.Parse([]byte(tt.frame))
		if err == nil {
			err = m.Check()
		}
		v, ok := errors.AsType[*jsonrpc.Violation](err)
		if !ok || v.ID.String() != tt.id || v.Method != tt.method || v.Response != tt.response {
			t.Errorf("%s: %#v, want id %q, method %q, response %v", tt.name, err, tt.id, tt.method, tt.response)
		}
	}
}

func TestMessageNamesDoNotReferenceTheFrame(t *testing.T) {
	frame := []byte(`{"jsonrpc":"2.0","id":"abc","method":"custom/method"}`)
	m, err := jsonrpc.Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	copy(frame, bytes.Repeat([]byte("#"), len(frame)))
	if m.Method != "custom/method" || m.ID != jsonrpc.StringID("abc") {
		t.Errorf("after the frame was overwritten: method %q, id %q, want custom/method and abc", m.Method, m.ID)
	}
}

func TestKindAndReasonWordsAreStable(t *testing.T) {
	kinds := fmt.Sprint(jsonrpc.Request, jsonrpc.Notification, jsonrpc.Result, jsonrpc.Error, jsonrpc.Kind(0))
	if want := "request notification response error _OTHER"; kinds != want {
		t.Errorf("kinds are %s, want %s", kinds, want)
	}
	want := "invalid_json too_deep batch invalid_envelope invalid_version duplicate_member mixed_members invalid_id " +
		"null_id missing_id " +
		"invalid_method invalid_params invalid_result invalid_error frame_too_large unexpected_request " +
		"foreign_answer no_answer"
	if got := strings.Join(jsonrpc.Reasons(), " "); got != want {
		t.Errorf("reasons are %s, want %s", got, want)
	}
	if got := fmt.Sprint(jsonrpc.Reason(0), jsonrpc.NoAnswer+1); got != "_OTHER _OTHER" {
		t.Errorf("reasons outside the set are %s, want _OTHER", got)
	}
	if got := (&jsonrpc.Violation{}).ErrorType(); got != "protocol_violation" {
		t.Errorf("ErrorType() = %q, want protocol_violation", got)
	}
}
