package jsonrpc_test

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func ExampleParse() {
	m, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`))
	if err != nil {
		fmt.Println(err) // a *jsonrpc.Violation
		return
	}
	// The message goes to the caller that waits for the id, and is decoded there:
	err = m.Consume(func(middle []byte) (n int, err error) {
		o := jsonscan.ObjectAt(middle, 0)
		for o.Next() {
			fmt.Printf("%s %v: %s = %s\n", m.Kind, m.ID, o.Key(), o.Raw())
		}
		return o.End(), o.Err()
	})
	fmt.Println(err, m.Middle() == nil)
	// Output:
	// response 7: content = []
	// <nil> true
}

func ExampleAppendRequest() {
	session, _ := jsonrpc.NewConstant([]byte(`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`))
	meta := jsonrpc.Meta{Const: session, Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	frame, err := jsonrpc.AppendRequest(nil, jsonrpc.IntID(1), "tools/call", meta,
		[]byte(`{"name":"add","arguments":{"a":1}}`))
	fmt.Printf("%s %v\n", frame, err)
	_, err = jsonrpc.AppendRequest(nil, jsonrpc.IntID(2), "tools/call", meta, []byte(`{"name":"add"}},"id":3,"x":{}`))
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},"name":"add","arguments":{"a":1}}} <nil>
	// params: invalid character '}' at offset 14
}
