package jsonrpc

import "github.com/mcpotel/mcpotel/internal/jsonscan"

// CompletedPrompt returns the name, a JSON string, of the prompt that the params of completion/complete refer to. It
// returns nil if they refer to a resource or to nothing. params must be valid JSON.
func CompletedPrompt(params []byte) []byte {
	var name []byte
	prompt := false
	for o := jsonscan.ObjectAt(memberOf(params, "ref"), 0); o.Next(); {
		switch string(o.Key()) {
		case "type":
			prompt = string(o.Raw()) == `"ref/prompt"`
		case "name":
			name = o.Raw()
		}
	}
	if !prompt {
		return nil
	}
	return name
}

// memberOf returns the value of a member of a JSON object, or nil if the member is missing.
func memberOf(object []byte, key string) []byte {
	for o := jsonscan.ObjectAt(object, 0); o.Next(); {
		if string(o.Key()) == key {
			return o.Raw()
		}
	}
	return nil
}
