package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// AppendRequest appends a request to dst, on one line and without the newline that delimits it. params is a raw JSON
// object, or empty for none. AppendRequest adds meta to the _meta of params; see [AppendParams]. If params and meta are
// both empty, the request has no params. On an error, AppendRequest returns dst unchanged.
func AppendRequest(dst []byte, id ID, method string, meta Meta, params []byte) ([]byte, error) {
	return appendParams(AppendRequestHead(dst, id, method), len(dst), &meta, params)
}

// AppendOwnRequest is [AppendRequest] for params that the caller guarantees to be well formed: AppendOwnRequest copies
// them without validation. params must be a valid object on one line, without space before the first member, and only
// the first member may be _meta.
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

// AppendNotification appends a notification to dst. It treats meta, params and errors like [AppendRequest].
func AppendNotification(dst []byte, method string, meta Meta, params []byte) ([]byte, error) {
	n := len(dst)
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	return appendParams(jsonscan.AppendString(dst, method), n, &meta, params)
}

// AppendRequestHead appends a request up to and including its method. The caller writes the rest.
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

// AppendResult appends the response to the request id to dst. AppendResult validates result, a raw JSON object. On an
// error, it returns dst unchanged.
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

// AppendAnswer appends the response to the request id to dst. member is "result" or "error", and object is its value.
// AppendAnswer copies object without validation, so object must be a valid JSON object on one line.
func AppendAnswer(dst []byte, id ID, member string, object []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = id.AppendJSON(dst)
	dst = append(jsonscan.AppendString(append(dst, ','), member), ':')
	return append(append(dst, object...), '}')
}

// AppendError appends an error response to dst. The response has no id if id is the zero ID, which stands for a request
// with an unreadable id. AppendError validates e.Data. On an error, it returns dst unchanged.
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
