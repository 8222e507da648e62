package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// AppendRequest appends a request to dst, on one line, without the newline that delimits it. params is a raw JSON
// object or empty for none, and meta what goes into its _meta; see [AppendParams]. If there is neither, the request has
// no params. On an error, dst is returned as it was.
func AppendRequest(dst []byte, id ID, method string, meta Meta, params []byte) ([]byte, error) {
	return appendParams(AppendRequestHead(dst, id, method), len(dst), &meta, params)
}

// AppendOwnRequest is [AppendRequest] for params that their maker vouches for, which are copied and not looked at: a
// valid object on one line, that begins with its bracket and its first name, and of whose members only the first may be
// _meta.
func AppendOwnRequest(dst []byte, id ID, method string, meta Meta, params []byte) ([]byte, error) {
	if len(params) == 0 || bytes.HasPrefix(params, []byte(`{"_meta"`)) {
		return AppendRequest(dst, id, method, meta, params)
	}
	n := len(dst)
	dst = AppendRequestHead(dst, id, method)
	dst = append(dst, `,"params":{`...)
	if !meta.empty() {
		var err error
		if dst, err = meta.append(dst, nil); err != nil {
			return dst[:n], err
		}
		if len(params) > len("{}") {
			dst = append(dst, ',')
		}
	}
	dst = append(dst, params[1:]...)
	return append(dst, '}'), nil
}

// AppendNotification appends a notification to dst; everything else is as for [AppendRequest].
func AppendNotification(dst []byte, method string, meta Meta, params []byte) ([]byte, error) {
	n := len(dst)
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	return appendParams(jsonscan.AppendString(dst, method), n, &meta, params)
}

// AppendRequestHead appends a request up to its method. What follows is for the caller to write.
func AppendRequestHead(dst []byte, id ID, method string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = id.AppendJSON(dst)
	dst = append(dst, `,"method":`...)
	return jsonscan.AppendString(dst, method)
}

// appendParams appends the params and the end of a message that begins at dst[n].
func appendParams(dst []byte, n int, meta *Meta, params []byte) ([]byte, error) {
	if len(params) > 0 || !meta.empty() {
		var err error
		dst = append(dst, `,"params":`...)
		if dst, err = meta.appendParams(dst, params); err != nil {
			return dst[:n], err
		}
	}
	return append(dst, '}'), nil
}

// AppendResult appends the response to the request id to dst. result is a raw JSON object; it is validated. On an
// error, dst is returned as it was.
func AppendResult(dst []byte, id ID, result []byte) ([]byte, error) {
	n := len(dst)
	if first := jsonscan.Space(result, 0); first < len(result) && result[first] != '{' {
		return dst, errors.New("result: not a JSON object")
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = id.AppendJSON(dst)
	dst = append(dst, `,"result":`...)
	dst, err := jsonscan.AppendLine(dst, result)
	if err != nil {
		return dst[:n], fmt.Errorf("result: %w", err)
	}
	return append(dst, '}'), nil
}

// AppendAnswer appends the response to the request id to dst, whose member, result or error, is a valid JSON object on
// one line: it is copied and not looked at.
func AppendAnswer(dst []byte, id ID, member string, object []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = id.AppendJSON(dst)
	dst = append(jsonscan.AppendString(append(dst, ','), member), ':')
	return append(append(dst, object...), '}')
}

// AppendError appends an error response to dst. The zero ID, for a request whose id could not be read, is left
// out. e.Data is validated. On an error, dst is returned as it was.
func AppendError(dst []byte, id ID, e *WireError) ([]byte, error) {
	n := len(dst)
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != (ID{}) {
		dst = append(dst, `"id":`...)
		dst = append(id.AppendJSON(dst), ',')
	}
	dst = append(dst, `"error":{"code":`...)
	dst = IntID(e.Code).AppendJSON(dst)
	dst = append(dst, `,"message":`...)
	dst = jsonscan.AppendString(dst, e.Message)
	if len(e.Data) > 0 {
		var err error
		dst = append(dst, `,"data":`...)
		if dst, err = jsonscan.AppendLine(dst, e.Data); err != nil {
			return dst[:n], fmt.Errorf("error data: %w", err)
		}
	}
	return append(dst, '}', '}'), nil
}
