// Package jsonscan validates JSON text (RFC 8259) in place and returns its pieces.
//
// It is the single scanner under the JSON-RPC envelope and the decoders of package mcp. It copies nothing: every
// function takes the text and an offset, and returns the offset behind the part that it read. [Object] and [Array]
// iterate over members and elements in the same way. A decoder that consumes a value with these functions has therefore
// validated every byte of the value, once.
//
// Start with [Valid] or [Value] to check a text, with [ObjectAt] to decode one:
//
//	o := jsonscan.ObjectAt(frame, 0)
//	for o.Next() {
//		switch string(o.Key()) {
//		case "type":
//			c.Type = o.Text()
//		case "annotations":
//			o.Take(decodeAnnotations(frame, o.At(), &c.Annotations))
//		}
//	}
//	return o.End(), o.Err()
//
// Possible surprises:
//
//   - The scanner is strict: no byte order mark, no trailing bytes, no control character and no invalid UTF-8 in a
//     string, no nesting deeper than [MaxDepth]. It does not recurse, so hostile nesting costs no stack.
//   - An escaped lone surrogate (such as "\ud83d", which a JavaScript peer sends after it has cut a string inside an
//     emoji) is valid by the grammar and accepted; [Unquote] turns it into U+FFFD.
//   - The scanner does not detect duplicate members. A decoder that knows the names detects them with [Seen], without
//     storing all names.
//   - [Object.Text] and [Text] decode in place: they overwrite the text and return strings that point into it.
package jsonscan
